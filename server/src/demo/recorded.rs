//! Data that were recorded from another provider, with made-up names and numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::DAY;
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query},
    error::Failure,
    payouts::PayoutStatus,
};

/// Rows per transaction: other writers wait no longer than one batch takes.
const BATCH: usize = 500;

/// Both lists of a provider, with the fields of the contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The approved loans that wait to be paid out.
    pub pending_loans: Vec<RecordedLoan>,
    /// The payouts.
    pub disbursement_records: Vec<RecordedPayout>,
}

/// A pending loan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct RecordedLoan {
    pub loan_id: String,
    pub customer_id: String,
    pub customer_first_name: String,
    pub customer_last_name: String,
    pub customer_phone_number: String,
    pub customer_id_number: String,
    pub customer_nickname: Option<String>,
    pub customer_gender: Option<String>,
    pub customer_status: String,
    pub customer_account_id: String,
    pub account_number: String,
    pub account_status: String,
    pub credit_score: Option<i64>,
    pub risk_level: Option<String>,
    pub total_loan_amount: i64,
    pub interest_rate: f64,
    pub approved_at: String,
    pub approver_id: Option<String>,
    pub approver_name: Option<String>,
    pub approver_email: Option<String>,
    pub remaining_balance: i64,
    pub loan_created_at: String,
    pub loan_updated_at: String,
    pub term: Option<i64>,
}

/// A payout.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct RecordedPayout {
    pub id: String,
    pub loan_id: String,
    pub amount: i64,
    pub status: String,
    pub created_at: String,
    pub mpesa_ref: Option<String>,
    pub transaction_id: String,
    pub phone: String,
    pub error_message: Option<String>,
    pub processed_at: Option<String>,
    pub user_id: String,
    pub user_first_name: String,
    pub user_last_name: String,
    pub user_email: String,
    pub customer_id: String,
    pub customer_first_name: String,
    pub customer_last_name: String,
    pub customer_id_number: String,
    pub customer_phone_number: String,
    pub approver_id: Option<String>,
    pub approver_name: Option<String>,
    pub approver_email: Option<String>,
}

const ADD_STAFF: &str = "
    INSERT INTO staff (staff_id, email, username, first_name, last_name, phone_number, role, password_hash,
                       is_active, created_at, updated_at)
    VALUES ($1, $2, $3, $3, $4, '+254711000000', 'agent', $5, $6, $7, $7)
    ON CONFLICT DO NOTHING";

const ADD_CUSTOMER: &str = "
    INSERT INTO customer (customer_id, first_name, last_name, phone_number, id_number, nickname, gender,
                          status, account_id, account_number, account_status, credit_score, risk_level)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT DO NOTHING";

const ADD_LOAN: &str = "
    INSERT INTO loan (loan_id, customer_id, amount, interest_rate_bp, term_months, status, remaining_balance,
                      approver_id, approver_name, approver_email, approved_at, disbursed_at, created_at,
                      updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

const ADD_PAYOUT: &str = "
    INSERT INTO payout (payout_id, loan_id, transaction_id, amount, phone_number, status, receipt,
                        result_code, error_message, staff_id, agent_id, created_at, processed_at, check_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '1', $11, $12, $11)";

const ADD_PAYMENT: &str = "
    INSERT INTO mobile_money_payment (originator_id, receipt, phone_number, amount, result_code, requested_at,
                                      result_at)
    VALUES ($1, $2, $3, $4, '0', $5, $6)";

/// A loan as it is stored.
struct Loan {
    from: RecordedLoan,
    status: &'static str,
    approved_at: UnixMillis,
    disbursed_at: Option<UnixMillis>,
    created_at: UnixMillis,
    updated_at: UnixMillis,
}

/// A payout as it is stored.
struct Payout {
    from: RecordedPayout,
    status: PayoutStatus,
    created_at: UnixMillis,
    processed_at: Option<UnixMillis>,
}

fn time(text: &str) -> anyhow::Result<UnixMillis> {
    text.parse().map_err(|text: String| anyhow::anyhow!(text))
}

impl Recording {
    /// Adds the loans and payouts, with the staff who made them: those accounts are deactivated, with
    /// passwords that nobody knows (`hash`). Returns how many loans and payouts were added.
    ///
    /// # Errors
    /// A sentence that says what of the recording can't be.
    pub async fn add(self, database: &Database, hash: &str) -> anyhow::Result<(usize, usize)> {
        let payouts = self.payouts()?;
        let loans = self.loans(&payouts)?;
        let counts = (loans.len(), payouts.len());
        let mut emails: HashMap<String, String> = HashMap::new();
        let mut staff: BTreeMap<String, (String, RecordedPayout)> = BTreeMap::new();
        for payout in &payouts {
            let from = &payout.from;
            let email = from.user_email.to_lowercase();
            let owner = emails.entry(email.clone()).or_insert_with(|| from.user_id.clone());
            // An address has one account.
            let email = if *owner == from.user_id {
                email
            } else {
                format!("{}@example.com", from.user_id.to_lowercase())
            };
            staff.entry(from.user_id.clone()).or_insert_with(|| (email, from.clone()));
        }
        let staff: Vec<(String, RecordedPayout)> = staff.into_values().collect();
        let hash = hash.to_owned();
        write(database, staff, move |connection, (email, from)| {
            let hash = hash.clone();
            Box::pin(async move { add_staff(connection, &email, &from, &hash).await })
        })
        .await?;
        let is_new = |error: anyhow::Error| error.context("is this recording in the database already?");
        write(database, loans, |connection, loan| Box::pin(add_loan(connection, loan)))
            .await
            .map_err(is_new)?;
        write(database, payouts, |connection, payout| Box::pin(add_payout(connection, payout)))
            .await
            .map_err(is_new)?;
        Ok(counts)
    }

    fn payouts(&self) -> anyhow::Result<Vec<Payout>> {
        let mut live = BTreeSet::new();
        let mut payouts = Vec::new();
        for from in &self.disbursement_records {
            let status = match from.status.as_str() {
                "PENDING" => PayoutStatus::Pending,
                "COMPLETED" => PayoutStatus::Completed,
                "FAILED" => PayoutStatus::Failed,
                _ => bail!("the payout {} has no known status", from.id),
            };
            ensure!(
                status == PayoutStatus::Failed || live.insert(from.loan_id.as_str()),
                "the loan {} was paid twice",
                from.loan_id
            );
            let created_at = time(&from.created_at)?;
            let processed_at = from.processed_at.as_deref().map(time).transpose()?.unwrap_or(created_at);
            let processed_at = (status != PayoutStatus::Pending).then_some(processed_at);
            payouts.push(Payout { from: from.clone(), status, created_at, processed_at });
        }
        Ok(payouts)
    }

    /// The pending loans, and those of the payouts that are not pending any more.
    fn loans(&self, payouts: &[Payout]) -> anyhow::Result<Vec<Loan>> {
        let mut loans = BTreeMap::new();
        for from in &self.pending_loans {
            let loan = Loan {
                status: "APPROVED",
                approved_at: time(&from.approved_at)?,
                disbursed_at: None,
                created_at: time(&from.loan_created_at)?,
                updated_at: time(&from.loan_updated_at)?,
                from: from.clone(),
            };
            let is_new = loans.insert(from.loan_id.clone(), loan).is_none();
            ensure!(is_new, "the loan {} is listed twice", from.loan_id);
        }
        for payout in payouts {
            let (from, created_at) = (&payout.from, payout.created_at);
            let approved_at = created_at.minus(DAY);
            let loan = loans.entry(from.loan_id.clone()).or_insert_with(|| Loan {
                status: "REJECTED",
                approved_at,
                disbursed_at: None,
                created_at: approved_at,
                updated_at: approved_at,
                from: of_payout(from),
            });
            match payout.status {
                PayoutStatus::Completed => {
                    (loan.status, loan.disbursed_at) = ("DISBURSED", Some(created_at));
                    loan.updated_at = created_at;
                }
                PayoutStatus::Pending => loan.status = "APPROVED",
                PayoutStatus::Failed => {}
            }
        }
        Ok(loans.into_values().collect())
    }
}

/// What a payout says of its loan.
fn of_payout(from: &RecordedPayout) -> RecordedLoan {
    RecordedLoan {
        loan_id: from.loan_id.clone(),
        customer_id: from.customer_id.clone(),
        customer_first_name: from.customer_first_name.clone(),
        customer_last_name: from.customer_last_name.clone(),
        customer_phone_number: from.customer_phone_number.clone(),
        customer_id_number: from.customer_id_number.clone(),
        customer_nickname: None,
        customer_gender: None,
        customer_status: "ACTIVE".to_owned(),
        customer_account_id: from.customer_id.clone(),
        account_number: from.customer_id.clone(),
        account_status: "ACTIVE".to_owned(),
        credit_score: None,
        risk_level: None,
        total_loan_amount: from.amount,
        interest_rate: 0.0,
        approved_at: String::new(),
        approver_id: from.approver_id.clone(),
        approver_name: from.approver_name.clone(),
        approver_email: from.approver_email.clone(),
        remaining_balance: from.amount,
        loan_created_at: String::new(),
        loan_updated_at: String::new(),
        term: None,
    }
}

/// Adds `rows` in batches, each with `add`.
async fn write<T, A>(database: &Database, rows: Vec<T>, add: A) -> anyhow::Result<()>
where
    T: Send + 'static,
    A: for<'c> Fn(&'c mut Connection, T) -> futures::future::BoxFuture<'c, Result<(), Failure>>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let batch: Vec<T> = rows.by_ref().take(BATCH).collect();
        let add = add.clone();
        database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move {
                    for row in batch {
                        add(&mut *connection, row).await?;
                    }
                    Ok(())
                })
            })
            .await
            .context("a row could not be added")?;
    }
    Ok(())
}

async fn add_staff(
    connection: &mut Connection,
    email: &str,
    from: &RecordedPayout,
    hash: &str,
) -> Result<(), Failure> {
    query(ADD_STAFF)
        .bind(&from.user_id)
        .bind(email)
        .bind(&from.user_first_name)
        .bind(&from.user_last_name)
        .bind(hash)
        .bind(false)
        .bind(time(&from.created_at).map_err(|error| Failure::Internal(error.to_string()))?)
        .execute(connection)
        .await?;
    Ok(())
}

async fn add_loan(connection: &mut Connection, loan: Loan) -> Result<(), Failure> {
    let from = loan.from;
    query(ADD_CUSTOMER)
        .bind(&from.customer_id)
        .bind(&from.customer_first_name)
        .bind(&from.customer_last_name)
        .bind(&from.customer_phone_number)
        .bind(&from.customer_id_number)
        .bind(&from.customer_nickname)
        .bind(&from.customer_gender)
        .bind(&from.customer_status)
        .bind(&from.customer_account_id)
        .bind(&from.account_number)
        .bind(&from.account_status)
        .bind(from.credit_score)
        .bind(&from.risk_level)
        .execute(&mut *connection)
        .await?;
    #[expect(clippy::cast_possible_truncation, reason = "a rate has a few digits")]
    let basis_points = (from.interest_rate * 100.0).round() as i64;
    query(ADD_LOAN)
        .bind(&from.loan_id)
        .bind(&from.customer_id)
        .bind(from.total_loan_amount)
        .bind(basis_points)
        .bind(from.term)
        .bind(loan.status)
        .bind(from.remaining_balance)
        .bind(&from.approver_id)
        .bind(&from.approver_name)
        .bind(&from.approver_email)
        .bind(loan.approved_at)
        .bind(loan.disbursed_at)
        .bind(loan.created_at)
        .bind(loan.updated_at)
        .execute(connection)
        .await?;
    Ok(())
}

async fn add_payout(connection: &mut Connection, payout: Payout) -> Result<(), Failure> {
    let Payout { from, status, created_at, processed_at } = payout;
    let is_paid = status == PayoutStatus::Completed;
    let receipt = is_paid.then(|| from.mpesa_ref.unwrap_or_else(|| from.transaction_id.to_uppercase()));
    query(ADD_PAYOUT)
        .bind(&from.id)
        .bind(&from.loan_id)
        .bind(&from.transaction_id)
        .bind(from.amount)
        .bind(&from.phone)
        .bind(status)
        .bind(&receipt)
        .bind(is_paid.then_some("0"))
        .bind(from.error_message.filter(|_| status == PayoutStatus::Failed))
        .bind(&from.user_id)
        .bind(created_at)
        .bind(processed_at)
        .execute(&mut *connection)
        .await?;
    if let Some(receipt) = receipt {
        query(ADD_PAYMENT)
            .bind(&from.transaction_id)
            .bind(receipt)
            .bind(&from.phone)
            .bind(from.amount)
            .bind(created_at)
            .bind(processed_at)
            .execute(connection)
            .await?;
    }
    Ok(())
}
