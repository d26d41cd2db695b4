//! Sending money to a phone.

use std::{future::pending, time::Duration};

use jiff::tz::TimeZone;
use tokio::sync::oneshot;

use super::{
    Answer, DAILY_LIMIT, Delivery, MobileMoney, Outcome, Payment, Refusal,
    receipt::receipt,
    scenario::{Behaviour, decide},
    status::VOID,
};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, query, query_as, query_scalar, versions::Generation},
    error::Failure,
    randomness::Randomness,
};

/// The delay of a slow result.
const SLOW: Duration = Duration::from_secs(12);

/// The current generation of the data, and the result under an originator id that was used before.
const KNOWN: &str = "
    SELECT version.value, payment.result_code
    FROM version LEFT JOIN mobile_money_payment AS payment ON payment.originator_id = $1
    WHERE version.name = 'generation'";

const IS_TAKEN: &str = "SELECT count(*) FROM mobile_money_payment WHERE receipt = $1";

const FLOAT: &str = "SELECT float FROM mobile_money_account WHERE account_id = 'payouts'";

const RECEIVED_BETWEEN: &str = "
    SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) FROM mobile_money_payment
    WHERE phone_number = $1 AND requested_at >= $2 AND requested_at < $3 AND result_code = '0'";

const INSERT: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at, result_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const SPEND: &str = "UPDATE mobile_money_account SET float = float - $1 WHERE account_id = 'payouts'";

/// An accepted request, and how its answer is returned.
struct Accepted {
    answer: Answer,
    route: AnswerRoute,
    /// How long the result takes.
    delay: Duration,
}

enum AnswerRoute {
    Answered,
    Lost,
    DeliveredToo,
    DeliveredFirst,
}

impl MobileMoney {
    /// Sends money, or returns why not. The same originator id never sends twice. The answer may
    /// never arrive: use a timeout, and then query the status.
    pub async fn pay(&self, payment: Payment) -> Result<Answer, Failure> {
        let (originator_id, generation) = (payment.originator_id.clone(), payment.generation);
        drop(self.line.read().await);
        let (clock, randomness) = (self.clock.clone(), self.randomness.clone());
        let accepted = self
            .database
            .write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move { accept(connection, &payment, &clock, &randomness).await })
            })
            .await?;
        // A lost request is never answered.
        let Some(accepted) = accepted else { return pending().await };
        self.clock.sleep(accepted.delay).await;
        let deliver = || self.deliver(&originator_id, generation, &accepted.answer);
        match accepted.route {
            AnswerRoute::Answered => {}
            AnswerRoute::Lost => pending().await,
            AnswerRoute::DeliveredToo => _ = deliver(),
            AnswerRoute::DeliveredFirst => _ = deliver().await,
        }
        Ok(accepted.answer)
    }

    fn deliver(&self, originator_id: &str, generation: Generation, answer: &Answer) -> oneshot::Receiver<()> {
        let (processed, is_processed) = oneshot::channel();
        // Lost when too many wait or the sandbox is being closed. The books have the result.
        _ = self.results.try_send(Delivery {
            originator_id: originator_id.to_owned(),
            generation,
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
    let (now, unset_now) = (clock.now(), clock.unset_now());
    let immediately =
        |answer| Ok(Some(Accepted { answer, route: AnswerRoute::Answered, delay: Duration::ZERO }));
    let (generation, known): (Generation, Option<String>) =
        query_as(KNOWN).bind(&payment.originator_id).fetch_one(&mut *connection).await?;
    if generation != payment.generation {
        return immediately(Answer::DataReplaced);
    }
    match known.as_deref() {
        Some(VOID) => return immediately(Answer::Void),
        Some(_) => return immediately(Answer::DuplicateOriginator),
        None => {}
    }
    let entry = Entry { payment, now, unset_now };
    if unset_now >= payment.expires_at {
        entry.insert(connection, None, VOID, Duration::ZERO).await?;
        return immediately(Answer::Void);
    }
    let behaviour = decide(connection, payment).await?;
    if behaviour.outcome == Outcome::LostUnpaid {
        return Ok(None);
    }
    if let Some(refusal) = refusal(connection, payment, &behaviour, now, clock.zone()).await? {
        let delay = behaviour.latency;
        entry.insert(connection, None, refusal.code(), delay).await?;
        return Ok(Some(Accepted { answer: Answer::Refused(refusal), route: AnswerRoute::Answered, delay }));
    }
    let slow = if behaviour.outcome == Outcome::Slow { SLOW } else { Duration::ZERO };
    let delay = behaviour.latency + slow;
    let receipt = unused_receipt(connection, now, randomness).await?;
    entry.insert(connection, Some(&receipt), "0", delay).await?;
    query(SPEND).bind(payment.amount).execute(connection).await?;
    let route = match behaviour.outcome {
        Outcome::PaidAnswerLost => AnswerRoute::Lost,
        Outcome::ResultTwice => AnswerRoute::DeliveredToo,
        Outcome::ResultBeforeAnswer => AnswerRoute::DeliveredFirst,
        Outcome::Success | Outcome::Slow | Outcome::LostUnpaid | Outcome::Refused(_) => AnswerRoute::Answered,
    };
    Ok(Some(Accepted { answer: Answer::Paid { receipt }, route, delay }))
}

/// A row of the books about to be written.
struct Entry<'a> {
    payment: &'a Payment,
    now: UnixMillis,
    unset_now: UnixMillis,
}

impl Entry<'_> {
    async fn insert(
        &self,
        connection: &mut Connection,
        receipt: Option<&str>,
        result_code: &str,
        delay: Duration,
    ) -> Result<(), sqlx::Error> {
        query(INSERT)
            .bind(&self.payment.originator_id)
            .bind(receipt)
            .bind(&self.payment.phone_number)
            .bind(self.payment.amount)
            .bind(result_code)
            .bind(self.now)
            .bind(self.now.plus(delay))
            .bind(self.unset_now.plus(delay))
            .execute(connection)
            .await?;
        Ok(())
    }
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
    zone: &TimeZone,
) -> Result<Option<Refusal>, Failure> {
    if let Outcome::Refused(refusal) = behaviour.outcome {
        return Ok(Some(refusal));
    }
    if behaviour.is_magic {
        return Ok(None);
    }
    let day = now.midnights(zone, 1);
    let received: i64 = query_scalar(RECEIVED_BETWEEN)
        .bind(&payment.phone_number)
        .bind(day[0])
        // The clock may have been ahead: payments of a later day are not of today.
        .bind(day[1])
        .fetch_one(&mut *connection)
        .await?;
    if received + payment.amount > DAILY_LIMIT {
        return Ok(Some(Refusal::DailyLimit));
    }
    let float: i64 = query_scalar(FLOAT).fetch_one(connection).await?;
    Ok((payment.amount > float).then_some(Refusal::InsufficientFunds))
}
