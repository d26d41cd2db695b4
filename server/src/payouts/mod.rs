//! Paying a loan out, once; and the records of it.

pub mod api;
mod disburse;
mod records;

pub use disburse::{Disbursement, DisbursementRequest, disburse};
pub use records::{Record, records};

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
