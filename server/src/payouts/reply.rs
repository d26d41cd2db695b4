//! What a call to pay out is answered: made once, and then the same byte for byte whenever it is
//! asked for again.

use serde::Serialize;

use super::{PayoutStatus, Record};
use crate::{
    clock::UnixMillis,
    error::{Failure, FailureFormat},
    loans::{DisbursementStatus, LoanStatus},
};

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP's status.
    pub status: u16,
    /// JSON.
    pub body: String,
    /// The body is a failure as RFC 9457 has it.
    pub problem: bool,
    /// It was given before, to the same call.
    pub replayed: bool,
}

/// A payout and where its loan stands now.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the contract's names")]
struct Disbursement {
    #[serde(flatten)]
    record: Record,
    loan_status: LoanStatus,
    disbursement_status: DisbursementStatus,
    disbursed_at: Option<UnixMillis>,
    disbursed_by: Option<String>,
}

impl Reply {
    /// The answer that a payout gives: settled, accepted, or refused by mobile money.
    pub(super) fn of(record: Record, form: &FailureFormat) -> Result<Self, Failure> {
        let disbursement = match record.status {
            PayoutStatus::Failed => {
                let refused = Failure::MobileMoneyRefused {
                    result_code: record.result_code.clone(),
                    text: record.error_message.clone().unwrap_or_default(),
                    record: record.to_json()?,
                };
                return Self::refusal(refused, form);
            }
            PayoutStatus::Completed => Disbursement {
                loan_status: LoanStatus::Disbursed,
                disbursement_status: DisbursementStatus::Completed,
                disbursed_at: record.processed_at,
                disbursed_by: Some(format!("{} {}", record.user_first_name, record.user_last_name)),
                record,
            },
            PayoutStatus::Pending => Disbursement {
                loan_status: LoanStatus::Approved,
                disbursement_status: DisbursementStatus::Pending,
                disbursed_at: None,
                disbursed_by: None,
                record,
            },
        };
        let status = if disbursement.disbursed_at.is_some() { 200 } else { 202 };
        let body =
            serde_json::to_string(&disbursement).map_err(|error| Failure::Internal(error.to_string()))?;
        Ok(Self { status, body, problem: false, replayed: false })
    }

    /// `failure` as its caller hears it.
    pub(super) fn refusal(failure: Failure, form: &FailureFormat) -> Result<Self, Failure> {
        let (status, _) = failure.status_and_code();
        let body = String::from_utf8(failure.body().to_json(&form.request_id, form.problem))
            .map_err(|error| Failure::Internal(error.to_string()))?;
        Ok(Self { status: status.as_u16(), body, problem: form.problem, replayed: false })
    }
}
