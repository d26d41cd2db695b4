//! Paying a loan out, once; and the records of it.

pub mod api;
mod by_day;
mod disburse;
mod idempotency;
mod invariant;
mod reconcile;
mod records;
mod reply;
mod settle;

pub use by_day::{DayTotal, by_day};
pub use disburse::{DisbursementRequest, disburse};
pub use idempotency::{IdempotencyKey, KeyedCall};
pub use invariant::{Invariant, invariant};
pub use reconcile::{keep_settling, reconcile};
pub use records::Record;
pub use reply::Reply;

use std::time::Duration;

use serde::Serialize;

/// Where a payout stands. PENDING becomes one of the others, and then stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(type_name = "text", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PayoutStatus {
    /// Mobile money was or will be asked; what became of it is not known yet.
    Pending,
    /// The money went out.
    Completed,
    /// No money went out.
    Failed,
}

/// The largest integer that JSON carries between all programs (RFC 8259, 6).
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// How long an answer waits for mobile money. Callers give up after 10 s; they shall hear
/// 'accepted' before that.
const PATIENCE: Duration = Duration::from_secs(8);

/// How long a request to mobile money is good for: it is refused when it arrives later.
const REQUEST_LIFETIME: Duration = Duration::from_secs(30);

/// How long after that a payout unknown to mobile money is taken for never received. Time enough
/// for a request that arrived at its last moment to stand in mobile money's books, and for two
/// machines' clocks to differ.
const MARGIN: Duration = Duration::from_mins(2);

/// When the status of a payout is first asked for: once its caller has had an answer.
const FIRST_CHECK: Duration = Duration::from_secs(10);
