//! Paying a loan out: claim the loan, request the payment, settle the payout.
//!
//! Claims that wait are written as a set, by one statement each. A claim that needs a rule to be looked at goes
//! alone.
//!
//! No database transaction is open during the payment request. The claim is committed before, so
//! whatever happens between the steps, the payout is recorded and its loan can't be paid again.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    ANSWER_TIMEOUT, FIRST_CHECK, KeyedCall, PAYMENT_TIMEOUT, PayoutStatus, REQUEST_LIFETIME, RESEND_INTERVAL,
    Record, Reply, idempotency, records,
    settle::{Settled, Verdict, settle},
};
use crate::{
    Sandbox,
    auth::session::{self, Session},
    clock::UnixMillis,
    database::{Connection, query_as, query_scalar, sets::InSets, version::Generation},
    error::{Failure, FailureFormat},
    loans::LoanStatus,
    mobile_money::{Answer, Payment},
    phone::Msisdn,
};

/// A request to pay a loan out, with the values that the caller confirmed.
#[derive(Debug)]
pub struct DisbursementRequest {
    /// The loan to pay out.
    pub loan_id: String,
    /// The agent, as given by the caller.
    pub agent_id: String,
    /// The loan's amount, in KES.
    pub amount: i64,
    /// The customer's phone; `None` if the request has no valid Kenyan mobile number.
    pub phone_number: Option<Msisdn>,
}

/// Pays a loan out on behalf of the user of `session` and returns the answer: 200 if the money was sent, 202 if
/// mobile money has not answered within 8 s, 422 if it refused. A `call` that was answered before
/// gets the same answer again.
///
/// # Errors
/// [`Failure::NoSession`], [`Failure::LoanNotFound`], [`Failure::AlreadyDisbursed`], [`Failure::InProgress`],
/// [`Failure::NotApproved`], [`Failure::AmountMismatch`], [`Failure::AboveMaximum`], [`Failure::PhoneMismatch`],
/// [`Failure::IdempotencyKeyReused`], [`Failure::IdempotencyKeyInUse`], [`Failure::Busy`]: no
/// payout was made. [`Failure::NotCommitted`]: it is unknown whether one was made; no money was sent yet.
/// A payout whose data is replaced while it runs is answered with the latter, too.
pub async fn disburse(
    sandbox: &Sandbox,
    session: &Session,
    request: DisbursementRequest,
    call: Option<KeyedCall>,
    format: FailureFormat,
) -> Result<Reply, Failure> {
    let now = sandbox.clock.now();
    let claim = Claim {
        payout_id: sandbox.randomness.id(now),
        transaction_id: sandbox.randomness.id(now),
        session_id: session.session_id.clone(),
        staff_id: session.staff.staff_id.clone(),
        request,
        call,
        format,
        now,
        claimed_at: sandbox.clock.unset_now(),
        has_maximum: sandbox.settings.has_live_screens(),
    };
    // A separate task: a payout must not stop halfway because the caller disconnects.
    let payout = sandbox.tasks.finish(claim_pay_settle(sandbox.clone(), claim));
    match payout.await {
        Ok(Some(reply)) => reply,
        Ok(None) => Err(Failure::NotCommitted),
        Err(panicked) => Err(Failure::Internal(panicked.to_string())),
    }
}

async fn claim_pay_settle(sandbox: Sandbox, claim: Claim) -> Result<Reply, Failure> {
    let (format, has_key) = (claim.format.clone(), claim.call.is_some());
    let loan_id = claim.request.loan_id.clone();
    let claimed = match sandbox.payouts.claims.write(claim).await {
        // Somebody writes a payout by hand, without locking its loan.
        Err(failure) if failure.is_unique_violation() => {
            let live = records::live_record(&mut *sandbox.database.read().await?, &loan_id).await?;
            return Err(match live {
                Some(record) => live_payout_failure(&record)?,
                None => failure,
            });
        }
        claimed => claimed?,
    };
    let (record, payment) = match claimed {
        Claimed::Answered(reply) => return Ok(reply),
        Claimed::New(record, payment) => (*record, payment),
    };
    tracing::info!(loan.id = record.loan_id, payout.id = record.id, "payout.claimed");

    // Continues after the answer stops waiting for it.
    let paying = sandbox.tasks.spawn_background(pay_and_settle(sandbox.clone(), payment, has_key));
    let paid = tokio::select! {
        paid = paying => paid.ok().flatten().unwrap_or(Paid::Unknown),
        () = sandbox.clock.sleep(ANSWER_TIMEOUT) => Paid::Unknown,
    };
    match paid {
        Paid::Settled(settled) => match settled.reply {
            Some(reply) => Ok(reply),
            None => Reply::of(settled.record, &format),
        },
        Paid::DataReplaced => Err(Failure::NotCommitted),
        Paid::Unknown if has_key => match accept(&sandbox, record.clone()).await {
            Ok(Some(reply)) => Ok(reply),
            // The payout is accepted anyway; settling it stores the answer for a repeat.
            Ok(None) | Err(_) => Reply::of(record, &format),
        },
        Paid::Unknown => Reply::of(record, &format),
    }
}

/// What became of a payment request.
enum Paid {
    Settled(Box<Settled>),
    /// The payout stays PENDING until its status has been queried.
    Unknown,
    /// A reset or a restore put other data in the place of the payout.
    DataReplaced,
}

/// Requests the payment and settles the payout.
async fn pay_and_settle(sandbox: Sandbox, payment: Payment, has_key: bool) -> Paid {
    let generation = payment.generation;
    let transaction_id = payment.originator_id.clone();
    let answer = tokio::select! {
        answer = pay(&sandbox, payment) => answer,
        () = sandbox.clock.sleep(PAYMENT_TIMEOUT) => return Paid::Unknown,
    };
    let settled = match answer {
        Ok(Answer::DataReplaced) => return Paid::DataReplaced,
        Ok(answer) => match Verdict::of(answer) {
            Some(verdict) => settle(&sandbox, transaction_id, generation, verdict, has_key).await,
            None => return Paid::Unknown,
        },
        Err(failure) => Err(failure),
    };
    match settled {
        Ok(Some(settled)) => Paid::Settled(Box::new(settled)),
        Ok(None) => Paid::DataReplaced,
        Err(failure) => {
            tracing::error!(?failure, "payout.left_pending");
            Paid::Unknown
        }
    }
}

/// Requests the payment, again if the request was certainly not sent.
async fn pay(sandbox: &Sandbox, payment: Payment) -> Result<Answer, Failure> {
    loop {
        match sandbox.mobile_money.pay(payment.clone()).await {
            Err(Failure::Busy) => sandbox.clock.sleep(RESEND_INTERVAL).await,
            answer => return answer,
        }
    }
}

/// Stores 'accepted' as the answer to a call with a key, unless the payout has just been settled.
async fn accept(sandbox: &Sandbox, record: Record) -> Result<Option<Reply>, Failure> {
    sandbox
        .database
        .write_in_turn(async move |connection: &mut Connection| idempotency::answer(connection, record).await)
        .await
}

/// A call that waits to claim its loan.
#[derive(Debug)]
pub struct Claim {
    payout_id: String,
    transaction_id: String,
    session_id: String,
    staff_id: String,
    request: DisbursementRequest,
    call: Option<KeyedCall>,
    format: FailureFormat,
    now: UnixMillis,
    /// On the clock that nobody sets.
    claimed_at: UnixMillis,
    /// Whether the maximum that administrators set applies.
    has_maximum: bool,
}

/// What comes of a claim.
#[derive(Debug)]
pub enum Claimed {
    /// The loan is claimed for this payout, and the payment must be requested.
    New(Box<Record>, Payment),
    /// The call is answered without a payment.
    Answered(Reply),
}

/// The failure for a loan that already has this pending or completed payout.
fn live_payout_failure(record: &Record) -> Result<Failure, Failure> {
    Ok(match record.status {
        PayoutStatus::Completed => Failure::AlreadyDisbursed(record.to_json()?),
        PayoutStatus::Pending | PayoutStatus::Failed => Failure::InProgress(record.to_json()?),
    })
}

/// The rows that are claimed stay as they were read until the transaction ends. Locks are always taken in the
/// order session, loan, staff, key, so that no two claims wait for each other.
const LOCK_LOAN: &str = "FOR NO KEY UPDATE OF loan";

/// A session that is being ended is left out rather than waited for: its call goes alone.
const LOCK_LOANS: &str = "FOR NO KEY UPDATE OF loan FOR SHARE OF session SKIP LOCKED";

const LOAN: &str = "
    SELECT loan.status, loan.amount, customer.phone_number
    FROM loan JOIN customer ON customer.customer_id = loan.customer_id
    WHERE loan.loan_id = $1";

const MAXIMUM: &str = "SELECT maximum_amount FROM portal_rules";

const CLAIM: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at,
         check_at, claimed_at, check_by)
    VALUES ($1, $2, $3, $4, $5, 'PENDING', $6, $7, $8, $9, $10, $11)
    RETURNING (SELECT value FROM generation)";

const CLAIM_ALL: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at,
         check_at, claimed_at, check_by)
    SELECT value ->> 'payout_id', value ->> 'loan_id', value ->> 'transaction_id',
           CAST(value ->> 'amount' AS BIGINT), value ->> 'phone_number', 'PENDING', value ->> 'staff_id',
           value ->> 'agent_id', CAST(value ->> 'created_at' AS BIGINT), CAST(value ->> 'check_at' AS BIGINT),
           CAST(value ->> 'claimed_at' AS BIGINT), CAST(value ->> 'check_by' AS BIGINT)
    FROM json_each($1) WHERE true
    ON CONFLICT (loan_id) WHERE status IN ('PENDING', 'COMPLETED') DO NOTHING
    RETURNING payout_id";

/// The loan of a call whose session is open, as the record of its payout will be.
#[derive(sqlx_macros::FromRow)]
struct Claimable {
    generation: Generation,
    maximum_amount: Option<i64>,
    #[sqlx(flatten)]
    record: Record,
}

const CLAIMABLE: &str = "
    SELECT (SELECT value FROM generation) AS generation,
           (SELECT maximum_amount FROM portal_rules) AS maximum_amount,
           asked.value ->> 'payout_id' AS id, loan.loan_id, loan.amount, 'PENDING' AS status,
           CAST(asked.value ->> 'created_at' AS BIGINT) AS created_at, CAST(NULL AS TEXT) AS mpesa_ref,
           asked.value ->> 'transaction_id' AS transaction_id, customer.phone_number AS phone,
           CAST(NULL AS TEXT) AS error_message, CAST(NULL AS BIGINT) AS processed_at,
           staff.staff_id AS user_id, staff.first_name AS user_first_name, staff.last_name AS user_last_name,
           staff.email AS user_email, customer.customer_id, customer.first_name AS customer_first_name,
           customer.last_name AS customer_last_name, customer.id_number AS customer_id_number,
           customer.phone_number AS customer_phone_number, loan.approver_id, loan.approver_name,
           loan.approver_email, CAST(NULL AS TEXT) AS result_code, loan.notes
    FROM json_each($1) AS asked
    JOIN session ON session.session_id = asked.value ->> 'session_id' AND session.ended_at IS NULL
    JOIN staff ON staff.staff_id = session.staff_id
    JOIN loan ON loan.loan_id = asked.value ->> 'loan_id' AND loan.status = 'APPROVED'
    JOIN customer ON customer.customer_id = loan.customer_id
    ORDER BY loan.loan_id";

impl InSets for Claim {
    type Done = Claimed;

    fn lane(&self) -> &str {
        &self.request.loan_id
    }

    async fn together(
        set: &[Arc<Self>],
        connection: &mut Connection,
    ) -> Result<Vec<Option<Claimed>>, Failure> {
        // Of several calls for one loan, the first one.
        let mut by_loan: HashMap<&str, &Self> = HashMap::new();
        for claim in set {
            by_loan.entry(&claim.request.loan_id).or_insert(claim);
        }
        let asked: Vec<Value> = by_loan.values().map(|claim| claim.asked()).collect();
        let claimable: Vec<Claimable> = query_as(CLAIMABLE)
            .bind(Value::from(asked).to_string())
            .locking(LOCK_LOANS)
            .fetch_all(&mut *connection)
            .await?;
        let mut claimed = Vec::new();
        for Claimable { generation, maximum_amount, record } in claimable {
            if let Some(claim) = by_loan.get(record.loan_id.as_str())
                && claim.exceeded(maximum_amount).is_none()
                && let Some(payment) = claim.payment_for(&record, generation)
            {
                claimed.push((*claim, record, payment));
            }
        }
        let calls: Vec<&KeyedCall> = claimed.iter().filter_map(|(claim, ..)| claim.call.as_ref()).collect();
        let now = set.iter().map(|claim| claim.now).min().unwrap_or(UnixMillis(0));
        let in_sets = idempotency::users_in_sets(connection, &calls, now).await?;
        claimed.retain(|(claim, ..)| claim.call.is_none() || in_sets.contains(&claim.staff_id));
        if claimed.is_empty() {
            return Ok(set.iter().map(|_| None).collect());
        }
        let rows: Vec<Value> = claimed.iter().map(|(claim, record, _)| claim.row(record)).collect();
        let inserted: Vec<String> =
            query_scalar(CLAIM_ALL).bind(Value::from(rows).to_string()).fetch_all(&mut *connection).await?;
        claimed.retain(|(claim, ..)| inserted.contains(&claim.payout_id));
        let keyed = claimed.iter().filter_map(|(claim, ..)| Some((claim.call.as_ref()?, *claim)));
        let keys: Vec<Value> =
            keyed.map(|(call, claim)| call.row(&claim.format, &claim.payout_id, claim.now)).collect();
        idempotency::register_all(connection, keys).await?;
        let mut claimed: HashMap<String, Claimed> = claimed
            .into_iter()
            .map(|(claim, record, payment)| {
                (claim.payout_id.clone(), Claimed::New(Box::new(record), payment))
            })
            .collect();
        Ok(set.iter().map(|claim| claimed.remove(&claim.payout_id)).collect())
    }

    async fn alone(&self, connection: &mut Connection) -> Result<Claimed, Failure> {
        session::check_open(connection, &self.session_id).await?;
        let loan: Option<(LoanStatus, i64, Msisdn)> = query_as(LOAN)
            .bind(&self.request.loan_id)
            .locking(LOCK_LOAN)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(call) = &self.call else {
            let phone_number = self.payable_phone(connection, loan).await?;
            return self.claim(connection, phone_number).await;
        };
        if let Some(reply) = idempotency::register(connection, call, &self.format, self.now).await? {
            return Ok(Claimed::Answered(reply));
        }
        match self.payable_phone(connection, loan).await {
            Ok(phone_number) => {
                let claimed = self.claim(connection, phone_number).await?;
                idempotency::set_payout(connection, call, &self.payout_id).await?;
                Ok(claimed)
            }
            Err(refusal) if idempotency::is_final(&refusal) => {
                let reply = Reply::refusal(refusal, &self.format)?;
                idempotency::set_refusal(connection, call, &reply).await?;
                Ok(Claimed::Answered(reply))
            }
            Err(failure) => Err(failure),
        }
    }
}

impl Claim {
    fn asked(&self) -> Value {
        json!({
            "payout_id": self.payout_id,
            "loan_id": self.request.loan_id,
            "transaction_id": self.transaction_id,
            "session_id": self.session_id,
            "created_at": self.now.0,
        })
    }

    fn row(&self, record: &Record) -> Value {
        json!({
            "payout_id": self.payout_id,
            "loan_id": self.request.loan_id,
            "transaction_id": self.transaction_id,
            "amount": self.request.amount,
            "phone_number": record.phone,
            "staff_id": self.staff_id,
            "agent_id": self.request.agent_id,
            "created_at": self.now.0,
            "check_at": self.now.plus(FIRST_CHECK).0,
            "claimed_at": self.claimed_at.0,
            "check_by": self.claimed_at.plus(FIRST_CHECK).0,
        })
    }

    /// The payment for an approved loan, if the caller confirmed its amount and its customer's phone.
    fn payment_for(&self, record: &Record, generation: Generation) -> Option<Payment> {
        let phone_number = Msisdn::parse(&record.phone)?;
        let is_confirmed = record.amount == self.request.amount
            && self.request.phone_number.as_ref() == Some(&phone_number)
            && record.user_id == self.staff_id
            && record.phone == phone_number.as_str();
        is_confirmed.then(|| self.payment(phone_number, generation))
    }

    /// The maximum that the payout is above, if any.
    fn exceeded(&self, maximum: Option<i64>) -> Option<i64> {
        maximum.filter(|maximum| self.has_maximum && self.request.amount > *maximum)
    }

    fn payment(&self, phone_number: Msisdn, generation: Generation) -> Payment {
        Payment {
            originator_id: self.transaction_id.clone(),
            phone_number,
            amount: self.request.amount,
            expires_at: self.claimed_at.plus(REQUEST_LIFETIME),
            generation,
        }
    }

    /// The customer's phone, if the loan may be paid to it.
    async fn payable_phone(
        &self,
        connection: &mut Connection,
        loan: Option<(LoanStatus, i64, Msisdn)>,
    ) -> Result<Msisdn, Failure> {
        let loan_id = &self.request.loan_id;
        let (status, amount, phone_number) = loan.ok_or_else(|| Failure::LoanNotFound(loan_id.clone()))?;
        if let Some(record) = records::live_record(connection, loan_id).await? {
            return Err(live_payout_failure(&record)?);
        }
        if status != LoanStatus::Approved {
            return Err(Failure::NotApproved);
        }
        if amount != self.request.amount {
            return Err(Failure::AmountMismatch(amount));
        }
        if self.has_maximum {
            let maximum: Option<i64> = query_scalar(MAXIMUM).fetch_one(&mut *connection).await?;
            if let Some(maximum) = self.exceeded(maximum) {
                return Err(Failure::AboveMaximum(maximum));
            }
        }
        if self.request.phone_number.as_ref() != Some(&phone_number) {
            return Err(Failure::PhoneMismatch);
        }
        Ok(phone_number)
    }

    async fn claim(&self, connection: &mut Connection, phone_number: Msisdn) -> Result<Claimed, Failure> {
        let generation = query_scalar(CLAIM)
            .bind(&self.payout_id)
            .bind(&self.request.loan_id)
            .bind(&self.transaction_id)
            .bind(self.request.amount)
            .bind(&phone_number)
            .bind(&self.staff_id)
            .bind(&self.request.agent_id)
            .bind(self.now)
            .bind(self.now.plus(FIRST_CHECK))
            .bind(self.claimed_at)
            .bind(self.claimed_at.plus(FIRST_CHECK))
            .fetch_one(&mut *connection)
            .await?;
        let record = records::record(connection, &self.payout_id).await?;
        Ok(Claimed::New(Box::new(record), self.payment(phone_number, generation)))
    }
}
