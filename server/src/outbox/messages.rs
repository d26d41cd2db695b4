//! Reading what went out, and waiting for what is about to.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    clock::UnixMillis,
    database::Database,
    database::{Connection, query, query_as},
    error::Failure,
    phone::Msisdn,
};

/// How often is looked for messages that another server put in.
const ROUND: Duration = Duration::from_millis(250);

/// By what way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Channel {
    Email,
    Sms,
}

/// A message as the console shows it.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct OutboxMessage {
    /// Names it.
    pub id: String,
    /// By what way it goes.
    pub channel: Channel,
    /// An e-mail address, or a phone as `+2547…`.
    pub to: String,
    /// E-mails have one.
    pub subject: Option<String>,
    /// The text.
    pub body: String,
    /// The one-time code in it.
    pub code: Option<String>,
    /// When it was put in.
    pub created_at: UnixMillis,
}

/// Which messages are meant.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// To this e-mail address or phone.
    pub to: Option<String>,
    /// By this way.
    pub channel: Option<Channel>,
    /// Put in after the message with this id. One that is not there any more comes before all.
    pub after: Option<String>,
}

/// Whom messages are stored to: phones in one form, addresses in lower case.
pub fn recipient(text: &str) -> String {
    let text = text.trim();
    Msisdn::parse(text).map_or_else(|| text.to_lowercase(), |phone| phone.as_str().to_owned())
}

const MESSAGES: &str = "
    SELECT message_id AS id, channel, recipient AS \"to\", subject, body, code, created_at
    FROM outbox_message
    WHERE (CAST($1 AS TEXT) IS NULL OR recipient = $1) AND (CAST($2 AS TEXT) IS NULL OR channel = $2)
      AND position > COALESCE((SELECT position FROM outbox_message WHERE message_id = $3), 0)
    ORDER BY position DESC LIMIT 1000";

/// The latest thousand messages that `filter` means, the newest first.
pub async fn messages(
    connection: &mut Connection,
    filter: &Filter,
) -> Result<Vec<OutboxMessage>, sqlx::Error> {
    query_as(MESSAGES).bind(&filter.to).bind(filter.channel).bind(&filter.after).fetch_all(connection).await
}

/// Like [`messages`]; while there are none, waits up to `patience` (in the machine's time) for
/// the first.
pub async fn wait_for_messages(
    database: &Database,
    filter: &Filter,
    patience: Duration,
) -> Result<Vec<OutboxMessage>, Failure> {
    let until = tokio::time::Instant::now() + patience;
    let mut commits = database.commits();
    loop {
        commits.mark_unchanged();
        let found = messages(&mut *database.read().await?, filter).await?;
        if !found.is_empty() || tokio::time::Instant::now() >= until {
            return Ok(found);
        }
        let round = (tokio::time::Instant::now() + ROUND).min(until);
        _ = tokio::time::timeout_at(round, commits.changed()).await;
    }
}

const EMPTY: &str = "DELETE FROM outbox_message";

/// Forgets all messages, sent or not.
pub async fn empty(database: &Database) -> Result<(), Failure> {
    database
        .write(|connection: &mut Connection| {
            Box::pin(async move {
                query(EMPTY).execute(connection).await?;
                Ok(())
            })
        })
        .await
}
