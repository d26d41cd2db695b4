//! Loans that are waiting to be paid out.

mod add;
pub mod api;
mod pending;

pub use add::add;
pub use pending::{PendingLoan, Waiting, waiting};

use serde::{Deserialize, Serialize};

/// The status of a loan. Only approved loans can be paid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LoanStatus {
    Approved,
    Disbursed,
    Rejected,
}

store::stored_as_text!(LoanStatus);

/// The status of a loan's latest payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DisbursementStatus {
    NotStarted,
    Pending,
    Completed,
    Failed,
}

store::stored_as_text!(DisbursementStatus);
