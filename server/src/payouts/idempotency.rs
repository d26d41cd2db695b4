//! Keys that make it safe to repeat a call (the IETF's `Idempotency-Key`).
//!
//! The same key with the same body gets the first answer again, byte for byte. The same key with
//! a different body is refused. Every final answer is stored: 200, 202, refusals by mobile money
//! and for a wrong amount or phone (422), 404, and 409 for a loan that is disbursed or not
//! approved. Other answers are not stored, so that a repeat is processed again: invalid requests
//! (400, 413, 415, 422 `invalid_request`), 401, 409 `in_progress`, which is temporary, and all 5xx.
//!
//! A key belongs to one user, who can have 1,000 of them. It is inserted in the transaction that decides
//! on its call, and expires
//! after 24 hours. If the server died before it answered, settling the payout stores the answer, so
//! no key stays in use forever.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ANSWER_TIMEOUT, Record, Reply, records};
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, query_as, query_scalar, sweep},
    error::{Failure, FailureFormat},
};

/// How long a key is stored.
const KEY_LIFETIME: Duration = Duration::from_hours(24);

/// How many keys a user can have stored.
const MAX_KEYS: i64 = 1000;

/// How many keys a user can have before each new one is counted alone. Below this number sets do not count what
/// others enter at the same moment: together they would have to enter three quarters of all keys.
const MAX_KEYS_IN_SETS: i64 = MAX_KEYS / 4;

/// How many keys of one user are entered by one set.
const MAX_KEYS_IN_SET: usize = 32;

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
    staff_id: String,
    key: IdempotencyKey,
    fingerprint: String,
}

impl KeyedCall {
    /// A user's call to pay `loan_id` out. Bodies are compared as JSON: whitespace and the order of
    /// fields do not matter.
    pub fn new(staff_id: String, key: IdempotencyKey, loan_id: &str, body: &Value) -> Self {
        let fingerprint = hex::encode(Sha256::digest(format!("{loan_id}\n{body}")));
        Self { staff_id, key, fingerprint }
    }

    /// The row of a call that starts a payout.
    pub(super) fn row(&self, format: &FailureFormat, payout_id: &str, now: UnixMillis) -> Value {
        json!({
            "staff_id": self.staff_id,
            "key": self.key.0,
            "fingerprint": self.fingerprint,
            "payout_id": payout_id,
            "request_id": &*format.request_id,
            "problem": format.problem,
            "created_at": now.0,
        })
    }
}

/// The users who have more than `$3` keys.
const MANY: &str = "
    SELECT value ->> 'staff_id' FROM json_each($1) WHERE EXISTS
        (SELECT 1 FROM idempotency_key WHERE staff_id = value ->> 'staff_id' AND created_at > $2
         ORDER BY created_at DESC LIMIT 1 OFFSET $3)";

const REGISTER_ALL: &str = "
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, payout_id, request_id, problem, created_at)
    SELECT value ->> 'staff_id', value ->> 'key', value ->> 'fingerprint', value ->> 'payout_id',
           value ->> 'request_id', CAST(value ->> 'problem' AS BOOLEAN),
           CAST(value ->> 'created_at' AS BIGINT)
    FROM json_each($1) WHERE true
    ON CONFLICT (staff_id, idempotency_key) DO NOTHING";

/// The users whose keys may be entered in sets: they have few, and not too many in this one.
pub(super) async fn users_in_sets(
    connection: &mut Connection,
    calls: &[&KeyedCall],
    now: UnixMillis,
) -> Result<HashSet<String>, Failure> {
    let mut users: HashMap<&str, usize> = HashMap::new();
    for call in calls {
        *users.entry(&call.staff_id).or_default() += 1;
    }
    users.retain(|_, keys| *keys <= MAX_KEYS_IN_SET);
    if users.is_empty() {
        return Ok(HashSet::new());
    }
    let asked: Vec<Value> = users.keys().map(|staff_id| json!({ "staff_id": staff_id })).collect();
    let many: Vec<String> = query_scalar(MANY)
        .bind(Value::from(asked).to_string())
        .bind(now.minus(KEY_LIFETIME))
        .bind(MAX_KEYS_IN_SETS)
        .fetch_all(connection)
        .await?;
    let few = users.into_keys().filter(|staff_id| many.iter().all(|many| many != staff_id));
    Ok(few.map(str::to_owned).collect())
}

/// Inserts the keys of calls that have started payouts.
///
/// # Errors
/// When one of them is known: each call then goes alone.
pub(super) async fn register_all(connection: &mut Connection, keys: Vec<Value>) -> Result<(), Failure> {
    let sent = keys.len() as u64;
    if sent == 0 {
        return Ok(());
    }
    let inserted = query(REGISTER_ALL).bind(Value::from(keys).to_string()).execute(connection).await?;
    if inserted == sent { Ok(()) } else { Err(Failure::Internal("a key of the set is known".to_owned())) }
}

/// Locks a user whose keys are counted: whoever enters one of them refers to the row.
const LOCK_USER: &str = "SELECT staff_id FROM staff WHERE staff_id = $1";

const DELETE_EXPIRED: &str = "
    DELETE FROM idempotency_key WHERE staff_id = $1 AND idempotency_key = $2 AND created_at <= $3";

const INSERT: &str = "
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, request_id, problem, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (staff_id, idempotency_key) DO NOTHING";

const FIND: &str = "
    SELECT fingerprint, payout_id, request_id, problem, status, body, created_at
    FROM idempotency_key WHERE staff_id = $1 AND idempotency_key = $2";

const SET_PAYOUT: &str = "
    UPDATE idempotency_key SET payout_id = $3 WHERE staff_id = $1 AND idempotency_key = $2";

const SET_REFUSAL: &str = "
    UPDATE idempotency_key SET status = $3, body = $4 WHERE staff_id = $1 AND idempotency_key = $2";

/// Whether `refusal` is a final answer, which is stored.
pub(super) fn is_final(refusal: &Failure) -> bool {
    matches!(
        refusal,
        Failure::LoanNotFound(_)
            | Failure::AlreadyDisbursed(_)
            | Failure::NotApproved
            | Failure::AmountMismatch(_)
            | Failure::PhoneMismatch
            | Failure::AboveMaximum(_)
    )
}

/// Reads only the index of a user's keys, and only the newest `$3` of them.
const OLDEST_OF_TOO_MANY: &str = "
    SELECT created_at FROM idempotency_key WHERE staff_id = $1 AND created_at > $2
    ORDER BY created_at DESC LIMIT 1 OFFSET $3";

#[derive(sqlx_macros::FromRow)]
struct StoredAnswer {
    fingerprint: String,
    payout_id: Option<String>,
    request_id: String,
    problem: bool,
    status: Option<i64>,
    body: Option<String>,
    created_at: UnixMillis,
}

/// Inserts the key of a call. Returns `None` if it is new: the call must be decided on in the same
/// transaction. Otherwise returns the stored answer.
///
/// # Errors
/// [`Failure::IdempotencyKeyReused`] for a different body; [`Failure::IdempotencyKeyInUse`] while
/// the first call is still running; [`Failure::TooManyIdempotencyKeys`].
pub(super) async fn register(
    connection: &mut Connection,
    call: &KeyedCall,
    format: &FailureFormat,
    now: UnixMillis,
) -> Result<Option<Reply>, Failure> {
    query(DELETE_EXPIRED)
        .bind(&call.staff_id)
        .bind(&call.key.0)
        .bind(now.minus(KEY_LIFETIME))
        .execute(&mut *connection)
        .await?;
    if has_many(connection, call, now).await? {
        let locked: Option<String> = query_scalar(LOCK_USER)
            .bind(&call.staff_id)
            .locking("FOR UPDATE")
            .fetch_optional(&mut *connection)
            .await?;
        locked.ok_or(Failure::NoSession)?;
    }
    let inserted = query(INSERT)
        .bind(&call.staff_id)
        .bind(&call.key.0)
        .bind(&call.fingerprint)
        .bind(&*format.request_id)
        .bind(format.problem)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    if inserted == 1 {
        check_number(connection, call, now).await?;
        return Ok(None);
    }
    let stored: StoredAnswer =
        query_as(FIND).bind(&call.staff_id).bind(&call.key.0).fetch_one(&mut *connection).await?;
    if stored.fingerprint != call.fingerprint {
        return Err(Failure::IdempotencyKeyReused);
    }
    if stored.status.is_some() {
        return Ok(Some(stored.reply()?));
    }
    // The first call has no answer yet: it is still running, or its server died.
    if now < stored.created_at.plus(ANSWER_TIMEOUT) {
        return Err(Failure::IdempotencyKeyInUse);
    }
    let payout_id = stored
        .payout_id
        .ok_or_else(|| Failure::Internal("an idempotency key has neither payout nor answer".to_owned()))?;
    let record = records::record(connection, &payout_id).await?;
    Ok(answer(connection, record).await?.map(Reply::into_replay))
}

/// Whether the user has so many keys that each new one is counted.
async fn has_many(connection: &mut Connection, call: &KeyedCall, now: UnixMillis) -> Result<bool, Failure> {
    let oldest: Option<UnixMillis> = query_scalar(OLDEST_OF_TOO_MANY)
        .bind(&call.staff_id)
        .bind(now.minus(KEY_LIFETIME))
        .bind(MAX_KEYS_IN_SETS)
        .fetch_optional(connection)
        .await?;
    Ok(oldest.is_some())
}

/// Fails if the user has too many keys, including the new one.
async fn check_number(connection: &mut Connection, call: &KeyedCall, now: UnixMillis) -> Result<(), Failure> {
    let oldest: Option<UnixMillis> = query_scalar(OLDEST_OF_TOO_MANY)
        .bind(&call.staff_id)
        .bind(now.minus(KEY_LIFETIME))
        .bind(MAX_KEYS)
        .fetch_optional(connection)
        .await?;
    oldest.map_or(Ok(()), |oldest| {
        Err(Failure::TooManyIdempotencyKeys { wait: oldest.plus(KEY_LIFETIME).since(now) })
    })
}

impl StoredAnswer {
    fn reply(self) -> Result<Reply, Failure> {
        let status = self.status.and_then(|status| u16::try_from(status).ok());
        let (Some(status), Some(body)) = (status, self.body) else {
            return Err(Failure::Internal("an idempotency key has no answer".to_owned()));
        };
        Ok(Reply { status, body, problem: self.problem && status >= 400, replayed: true })
    }
}

impl Reply {
    fn into_replay(self) -> Self {
        Self { replayed: true, ..self }
    }
}

/// Stores the payout that the call started.
pub(super) async fn set_payout(
    connection: &mut Connection,
    call: &KeyedCall,
    payout_id: &str,
) -> Result<(), sqlx::Error> {
    query(SET_PAYOUT).bind(&call.staff_id).bind(&call.key.0).bind(payout_id).execute(connection).await?;
    Ok(())
}

/// Stores the refusal of a call that did not start a payout.
pub(super) async fn set_refusal(
    connection: &mut Connection,
    call: &KeyedCall,
    reply: &Reply,
) -> Result<(), sqlx::Error> {
    query(SET_REFUSAL)
        .bind(&call.staff_id)
        .bind(&call.key.0)
        .bind(i64::from(reply.status))
        .bind(&reply.body)
        .execute(connection)
        .await?;
    Ok(())
}

const OF_PAYOUT: &str = "
    SELECT fingerprint, payout_id, request_id, problem, status, body, created_at
    FROM idempotency_key WHERE payout_id = $1";

const ANSWER_ALL: &str = "
    UPDATE idempotency_key SET status = 200, body = asked.body
    FROM (SELECT value ->> 'payout_id' AS id, value ->> 'body' AS body FROM json_each($1)) AS asked
    WHERE idempotency_key.payout_id = asked.id AND idempotency_key.status IS NULL
    RETURNING payout_id";

/// Stores the 200 answers to calls whose payouts have settled. Returns the payouts whose keys had no answer
/// yet.
pub(super) async fn answer_all(
    connection: &mut Connection,
    answers: Vec<Value>,
) -> Result<HashSet<String>, Failure> {
    if answers.is_empty() {
        return Ok(HashSet::new());
    }
    let first: Vec<String> =
        query_scalar(ANSWER_ALL).bind(Value::from(answers).to_string()).fetch_all(connection).await?;
    Ok(first.into_iter().collect())
}

/// The answer that a payout's key already has; `None` if there is no key.
pub(super) async fn stored_answer(
    connection: &mut Connection,
    payout_id: &str,
) -> Result<Option<Reply>, Failure> {
    let stored: Option<StoredAnswer> = query_as(OF_PAYOUT).bind(payout_id).fetch_optional(connection).await?;
    stored.map(|stored| Ok(Reply { replayed: false, ..stored.reply()? })).transpose()
}

const ANSWER: &str = "
    UPDATE idempotency_key SET status = $2, body = $3 WHERE payout_id = $1 AND status IS NULL";

/// Stores the current `record` as the answer to the call that started it, unless it already has
/// one. Returns the first answer; `None` if the call had no key or its key has expired.
pub(super) async fn answer(connection: &mut Connection, record: Record) -> Result<Option<Reply>, Failure> {
    let payout_id = record.id.clone();
    let stored: Option<StoredAnswer> =
        query_as(OF_PAYOUT).bind(&payout_id).fetch_optional(&mut *connection).await?;
    let Some(stored) = stored else { return Ok(None) };
    if stored.status.is_some() {
        return Ok(Some(Reply { replayed: false, ..stored.reply()? }));
    }
    let format = FailureFormat { request_id: stored.request_id.into(), problem: stored.problem };
    let reply = Reply::of(record, &format)?;
    query(ANSWER)
        .bind(&payout_id)
        .bind(i64::from(reply.status))
        .bind(&reply.body)
        .execute(connection)
        .await?;
    Ok(Some(reply))
}

const DELETE_BATCH: &str = "
    DELETE FROM idempotency_key WHERE (staff_id, idempotency_key) IN
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
    fn an_invalid_key_is_refused() {
        let long = "k".repeat(256);
        let quoted_long = format!("\"{long}\"");
        for value in
            ["", "\"\"", "\"", "a b", "\"a\"b\"", "\"open", "open\"", "ключ", "tab\t", &long, &quoted_long]
        {
            assert_eq!(IdempotencyKey::parse(value), None, "{value}");
        }
    }

    #[test]
    fn a_body_is_the_same_however_its_json_is_written() {
        let call = |body: &str| {
            let key = IdempotencyKey::parse("k").unwrap();
            KeyedCall::new("s".to_owned(), key, "LN-1", &serde_json::from_str(body).unwrap()).fingerprint
        };
        assert_eq!(call(r#"{"agent_id":1,"amount":2}"#), call("{ \"amount\": 2,\n\"agent_id\": 1 }"));
        assert_ne!(call(r#"{"agent_id":1,"amount":2}"#), call(r#"{"agent_id":"1","amount":2}"#));
    }
}
