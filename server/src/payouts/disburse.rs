//! Paying a loan out: claim it, ask mobile money, settle.
//!
//! No database transaction is held while mobile money is asked. The claim is on disk before, so
//! whatever happens between the three steps, the payout is known and its loan can't be paid again.

use std::time::Duration;

use serde::Serialize;

use super::{PayoutStatus, Record, records};
use crate::{
    Sandbox,
    auth::Staff,
    clock::UnixMillis,
    database::Connection,
    error::Failure,
    loans::{DisbursementStatus, LoanStatus},
    mobile_money::{Answer, Payment},
    outbox,
    phone::Msisdn,
    randomness::Randomness,
    versions::{self, Versioned},
};

/// How long an answer waits for mobile money. Callers give up after 10 s; they shall hear
/// 'accepted' before that.
const PATIENCE: Duration = Duration::from_secs(8);

/// What the caller asks, and was shown when they confirmed.
pub struct DisbursementRequest {
    /// Who the caller says pays.
    pub agent_id: String,
    /// The loan's amount, in KES.
    pub amount: i64,
    /// The customer's phone.
    pub phone_number: Msisdn,
}

/// A payout and where its loan stands now.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the contract's names")]
pub struct Disbursement {
    /// The payout.
    #[serde(flatten)]
    pub record: Record,
    loan_status: LoanStatus,
    disbursement_status: DisbursementStatus,
    disbursed_at: Option<UnixMillis>,
    disbursed_by: Option<String>,
}

/// Pays `loan_id` out in the name of `staff`. Settled when the record says COMPLETED; PENDING
/// when mobile money has not answered in 8 s.
///
/// # Errors
/// [`Failure::LoanNotFound`], [`Failure::AlreadyDisbursed`], [`Failure::InProgress`],
/// [`Failure::NotApproved`], [`Failure::AmountMismatch`], [`Failure::PhoneMismatch`]: nothing was
/// done. [`Failure::MobileMoneyRefused`]: the payout failed, and the loan can be tried again.
pub async fn disburse(
    sandbox: &Sandbox,
    staff: &Staff,
    loan_id: String,
    request: DisbursementRequest,
) -> Result<Disbursement, Failure> {
    let claim = Claim {
        payout_id: sandbox.randomness.id(sandbox.clock.now()),
        transaction_id: sandbox.randomness.id(sandbox.clock.now()),
        loan_id,
        staff_id: staff.staff_id.clone(),
        request,
        now: sandbox.clock.now(),
    };
    // A task of its own: a caller who hangs up must not stop a payout half-way.
    let payout = tokio::spawn(claim_pay_settle(sandbox.clone(), claim));
    let record = payout.await.map_err(|panicked| Failure::Internal(panicked.to_string()))??;
    match record.status {
        PayoutStatus::Failed => Err(Failure::MobileMoneyRefused {
            result_code: record.result_code.clone().unwrap_or_default(),
            text: record.error_message.clone().unwrap_or_default(),
            record: Box::new(record),
        }),
        PayoutStatus::Completed => Ok(Disbursement {
            loan_status: LoanStatus::Disbursed,
            disbursement_status: DisbursementStatus::Completed,
            disbursed_at: record.processed_at,
            disbursed_by: Some(staff.name()),
            record,
        }),
        PayoutStatus::Pending => Ok(Disbursement {
            loan_status: LoanStatus::Approved,
            disbursement_status: DisbursementStatus::Pending,
            disbursed_at: None,
            disbursed_by: None,
            record,
        }),
    }
}

async fn claim_pay_settle(sandbox: Sandbox, claim: Claim) -> Result<Record, Failure> {
    let payout_id = claim.payout_id.clone();
    let loan_id = claim.loan_id.clone();
    let payment = Payment {
        originator_id: claim.transaction_id.clone(),
        phone_number: claim.request.phone_number.clone(),
        amount: claim.request.amount,
    };
    let claimed =
        sandbox.database.write(move |connection: &mut Connection| Box::pin(claim.enter(connection))).await?;
    tracing::info!(loan.id = loan_id, payout.id = payout_id, "payout.claimed");

    let paying = tokio::spawn({
        let sandbox = sandbox.clone();
        async move {
            let answer = sandbox.mobile_money.pay(payment).await?;
            settle(&sandbox, payout_id, answer).await
        }
    });
    tokio::select! {
        settled = paying => settled.map_err(|panicked| Failure::Internal(panicked.to_string()))?,
        () = sandbox.clock.sleep(PATIENCE) => Ok(claimed),
    }
}

struct Claim {
    payout_id: String,
    transaction_id: String,
    loan_id: String,
    staff_id: String,
    request: DisbursementRequest,
    now: UnixMillis,
}

const LOAN: &str = "
    SELECT loan.status, loan.amount, customer.phone_number
    FROM loan JOIN customer ON customer.customer_id = loan.customer_id
    WHERE loan.loan_id = $1";

const CLAIM: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at)
    VALUES ($1, $2, $3, $4, $5, 'PENDING', $6, $7, $8)";

impl Claim {
    async fn enter(self, connection: &mut Connection) -> Result<Record, Failure> {
        let (status, amount, phone_number): (LoanStatus, i64, Msisdn) = sqlx::query_as(LOAN)
            .bind(&self.loan_id)
            .fetch_optional(&mut *connection)
            .await?
            .ok_or_else(|| Failure::LoanNotFound(self.loan_id.clone()))?;
        if let Some(record) = records::live_record(connection, &self.loan_id).await? {
            return Err(match record.status {
                PayoutStatus::Completed => Failure::AlreadyDisbursed(Box::new(record)),
                PayoutStatus::Pending | PayoutStatus::Failed => Failure::InProgress(Box::new(record)),
            });
        }
        if status != LoanStatus::Approved {
            return Err(Failure::NotApproved);
        }
        if amount != self.request.amount {
            return Err(Failure::AmountMismatch(amount));
        }
        if phone_number != self.request.phone_number {
            return Err(Failure::PhoneMismatch);
        }
        sqlx::query(CLAIM)
            .bind(&self.payout_id)
            .bind(&self.loan_id)
            .bind(&self.transaction_id)
            .bind(amount)
            .bind(&phone_number)
            .bind(&self.staff_id)
            .bind(&self.request.agent_id)
            .bind(self.now)
            .execute(&mut *connection)
            .await?;
        lists_changed(connection).await?;
        records::record(connection, &self.payout_id).await
    }
}

const COMPLETE: &str = "
    UPDATE payout SET status = 'COMPLETED', receipt = $2, result_code = '0', processed_at = $3
    WHERE payout_id = $1 AND status = 'PENDING'";

const FAIL: &str = "
    UPDATE payout SET status = 'FAILED', result_code = $2, error_message = $3, processed_at = $4
    WHERE payout_id = $1 AND status = 'PENDING'";

const DISBURSE_LOAN: &str = "
    UPDATE loan SET status = 'DISBURSED', disbursed_at = $2, updated_at = $2 WHERE loan_id = $1";

/// Writes down what became of a payout. Hearing the same answer again changes nothing.
async fn settle(sandbox: &Sandbox, payout_id: String, answer: Answer) -> Result<Record, Failure> {
    let now = sandbox.clock.now();
    let randomness = sandbox.randomness.clone();
    let brand = sandbox.settings.brand.clone();
    let record = sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                match answer {
                    Answer::Paid { receipt } => {
                        complete(connection, &randomness, now, &payout_id, &receipt, &brand).await?;
                    }
                    Answer::Refused(refusal) => {
                        sqlx::query(FAIL)
                            .bind(&payout_id)
                            .bind(refusal.code())
                            .bind(refusal.text())
                            .bind(now)
                            .execute(&mut *connection)
                            .await?;
                    }
                    // What became of the first request is not known from this; the payout waits.
                    Answer::DuplicateOriginator => {}
                }
                lists_changed(connection).await?;
                records::record(connection, &payout_id).await
            })
        })
        .await?;
    tracing::info!(loan.id = record.loan_id, payout.id = record.id, status = ?record.status, "payout.settled");
    Ok(record)
}

/// A payout shows in both lists.
async fn lists_changed(connection: &mut Connection) -> Result<(), sqlx::Error> {
    versions::moved(connection, Versioned::Pending).await?;
    versions::moved(connection, Versioned::Records).await
}

async fn complete(
    connection: &mut Connection,
    randomness: &Randomness,
    now: UnixMillis,
    payout_id: &str,
    receipt: &str,
    brand: &str,
) -> Result<(), Failure> {
    let completed = sqlx::query(COMPLETE)
        .bind(payout_id)
        .bind(receipt)
        .bind(now)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    if completed == 0 {
        return Ok(());
    }
    let record = records::record(connection, payout_id).await?;
    sqlx::query(DISBURSE_LOAN).bind(&record.loan_id).bind(now).execute(&mut *connection).await?;
    let phone = Msisdn::parse(&record.phone).ok_or_else(|| Failure::Internal("stored phone".to_owned()))?;
    let text = format!(
        "{receipt} Confirmed. Dear {}, your loan of KES {} from {brand} has been sent to {}.",
        record.customer_first_name,
        record.amount,
        phone.local(),
    );
    outbox::sms(connection, randomness, now, &phone, &text).await?;
    Ok(())
}
