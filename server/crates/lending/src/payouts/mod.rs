//! Paying a loan out exactly once, and the records of payouts.

mod answered;
pub mod api;
mod claim;
mod disburse;
mod idempotency;
mod invariant;
mod reconcile;
mod records;
mod refusal;
mod reply;
mod settle;
mod sums;

pub use refusal::PayoutRefusal;

pub use disburse::{DisbursementRequest, disburse};
pub use idempotency::{IdempotencyKey, KeyedCall, delete_expired_keys};
pub use invariant::{Invariant, invariant};
pub use reconcile::{keep_receiving, keep_settling, next_check, reconcile};
pub(crate) use records::{LATEST_COMPLETED, LATEST_FAILED, LATEST_RECORDS};
pub use records::{Record, RecordFilter, record, wait_for_records};
pub use reply::Reply;
pub use sums::{Sum, sums};

use std::{ops::Deref, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::{mobile_money::MobileMoney, outbox::Outbox, world::World};
use store::sets::Sets;

/// The payouts of a world, with the services that they use. Clones share them.
#[derive(Clone)]
pub struct Payouts(Arc<PayoutsState>);

pub struct PayoutsState {
    world: World,
    mobile_money: MobileMoney,
    outbox: Outbox,
    claims: Sets<claim::Claim>,
    settlements: Sets<settle::Settlement>,
    answered: answered::Answered,
    /// Held while reconciling, so that this process runs one round at a time.
    reconciling: Mutex<()>,
}

impl Payouts {
    pub fn new(world: World, mobile_money: MobileMoney, outbox: Outbox) -> Self {
        let (claims, settlements) = (Sets::of(&world.database), Sets::of(&world.database));
        let (answered, reconciling) = (answered::Answered::default(), Mutex::default());
        let state = PayoutsState { world, mobile_money, outbox, claims, settlements, answered, reconciling };
        Self(Arc::new(state))
    }
}

impl Deref for Payouts {
    type Target = PayoutsState;

    fn deref(&self) -> &PayoutsState {
        &self.0
    }
}

/// The status of a payout. PENDING becomes COMPLETED or FAILED, which are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PayoutStatus {
    /// The payment was or will be requested; the result is not known yet.
    Pending,
    /// The money was sent.
    Completed,
    /// No money was sent.
    Failed,
}

store::stored_as_text!(PayoutStatus);

/// The age at which a call is answered 202 if mobile money has not answered: less than the 10 s after which callers give
/// up.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// The lifetime of a request to mobile money. It is refused if it arrives later, and voided if it is unknown
/// then. It is longer than any request waits for the writer, but short enough that the loan of a payout that
/// never left a crashed server is free again in seconds.
const REQUEST_LIFETIME: Duration = Duration::from_secs(20);

/// The maximum wait for the answer to a request. After that, its status is queried.
const PAYMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The wait before a request that could not be sent is sent again.
const RESEND_INTERVAL: Duration = Duration::from_millis(500);

/// The age at which the status of a payout is first queried: after its caller has been answered.
const FIRST_CHECK: Duration = Duration::from_secs(10);
