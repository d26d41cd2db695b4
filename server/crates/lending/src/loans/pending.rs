//! The pending list: every approved loan, latest approval first.

use serde::{Deserialize, Serialize};

use super::{DisbursementStatus, LoanStatus};
use crate::lists;
use base::{
    clock::UnixMillis,
    ids::{AccountId, ApproverId, CustomerId, LoanId},
    kes::Kes,
};
use store::{Connection, query_as};

/// A loan in the pending list, with the fields of the contract.
#[derive(Clone, Debug, Serialize, Deserialize, sqlx_macros::FromRow)]
pub struct PendingLoan {
    pub loan_id: LoanId,
    pub customer_id: CustomerId,
    pub customer_first_name: String,
    pub customer_last_name: String,
    pub customer_phone_number: String,
    pub customer_id_number: String,
    pub customer_nickname: Option<String>,
    pub customer_gender: Option<String>,
    pub customer_status: String,
    pub customer_account_id: AccountId,
    pub account_number: String,
    pub account_status: String,
    pub credit_score: Option<i64>,
    pub risk_level: Option<String>,
    pub total_loan_amount: Kes,
    #[serde(rename = "interest_rate", with = "percent")]
    pub interest_rate_bp: i64,
    pub loan_status: LoanStatus,
    pub disbursement_status: DisbursementStatus,
    pub approved_at: UnixMillis,
    pub approver_id: Option<ApproverId>,
    pub approver_name: Option<String>,
    pub approver_email: Option<String>,
    pub remaining_balance: Kes,
    pub notes: Option<String>,
    pub loan_created_at: UnixMillis,
    pub loan_updated_at: UnixMillis,
    pub term: Option<i64>,
    pub purpose: Option<String>,
}

/// Basis points as percent.
mod percent {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
    #[expect(clippy::cast_precision_loss, reason = "a rate has a few digits")]
    pub fn serialize<S: Serializer>(basis_points: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*basis_points as f64 / 100.0)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a rate has a few digits")]
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        Ok((f64::deserialize(deserializer)? * 100.0).round() as i64)
    }
}

/// Selects the columns of [`PendingLoan`]; each query appends its own conditions. At most one payout of a loan has not
/// failed: times do not tell it from those before it where the clock is frozen or was set back.
macro_rules! select_pending {
    ($rest:literal) => {
        concat!(
            "SELECT loan.loan_id, loan.customer_id,
                    customer.first_name AS customer_first_name, customer.last_name AS customer_last_name,
                    customer.phone_number AS customer_phone_number, customer.id_number AS customer_id_number,
                    customer.nickname AS customer_nickname, customer.gender AS customer_gender,
                    customer.status AS customer_status, customer.account_id AS customer_account_id,
                    customer.account_number, customer.account_status, customer.credit_score,
                    customer.risk_level, loan.amount AS total_loan_amount, loan.interest_rate_bp,
                    loan.status AS loan_status,
                    COALESCE((SELECT payout.status FROM payout WHERE payout.loan_id = loan.loan_id
                              ORDER BY payout.status = 'FAILED' LIMIT 1), 'NOT_STARTED')
                        AS disbursement_status,
                    loan.approved_at, loan.approver_id, loan.approver_name, loan.approver_email,
                    loan.remaining_balance, loan.notes,
                    loan.created_at AS loan_created_at, loan.updated_at AS loan_updated_at,
                    loan.term_months AS term, loan.purpose
             FROM loan JOIN customer ON customer.customer_id = loan.customer_id
             WHERE loan.status = 'APPROVED' ",
            $rest
        )
    };
}

/// The totals of the pending list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub loans: i64,
    pub amount: Kes,
}

const WAITING: &str = "
    SELECT count(*), CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM loan WHERE status = 'APPROVED'";

pub async fn waiting(connection: &mut Connection) -> Result<Waiting, sqlx::Error> {
    let (loans, amount) = query_as(WAITING).fetch_one(connection).await?;
    Ok(Waiting { loans, amount })
}

impl lists::Row for PendingLoan {
    const ALL: &'static str = select_pending!("ORDER BY loan.approved_at DESC, loan.loan_id DESC");
    const PAGE: &'static str = select_pending!(
        "AND (loan.approved_at, loan.loan_id) < ($1, $2)
         ORDER BY loan.approved_at DESC, loan.loan_id DESC LIMIT $3"
    );

    fn place(&self) -> lists::Place {
        lists::Place { at: self.approved_at, id: self.loan_id.as_str().into() }
    }
}
