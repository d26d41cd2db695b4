//! The transaction history: a record of every payout.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::PayoutStatus;
use crate::lists;
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{ApproverId, CustomerId, LoanId, PayoutId, StaffId, TransactionId},
    kes::Kes,
};
use store::{Connection, Database, listed, query_as, query_scalar};

/// A payout in the history, with the fields of the contract.
#[derive(Clone, Debug, Serialize, Deserialize, sqlx_macros::FromRow)]
pub struct Record {
    pub id: PayoutId,
    pub loan_id: LoanId,
    pub amount: Kes,
    pub status: PayoutStatus,
    pub created_at: UnixMillis,
    pub mpesa_ref: Option<String>,
    pub transaction_id: TransactionId,
    pub phone: String,
    pub error_message: Option<String>,
    pub processed_at: Option<UnixMillis>,
    pub user_id: StaffId,
    pub user_first_name: String,
    pub user_last_name: String,
    pub user_email: String,
    pub customer_id: CustomerId,
    pub customer_first_name: String,
    pub customer_last_name: String,
    pub customer_id_number: String,
    pub customer_phone_number: String,
    pub approver_id: Option<ApproverId>,
    pub approver_name: Option<String>,
    pub approver_email: Option<String>,
    /// Mobile money's result code of a failed payout. It is not serialized.
    #[serde(skip)]
    pub result_code: Option<String>,
    /// The loan's notes. They are not serialized.
    #[serde(skip)]
    pub notes: Option<String>,
}

impl Record {
    pub(super) fn to_json(&self) -> Result<Box<RawValue>, Failure> {
        to_raw_value(self).map_err(Failure::internal)
    }
}

/// Selects the columns of [`Record`]; each query appends its own conditions.
macro_rules! select_records {
    ($rest:literal) => {
        concat!(
            "SELECT payout.payout_id AS id, payout.loan_id, payout.amount, payout.status, payout.created_at,
                    payout.receipt AS mpesa_ref, payout.transaction_id, payout.phone_number AS phone,
                    payout.error_message, payout.processed_at, payout.staff_id AS user_id,
                    staff.first_name AS user_first_name, staff.last_name AS user_last_name,
                    staff.email AS user_email, customer.customer_id,
                    customer.first_name AS customer_first_name, customer.last_name AS customer_last_name,
                    customer.id_number AS customer_id_number, customer.phone_number AS customer_phone_number,
                    loan.approver_id, loan.approver_name, loan.approver_email, payout.result_code, loan.notes
             FROM payout
             JOIN loan ON loan.loan_id = payout.loan_id
             JOIN customer ON customer.customer_id = loan.customer_id
             JOIN staff ON staff.staff_id = payout.staff_id ",
            $rest
        )
    };
}

const ONE: &str = select_records!("WHERE payout.payout_id = $1");
const SOME: &str = select_records!(
    "WHERE payout.payout_id IN (SELECT value ->> 'id' FROM json_each($1)) ORDER BY payout.payout_id"
);
const LIVE: &str = select_records!(
    "WHERE payout.loan_id IN (SELECT value ->> 'id' FROM json_each($1))
     AND payout.status IN ('PENDING', 'COMPLETED')"
);
const OF_TRANSACTIONS: &str = select_records!(
    "WHERE payout.transaction_id IN (SELECT value ->> 'id' FROM json_each($1)) ORDER BY payout.loan_id"
);

impl lists::Row for Record {
    const ALL: &'static str = select_records!("ORDER BY payout.created_at DESC, payout.payout_id DESC");
    const PAGE: &'static str = select_records!(
        "WHERE (payout.created_at, payout.payout_id) < ($1, $2)
         ORDER BY payout.created_at DESC, payout.payout_id DESC LIMIT $3"
    );

    fn place(&self) -> lists::Place {
        lists::Place { at: self.created_at, id: self.id.as_str().into() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    pub loan_id: Option<LoanId>,
    /// Only settled payouts, or only pending ones.
    pub is_settled: Option<bool>,
}

const MATCHING: &str = select_records!(
    "WHERE (CAST($1 AS TEXT) IS NULL OR payout.loan_id = $1)
       AND ($2 = 'all' OR ($2 = 'settled') = (payout.status <> 'PENDING'))
     ORDER BY payout.created_at DESC, payout.payout_id DESC LIMIT 1000"
);

/// The latest thousand records that match `filter`, newest first. If there are none, waits up to `timeout`
/// (in real time) for the first.
pub async fn wait_for_records(
    database: &Database,
    filter: &RecordFilter,
    timeout: Duration,
) -> Result<Vec<Record>, Failure> {
    let settled = match filter.is_settled {
        None => "all",
        Some(true) => "settled",
        Some(false) => "pending",
    };
    database.wait_for_rows(timeout, || query_as(MATCHING).bind(&filter.loan_id).bind(settled)).await
}

/// The latest records of payouts that were made from `$1` until `$2`, newest first, at most `$3` of them.
pub(crate) const LATEST_RECORDS: &str = select_records!(
    "WHERE payout.created_at >= $1 AND payout.created_at < $2
     ORDER BY payout.created_at DESC, payout.payout_id DESC LIMIT $3"
);
pub(crate) const LATEST_COMPLETED: &str = select_records!(
    "WHERE payout.status = 'COMPLETED' AND payout.created_at >= $1 AND payout.created_at < $2
     ORDER BY payout.created_at DESC, payout.payout_id DESC LIMIT $3"
);
pub(crate) const LATEST_FAILED: &str = select_records!(
    "WHERE payout.status = 'FAILED' AND payout.created_at >= $1 AND payout.created_at < $2
     ORDER BY payout.created_at DESC, payout.payout_id DESC LIMIT $3"
);

pub async fn record(connection: &mut Connection, payout_id: &PayoutId) -> Result<Record, Failure> {
    Ok(query_as(ONE).bind(payout_id).fetch_one(connection).await?)
}

pub(super) async fn records(
    connection: &mut Connection,
    payout_ids: &[PayoutId],
) -> Result<Vec<Record>, sqlx::Error> {
    query_as(SOME).bind(listed(payout_ids)).fetch_all(connection).await
}

/// The pending or completed payouts of these loans, by loan. A loan has at most one.
pub(super) async fn live_records(
    connection: &mut Connection,
    loan_ids: &[LoanId],
) -> Result<HashMap<LoanId, Record>, sqlx::Error> {
    let live: Vec<Record> = query_as(LIVE).bind(listed(loan_ids)).fetch_all(connection).await?;
    Ok(live.into_iter().map(|record| (record.loan_id.clone(), record)).collect())
}

const EXISTING: &str = "
    SELECT transaction_id FROM payout
    WHERE transaction_id IN (SELECT value ->> 'id' FROM json_each($1))";

/// Payouts, locked with their loans as far as possible.
pub(super) struct Locked {
    pub records: Vec<Record>,
    /// The transaction ids of payouts that somebody else has locked, or their loans.
    pub others: HashSet<TransactionId>,
}

/// Locks the payouts with these transaction ids and their loans, and returns the payouts.
pub(super) async fn lock_records(
    connection: &mut Connection,
    transaction_ids: &[TransactionId],
) -> Result<Locked, sqlx::Error> {
    let records: Vec<Record> = query_as(OF_TRANSACTIONS)
        .bind(listed(transaction_ids))
        .locking("FOR NO KEY UPDATE OF loan, payout SKIP LOCKED")
        .fetch_all(&mut *connection)
        .await?;
    let found: HashSet<&str> = records.iter().map(|record| record.transaction_id.as_str()).collect();
    let missing: Vec<TransactionId> =
        transaction_ids.iter().filter(|id| !found.contains(id.as_str())).cloned().collect();
    let mut others = HashSet::new();
    if !missing.is_empty() {
        let existing: Vec<TransactionId> =
            query_scalar(EXISTING).bind(listed(&missing)).fetch_all(connection).await?;
        others.extend(existing);
    }
    Ok(Locked { records, others })
}
