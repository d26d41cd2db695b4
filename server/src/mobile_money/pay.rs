//! Sending money to a phone.

use std::{future::pending, time::Duration};

use tokio::sync::{mpsc, oneshot};

use super::{
    DAILY_LIMIT, Outcome, Refusal,
    receipt::receipt,
    scenario::{Behaviour, decide},
};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, Database, query, query_scalar},
    error::Failure,
    phone::Msisdn,
    randomness::Randomness,
};

/// The delay of a slow result.
const SLOW: Duration = Duration::from_secs(12);

/// A client of the simulated service.
#[derive(Clone, Debug)]
pub struct MobileMoney {
    pub(super) database: Database,
    pub(super) clock: Clock,
    randomness: Randomness,
    results: mpsc::UnboundedSender<Delivery>,
}

/// A payment request.
#[derive(Clone, Debug)]
pub struct Payment {
    /// Chosen by the caller, never used twice.
    pub originator_id: String,
    /// The recipient.
    pub phone_number: Msisdn,
    /// The amount in KES.
    pub amount: i64,
    /// A request that arrives at this time or later is not carried out.
    pub expires_at: UnixMillis,
}

/// The answer to a payment request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The money was sent.
    Paid {
        /// The receipt of the payment.
        receipt: String,
    },
    /// No money was sent.
    Refused(Refusal),
    /// This originator id was used before. Query its status instead.
    DuplicateOriginator,
    /// The request arrived after it had expired, and was not carried out.
    Expired,
}

/// A result that is delivered asynchronously, like an M-Pesa callback.
#[derive(Debug)]
pub struct Delivery {
    /// The payment.
    pub originator_id: String,
    /// The result of the payment.
    pub answer: Answer,
    /// Notified when the result has been processed.
    pub processed: oneshot::Sender<()>,
}

const IS_KNOWN: &str = "SELECT count(*) FROM mobile_money_payment WHERE originator_id = $1";

const IS_TAKEN: &str = "SELECT count(*) FROM mobile_money_payment WHERE receipt = $1";

const FLOAT: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts'";

const RECEIVED_SINCE: &str = "
    SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM mobile_money_payment
    WHERE phone_number = $1 AND requested_at >= $2 AND result_code = '0'";

const INSERT: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const SPEND: &str = "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = 'payouts'";

/// An accepted request, and how its answer is returned.
struct Accepted {
    answer: Answer,
    route: AnswerRoute,
    result_at: UnixMillis,
}

enum AnswerRoute {
    Answered,
    Lost,
    DeliveredToo,
    DeliveredFirst,
}

impl MobileMoney {
    /// A service that keeps its books in `database` and delivers results to `results`.
    pub fn new(
        database: Database,
        clock: Clock,
        randomness: Randomness,
        results: mpsc::UnboundedSender<Delivery>,
    ) -> Self {
        Self { database, clock, randomness, results }
    }

    /// Sends money, or returns why not. The same originator id never sends twice. The answer may
    /// never arrive: use a timeout, and then query the status.
    pub async fn pay(&self, payment: Payment) -> Result<Answer, Failure> {
        let originator_id = payment.originator_id.clone();
        let (clock, randomness) = (self.clock.clone(), self.randomness.clone());
        let accepted = self
            .database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move { accept(connection, &payment, &clock, &randomness).await })
            })
            .await?;
        // A lost request is never answered.
        let Some(accepted) = accepted else { return pending().await };
        self.clock.sleep(accepted.result_at.since(self.clock.now())).await;
        match accepted.route {
            AnswerRoute::Answered => {}
            AnswerRoute::Lost => pending().await,
            AnswerRoute::DeliveredToo => _ = self.deliver(&originator_id, &accepted.answer),
            AnswerRoute::DeliveredFirst => _ = self.deliver(&originator_id, &accepted.answer).await,
        }
        Ok(accepted.answer)
    }

    fn deliver(&self, originator_id: &str, answer: &Answer) -> oneshot::Receiver<()> {
        let (processed, is_processed) = oneshot::channel();
        // The receiver is gone when the sandbox is being closed. The books have the result.
        _ = self.results.send(Delivery {
            originator_id: originator_id.to_owned(),
            answer: answer.clone(),
            processed,
        });
        is_processed
    }
}

/// Records a request, unless it is lost.
async fn accept(
    connection: &mut Connection,
    payment: &Payment,
    clock: &Clock,
    randomness: &Randomness,
) -> Result<Option<Accepted>, Failure> {
    let now = clock.now();
    let immediately = |answer| Some(Accepted { answer, route: AnswerRoute::Answered, result_at: now });
    if now >= payment.expires_at {
        return Ok(immediately(Answer::Expired));
    }
    if exists(connection, IS_KNOWN, &payment.originator_id).await? {
        return Ok(immediately(Answer::DuplicateOriginator));
    }
    let behaviour = decide(connection, payment).await?;
    if behaviour.outcome == Outcome::LostUnpaid {
        return Ok(None);
    }
    if let Some(refusal) = refusal(connection, payment, &behaviour, now).await? {
        let result_at = now.plus(behaviour.latency);
        insert(connection, payment, Err(refusal), now, result_at).await?;
        return Ok(Some(Accepted {
            answer: Answer::Refused(refusal),
            route: AnswerRoute::Answered,
            result_at,
        }));
    }
    let slow = if behaviour.outcome == Outcome::Slow { SLOW } else { Duration::ZERO };
    let result_at = now.plus(behaviour.latency + slow);
    let receipt = unused_receipt(connection, now, randomness).await?;
    insert(connection, payment, Ok(&receipt), now, result_at).await?;
    query(SPEND).bind(payment.amount).execute(connection).await?;
    let route = match behaviour.outcome {
        Outcome::PaidAnswerLost => AnswerRoute::Lost,
        Outcome::ResultTwice => AnswerRoute::DeliveredToo,
        Outcome::ResultBeforeAnswer => AnswerRoute::DeliveredFirst,
        Outcome::Success | Outcome::Slow | Outcome::LostUnpaid | Outcome::Refused(_) => AnswerRoute::Answered,
    };
    Ok(Some(Accepted { answer: Answer::Paid { receipt }, route, result_at }))
}

async fn insert(
    connection: &mut Connection,
    payment: &Payment,
    result: Result<&str, Refusal>,
    requested_at: UnixMillis,
    result_at: UnixMillis,
) -> Result<(), sqlx::Error> {
    query(INSERT)
        .bind(&payment.originator_id)
        .bind(result.ok())
        .bind(&payment.phone_number)
        .bind(payment.amount)
        .bind(result.err().map_or("0", Refusal::code))
        .bind(requested_at)
        .bind(result_at)
        .execute(connection)
        .await?;
    Ok(())
}

async fn exists(connection: &mut Connection, query: &'static str, what: &str) -> Result<bool, Failure> {
    let found: i64 = query_scalar(query).bind(what).fetch_one(connection).await?;
    Ok(found > 0)
}

async fn unused_receipt(
    connection: &mut Connection,
    now: UnixMillis,
    randomness: &Randomness,
) -> Result<String, Failure> {
    loop {
        let receipt = receipt(now, randomness);
        if !exists(connection, IS_TAKEN, &receipt).await? {
            return Ok(receipt);
        }
    }
}

/// Why `payment` is refused: by its outcome, the daily limit or the float.
async fn refusal(
    connection: &mut Connection,
    payment: &Payment,
    behaviour: &Behaviour,
    now: UnixMillis,
) -> Result<Option<Refusal>, Failure> {
    if let Outcome::Refused(refusal) = behaviour.outcome {
        return Ok(Some(refusal));
    }
    if behaviour.is_magic {
        return Ok(None);
    }
    let received: i64 = query_scalar(RECEIVED_SINCE)
        .bind(&payment.phone_number)
        .bind(now.nairobi_midnight())
        .fetch_one(&mut *connection)
        .await?;
    if received + payment.amount > DAILY_LIMIT {
        return Ok(Some(Refusal::DailyLimit));
    }
    let float: i64 = query_scalar(FLOAT).fetch_one(connection).await?;
    Ok((payment.amount > float).then_some(Refusal::InsufficientFunds))
}
