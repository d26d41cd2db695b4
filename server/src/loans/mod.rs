//! What waits to be paid out.

pub mod api;
mod pending;

pub use pending::{PendingLoan, Waiting, pending_loan, waiting};

use serde::Serialize;

/// Where a loan stands. Only an approved one can be paid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(type_name = "text", rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoanStatus {
    Approved,
    Disbursed,
    Rejected,
}

/// Where a loan's latest payout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[sqlx(type_name = "text", rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DisbursementStatus {
    NotStarted,
    Pending,
    Completed,
    Failed,
}
