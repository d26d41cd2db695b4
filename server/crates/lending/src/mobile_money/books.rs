//! The books, by which any number of payment requests are decided on at a time.
//!
//! The row of the float is locked first, so the requests of all servers are entered one set after the other,
//! and no two can break a rule together. Everything that the rules need is read under this lock. Then the
//! requests are decided on one after the other, and each table is written by one statement.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    Answer, DAILY_LIMIT, Outcome, Payment, Refusal, Verdict,
    outcome::chosen_by_magic,
    receipt::receipt,
    scenario::{SET_FLOAT, latency},
    status::VOID,
};
use base::{
    clock::{Clock, UnixMillis},
    error::Failure,
    ids::TransactionId,
    kes::Kes,
    randomness::Randomness,
};
use store::{Connection, query, query_as, version::DataCopy};

/// A payment request that waits to be entered in the books.
#[derive(Debug)]
pub struct Request {
    pub(super) payment: Payment,
    pub(super) clock: Clock,
    pub(super) randomness: Randomness,
}

/// An accepted request, and the route of its answer.
#[derive(Debug)]
pub struct Accepted {
    pub(super) answer: Answer,
    pub(super) route: AnswerRoute,
    pub(super) delay: Duration,
}

#[derive(Debug)]
pub(super) enum AnswerRoute {
    Answered,
    Lost,
    DeliveredToo,
    DeliveredFirst,
}

/// The delay of a slow result.
const SLOW: Duration = Duration::from_secs(12);

/// The float, and the scenario of mobile money.
#[derive(sqlx_macros::FromRow)]
struct Account {
    #[sqlx(flatten)]
    copy: DataCopy,
    float: Kes,
    default_outcome: Outcome,
    latency_ms: i64,
    spread_percent: i64,
    seed: i64,
    drawn: i64,
}

const ACCOUNT: &str = "
    SELECT data_copy.generation, data_copy.timeline, account.float,
           scenario.default_outcome, scenario.latency_ms, scenario.spread_percent,
           scenario.seed, scenario.drawn
    FROM mobile_money_account AS account CROSS JOIN data_copy
    JOIN mobile_money_scenario AS scenario ON scenario.scenario_id = account.account_id
    WHERE account.account_id = 'payouts'";

/// The results under originator ids that were used before.
const USED: &str = "
    SELECT originator_id, result_code FROM mobile_money_payment
    WHERE originator_id IN (SELECT value ->> 'originator_id' FROM json_each($1))";

/// The amounts that phones received on the day that begins at `$2` and ends at `$3`. The clock may have been
/// ahead, so payments of a later day are excluded. Each payment counts as at most `$4`, so that huge magic payments do
/// not overflow the sum.
const RECEIVED: &str = "
    SELECT phone_number, CAST(sum(CASE WHEN amount < $4 THEN amount ELSE $4 END) AS BIGINT)
    FROM mobile_money_payment
    WHERE phone_number IN (SELECT value ->> 'phone_number' FROM json_each($1))
      AND requested_at >= $2 AND requested_at < $3 AND result_code = '0'
    GROUP BY phone_number";

const NEXT: &str = "SELECT position, outcome FROM mobile_money_next_outcome ORDER BY position LIMIT $1";

const ENTER: &str = "
    INSERT INTO mobile_money_payment
        (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at, result_by, reference)
    SELECT value ->> 'originator_id', value ->> 'receipt', value ->> 'phone_number',
           CAST(value ->> 'amount' AS BIGINT), value ->> 'result_code',
           CAST(value ->> 'requested_at' AS BIGINT), CAST(value ->> 'result_at' AS BIGINT),
           CAST(value ->> 'result_by' AS BIGINT), value ->> 'reference'
    FROM json_each($1) WHERE true
    ON CONFLICT DO NOTHING";

const SET_DRAWN: &str = "UPDATE mobile_money_scenario SET drawn = $1 WHERE scenario_id = 'payouts'";

const TAKE_NEXT: &str = "DELETE FROM mobile_money_next_outcome WHERE position <= $1";

/// Returns the amounts received today by the phones of requests that have a daily limit.
async fn received_today(
    set: &[Arc<Request>],
    connection: &mut Connection,
) -> Result<HashMap<String, Kes>, sqlx::Error> {
    let limited = set.iter().filter(|request| {
        // A magic number may have received any number of payments.
        chosen_by_magic(&request.payment.phone_number, request.payment.amount).is_none()
    });
    let phones: Vec<Value> =
        limited.map(|request| json!({ "phone_number": request.payment.phone_number.as_str() })).collect();
    let (Some(first), false) = (set.first(), phones.is_empty()) else { return Ok(HashMap::new()) };
    let today = first.clock.now().midnights(first.clock.zone(), 1);
    let received: Vec<(String, Kes)> = query_as(RECEIVED)
        .bind_all((Value::from(phones).to_string(), today[0], today[1], DAILY_LIMIT))
        .fetch_all(connection)
        .await?;
    Ok(received.into_iter().collect())
}

/// The part of the books that a set of requests needs, with the changes by requests already decided.
pub(super) struct Books {
    account: Account,
    used: HashMap<TransactionId, String>,
    /// The amounts that phones received today, in KES.
    received: HashMap<String, Kes>,
    /// The outcomes of the next payments.
    next: VecDeque<(i64, Outcome)>,
    /// The position of the last outcome that was taken.
    taken: Option<i64>,
    spent: Kes,
    /// The number of latencies drawn for this set.
    drawn: i64,
    entries: Vec<Value>,
}

impl Books {
    /// Locks the float and reads what the rules need for `set`.
    pub(super) async fn open(set: &[Arc<Request>], connection: &mut Connection) -> Result<Self, Failure> {
        let account: Account =
            query_as(ACCOUNT).locking("FOR UPDATE OF account, scenario").fetch_one(&mut *connection).await?;
        let ids = set.iter().map(|request| json!({ "originator_id": request.payment.originator_id }));
        let ids = ids.collect::<Value>().to_string();
        let used: Vec<(TransactionId, String)> = query_as(USED).bind(ids).fetch_all(&mut *connection).await?;
        let received = received_today(set, connection).await?;
        let count = i64::try_from(set.len()).unwrap_or(i64::MAX);
        let next: Vec<(i64, Outcome)> = query_as(NEXT).bind(count).fetch_all(connection).await?;
        Ok(Self {
            account,
            used: used.into_iter().collect(),
            received,
            next: next.into(),
            taken: None,
            spent: Kes::default(),
            drawn: 0,
            entries: Vec::new(),
        })
    }

    /// Decides on a request; `None` if it is lost.
    pub(super) fn enter(&mut self, request: &Request) -> Option<Accepted> {
        let Request { payment, clock, randomness } = request;
        let immediately =
            |answer| Some(Accepted { answer, route: AnswerRoute::Answered, delay: Duration::ZERO });
        if payment.copy != self.account.copy {
            return immediately(Answer::DataReplaced);
        }
        match self.used.get(&payment.originator_id).map(String::as_str) {
            Some(VOID) => return immediately(Answer::Result(Verdict::NotReceived)),
            Some(_) => return immediately(Answer::DuplicateOriginator),
            None => {}
        }
        let now = clock.now();
        if clock.unset_now() >= payment.expires_at {
            self.add(payment, VOID, None, (now, clock), Duration::ZERO);
            return immediately(Answer::Result(Verdict::NotReceived));
        }
        let latency = self.draw();
        let magic = chosen_by_magic(&payment.phone_number, payment.amount);
        let outcome = magic.unwrap_or_else(|| self.take_next());
        if outcome == Outcome::LostUnpaid {
            return None;
        }
        if let Some(refusal) = self.refusal(payment, outcome, magic.is_some()) {
            self.add(payment, refusal.code(), None, (now, clock), latency);
            let answer = Answer::Result(Verdict::Refused(refusal));
            return Some(Accepted { answer, route: AnswerRoute::Answered, delay: latency });
        }
        let delay = latency + if outcome == Outcome::Slow { SLOW } else { Duration::ZERO };
        let receipt = receipt(now, randomness);
        self.add(payment, "0", Some(&receipt), (now, clock), delay);
        self.spent += payment.amount;
        *self.received.entry(payment.phone_number.as_str().to_owned()).or_default() += payment.amount;
        let route = match outcome {
            Outcome::PaidAnswerLost => AnswerRoute::Lost,
            Outcome::ResultTwice => AnswerRoute::DeliveredToo,
            Outcome::ResultBeforeAnswer => AnswerRoute::DeliveredFirst,
            Outcome::Success | Outcome::Slow | Outcome::LostUnpaid | Outcome::Refused(_) => {
                AnswerRoute::Answered
            }
        };
        Some(Accepted { answer: Answer::Result(Verdict::Paid(receipt)), route, delay })
    }

    /// Returns the reason to refuse `payment`, if any: its outcome, the daily limit, or the float. Magic
    /// numbers have no daily limit, but the float must cover them too.
    fn refusal(&self, payment: &Payment, outcome: Outcome, is_magic: bool) -> Option<Refusal> {
        if let Outcome::Refused(refusal) = outcome {
            return Some(refusal);
        }
        let received = self.received.get(payment.phone_number.as_str()).copied().unwrap_or_default();
        if !is_magic && received + payment.amount > DAILY_LIMIT {
            return Some(Refusal::DailyLimit);
        }
        (payment.amount > self.account.float - self.spent).then_some(Refusal::InsufficientFunds)
    }

    fn take_next(&mut self) -> Outcome {
        let Some((position, outcome)) = self.next.pop_front() else { return self.account.default_outcome };
        self.taken = Some(position);
        outcome
    }

    fn draw(&mut self) -> Duration {
        let Account { latency_ms, spread_percent, seed, drawn, .. } = self.account;
        if latency_ms == 0 {
            return Duration::ZERO;
        }
        self.drawn += 1;
        latency(latency_ms, spread_percent, seed, drawn + self.drawn)
    }

    fn add(
        &mut self,
        payment: &Payment,
        result_code: &str,
        receipt: Option<&str>,
        (now, clock): (UnixMillis, &Clock),
        delay: Duration,
    ) {
        let Payment { originator_id, phone_number, amount, reference, .. } = payment;
        self.used.insert(originator_id.clone(), result_code.to_owned());
        self.entries.push(json!({
            "originator_id": originator_id,
            "receipt": receipt,
            "phone_number": phone_number.as_str(),
            "amount": amount,
            "result_code": result_code,
            "requested_at": now.0,
            "result_at": now.plus(delay).0,
            "result_by": clock.unset_now().plus(delay).0,
            "reference": reference,
        }));
    }

    /// Writes what the requests have changed.
    ///
    /// # Errors
    /// [`Failure::Conflict`] if one of them has been voided meanwhile, or a receipt was given before.
    pub(super) async fn write(self, connection: &mut Connection) -> Result<(), Failure> {
        let Self { account, taken, spent, drawn, entries, .. } = self;
        if !entries.is_empty() {
            let asked = entries.len() as u64;
            let entered =
                query(ENTER).bind(Value::from(entries).to_string()).execute(&mut *connection).await?;
            if entered != asked {
                return Err(Failure::Conflict);
            }
        }
        if spent > Kes::default() {
            query(SET_FLOAT).bind(account.float - spent).execute(&mut *connection).await?;
        }
        if drawn > 0 {
            query(SET_DRAWN).bind(account.drawn + drawn).execute(&mut *connection).await?;
        }
        if let Some(taken) = taken {
            query(TAKE_NEXT).bind(taken).execute(connection).await?;
        }
        Ok(())
    }
}
