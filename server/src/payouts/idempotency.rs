//! Keys that make a repeat of a call safe (the IETF's `Idempotency-Key`).
//!
//! The same key and the same body get the first answer again, byte for byte; the same key and
//! another body are refused. Kept is every answer that decides on the call: 200, 202, the
//! refusals of mobile money (422), of the amount and of the phone (422), 404, and the 409 of a
//! loan that is disbursed or not approved. Not kept, so that a repeat is decided on afresh: what
//! could not be read (400, 413, 415, 422 `invalid_request`), 401, 409 `in_progress`, which ends
//! by itself, and every 5xx.
//!
//! A key belongs to one user, is entered in the transaction that decides on its call, and is
//! forgotten 24 hours later. When the caller's server died before it answered, whoever settles
//! the payout writes the answer, so no key stays in use for ever.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{PATIENCE, PayoutStatus, Record, Reply, records};
use crate::{
    clock::UnixMillis,
    database::{Connection, query, query_as},
    error::{Failure, FailureFormat},
};

/// How long a key is kept.
const KEPT: Duration = Duration::from_hours(24);

/// A key as its caller chose it: 1 to 255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header's value: quoted, where spaces are allowed too, or bare.
    pub fn parse(value: &str) -> Option<Self> {
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (key, space) = match quoted {
            Some(key) => (key, true),
            None => (value, false),
        };
        let fits = |byte: u8| matches!(byte, b'!' | b'#'..=b'~') || (space && byte == b' ');
        ((1..=255).contains(&key.len()) && key.bytes().all(fits)).then(|| Self(key.to_owned()))
    }
}

/// A call that came with a key.
#[derive(Clone, Debug)]
pub struct KeyedCall {
    staff_id: String,
    key: IdempotencyKey,
    fingerprint: String,
}

impl KeyedCall {
    /// The call of a user to pay `loan_id` out. Its body counts as JSON: spaces and the order of
    /// fields make no difference.
    pub fn new(staff_id: String, key: IdempotencyKey, loan_id: &str, body: &Value) -> Self {
        let fingerprint = hex::encode(Sha256::digest(format!("{loan_id}\n{body}")));
        Self { staff_id, key, fingerprint }
    }
}

const FORGET_OLD: &str = "
    DELETE FROM idempotency_key WHERE staff_id = $1 AND idempotency_key = $2 AND created_at <= $3";

const ENTER: &str = "
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, request_id, problem, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (staff_id, idempotency_key) DO NOTHING";

const FIND: &str = "
    SELECT fingerprint, payout_id, request_id, problem, status, body, created_at
    FROM idempotency_key WHERE staff_id = $1 AND idempotency_key = $2";

const STARTED: &str = "
    UPDATE idempotency_key SET payout_id = $3 WHERE staff_id = $1 AND idempotency_key = $2";

const REFUSED: &str = "
    UPDATE idempotency_key SET status = $3, body = $4 WHERE staff_id = $1 AND idempotency_key = $2";

/// Whether `refusal` is kept as the answer to its call: it decides on the call for good.
pub(super) fn is_kept(refusal: &Failure) -> bool {
    matches!(
        refusal,
        Failure::LoanNotFound(_)
            | Failure::AlreadyDisbursed(_)
            | Failure::NotApproved
            | Failure::AmountMismatch(_)
            | Failure::PhoneMismatch
    )
}

#[derive(sqlx::FromRow)]
struct KeptAnswer {
    fingerprint: String,
    payout_id: Option<String>,
    request_id: String,
    problem: bool,
    status: Option<i64>,
    body: Option<String>,
    created_at: UnixMillis,
}

/// Enters the key of a call. `None`: it is new, and the call is to be decided on in the same
/// transaction. Else the answer that was given before.
///
/// # Errors
/// [`Failure::IdempotencyKeyReused`] for another body; [`Failure::IdempotencyKeyInUse`] while the
/// first call still runs.
pub(super) async fn enter(
    connection: &mut Connection,
    call: &KeyedCall,
    form: &FailureFormat,
    now: UnixMillis,
) -> Result<Option<Reply>, Failure> {
    query(FORGET_OLD)
        .bind(&call.staff_id)
        .bind(&call.key.0)
        .bind(now.minus(KEPT))
        .execute(&mut *connection)
        .await?;
    let entered = query(ENTER)
        .bind(&call.staff_id)
        .bind(&call.key.0)
        .bind(&call.fingerprint)
        .bind(&*form.request_id)
        .bind(form.problem)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    if entered == 1 {
        return Ok(None);
    }
    let kept: KeptAnswer =
        query_as(FIND).bind(&call.staff_id).bind(&call.key.0).fetch_one(&mut *connection).await?;
    if kept.fingerprint != call.fingerprint {
        return Err(Failure::IdempotencyKeyReused);
    }
    if kept.status.is_some() {
        return Ok(Some(kept.reply()?));
    }
    // Nobody has answered the first call. It still runs, or its server died.
    if now < kept.created_at.plus(PATIENCE) {
        return Err(Failure::IdempotencyKeyInUse);
    }
    let payout_id =
        kept.payout_id.ok_or_else(|| Failure::Internal("a key without payout and answer".to_owned()))?;
    let record = records::record(connection, &payout_id).await?;
    Ok(answer(connection, record).await?.map(Reply::again))
}

impl KeptAnswer {
    fn reply(self) -> Result<Reply, Failure> {
        let status = self.status.and_then(|status| u16::try_from(status).ok());
        let (Some(status), Some(body)) = (status, self.body) else {
            return Err(Failure::Internal("a key without an answer".to_owned()));
        };
        Ok(Reply { status, body, problem: self.problem && status >= 400, replayed: true })
    }
}

impl Reply {
    fn again(self) -> Self {
        Self { replayed: true, ..self }
    }
}

/// Notes the payout that the call started.
pub(super) async fn started(
    connection: &mut Connection,
    call: &KeyedCall,
    payout_id: &str,
) -> Result<(), sqlx::Error> {
    query(STARTED).bind(&call.staff_id).bind(&call.key.0).bind(payout_id).execute(connection).await?;
    Ok(())
}

/// Keeps the refusal of a call that started no payout.
pub(super) async fn refused(
    connection: &mut Connection,
    call: &KeyedCall,
    reply: &Reply,
) -> Result<(), sqlx::Error> {
    query(REFUSED)
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

const ANSWER: &str = "
    UPDATE idempotency_key SET status = $2, body = $3 WHERE payout_id = $1 AND status IS NULL";

/// Makes what `record` says now the first answer of the call that started it, unless that was
/// given. Answers the first answer; `None` when the call came without a key, or its key is
/// forgotten.
pub(super) async fn answer(connection: &mut Connection, record: Record) -> Result<Option<Reply>, Failure> {
    let payout_id = record.id.clone();
    let kept: Option<KeptAnswer> =
        query_as(OF_PAYOUT).bind(&payout_id).fetch_optional(&mut *connection).await?;
    let Some(kept) = kept else { return Ok(None) };
    if kept.status.is_some() {
        return Ok(Some(Reply { replayed: false, ..kept.reply()? }));
    }
    let form = FailureFormat { request_id: kept.request_id.into(), problem: kept.problem };
    let reply = Reply::of(record, &form)?;
    query(ANSWER)
        .bind(&payout_id)
        .bind(i64::from(reply.status))
        .bind(&reply.body)
        .execute(connection)
        .await?;
    Ok(Some(reply))
}

const FORGET_ALL_OLD: &str = "
    DELETE FROM idempotency_key WHERE created_at <= $1
    AND (payout_id IS NULL OR payout_id IN (SELECT payout_id FROM payout WHERE status <> $2))";

/// Forgets every key whose time is over.
pub(super) async fn forget_old(connection: &mut Connection, now: UnixMillis) -> Result<(), sqlx::Error> {
    query(FORGET_ALL_OLD).bind(now.minus(KEPT)).bind(PayoutStatus::Pending).execute(connection).await?;
    Ok(())
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
    fn what_is_no_key_is_refused() {
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
