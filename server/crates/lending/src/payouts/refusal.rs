//! The refusals of payouts, with their statuses.

use axum::http::StatusCode;
use serde_json::value::RawValue;

use base::{error::Refused, ids::LoanId, kes::Kes};

/// A refusal of payouts. The text is for people; the code is for programs.
#[derive(Debug, thiserror::Error)]
pub enum PayoutRefusal {
    /// No loan has this id.
    #[error("There is no loan {0}.")]
    LoanNotFound(LoanId),
    /// The loan has already been paid out; with the record of that payout.
    #[error("This loan has already been disbursed.")]
    AlreadyDisbursed(Box<RawValue>),
    /// A payout of the loan has not settled yet; with its record.
    #[error("A disbursement of this loan is in progress.")]
    InProgress(Box<RawValue>),
    /// The loan is neither approved nor disbursed.
    #[error("This loan is not approved for disbursement.")]
    NotApproved,
    /// The amount differs from the loan's.
    #[error("The amount is not the loan's amount of {0}.")]
    AmountMismatch(Kes),
    /// The loan's amount is above the maximum that an administrator has set.
    #[error("A payout may have at most {0}. An administrator can change this in Settings.")]
    AboveMaximum(Kes),
    /// The phone number differs from the customer's.
    #[error("The phone number is not the customer's.")]
    PhoneMismatch,
    /// Mobile money refused the payment; no money was sent.
    #[error("{text}")]
    MobileMoneyRefused {
        /// Mobile money's result code; `None` if the request never reached it.
        result_code: Option<String>,
        /// Mobile money's text for the code.
        text: String,
        /// The failed payout.
        record: Box<RawValue>,
    },
    /// The `Idempotency-Key` is invalid.
    #[error("The Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare.")]
    BadIdempotencyKey,
    /// The key was used with a different call.
    #[error("This Idempotency-Key was already used with a different request.")]
    IdempotencyKeyReused,
    /// The first call with this key has not been answered yet.
    #[error("The first request with this Idempotency-Key is still running.")]
    IdempotencyKeyInUse,
}

impl Refused for PayoutRefusal {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::LoanNotFound(_) => (StatusCode::NOT_FOUND, "loan_not_found"),
            Self::AlreadyDisbursed(_) => (StatusCode::CONFLICT, "already_disbursed"),
            Self::InProgress(_) => (StatusCode::CONFLICT, "in_progress"),
            Self::NotApproved => (StatusCode::CONFLICT, "not_approved"),
            Self::AmountMismatch(_) => (StatusCode::UNPROCESSABLE_ENTITY, "amount_mismatch"),
            Self::AboveMaximum(_) => (StatusCode::UNPROCESSABLE_ENTITY, "amount_above_maximum"),
            Self::PhoneMismatch => (StatusCode::UNPROCESSABLE_ENTITY, "phone_mismatch"),
            Self::MobileMoneyRefused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "mobile_money_refused"),
            Self::BadIdempotencyKey => (StatusCode::BAD_REQUEST, "bad_idempotency_key"),
            Self::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Self::IdempotencyKeyInUse => (StatusCode::CONFLICT, "idempotency_key_in_use"),
        }
    }

    fn result_code(&self) -> Option<&str> {
        match self {
            Self::MobileMoneyRefused { result_code, .. } => result_code.as_deref(),
            _ => None,
        }
    }

    fn record(&self) -> Option<&RawValue> {
        match self {
            Self::AlreadyDisbursed(record)
            | Self::InProgress(record)
            | Self::MobileMoneyRefused { record, .. } => Some(record),
            _ => None,
        }
    }
}
