//! The rules for claiming loans for payouts, for any number of calls at a time.
//!
//! Everything that the rules need is read first, with the loans and sessions locked. Then the calls are
//! decided on one after the other, each as if those before it had been committed, and all claims are written
//! by one statement. So two calls with one key may be in the same set; a further call for a loan that is claimed by it
//! is tried again after it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    DisbursementRequest, FIRST_CHECK, KeyedCall, PayoutRefusal, PayoutStatus, REQUEST_LIFETIME, Record,
    Reply, idempotency::Keys, records,
};
use crate::{auth::AuthRefusal, loans::LoanStatus, mobile_money::Payment};
use base::{
    clock::UnixMillis,
    error::{Failure, FailureFormat},
    ids::{LoanId, PayoutId, SessionId, StaffId, TransactionId},
    kes::Kes,
    phone::Msisdn,
};
use store::{
    Connection, query, query_as,
    sets::{InSets, Written},
    version::DataCopy,
};

/// A call that waits to claim its loan.
#[derive(Debug)]
pub struct Claim {
    pub(super) payout_id: PayoutId,
    pub(super) transaction_id: TransactionId,
    pub(super) session_id: SessionId,
    pub(super) staff_id: StaffId,
    pub(super) request: DisbursementRequest,
    pub(super) call: Option<KeyedCall>,
    pub(super) format: FailureFormat,
    pub(super) now: UnixMillis,
    /// The time of the claim in base time, without the console's setting.
    pub(super) claimed_at: UnixMillis,
    /// `true` if the maximum that administrators set applies.
    pub(super) has_maximum: bool,
    pub(super) traceparent: Option<String>,
}

#[derive(Debug)]
pub enum Claimed {
    /// The loan is claimed, and the payment must be requested.
    New(Payment),
    /// The call is answered without a payment.
    Answered(Reply),
}

/// Claimed rows stay unchanged until the transaction ends. Rows that somebody else has locked are left out,
/// and their calls are tried again. Locks are always taken in the order loan, session, key, so that no two
/// claims wait for each other.
const LOCK: &str = "FOR NO KEY UPDATE OF loan SKIP LOCKED FOR SHARE OF session SKIP LOCKED";

/// The loan of a call whose session is open.
#[derive(sqlx_macros::FromRow)]
struct Claimable {
    payout_id: PayoutId,
    #[sqlx(flatten)]
    copy: DataCopy,
    maximum_amount: Option<Kes>,
    status: LoanStatus,
    amount: Kes,
    phone_number: String,
}

// `CROSS JOIN` fixes the order. Otherwise `SQLite`, with statistics from when there were few loans, reads all loans and
// the set again for each.
const CLAIMABLE: &str = "
    SELECT asked.value ->> 'payout_id' AS payout_id, data_copy.generation, data_copy.timeline,
           (SELECT maximum_amount FROM portal_rules) AS maximum_amount, loan.status, loan.amount,
           customer.phone_number
    FROM json_each($1) AS asked
    CROSS JOIN session CROSS JOIN loan CROSS JOIN customer CROSS JOIN data_copy
    WHERE session.session_id = asked.value ->> 'session_id' AND session.ended_at IS NULL
      AND loan.loan_id = asked.value ->> 'loan_id' AND customer.customer_id = loan.customer_id
    ORDER BY loan.loan_id";

/// Tells for each call whether its session is open and whether its loan exists, locked or not.
const EXISTING: &str = "
    SELECT value ->> 'payout_id',
           EXISTS (SELECT 1 FROM session WHERE session_id = value ->> 'session_id' AND ended_at IS NULL),
           EXISTS (SELECT 1 FROM loan WHERE loan_id = value ->> 'loan_id')
    FROM json_each($1)";

/// The rows that decide a call.
enum Found {
    Loan(Claimable),
    NoLoan,
    NoSession,
    /// Somebody else has locked the loan or the session.
    Locked,
}

const CLAIM: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at,
         check_at, claimed_at, check_by, traceparent)
    SELECT value ->> 'payout_id', value ->> 'loan_id', value ->> 'transaction_id',
           CAST(value ->> 'amount' AS BIGINT), value ->> 'phone_number', 'PENDING', value ->> 'staff_id',
           value ->> 'agent_id', CAST(value ->> 'created_at' AS BIGINT), CAST(value ->> 'check_at' AS BIGINT),
           CAST(value ->> 'claimed_at' AS BIGINT), CAST(value ->> 'check_by' AS BIGINT), value ->> 'traceparent'
    FROM json_each($1) WHERE true
    ON CONFLICT (loan_id) WHERE status IN ('PENDING', 'COMPLETED') DO NOTHING";

impl InSets for Claim {
    type Done = Claimed;

    async fn write(set: &[Arc<Self>], connection: &mut Connection) -> Written<Claimed> {
        let mut found = find(set, connection).await?;
        let (mut keyed, mut loan_ids) = (Vec::new(), Vec::new());
        for claim in set {
            if let Some(Found::Loan(_) | Found::NoLoan) = found.get(&claim.payout_id) {
                keyed.extend(claim.call.as_ref().map(|call| (call, claim.now)));
                loan_ids.push(claim.request.loan_id.clone());
            }
        }
        let keys = Keys::of(connection, &keyed).await?;
        let live = records::live_records(connection, &loan_ids).await?;
        let mut books = Books { keys, live, claimed: BTreeMap::new() };
        let mut results = Vec::new();
        for claim in set {
            results.push(match found.remove(&claim.payout_id) {
                Some(Found::Loan(loan)) => books.decide(claim, Some(loan)),
                Some(Found::NoLoan) => books.decide(claim, None),
                Some(Found::NoSession) => Err(AuthRefusal::NoSession.into()),
                Some(Found::Locked) | None => Err(Failure::Conflict),
            });
        }
        books.write(connection).await?;
        Ok(results)
    }
}

/// Locks the loans and sessions of the calls, and returns the rows found, by the payouts' ids.
async fn find(set: &[Arc<Claim>], connection: &mut Connection) -> Result<HashMap<PayoutId, Found>, Failure> {
    let asked: Vec<Value> = set.iter().map(|claim| claim.asked()).collect();
    let claimable: Vec<Claimable> = query_as(CLAIMABLE)
        .bind(Value::from(asked).to_string())
        .locking(LOCK)
        .fetch_all(&mut *connection)
        .await?;
    let claimable = claimable.into_iter().map(|loan| (loan.payout_id.clone(), Found::Loan(loan)));
    let mut found: HashMap<PayoutId, Found> = claimable.collect();
    let missing = set.iter().filter(|claim| !found.contains_key(&claim.payout_id));
    let missing: Vec<Value> = missing.map(|claim| claim.asked()).collect();
    if missing.is_empty() {
        return Ok(found);
    }
    let existing: Vec<(PayoutId, bool, bool)> =
        query_as(EXISTING).bind(Value::from(missing).to_string()).fetch_all(connection).await?;
    found.extend(existing.into_iter().map(|(payout_id, is_open, exists)| {
        let what = match (is_open, exists) {
            (false, _) => Found::NoSession,
            (true, false) => Found::NoLoan,
            (true, true) => Found::Locked,
        };
        (payout_id, what)
    }));
    Ok(found)
}

/// Why a loan is not paid. A call with a key gets a final refusal again whenever it is repeated.
enum NotPayable {
    /// Final: the refusal is stored with the key.
    Ever(Failure),
    /// Temporary: a repeat is decided on again.
    Yet(Failure),
}

/// The data that decides the claims of a set, with the changes by claims already decided.
struct Books {
    keys: Keys,
    /// The loans' pending and completed payouts.
    live: HashMap<LoanId, Record>,
    /// The rows of new payouts, by loan.
    claimed: BTreeMap<LoanId, Value>,
}

impl Books {
    fn decide(&mut self, claim: &Claim, loan: Option<Claimable>) -> Result<Claimed, Failure> {
        let Some(call) = &claim.call else {
            return match self.payable(claim, loan) {
                Ok(payment) => Ok(self.claim(claim, payment)),
                Err(NotPayable::Ever(refusal) | NotPayable::Yet(refusal)) => Err(refusal),
            };
        };
        if let Some(reply) = self.keys.answer_to(call, claim.now)? {
            return Ok(Claimed::Answered(reply));
        }
        match self.payable(claim, loan) {
            Ok(payment) => {
                self.keys.enter(call, &claim.format, claim.now, Ok(&claim.payout_id));
                Ok(self.claim(claim, payment))
            }
            Err(NotPayable::Ever(refusal)) => {
                let reply = Reply::refusal(&refusal, &claim.format)?;
                self.keys.enter(call, &claim.format, claim.now, Err(&reply));
                Ok(Claimed::Answered(reply))
            }
            Err(NotPayable::Yet(refusal)) => Err(refusal),
        }
    }

    /// Returns the payment, if the loan may be paid.
    fn payable(&self, claim: &Claim, loan: Option<Claimable>) -> Result<Payment, NotPayable> {
        use NotPayable::{Ever, Yet};
        let DisbursementRequest { loan_id, amount, phone_number, .. } = &claim.request;
        let Some(loan) = loan else {
            return Err(Ever(PayoutRefusal::LoanNotFound(loan_id.clone()).into()));
        };
        if self.claimed.contains_key(loan_id) {
            // It is tried again when that payout is stored.
            return Err(Yet(Failure::Conflict));
        }
        if let Some(live) = self.live.get(loan_id) {
            let record = live.to_json().map_err(Yet)?;
            return Err(match live.status {
                PayoutStatus::Completed => Ever(PayoutRefusal::AlreadyDisbursed(record).into()),
                PayoutStatus::Pending | PayoutStatus::Failed => Yet(PayoutRefusal::InProgress(record).into()),
            });
        }
        if loan.status != LoanStatus::Approved {
            return Err(Ever(PayoutRefusal::NotApproved.into()));
        }
        if loan.amount != *amount {
            return Err(Ever(PayoutRefusal::AmountMismatch(loan.amount).into()));
        }
        if let Some(maximum) = loan.maximum_amount.filter(|maximum| claim.has_maximum && amount > maximum) {
            return Err(Ever(PayoutRefusal::AboveMaximum(maximum).into()));
        }
        let phone_number =
            phone_number.as_ref().filter(|phone_number| phone_number.as_str() == loan.phone_number);
        Ok(Payment {
            originator_id: claim.transaction_id.clone(),
            phone_number: phone_number.ok_or(Ever(PayoutRefusal::PhoneMismatch.into()))?.clone(),
            amount: *amount,
            expires_at: claim.claimed_at.plus(REQUEST_LIFETIME),
            reference: loan_id.to_string(),
            copy: loan.copy,
        })
    }

    fn claim(&mut self, claim: &Claim, payment: Payment) -> Claimed {
        self.claimed.insert(claim.request.loan_id.clone(), claim.row());
        Claimed::New(payment)
    }

    /// # Errors
    /// [`Failure::Conflict`] if somebody else has claimed one of the loans without locking it, or entered one
    /// of the keys.
    async fn write(self, connection: &mut Connection) -> Result<(), Failure> {
        let Self { keys, claimed, .. } = self;
        if !claimed.is_empty() {
            let asked = claimed.len() as u64;
            let inserted = query(CLAIM)
                .bind(claimed.into_values().collect::<Value>().to_string())
                .execute(connection)
                .await?;
            if inserted != asked {
                return Err(Failure::Conflict);
            }
        }
        keys.write(connection).await
    }
}

impl Claim {
    fn asked(&self) -> Value {
        json!({
            "payout_id": self.payout_id,
            "loan_id": self.request.loan_id,
            "session_id": self.session_id,
        })
    }

    fn row(&self) -> Value {
        json!({
            "payout_id": self.payout_id,
            "loan_id": self.request.loan_id,
            "transaction_id": self.transaction_id,
            "amount": self.request.amount,
            "phone_number": self.request.phone_number.as_ref().map(Msisdn::as_str),
            "staff_id": self.staff_id,
            "agent_id": self.request.agent_id,
            "created_at": self.now.0,
            "check_at": self.now.plus(FIRST_CHECK).0,
            "claimed_at": self.claimed_at.0,
            "check_by": self.claimed_at.plus(FIRST_CHECK).0,
            "traceparent": self.traceparent,
        })
    }
}
