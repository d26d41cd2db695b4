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

/// How long the result of a slow payment takes.
const SLOW: Duration = Duration::from_secs(12);

/// The service, as one who is its customer reaches it.
#[derive(Clone, Debug)]
pub struct MobileMoney {
    pub(super) database: Database,
    pub(super) clock: Clock,
    randomness: Randomness,
    results: mpsc::UnboundedSender<Delivery>,
}

/// What is asked of it.
#[derive(Clone, Debug)]
pub struct Payment {
    /// Chosen by who asks, never used twice.
    pub originator_id: String,
    /// Who receives.
    pub phone_number: Msisdn,
    /// How much, in KES.
    pub amount: i64,
    /// A request that arrives at this moment or later is not carried out.
    pub expires_at: UnixMillis,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The money went out.
    Paid {
        /// Proof of it.
        receipt: String,
    },
    /// No money went out.
    Refused(Refusal),
    /// This originator id was used before; ask for its status instead.
    DuplicateOriginator,
    /// The request came after its time, and was not carried out.
    Expired,
}

/// A result that it delivers of its own accord, as M-Pesa calls back.
#[derive(Debug)]
pub struct Delivery {
    /// Which payment it is of.
    pub originator_id: String,
    /// What became of it.
    pub answer: Answer,
    /// Told when the result was taken in.
    pub taken: oneshot::Sender<()>,
}

const IS_KNOWN: &str = "SELECT count(*) FROM mobile_money_payment WHERE originator_id = $1";

const IS_TAKEN: &str = "SELECT count(*) FROM mobile_money_payment WHERE receipt = $1";

const FLOAT: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts'";

const RECEIVED_SINCE: &str = "
    SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM mobile_money_payment
    WHERE phone_number = $1 AND requested_at >= $2 AND result_code = '0'";

const ENTER: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const SPEND: &str = "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = 'payouts'";

/// A request that was taken in, and how its answer travels.
struct Entered {
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
    /// The service with its books in `database`, which delivers to `results`.
    pub fn new(
        database: Database,
        clock: Clock,
        randomness: Randomness,
        results: mpsc::UnboundedSender<Delivery>,
    ) -> Self {
        Self { database, clock, randomness, results }
    }

    /// Sends money, or says why not. The same originator id never sends twice. An answer may
    /// never come: give up after a while, and ask for the status.
    pub async fn pay(&self, payment: Payment) -> Result<Answer, Failure> {
        let originator_id = payment.originator_id.clone();
        let (clock, randomness) = (self.clock.clone(), self.randomness.clone());
        let entered = self
            .database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move { enter(connection, &payment, &clock, &randomness).await })
            })
            .await?;
        // Where the request itself was lost, there is nobody to answer it.
        let Some(entered) = entered else { return pending().await };
        self.clock.sleep(entered.result_at.since(self.clock.now())).await;
        match entered.route {
            AnswerRoute::Answered => {}
            AnswerRoute::Lost => pending().await,
            AnswerRoute::DeliveredToo => _ = self.deliver(&originator_id, &entered.answer),
            AnswerRoute::DeliveredFirst => _ = self.deliver(&originator_id, &entered.answer).await,
        }
        Ok(entered.answer)
    }

    fn deliver(&self, originator_id: &str, answer: &Answer) -> oneshot::Receiver<()> {
        let (taken, told) = oneshot::channel();
        // Nobody listens any more when the sandbox is being closed; the books have the result.
        _ = self.results.send(Delivery {
            originator_id: originator_id.to_owned(),
            answer: answer.clone(),
            taken,
        });
        told
    }
}

/// Takes a request in; nothing is left of one that is lost on the way.
async fn enter(
    connection: &mut Connection,
    payment: &Payment,
    clock: &Clock,
    randomness: &Randomness,
) -> Result<Option<Entered>, Failure> {
    let now = clock.now();
    let at_once = |answer| Some(Entered { answer, route: AnswerRoute::Answered, result_at: now });
    if now >= payment.expires_at {
        return Ok(at_once(Answer::Expired));
    }
    if is_there(connection, IS_KNOWN, &payment.originator_id).await? {
        return Ok(at_once(Answer::DuplicateOriginator));
    }
    let behaviour = decide(connection, payment).await?;
    if behaviour.outcome == Outcome::LostUnpaid {
        return Ok(None);
    }
    if let Some(refusal) = refusal(connection, payment, &behaviour, now).await? {
        let result_at = now.plus(behaviour.latency);
        write_down(connection, payment, Err(refusal), now, result_at).await?;
        return Ok(Some(Entered {
            answer: Answer::Refused(refusal),
            route: AnswerRoute::Answered,
            result_at,
        }));
    }
    let slow = if behaviour.outcome == Outcome::Slow { SLOW } else { Duration::ZERO };
    let result_at = now.plus(behaviour.latency + slow);
    let receipt = unused_receipt(connection, now, randomness).await?;
    write_down(connection, payment, Ok(&receipt), now, result_at).await?;
    query(SPEND).bind(payment.amount).execute(connection).await?;
    let route = match behaviour.outcome {
        Outcome::PaidAnswerLost => AnswerRoute::Lost,
        Outcome::ResultTwice => AnswerRoute::DeliveredToo,
        Outcome::ResultBeforeAnswer => AnswerRoute::DeliveredFirst,
        Outcome::Success | Outcome::Slow | Outcome::LostUnpaid | Outcome::Refused(_) => AnswerRoute::Answered,
    };
    Ok(Some(Entered { answer: Answer::Paid { receipt }, route, result_at }))
}

async fn write_down(
    connection: &mut Connection,
    payment: &Payment,
    result: Result<&str, Refusal>,
    requested_at: UnixMillis,
    result_at: UnixMillis,
) -> Result<(), sqlx::Error> {
    query(ENTER)
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

async fn is_there(connection: &mut Connection, query: &'static str, what: &str) -> Result<bool, Failure> {
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
        if !is_there(connection, IS_TAKEN, &receipt).await? {
            return Ok(receipt);
        }
    }
}

/// Why `payment` is refused: told to be, or over the day's limit or the float.
async fn refusal(
    connection: &mut Connection,
    payment: &Payment,
    behaviour: &Behaviour,
    now: UnixMillis,
) -> Result<Option<Refusal>, Failure> {
    if let Outcome::Refused(refusal) = behaviour.outcome {
        return Ok(Some(refusal));
    }
    if behaviour.whatever_else_is_set {
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
