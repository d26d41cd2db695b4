//! Outgoing e-mails and SMS. Each is a row, written in the transaction that it reports.

mod deliver;
mod messages;

pub use deliver::{deliver_due, keep_delivering, next_delivery};
pub use messages::{Channel, MAX_READ, MessageFilter, OutboxMessage, empty, recipient, wait_for_messages};

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::world::World;
use base::{
    clock::UnixMillis, email::Email, error::Failure, ids::MessageId, phone::Msisdn, randomness::Randomness,
    text::shown,
};
use store::{Connection, Database, Query, query, query_as, query_scalar, sweep};

/// A person's name in a message: cut, and without characters that can't be seen, wherever it came from.
pub(crate) fn name(name: &str) -> String {
    shown(name, 64)
}

/// A one-time code that a message carries.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    pub digits: &'a str,
    pub expires_at: UnixMillis,
}

const ENQUEUE: &str = "
    INSERT INTO outbox_message
        (message_id, channel, body, code, code_expires_at, created_at, traceparent, recipient, subject,
         next_attempt_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// The statement that adds a message, without its recipient, its subject and the time of the first attempt.
fn enqueue(
    randomness: &Randomness,
    now: UnixMillis,
    channel: Channel,
    body: &str,
    code: Option<Code<'_>>,
) -> Query {
    let (digits, expires_at) = code.map(|code| (code.digits, code.expires_at)).unzip();
    query(ENQUEUE)
        .bind_all((randomness.id::<MessageId>(now), channel, body, digits, expires_at))
        .bind_all((now, traces::traceparent()))
}

pub async fn email(
    connection: &mut Connection,
    randomness: &Randomness,
    now: UnixMillis,
    to: &Email,
    subject: &str,
    body: &str,
    code: Option<Code<'_>>,
) -> Result<(), sqlx::Error> {
    let message = enqueue(randomness, now, Channel::Email, body, code);
    message.bind_all((to, subject, now)).run(connection).await
}

/// SMS are not delivered; they are only read in the outbox.
pub async fn sms(
    connection: &mut Connection,
    randomness: &Randomness,
    now: UnixMillis,
    to: &Msisdn,
    body: &str,
    code: Option<Code<'_>>,
) -> Result<(), sqlx::Error> {
    let message = enqueue(randomness, now, Channel::Sms, body, code);
    message.bind_all((to, None::<&str>, None::<UnixMillis>)).run(connection).await
}

/// An SMS that is not in the outbox yet.
#[derive(Clone, Debug)]
pub struct NewSms {
    pub message_id: MessageId,
    pub to: Msisdn,
    pub body: String,
    pub at: UnixMillis,
    pub traceparent: Option<String>,
}

const ENQUEUE_SMS: &str = "
    INSERT INTO outbox_message (message_id, channel, recipient, body, created_at, traceparent)
    SELECT value ->> 'message_id', 'sms', value ->> 'to', value ->> 'body',
           CAST(value ->> 'at' AS BIGINT), value ->> 'traceparent'
    FROM json_each($1)";

pub async fn sms_to_all(connection: &mut Connection, messages: &[NewSms]) -> Result<(), sqlx::Error> {
    let rows: Vec<Value> = messages
        .iter()
        .map(|NewSms { message_id, to, body, at, traceparent }| {
            json!({
                "message_id": message_id,
                "to": to.as_str(),
                "body": body,
                "at": at.0,
                "traceparent": traceparent,
            })
        })
        .collect();
    query(ENQUEUE_SMS).bind(Value::from(rows).to_string()).run(connection).await
}

/// Wakes the sender of this process when there are new messages. Clones wake the same sender.
#[derive(Clone)]
pub struct Outbox {
    world: World,
    new: Arc<Notify>,
}

impl Outbox {
    pub fn of(world: World) -> Self {
        Self { world, new: Arc::default() }
    }

    /// Notifies the sender of a new message. Call it after the commit.
    pub fn wake(&self) {
        self.new.notify_one();
    }
}

const COUNT: &str = "SELECT channel, count(*) FROM outbox_message GROUP BY channel";
const COUNT_WAITING: &str = "SELECT count(*) FROM outbox_message WHERE next_attempt_at IS NOT NULL";

pub async fn count_by_channel(connection: &mut Connection) -> Result<Vec<(String, i64)>, sqlx::Error> {
    query_as(COUNT).fetch_all(connection).await
}

/// The number of messages that are still to be sent or retried.
pub async fn count_waiting(connection: &mut Connection) -> Result<i64, sqlx::Error> {
    query_scalar(COUNT_WAITING).fetch_one(connection).await
}

const DELETE_BATCH: &str = "
    DELETE FROM outbox_message WHERE message_id IN
        (SELECT message_id FROM outbox_message WHERE next_attempt_at IS NULL AND created_at <= $1
         ORDER BY created_at LIMIT 500)";

/// Deletes the old messages that are not to be sent any more. If it fails, earlier batches stay deleted.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}
