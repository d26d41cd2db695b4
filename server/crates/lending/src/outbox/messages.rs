//! Reading messages in the outbox, and waiting for new ones.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::events::{Entry, EventKind, Trail};
use base::{
    clock::UnixMillis,
    email::{self, Email},
    error::Failure,
    phone::Msisdn,
};
use store::{Connection, Database, query, query_as};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    Email,
    Sms,
}

store::stored_as_text!(Channel);

/// A message as the console shows it.
#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct OutboxMessage {
    pub id: String,
    pub channel: Channel,
    /// An e-mail address, or a phone number such as `+2547…`.
    pub to: String,
    /// The subject of an e-mail; SMS have none.
    pub subject: Option<String>,
    pub body: String,
    /// The one-time code in the text.
    pub code: Option<String>,
    pub created_at: UnixMillis,
}

#[derive(Clone, Debug, Default)]
pub struct MessageFilter {
    /// Only messages to this e-mail address or phone number.
    pub to: Option<String>,
    pub channel: Option<Channel>,
    /// Only messages added after the message with this id. An id that no longer exists counts as
    /// older than all messages.
    pub after: Option<String>,
}

/// A recipient as it is stored, from a query: a phone number or an e-mail address. A blank in an address was a `+`
/// that the query did not escape.
pub fn recipient(text: &str) -> Option<String> {
    let phone = Msisdn::parse(text).map(|phone| phone.as_str().to_owned());
    phone.or_else(|| Some(Email::parse(&email::of_query(text.to_owned()))?.as_str().to_owned()))
}

pub const MAX_READ: usize = 1000;

const MESSAGES: &str = "
    SELECT message_id AS id, channel, recipient AS \"to\", subject, body, code, created_at
    FROM outbox_message
    WHERE (CAST($1 AS TEXT) IS NULL OR recipient = $1) AND (CAST($2 AS TEXT) IS NULL OR channel = $2)
      AND position > COALESCE((SELECT position FROM outbox_message WHERE message_id = $3), 0)
    ORDER BY position DESC LIMIT 1000";

/// The latest thousand messages that match `filter`, newest first. If there are none, waits up to `timeout`
/// (in real time) for the first.
pub async fn wait_for_messages(
    database: &Database,
    filter: &MessageFilter,
    timeout: Duration,
) -> Result<Vec<OutboxMessage>, Failure> {
    let MessageFilter { to, channel, after } = filter;
    database.wait_for_rows(timeout, || query_as(MESSAGES).bind_all((to, *channel, after))).await
}

const EMPTY: &str = "DELETE FROM outbox_message";

/// Deletes all messages, sent or not.
pub async fn empty(database: &Database, trail: &Trail) -> Result<(), Failure> {
    let empty = async |connection: &mut Connection| Ok(query(EMPTY).run(connection).await?);
    trail.write(database.begin().await?, [Entry::of(EventKind::MessagesDeleted)], empty).await
}
