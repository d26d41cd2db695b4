//! Data recorded from another provider, with made-up names and numbers.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::{
    DAY,
    loans::{ADD_PAYMENT, ADD_PAYOUT},
};
use crate::{
    loans::{self, DisbursementStatus, LoanStatus, PendingLoan},
    payouts::{PayoutStatus, Record},
};
use base::{clock::UnixMillis, error::Failure, ids::StaffId};
use store::{Connection, Database, query};

/// Rows per transaction: other writers wait no longer than one batch takes.
const BATCH: usize = 500;

/// Both lists of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    pub pending_loans: Vec<PendingLoan>,
    pub disbursement_records: Vec<Record>,
}

const ADD_STAFF: &str = "
    INSERT INTO staff (staff_id, email, username, first_name, last_name, phone_number, role, password_hash,
                       is_active, created_at, updated_at)
    VALUES ($1, $2, $3, $3, $4, '+254711000000', 'agent', $5, $6, $7, $7)
    ON CONFLICT DO NOTHING";

/// A loan, and the time at which it was paid out.
type Loan = (PendingLoan, Option<UnixMillis>);

/// Blames the recording for rows that a constraint of the database rejected.
fn refused(failure: Failure) -> Failure {
    match failure {
        Failure::Storage(sqlx::Error::Database(error)) => {
            tracing::info!(%error, "recording.refused");
            let text = "a loan or payout of the recording can't be added: is this recording in the database \
                        already?";
            Failure::bad_field("recording", text)
        }
        failure => failure,
    }
}

impl Recording {
    /// Reads a file that `mkopo provider record` wrote.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
        serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a recording of `mkopo provider record`", file.display()))
    }

    /// Adds the loans and payouts, with deactivated accounts for the staff who made them, whose password
    /// nobody knows (`hash`). Pending payouts are paid a day after `now`. Returns the numbers of loans and payouts added.
    pub async fn add(
        self,
        database: &Database,
        hash: &str,
        now: UnixMillis,
    ) -> Result<(usize, usize), Failure> {
        let payouts = self.payouts()?;
        let loans = self.loans(&payouts)?;
        let counts = (loans.len(), payouts.len());
        let mut emails: HashMap<String, StaffId> = HashMap::new();
        let mut staff: BTreeMap<StaffId, (String, Record)> = BTreeMap::new();
        for payout in &payouts {
            let email = payout.user_email.to_lowercase();
            let owner = emails.entry(email.clone()).or_insert_with(|| payout.user_id.clone());
            // An address has one account.
            let email = if *owner == payout.user_id {
                email
            } else {
                format!("{}@example.com", payout.user_id.to_lowercase())
            };
            staff.entry(payout.user_id.clone()).or_insert_with(|| (email, payout.clone()));
        }
        let staff = staff.into_values().map(|(email, payout)| Row::Staff(email, payout));
        let rows = staff.chain(loans.into_iter().map(Row::Loan)).chain(payouts.into_iter().map(Row::Payout));
        write(database, rows.collect(), hash, now).await?;
        Ok(counts)
    }

    /// Returns the payouts. Settled ones have the time at which they settled.
    fn payouts(&self) -> Result<Vec<Record>, Failure> {
        let mut live = BTreeSet::new();
        let mut payouts = self.disbursement_records.clone();
        for payout in &mut payouts {
            if payout.status != PayoutStatus::Failed && !live.insert(payout.loan_id.clone()) {
                let text = format!("the loan {} was paid twice", payout.loan_id);
                return Err(Failure::bad_field("recording", text));
            }
            let ended_at = payout.processed_at.unwrap_or(payout.created_at);
            payout.processed_at = (payout.status != PayoutStatus::Pending).then_some(ended_at);
        }
        Ok(payouts)
    }

    /// Returns the loans of the payouts, and then the pending ones, which have more customer details.
    fn loans(&self, payouts: &[Record]) -> Result<Vec<Loan>, Failure> {
        let mut pending = BTreeMap::new();
        for loan in &self.pending_loans {
            let approved = PendingLoan { loan_status: LoanStatus::Approved, ..loan.clone() };
            if pending.insert(&loan.loan_id, (approved, None)).is_some() {
                let text = format!("the loan {} is listed twice", loan.loan_id);
                return Err(Failure::bad_field("recording", text));
            }
        }
        let mut others = BTreeMap::new();
        for payout in payouts {
            let loans = if pending.contains_key(&payout.loan_id) { &mut pending } else { &mut others };
            let (loan, disbursed_at) =
                loans.entry(&payout.loan_id).or_insert_with(|| (of_payout(payout), None));
            match payout.status {
                PayoutStatus::Completed => {
                    loan.loan_status = LoanStatus::Disbursed;
                    loan.loan_updated_at = payout.created_at;
                    *disbursed_at = Some(payout.created_at);
                }
                PayoutStatus::Pending => loan.loan_status = LoanStatus::Approved,
                PayoutStatus::Failed => {}
            }
        }
        Ok(others.into_values().chain(pending.into_values()).collect())
    }
}

/// Returns the loan of a payout, which is not among the pending ones, with the details that the payout has.
fn of_payout(payout: &Record) -> PendingLoan {
    let approved_at = payout.created_at.minus(DAY);
    PendingLoan {
        loan_id: payout.loan_id.clone(),
        customer_id: payout.customer_id.clone(),
        customer_first_name: payout.customer_first_name.clone(),
        customer_last_name: payout.customer_last_name.clone(),
        customer_phone_number: payout.customer_phone_number.clone(),
        customer_id_number: payout.customer_id_number.clone(),
        customer_nickname: None,
        customer_gender: None,
        customer_status: "ACTIVE".to_owned(),
        customer_account_id: payout.customer_id.to_string().into(),
        account_number: payout.customer_id.to_string(),
        account_status: "ACTIVE".to_owned(),
        credit_score: None,
        risk_level: None,
        total_loan_amount: payout.amount,
        interest_rate_bp: 0,
        loan_status: LoanStatus::Rejected,
        disbursement_status: DisbursementStatus::NotStarted,
        approved_at,
        approver_id: payout.approver_id.clone(),
        approver_name: payout.approver_name.clone(),
        approver_email: payout.approver_email.clone(),
        remaining_balance: payout.amount,
        notes: None,
        loan_created_at: approved_at,
        loan_updated_at: approved_at,
        term: None,
        purpose: None,
    }
}

enum Row {
    Staff(String, Record),
    Loan(Loan),
    Payout(Record),
}

impl Row {
    /// Nobody knows the password of an account whose hash is `hash`.
    async fn add(self, connection: &mut Connection, hash: &str, now: UnixMillis) -> Result<(), Failure> {
        match self {
            Self::Staff(email, payout) => {
                query(ADD_STAFF)
                    .bind_all((&payout.user_id, email, &payout.user_first_name))
                    .bind_all((&payout.user_last_name, hash, false, payout.created_at))
                    .run(connection)
                    .await?;
            }
            Self::Loan((loan, disbursed_at)) => loans::add(connection, &loan, disbursed_at).await?,
            Self::Payout(payout) => add_payout(connection, payout, now).await?,
        }
        Ok(())
    }
}

async fn write(database: &Database, rows: Vec<Row>, hash: &str, now: UnixMillis) -> Result<(), Failure> {
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut transaction = database.begin().await?;
        for row in rows.by_ref().take(BATCH) {
            row.add(&mut transaction, hash, now).await.map_err(refused)?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

async fn add_payout(connection: &mut Connection, payout: Record, now: UnixMillis) -> Result<(), Failure> {
    const PAID: &str = "0";
    let (is_paid, is_failed) =
        (payout.status == PayoutStatus::Completed, payout.status == PayoutStatus::Failed);
    let receipt =
        (!is_failed).then(|| payout.mpesa_ref.unwrap_or_else(|| payout.transaction_id.to_uppercase()));
    query(ADD_PAYOUT)
        .bind_all((&payout.id, &payout.loan_id, &payout.transaction_id, payout.amount))
        .bind_all((&payout.phone, payout.status, receipt.as_ref().filter(|_| is_paid)))
        .bind_all((is_paid.then_some(PAID), payout.error_message.filter(|_| is_failed)))
        .bind_all((&payout.user_id, payout.created_at, payout.processed_at))
        .execute(&mut *connection)
        .await?;
    // A payout of which mobile money knows nothing would soon be voided.
    if let Some(receipt) = receipt {
        query(ADD_PAYMENT)
            .bind_all((&payout.transaction_id, receipt, &payout.phone, payout.amount))
            .bind_all((PAID, payout.created_at, payout.processed_at.unwrap_or_else(|| now.plus(DAY))))
            .bind(&payout.loan_id)
            .execute(connection)
            .await?;
    }
    Ok(())
}
