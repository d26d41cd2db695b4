//! The answer to a payout call. It is built once; a repeat gets the same bytes.

use serde::Serialize;

use super::{PayoutRefusal, PayoutStatus, Record};
use crate::loans::{DisbursementStatus, LoanStatus};
use base::{
    clock::UnixMillis,
    error::{Failure, FailureFormat},
};

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub body: String,
    /// `true` if the body is a failure in the format of RFC 9457.
    pub problem: bool,
    /// `true` if the same call already got this answer.
    pub replayed: bool,
}

/// A payout with the status of its loan.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in the contract")]
struct Disbursement {
    #[serde(flatten)]
    record: Record,
    loan_status: LoanStatus,
    disbursement_status: DisbursementStatus,
    disbursed_at: Option<UnixMillis>,
    disbursed_by: Option<String>,
}

impl Reply {
    /// The answer for a payout that is settled, accepted, or refused by mobile money.
    pub(super) fn of(record: Record, format: &FailureFormat) -> Result<Self, Failure> {
        let disbursement = match record.status {
            PayoutStatus::Failed => {
                let refused = Failure::from(PayoutRefusal::MobileMoneyRefused {
                    result_code: record.result_code.clone(),
                    text: record.error_message.clone().unwrap_or_default(),
                    record: record.to_json()?,
                });
                return Self::refusal(&refused, format);
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
        let body = serde_json::to_string(&disbursement).map_err(Failure::internal)?;
        Ok(Self { status, body, problem: false, replayed: false })
    }

    pub(super) fn refusal(failure: &Failure, format: &FailureFormat) -> Result<Self, Failure> {
        let (status, _) = failure.status_and_code();
        let body = String::from_utf8(failure.to_json(format)).map_err(Failure::internal)?;
        Ok(Self { status: status.as_u16(), body, problem: format.problem, replayed: false })
    }
}
