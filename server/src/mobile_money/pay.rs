//! Sending money to a phone. Requests that wait are entered as a set; one that does not simply succeed goes
//! alone.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    future::pending,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    Answer, Delivery, MobileMoney, Outcome, Payment, Refusal, float,
    outcome::chosen_by_magic,
    receipt::receipt,
    received, scenario,
    scenario::{Behaviour, decide},
    status::VOID,
};
use crate::{
    clock::{Clock, UnixMillis},
    database::{Connection, query, query_as, query_scalar, sets::InSets, version::Generation},
    error::Failure,
    randomness::Randomness,
};

/// The delay of a slow result.
const SLOW: Duration = Duration::from_secs(12);

/// The current generation of the data, and the result under an originator id that was used before.
const KNOWN: &str = "
    SELECT generation.value, payment.result_code
    FROM generation LEFT JOIN mobile_money_payment AS payment ON payment.originator_id = $1";

const IS_TAKEN: &str = "SELECT count(*) FROM mobile_money_payment WHERE receipt = $1";

const INSERT: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at, result_by, day)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const INSERT_ALL: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at, result_by, day)
    SELECT value ->> 'originator_id', value ->> 'receipt', value ->> 'phone_number',
           CAST(value ->> 'amount' AS BIGINT), '0', CAST(value ->> 'requested_at' AS BIGINT),
           CAST(value ->> 'result_at' AS BIGINT), CAST(value ->> 'result_by' AS BIGINT), $2
    FROM json_each($1) WHERE true ORDER BY 1
    ON CONFLICT DO NOTHING";

/// The ids in `$1` that were not used before, if every payment in the data of generation `$2` succeeds that no
/// magic number and no limit prevents.
const UNUSED: &str = "
    SELECT value ->> 'originator_id' FROM json_each($1)
    WHERE NOT EXISTS
        (SELECT 1 FROM mobile_money_payment AS payment WHERE payment.originator_id = value ->> 'originator_id')
    AND (SELECT value FROM generation) = $2
    AND NOT EXISTS (SELECT 1 FROM mobile_money_next_outcome)
    AND (SELECT default_outcome FROM mobile_money_scenario WHERE scenario_id = 'payouts') = 'success'";

/// A payment request that waits to be entered in the books.
#[derive(Debug)]
pub struct Request {
    payment: Payment,
    clock: Clock,
    randomness: Randomness,
}

/// An accepted request, and how its answer is returned.
#[derive(Debug)]
pub struct Accepted {
    answer: Answer,
    route: AnswerRoute,
    /// How long the result takes.
    delay: Duration,
}

#[derive(Debug)]
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
        let accepted = self.requests.write_in_turn(Request { payment, clock, randomness }).await?;
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

impl InSets for Request {
    /// `None` for a request that is lost.
    type Done = Option<Accepted>;

    fn lane(&self) -> &str {
        self.payment.phone_number.as_str()
    }

    async fn together(
        set: &[Arc<Self>],
        connection: &mut Connection,
    ) -> Result<Vec<Option<Self::Done>>, Failure> {
        let none = || Ok(set.iter().map(|_| None).collect());
        let mut simple = simple(set, connection).await?;
        let Some(first) = simple.first() else { return none() };
        let (now, zone) = (first.clock.now(), first.clock.zone().clone());
        let midnights = now.midnights(&zone, 1);
        let mut amounts: BTreeMap<&str, i64> = BTreeMap::new();
        for request in &simple {
            *amounts.entry(request.payment.phone_number.as_str()).or_default() += request.payment.amount;
        }
        let allowed = received::add(connection, &midnights, amounts.into_iter(), true).await?;
        simple.retain(|request| allowed.iter().any(|phone| phone == request.payment.phone_number.as_str()));
        let count = i64::try_from(simple.len()).unwrap_or(i64::MAX);
        let latencies = scenario::draw(connection, count).await?;
        let mut rows = Vec::new();
        let mut accepted: HashMap<&str, Accepted> = HashMap::new();
        for (request, delay) in simple.iter().zip(latencies) {
            let receipt = receipt(now, &request.randomness);
            rows.push(request.row(now, delay, &receipt));
            let answer = Answer::Paid { receipt };
            let id = request.payment.originator_id.as_str();
            accepted.insert(id, Accepted { answer, route: AnswerRoute::Answered, delay });
        }
        let Some(first) = simple.first() else { return none() };
        let total = simple.iter().map(|request| request.payment.amount).sum();
        let entered = query(INSERT_ALL)
            .bind(Value::from(rows).to_string())
            .bind(midnights[0])
            .execute(&mut *connection)
            .await?;
        if entered != simple.len() as u64
            || !float::spend(connection, total, &first.payment.originator_id).await?
        {
            return Err(Failure::Internal("a payment of the set is known, or the float too low".to_owned()));
        }
        let done = |request: &Arc<Self>| accepted.remove(request.payment.originator_id.as_str()).map(Some);
        Ok(set.iter().map(done).collect())
    }

    async fn alone(&self, connection: &mut Connection) -> Result<Self::Done, Failure> {
        accept(connection, &self.payment, &self.clock, &self.randomness).await
    }
}

/// The requests that simply succeed, unless a limit prevents it: one for each id.
async fn simple<'s>(
    set: &'s [Arc<Request>],
    connection: &mut Connection,
) -> Result<Vec<&'s Request>, Failure> {
    let Some(generation) = set.first().map(|request| request.payment.generation) else {
        return Ok(Vec::new());
    };
    let mut ids = HashSet::new();
    let mut simple: Vec<&Request> = set.iter().map(|request| &**request).collect();
    simple.retain(|Request { payment, clock, .. }| {
        payment.generation == generation
            && clock.unset_now() < payment.expires_at
            && chosen_by_magic(&payment.phone_number, payment.amount).is_none()
            && ids.insert(payment.originator_id.as_str())
    });
    if simple.is_empty() {
        return Ok(simple);
    }
    let asked: Vec<Value> =
        simple.iter().map(|request| json!({ "originator_id": request.payment.originator_id })).collect();
    let unused: HashSet<String> = query_scalar(UNUSED)
        .bind(Value::from(asked).to_string())
        .bind(generation)
        .fetch_all(connection)
        .await?
        .into_iter()
        .collect();
    simple.retain(|request| unused.contains(&request.payment.originator_id));
    Ok(simple)
}

impl Request {
    fn row(&self, now: UnixMillis, delay: Duration, receipt: &str) -> Value {
        let Payment { originator_id, phone_number, amount, .. } = &self.payment;
        json!({
            "originator_id": originator_id,
            "receipt": receipt,
            "phone_number": phone_number.as_str(),
            "amount": amount,
            "requested_at": now.0,
            "result_at": now.plus(delay).0,
            "result_by": self.clock.unset_now().plus(delay).0,
        })
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
    let midnights = now.midnights(clock.zone(), 1);
    let entry = Entry { payment, now, unset_now, day: midnights[0] };
    if unset_now >= payment.expires_at {
        entry.insert(connection, None, VOID, Duration::ZERO).await?;
        return immediately(Answer::Void);
    }
    let behaviour = decide(connection, payment).await?;
    if behaviour.outcome == Outcome::LostUnpaid {
        return Ok(None);
    }
    if let Some(refusal) = refusal(connection, payment, &behaviour, &midnights).await? {
        let delay = behaviour.latency;
        entry.insert(connection, None, refusal.code(), delay).await?;
        return Ok(Some(Accepted { answer: Answer::Refused(refusal), route: AnswerRoute::Answered, delay }));
    }
    let slow = if behaviour.outcome == Outcome::Slow { SLOW } else { Duration::ZERO };
    let delay = behaviour.latency + slow;
    let receipt = unused_receipt(connection, now, randomness).await?;
    entry.insert(connection, Some(&receipt), "0", delay).await?;
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
    day: UnixMillis,
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
            .bind(self.day)
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

/// Takes the money for `payment`, or returns why it is refused: by its outcome, the daily limit or the float.
async fn refusal(
    connection: &mut Connection,
    payment: &Payment,
    behaviour: &Behaviour,
    midnights: &[UnixMillis],
) -> Result<Option<Refusal>, Failure> {
    if let Outcome::Refused(refusal) = behaviour.outcome {
        return Ok(Some(refusal));
    }
    let (phone, amount) = (payment.phone_number.as_str(), payment.amount);
    let is_limited = !behaviour.is_magic;
    let allowed = received::add(connection, midnights, [(phone, amount)].into_iter(), is_limited).await?;
    if !is_limited {
        float::spend_always(connection, amount).await?;
        return Ok(None);
    }
    if allowed.is_empty() {
        return Ok(Some(Refusal::DailyLimit));
    }
    if float::spend(connection, amount, &payment.originator_id).await? {
        return Ok(None);
    }
    received::take_back(connection, midnights[0], phone, amount).await?;
    Ok(Some(Refusal::InsufficientFunds))
}
