//! Keys that make it safe to repeat a call (the IETF's `Idempotency-Key`).
//!
//! The same key with the same body gets the first answer again, byte for byte. The same key with
//! a different body is refused. Every final answer is stored: 200, 202, refusals by mobile money
//! and for a wrong amount or phone (422), 404, and 409 for a loan that is disbursed or not
//! approved. Other answers are not stored, so that a repeat is processed again: invalid requests
//! (400, 413, 415, 422 `invalid_request`), 401, 409 `in_progress`, which is temporary, and all 5xx.
//!
//! A key belongs to one user. It is entered in the transaction that decides on its call, and expires after 24
//! hours. Its answer is written once, before it is sent, so the sent and the stored answer are the same. If
//! the server died before it answered, settling the payout stores the answer, so no key stays in use forever.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ANSWER_TIMEOUT, PayoutRefusal, Record, Reply, records};
use base::{
    clock::UnixMillis,
    error::{Failure, FailureFormat},
    ids::{LoanId, PayoutId, StaffId},
};
use store::{Connection, Database, listed, query, query_as, query_scalar, sweep};

const KEY_LIFETIME: Duration = Duration::from_hours(24);

/// A key chosen by the caller: 1 to 255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses the header's value, which may be quoted. Only a quoted key may contain spaces.
    pub fn parse(value: &str) -> Option<Self> {
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (key, space) = match quoted {
            Some(key) => (key, true),
            None => (value, false),
        };
        let is_allowed = |byte: u8| matches!(byte, b'!' | b'#'..=b'~') || (space && byte == b' ');
        ((1..=255).contains(&key.len()) && key.bytes().all(is_allowed)).then(|| Self(key.to_owned()))
    }
}

/// A call with a key.
#[derive(Clone, Debug)]
pub struct KeyedCall {
    staff_id: StaffId,
    key: IdempotencyKey,
    fingerprint: String,
}

impl KeyedCall {
    /// A user's call to pay `loan_id` out. Bodies are compared as JSON: whitespace and the order of
    /// fields do not matter.
    pub fn new(staff_id: StaffId, key: IdempotencyKey, loan_id: &LoanId, body: &Value) -> Self {
        let fingerprint = hex::encode(Sha256::digest(format!("{loan_id}\n{body}")));
        Self { staff_id, key, fingerprint }
    }
}

#[derive(Clone, Debug, sqlx_macros::FromRow)]
struct Stored {
    staff_id: StaffId,
    idempotency_key: String,
    fingerprint: String,
    payout_id: Option<PayoutId>,
    request_id: String,
    problem: bool,
    status: Option<i64>,
    body: Option<String>,
    created_at: UnixMillis,
}

macro_rules! select_keys {
    ($rest:literal) => {
        concat!(
            "SELECT stored.staff_id, stored.idempotency_key, stored.fingerprint, stored.payout_id,
                    stored.request_id, stored.problem, stored.status, stored.body, stored.created_at ",
            $rest
        )
    };
}

const OF_CALLS: &str = select_keys!(
    "FROM json_each($1) AS asked CROSS JOIN idempotency_key AS stored
     WHERE stored.staff_id = asked.value ->> 'staff_id' AND stored.idempotency_key = asked.value ->> 'key'"
);

const OF_PAYOUTS: &str = select_keys!(
    "FROM idempotency_key AS stored
     WHERE stored.payout_id IN (SELECT value ->> 'id' FROM json_each($1))
     ORDER BY stored.staff_id, stored.idempotency_key"
);

/// Tells which payouts have keys, locked or not.
const EXISTING: &str = "
    SELECT payout_id FROM idempotency_key
    WHERE payout_id IN (SELECT value ->> 'id' FROM json_each($1))";

/// A key that has expired is replaced.
const ENTER: &str = "
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, payout_id, request_id, problem, status, body, created_at)
    SELECT value ->> 'staff_id', value ->> 'key', value ->> 'fingerprint', value ->> 'payout_id',
           value ->> 'request_id', CAST(value ->> 'problem' AS BOOLEAN), CAST(value ->> 'status' AS BIGINT),
           value ->> 'body', CAST(value ->> 'created_at' AS BIGINT)
    FROM json_each($1) WHERE true ORDER BY 1, 2
    ON CONFLICT (staff_id, idempotency_key) DO UPDATE SET
        fingerprint = excluded.fingerprint, payout_id = excluded.payout_id, request_id = excluded.request_id,
        problem = excluded.problem, status = excluded.status, body = excluded.body,
        created_at = excluded.created_at
    WHERE idempotency_key.created_at <= excluded.created_at - $2";

const ANSWER: &str = "
    WITH asked AS MATERIALIZED (
        SELECT value ->> 'payout_id' AS id, CAST(value ->> 'status' AS BIGINT) AS status,
               value ->> 'body' AS body FROM json_each($1))
    UPDATE idempotency_key SET status = asked.status, body = asked.body
    FROM asked
    WHERE idempotency_key.payout_id = asked.id AND idempotency_key.status IS NULL";

/// The keys of calls that are decided on one after the other.
pub(super) struct Keys {
    /// By user and key.
    stored: HashMap<(StaffId, String), Stored>,
    /// The rows of new keys.
    entered: Vec<Value>,
}

impl Keys {
    /// Returns the stored keys of `calls`, which come with their times. A key whose first call was never
    /// answered, because its server died, gets its answer now.
    pub(super) async fn of(
        connection: &mut Connection,
        calls: &[(&KeyedCall, UnixMillis)],
    ) -> Result<Self, Failure> {
        if calls.is_empty() {
            return Ok(Self { stored: HashMap::new(), entered: Vec::new() });
        }
        let asked = calls.iter().map(|(call, _)| json!({ "staff_id": call.staff_id, "key": call.key.0 }));
        let stored: Vec<Stored> =
            query_as(OF_CALLS).bind(asked.collect::<Value>().to_string()).fetch_all(&mut *connection).await?;
        let stored = stored.into_iter().map(|key| ((key.staff_id.clone(), key.idempotency_key.clone()), key));
        let mut keys = Self { stored: stored.collect(), entered: Vec::new() };
        let unanswered = calls.iter().filter_map(|(call, now)| {
            let stored = keys.stored(call, *now)?;
            let is_left = stored.status.is_none() && *now >= stored.created_at.plus(ANSWER_TIMEOUT);
            stored.payout_id.clone().filter(|_| is_left && stored.fingerprint == call.fingerprint)
        });
        let unanswered: Vec<PayoutId> = unanswered.collect();
        if !unanswered.is_empty() {
            let records = records::records(connection, &unanswered).await?;
            let answers = LockedKeys::of(connection, &records).await?.answer(connection, &records).await?;
            for stored in keys.stored.values_mut() {
                if let Some(reply) = stored.payout_id.as_ref().and_then(|payout_id| answers.get(payout_id)) {
                    (stored.status, stored.body) = (Some(i64::from(reply.status)), Some(reply.body.clone()));
                }
            }
        }
        Ok(keys)
    }

    /// The key of `call`, unless it has expired.
    fn stored(&self, call: &KeyedCall, now: UnixMillis) -> Option<&Stored> {
        let stored = self.stored.get(&(call.staff_id.clone(), call.key.0.clone()))?;
        (stored.created_at > now.minus(KEY_LIFETIME)).then_some(stored)
    }

    /// The stored answer to `call`; `None` if its key is new.
    pub(super) fn answer_to(&self, call: &KeyedCall, now: UnixMillis) -> Result<Option<Reply>, Failure> {
        let Some(stored) = self.stored(call, now) else { return Ok(None) };
        if stored.fingerprint != call.fingerprint {
            return Err(PayoutRefusal::IdempotencyKeyReused.into());
        }
        match stored.reply()? {
            Some(reply) => Ok(Some(Reply { replayed: true, ..reply })),
            None => Err(PayoutRefusal::IdempotencyKeyInUse.into()),
        }
    }

    /// Enters the key of a call that has started a payout or was refused.
    pub(super) fn enter(
        &mut self,
        call: &KeyedCall,
        format: &FailureFormat,
        now: UnixMillis,
        outcome: Result<&PayoutId, &Reply>,
    ) {
        let stored = Stored {
            staff_id: call.staff_id.clone(),
            idempotency_key: call.key.0.clone(),
            fingerprint: call.fingerprint.clone(),
            payout_id: outcome.ok().cloned(),
            request_id: format.request_id.to_string(),
            problem: format.problem,
            status: outcome.err().map(|reply| i64::from(reply.status)),
            body: outcome.err().map(|reply| reply.body.clone()),
            created_at: now,
        };
        self.entered.push(stored.row());
        self.stored.insert((call.staff_id.clone(), call.key.0.clone()), stored);
    }

    /// Writes the new keys.
    ///
    /// # Errors
    /// [`Failure::Conflict`] if somebody else has entered one of the keys meanwhile.
    pub(super) async fn write(self, connection: &mut Connection) -> Result<(), Failure> {
        if self.entered.is_empty() {
            return Ok(());
        }
        let asked = self.entered.len() as u64;
        let lifetime = i64::try_from(KEY_LIFETIME.as_millis()).unwrap_or(i64::MAX);
        let entered = query(ENTER).bind(Value::from(self.entered).to_string()).bind(lifetime);
        if entered.execute(connection).await? == asked { Ok(()) } else { Err(Failure::Conflict) }
    }
}

impl Stored {
    fn row(&self) -> Value {
        json!({
            "staff_id": self.staff_id,
            "key": self.idempotency_key,
            "fingerprint": self.fingerprint,
            "payout_id": self.payout_id,
            "request_id": self.request_id,
            "problem": self.problem,
            "status": self.status,
            "body": self.body,
            "created_at": self.created_at.0,
        })
    }

    fn reply(&self) -> Result<Option<Reply>, Failure> {
        let (Some(status), Some(body)) = (self.status, &self.body) else { return Ok(None) };
        let status = u16::try_from(status)
            .map_err(|_| Failure::Internal("an idempotency key has no valid status".to_owned()))?;
        let problem = self.problem && status >= 400;
        Ok(Some(Reply { status, body: body.clone(), problem, replayed: false }))
    }
}

/// The keys of payouts, locked as far as possible.
pub(super) struct LockedKeys {
    by_payout: HashMap<PayoutId, Stored>,
    /// The payouts whose keys somebody else has locked.
    others: HashSet<PayoutId>,
}

impl LockedKeys {
    /// Locks the keys of the calls that started these payouts.
    pub(super) async fn of(connection: &mut Connection, records: &[Record]) -> Result<Self, Failure> {
        let (mut by_payout, mut others) = (HashMap::new(), HashSet::new());
        if records.is_empty() {
            return Ok(Self { by_payout, others });
        }
        let asked = listed(records.iter().map(|record| &record.id));
        let keys: Vec<Stored> = query_as(OF_PAYOUTS)
            .bind(&asked)
            .locking("FOR NO KEY UPDATE SKIP LOCKED")
            .fetch_all(&mut *connection)
            .await?;
        by_payout.extend(keys.into_iter().filter_map(|key| Some((key.payout_id.clone()?, key))));
        if by_payout.len() < records.len() {
            let existing: Vec<PayoutId> = query_scalar(EXISTING).bind(&asked).fetch_all(connection).await?;
            others.extend(existing.into_iter().filter(|payout_id| !by_payout.contains_key(payout_id)));
        }
        Ok(Self { by_payout, others })
    }

    /// Returns whether somebody else has locked the key of this payout.
    pub(super) fn is_held(&self, record: &Record) -> bool {
        self.others.contains(&record.id)
    }

    /// Stores each of `records` as the answer to the call that started it, unless that call has an answer.
    /// Returns the stored answers by payout; calls without a key, or with an expired key, have none.
    pub(super) async fn answer(
        mut self,
        connection: &mut Connection,
        records: &[Record],
    ) -> Result<HashMap<PayoutId, Reply>, Failure> {
        let (mut answers, mut new) = (HashMap::new(), Vec::new());
        for record in records {
            let Some(key) = self.by_payout.remove(&record.id) else { continue };
            let reply = if let Some(first) = key.reply()? {
                first
            } else {
                let format = FailureFormat { request_id: key.request_id.into(), problem: key.problem };
                let reply = Reply::of(record.clone(), &format)?;
                new.push(json!({ "payout_id": record.id, "status": reply.status, "body": reply.body }));
                reply
            };
            answers.insert(record.id.clone(), reply);
        }
        if !new.is_empty() {
            query(ANSWER).bind(Value::from(new).to_string()).execute(connection).await?;
        }
        Ok(answers)
    }
}

/// The time is compared twice: on PostgreSQL, a key may be used again after the inner statement has found it.
const DELETE_BATCH: &str = "
    DELETE FROM idempotency_key WHERE created_at <= $1 AND (staff_id, idempotency_key) IN
        (SELECT staff_id, idempotency_key FROM idempotency_key AS old
         WHERE created_at <= $1 AND NOT EXISTS
             (SELECT 1 FROM payout WHERE payout.payout_id = old.payout_id AND payout.status = 'PENDING')
         ORDER BY created_at LIMIT 500)";

/// Deletes all expired keys, except those of payouts that have not settled.
pub async fn delete_expired_keys(database: &Database, now: UnixMillis) -> Result<u64, Failure> {
    let oldest = now.minus(KEY_LIFETIME);
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_quoted_or_bare() {
        let bare = IdempotencyKey::parse("7c4a8d09-ca37").unwrap();
        assert_eq!(IdempotencyKey::parse("\"7c4a8d09-ca37\""), Some(bare));
        assert!(IdempotencyKey::parse("\"with a space\"").is_some());
        assert!(IdempotencyKey::parse(&"k".repeat(255)).is_some());
    }

    #[test]
    fn a_body_is_the_same_however_its_json_is_written() {
        let call = |body: &str| {
            let key = IdempotencyKey::parse("k").unwrap();
            KeyedCall::new("s".into(), key, &"LN-1".into(), &serde_json::from_str(body).unwrap()).fingerprint
        };
        assert_eq!(call(r#"{"agent_id":1,"amount":2}"#), call("{ \"amount\": 2,\n\"agent_id\": 1 }"));
        assert_ne!(call(r#"{"agent_id":1,"amount":2}"#), call(r#"{"agent_id":"1","amount":2}"#));
    }
}
