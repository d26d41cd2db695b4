//! Paying a loan out: claim the loan, request the payment, settle the payout.
//!
//! No database transaction is open during the payment request. The claim is committed before, so
//! whatever happens between the steps, the payout is recorded and its loan can't be paid again.

use tracing::Instrument;

use super::{
    ANSWER_TIMEOUT, KeyedCall, PAYMENT_TIMEOUT, Payouts, RESEND_INTERVAL, Reply,
    claim::{Claim, Claimed},
    settle::{Kept, accept, settle},
};
use crate::{
    auth::session::Session,
    mobile_money::{Answer, Payment},
};
use base::{
    error::{Failure, FailureFormat},
    ids::{AgentId, LoanId, TransactionId},
    kes::Kes,
    phone::Msisdn,
};
use store::{query_as, version::DataCopy};

/// A request to pay a loan out, with the values that the caller confirmed.
#[derive(Debug)]
pub struct DisbursementRequest {
    pub loan_id: LoanId,
    /// The agent, as given by the caller.
    pub agent_id: AgentId,
    pub amount: Kes,
    /// The customer's phone; `None` if the request has no valid Kenyan mobile number.
    pub phone_number: Option<Msisdn>,
}

/// Pays a loan out on behalf of the user of `session` and returns the answer: 200 if the money was sent, 202
/// if mobile money has not answered within 8 s, 422 if it refused. A `call` that was answered before gets the
/// same answer again.
///
/// # Errors
/// [`Failure::Busy`], [`Failure::Unavailable`]: no payout was made. [`Failure::NotCommitted`]: it is unknown
/// whether one was made; no money was sent yet. It is also the answer if the data is replaced while the payout runs.
pub async fn disburse(
    payouts: &Payouts,
    session: &Session,
    request: DisbursementRequest,
    call: Option<KeyedCall>,
    format: FailureFormat,
) -> Result<Reply, Failure> {
    let now = payouts.world.clock.now();
    let claim = Claim {
        payout_id: payouts.world.randomness.id(now),
        transaction_id: payouts.world.randomness.id(now),
        session_id: session.session_id.clone(),
        staff_id: session.staff.staff_id.clone(),
        request,
        call,
        format,
        now,
        claimed_at: payouts.world.clock.unset_now(),
        has_maximum: payouts.world.settings.has_live_screens(),
        traceparent: traces::traceparent(),
    };
    // A separate task: a payout must not stop halfway because the caller disconnects.
    let logged = traces::logged(&claim.format.request_id);
    let payout = claim_pay_settle(payouts.clone(), claim).in_current_span().instrument(logged);
    match payouts.world.tasks.finish(payout).await {
        Ok(Some(reply)) => reply,
        Ok(None) => Err(Failure::NotCommitted),
        Err(panicked) => Err(Failure::internal(panicked)),
    }
}

async fn claim_pay_settle(payouts: Payouts, claim: Claim) -> Result<Reply, Failure> {
    let (format, asked_at) = (claim.format.clone(), claim.claimed_at);
    let (payout_id, loan_id) = (claim.payout_id.clone(), claim.request.loan_id.clone());
    let payment = match payouts.claims.write(claim).instrument(traces::step!("claim")).await? {
        Claimed::Answered(reply) => return Ok(reply),
        Claimed::New(payment) => payment,
    };
    tracing::info!(loan.id = %loan_id, payout.id = %payout_id, "payout.claimed");

    let (transaction_id, generation) = (payment.originator_id.clone(), payment.copy.generation);
    // The payment continues after the answer stops waiting for it.
    let paying = pay_and_settle(payouts.clone(), payment)
        .instrument(traces::outlasting(&payouts.world.traces, "pay"))
        .instrument(traces::logged(&format.request_id));
    let paying = payouts.world.tasks.spawn_background(paying);
    let clock = &payouts.world.clock;
    let paid = tokio::select! {
        paid = paying => paid.ok().flatten().unwrap_or(Paid::Unknown),
        () = clock.sleep(ANSWER_TIMEOUT.saturating_sub(clock.unset_now().since(asked_at))) => Paid::Unknown,
    };
    let kept = match paid {
        Paid::Settled(kept) => *kept,
        Paid::DataReplaced => return Err(Failure::NotCommitted),
        Paid::Unknown => accepted(&payouts, transaction_id).await?,
    };
    let reply = match kept.reply {
        Some(reply) => reply,
        None => Reply::of(kept.record, &format)?,
    };
    payouts.answered.add(payout_id, loan_id, &reply, generation);
    Ok(reply)
}

enum Paid {
    Settled(Box<Kept>),
    /// The payout stays PENDING until its status has been queried.
    Unknown,
    /// The data with the claim was replaced by a reset or a restore, or lost in a failover.
    DataReplaced,
}

async fn pay_and_settle(payouts: Payouts, mut payment: Payment) -> Paid {
    let answer = tokio::select! {
        answer = pay(&payouts, &mut payment).instrument(traces::step!("ask mobile money")) => answer,
        () = payouts.world.clock.sleep(PAYMENT_TIMEOUT) => return Paid::Unknown,
    };
    let originator_id = payment.originator_id;
    let settled = match answer {
        Ok(Answer::DataReplaced) => return Paid::DataReplaced,
        Ok(Answer::DuplicateOriginator) => return Paid::Unknown,
        Ok(Answer::Result(verdict)) => settle(&payouts, originator_id.clone(), payment.copy, verdict).await,
        Err(failure) => Err(failure),
    };
    match settled {
        Ok(Some(kept)) => Paid::Settled(Box::new(kept)),
        Ok(None) => Paid::DataReplaced,
        Err(failure) => {
            tracing::error!(transaction.id = %originator_id, ?failure, "payout.left_pending");
            Paid::Unknown
        }
    }
}

/// Requests the payment, again if the request was certainly not sent and the claim is still there: after a
/// failover of PostgreSQL, the new leader may never have seen it.
async fn pay(payouts: &Payouts, payment: &mut Payment) -> Result<Answer, Failure> {
    loop {
        match payouts.mobile_money.pay(payment.clone()).await {
            Err(Failure::Busy | Failure::Unavailable(_)) | Ok(Answer::DataReplaced) => {}
            answer => return answer,
        }
        payment.copy = match claimed_in(payouts, payment).await {
            Ok(Some(copy)) => copy,
            Ok(None) => return Ok(Answer::DataReplaced),
            Err(Failure::Busy | Failure::Unavailable(_)) => payment.copy,
            Err(failure) => return Err(failure),
        };
        payouts.world.clock.sleep(RESEND_INTERVAL).await;
    }
}

const CLAIMED_IN: &str = "
    SELECT generation, timeline FROM payout CROSS JOIN data_copy
    WHERE transaction_id = $1 AND status = 'PENDING' AND generation = $2";

/// The copy of the data that has the claim for `payment` now; `None` if none has it, or if it came back by a restore.
async fn claimed_in(payouts: &Payouts, payment: &Payment) -> Result<Option<DataCopy>, Failure> {
    let claimed = query_as(CLAIMED_IN).bind(&payment.originator_id).bind(payment.copy.generation);
    Ok(claimed.fetch_optional(&mut payouts.world.database.read().await?).await?)
}

/// A payout that has not settled in time, with the answer 'accepted' stored for a call with a key, unless the payout
/// has just been settled. If the payout is not there, or the answer can't be stored, this call gets 'unknown', and a
/// repeat gets the answer.
async fn accepted(payouts: &Payouts, transaction_id: TransactionId) -> Result<Kept, Failure> {
    let kept = accept(payouts, transaction_id).await.unwrap_or_else(|failure| {
        tracing::warn!(?failure, "payout.answer_not_kept");
        None
    });
    kept.ok_or(Failure::NotCommitted)
}
