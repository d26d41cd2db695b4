//! Paying a loan out exactly once, and the records of payouts.

pub mod api;
mod by_day;
mod claim;
mod disburse;
mod idempotency;
mod invariant;
mod reconcile;
mod records;
mod reply;
mod settle;
mod sums;

pub use by_day::{DayTotal, by_day};
pub use disburse::{DisbursementRequest, disburse};
pub use idempotency::{IdempotencyKey, KeyedCall, delete_expired_keys};
pub use invariant::{Invariant, invariant};
pub use reconcile::{keep_receiving, keep_settling, next_check, reconcile};
pub use records::{Filter, Latest, Record, latest_records, record, wait_for_records};
pub use reply::Reply;
pub use sums::{Sum, sums};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::database::{Database, sets::Sets};

/// Where claims and results wait to be written. Clones share the queues.
#[derive(Clone, Debug)]
pub struct PayoutQueues {
    claims: Sets<claim::Claim>,
    settlements: Sets<settle::Settlement>,
}

impl PayoutQueues {
    /// Queues that are written to `database`.
    pub fn of(database: &Database) -> Self {
        Self { claims: Sets::of(database), settlements: Sets::of(database) }
    }
}

/// The status of a payout. PENDING becomes COMPLETED or FAILED, which are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PayoutStatus {
    /// The payment was or will be requested; the result is not known yet.
    Pending,
    /// The money was sent.
    Completed,
    /// No money was sent.
    Failed,
}

crate::database::stored_as_text!(PayoutStatus);

impl PayoutStatus {
    /// Its name in the database.
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }
}

/// How long an answer waits for mobile money. Callers time out after 10 s, so 'accepted' must be
/// answered before.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// How long a request to mobile money is valid. It is refused if it arrives later; one that is unknown
/// after this time is voided. Longer than any request waits for the writer, short enough that the loan
/// of a payout that never left a crashed server is free again in seconds.
const REQUEST_LIFETIME: Duration = Duration::from_secs(20);

/// How long the answer to a request is waited for. After that its status tells the result.
const PAYMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long after a request that was not sent it is sent again.
const RESEND_INTERVAL: Duration = Duration::from_millis(500);

/// When the status of a payout is first queried: after its caller has been answered.
const FIRST_CHECK: Duration = Duration::from_secs(10);
