//! Paying a loan out: claim it, ask mobile money, settle.
//!
//! No database transaction is held while mobile money is asked. The claim is on disk before, so
//! whatever happens between the three steps, the payout is known and its loan can't be paid again.

use super::{
    FIRST_CHECK, KeyedCall, PATIENCE, PayoutStatus, REQUEST_LIFETIME, Record, Reply, idempotency, records,
    settle::{Settled, Verdict, settle},
};
use crate::{
    Sandbox,
    auth::Staff,
    clock::UnixMillis,
    database::{Connection, query, query_as},
    error::{Failure, FailureFormat},
    loans::LoanStatus,
    mobile_money::Payment,
    phone::Msisdn,
};

/// What the caller asks, and was shown when they confirmed.
#[derive(Debug)]
pub struct DisbursementRequest {
    /// Which loan.
    pub loan_id: String,
    /// Who the caller says pays.
    pub agent_id: String,
    /// The loan's amount, in KES.
    pub amount: i64,
    /// The customer's phone; none when what was sent is no Kenyan mobile number.
    pub phone_number: Option<Msisdn>,
}

/// Pays a loan out in the name of `staff`, and says what the caller is answered: 200 when the
/// money went out, 202 when mobile money has not answered in 8 s, 422 when it refused. A `call`
/// that was answered before gets that answer again.
///
/// # Errors
/// [`Failure::LoanNotFound`], [`Failure::AlreadyDisbursed`], [`Failure::InProgress`],
/// [`Failure::NotApproved`], [`Failure::AmountMismatch`], [`Failure::PhoneMismatch`],
/// [`Failure::IdempotencyKeyReused`], [`Failure::IdempotencyKeyInUse`], [`Failure::Busy`]: no
/// payout was made. [`Failure::NotCommitted`]: it is not known, and no money went out yet.
pub async fn disburse(
    sandbox: &Sandbox,
    staff: &Staff,
    request: DisbursementRequest,
    call: Option<KeyedCall>,
    form: FailureFormat,
) -> Result<Reply, Failure> {
    let now = sandbox.clock.now();
    let claim = Claim {
        payout_id: sandbox.randomness.id(now),
        transaction_id: sandbox.randomness.id(now),
        staff_id: staff.staff_id.clone(),
        request,
        call,
        form,
        now,
    };
    // A task of its own: a caller who hangs up must not stop a payout half-way.
    let payout = sandbox.tasks.finish(claim_pay_settle(sandbox.clone(), claim));
    match payout.await {
        Ok(Some(reply)) => reply,
        Ok(None) => Err(Failure::NotCommitted),
        Err(panicked) => Err(Failure::Internal(panicked.to_string())),
    }
}

async fn claim_pay_settle(sandbox: Sandbox, claim: Claim) -> Result<Reply, Failure> {
    let (form, has_key) = (claim.form.clone(), claim.call.is_some());
    let loan_id = claim.request.loan_id.clone();
    let claimed =
        sandbox.database.write(move |connection: &mut Connection| Box::pin(claim.enter(connection))).await;
    let claimed = match claimed {
        // Somebody who does not write as servers do was faster.
        Err(failure) if failure.is_unique_violation() => {
            let live = records::live_record(&mut *sandbox.database.read().await?, &loan_id).await?;
            return Err(match live {
                Some(record) => in_the_way(&record)?,
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

    // Goes on when the answer no longer waits for it.
    let paying = sandbox.tasks.beside(pay_and_settle(sandbox.clone(), payment));
    let settled = tokio::select! {
        settled = paying => settled.ok().flatten().flatten(),
        () = sandbox.clock.sleep(PATIENCE) => None,
    };
    match settled {
        Some(Settled { reply: Some(reply), .. }) => Ok(reply),
        Some(Settled { record, reply: None }) => Reply::of(record, &form),
        None if has_key => match accept(&sandbox, record.clone()).await {
            Ok(Some(reply)) => Ok(reply),
            // It is accepted all the same; whoever settles it answers a repeat.
            Ok(None) | Err(_) => Reply::of(record, &form),
        },
        None => Reply::of(record, &form),
    }
}

/// What came of asking mobile money; nothing when that is not known. Whatever goes wrong from
/// here on, the payout stays PENDING until its status has been asked for.
async fn pay_and_settle(sandbox: Sandbox, payment: Payment) -> Option<Settled> {
    let transaction_id = payment.originator_id.clone();
    let answer = tokio::select! {
        answer = sandbox.mobile_money.pay(payment) => answer,
        () = sandbox.clock.sleep(REQUEST_LIFETIME) => return None,
    };
    let settled = match answer {
        Ok(answer) => settle(&sandbox, transaction_id, Verdict::of(answer)?).await,
        Err(failure) => Err(failure),
    };
    settled.inspect_err(|failure| tracing::error!(?failure, "payout.left_pending")).ok().flatten()
}

/// Makes 'accepted' the answer to the call that came with a key, unless it was settled just now.
async fn accept(sandbox: &Sandbox, record: Record) -> Result<Option<Reply>, Failure> {
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| Box::pin(idempotency::answer(connection, record)))
        .await
}

struct Claim {
    payout_id: String,
    transaction_id: String,
    staff_id: String,
    request: DisbursementRequest,
    call: Option<KeyedCall>,
    form: FailureFormat,
    now: UnixMillis,
}

enum Claimed {
    /// The loan is this payout's, and mobile money is to be asked.
    New(Box<Record>, Payment),
    /// There is no more to do than to answer.
    Answered(Reply),
}

/// What a loan that has this live payout is refused with.
fn in_the_way(record: &Record) -> Result<Failure, Failure> {
    Ok(match record.status {
        PayoutStatus::Completed => Failure::AlreadyDisbursed(record.to_json()?),
        PayoutStatus::Pending | PayoutStatus::Failed => Failure::InProgress(record.to_json()?),
    })
}

const LOAN: &str = "
    SELECT loan.status, loan.amount, customer.phone_number
    FROM loan JOIN customer ON customer.customer_id = loan.customer_id
    WHERE loan.loan_id = $1";

const CLAIM: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at,
         check_at)
    VALUES ($1, $2, $3, $4, $5, 'PENDING', $6, $7, $8, $9)";

impl Claim {
    async fn enter(self, connection: &mut Connection) -> Result<Claimed, Failure> {
        let Some(call) = &self.call else {
            let phone_number = self.payable_phone(connection).await?;
            return self.claim(connection, phone_number).await;
        };
        if let Some(reply) = idempotency::enter(connection, call, &self.form, self.now).await? {
            return Ok(Claimed::Answered(reply));
        }
        match self.payable_phone(connection).await {
            Ok(phone_number) => {
                let claimed = self.claim(connection, phone_number).await?;
                idempotency::started(connection, call, &self.payout_id).await?;
                Ok(claimed)
            }
            Err(refusal) if idempotency::is_kept(&refusal) => {
                let reply = Reply::refusal(refusal, &self.form)?;
                idempotency::refused(connection, call, &reply).await?;
                Ok(Claimed::Answered(reply))
            }
            Err(failure) => Err(failure),
        }
    }

    /// The customer's phone, when the loan may be paid to it.
    async fn payable_phone(&self, connection: &mut Connection) -> Result<Msisdn, Failure> {
        let loan_id = &self.request.loan_id;
        let (status, amount, phone_number): (LoanStatus, i64, Msisdn) = query_as(LOAN)
            .bind(loan_id)
            .fetch_optional(&mut *connection)
            .await?
            .ok_or_else(|| Failure::LoanNotFound(loan_id.clone()))?;
        if let Some(record) = records::live_record(connection, loan_id).await? {
            return Err(in_the_way(&record)?);
        }
        if status != LoanStatus::Approved {
            return Err(Failure::NotApproved);
        }
        if amount != self.request.amount {
            return Err(Failure::AmountMismatch(amount));
        }
        if self.request.phone_number.as_ref() != Some(&phone_number) {
            return Err(Failure::PhoneMismatch);
        }
        Ok(phone_number)
    }

    async fn claim(&self, connection: &mut Connection, phone_number: Msisdn) -> Result<Claimed, Failure> {
        query(CLAIM)
            .bind(&self.payout_id)
            .bind(&self.request.loan_id)
            .bind(&self.transaction_id)
            .bind(self.request.amount)
            .bind(&phone_number)
            .bind(&self.staff_id)
            .bind(&self.request.agent_id)
            .bind(self.now)
            .bind(self.now.plus(FIRST_CHECK))
            .execute(&mut *connection)
            .await?;
        let record = records::record(connection, &self.payout_id).await?;
        let payment = Payment {
            originator_id: self.transaction_id.clone(),
            phone_number,
            amount: self.request.amount,
            expires_at: self.now.plus(REQUEST_LIFETIME),
        };
        Ok(Claimed::New(Box::new(record), payment))
    }
}
