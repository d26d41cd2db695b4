//! The simulated mobile money service (M-Pesa B2C), with [`MobileMoney::pay`] and
//! [`MobileMoney::status`]. It can also deliver results asynchronously.
//!
//! It simulates an external company: it keeps its own books, answers with result codes, and
//! refuses a request id that it has seen before. It does not know about loans or payouts.

mod books;
mod outcome;
mod pay;
mod receipt;
mod scenario;
mod status;

pub use outcome::{MAGIC, Magic, Outcome, Refusal, SUCCESS_TEXT};
pub use receipt::receipt;
pub use scenario::{Scenario, ScenarioChange};

use std::sync::Arc;

use tokio::sync::{OwnedRwLockWriteGuard, RwLock, mpsc, oneshot};

use self::books::Request;
use base::{
    clock::{Clock, UnixMillis},
    ids::TransactionId,
    kes::Kes,
    phone::Msisdn,
    randomness::Randomness,
};
use store::{Database, sets::Sets, version::DataCopy};

pub const MINIMUM: Kes = Kes(10);
pub const MAXIMUM: Kes = Kes(250_000);
/// The maximum amount that one phone may receive per day, in KES.
pub const DAILY_LIMIT: Kes = Kes(500_000);
/// The maximum number of waiting deliveries. Further ones are lost, as on a network, and must be queried.
pub const MAX_DELIVERIES: usize = 256;

/// A client of the simulated service.
#[derive(Clone, Debug)]
pub struct MobileMoney {
    database: Database,
    clock: Clock,
    randomness: Randomness,
    results: mpsc::Sender<Delivery>,
    requests: Sets<Request>,
    /// Held for writing by tests, to hold requests up.
    line: Arc<RwLock<()>>,
}

#[derive(Clone, Debug)]
pub struct Payment {
    /// Chosen by the caller, never used twice.
    pub originator_id: TransactionId,
    pub phone_number: Msisdn,
    pub amount: Kes,
    /// The base time ([`Clock::unset_now`]) from which on an arriving request is not carried out.
    pub expires_at: UnixMillis,
    /// The payer's own word for what is paid, which is kept and not read: the id of the loan.
    pub reference: String,
    /// The data that the request was made for. On any other, the request is not carried out.
    pub copy: DataCopy,
}

/// The result of a payment request, which is final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The money was sent, with this receipt.
    Paid(String),
    /// No money was sent, and none will be.
    Refused(Refusal),
    /// The request expired or was voided before it arrived. It was not carried out and never will be.
    NotReceived,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Result(Verdict),
    /// This originator id was used before. Query its status instead.
    DuplicateOriginator,
    /// The data that the request was made for has been replaced, or is another copy after a failover, so the
    /// request was not carried out.
    DataReplaced,
}

/// A result that is delivered asynchronously, like an M-Pesa callback.
#[derive(Debug)]
pub struct Delivery {
    pub originator_id: TransactionId,
    pub copy: DataCopy,
    pub answer: Answer,
    /// The span of the request.
    pub traceparent: Option<String>,
    /// Notified when the result has been processed.
    pub processed: oneshot::Sender<()>,
}

impl MobileMoney {
    /// A service that keeps its books in `database` and delivers results to `results`.
    pub fn new(
        database: Database,
        clock: Clock,
        randomness: Randomness,
        results: mpsc::Sender<Delivery>,
    ) -> Self {
        let requests = Sets::of(&database);
        Self { database, clock, randomness, results, requests, line: Arc::default() }
    }

    /// Holds requests up on their way, as a slow network does, until the guard is dropped. For tests.
    pub async fn hold_requests(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.line).write_owned().await
    }
}
