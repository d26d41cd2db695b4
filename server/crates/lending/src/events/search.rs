//! Searches the events.

use serde::Serialize;

use super::EventKind;
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query_as};

#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct Event {
    pub id: i64,
    pub at: UnixMillis,
    pub kind: EventKind,
    pub who: String,
    pub about: Option<String>,
    pub address: Option<String>,
    pub details: Option<String>,
    pub times: i64,
    /// The span in which it happened, if it was taken.
    #[serde(skip)]
    pub traceparent: Option<String>,
}

#[derive(Clone, Debug)]
pub struct EventFilter {
    pub kind: Option<EventKind>,
    /// Done by, or about, somebody with this text in their name.
    pub who: Option<String>,
    /// Done by an unknown person who named the account with this keyed hash.
    pub account_hash: Option<String>,
    /// From an address that begins with this text.
    pub address: Option<String>,
    /// At this time or later.
    pub since: Option<UnixMillis>,
    /// At this time or earlier.
    pub until: Option<UnixMillis>,
    /// Before the event with this id.
    pub before: Option<i64>,
    pub limit: u32,
}

const SEARCH: &str = r"
    SELECT position AS id, at, kind, who, about, address, details, times, traceparent FROM event
    WHERE (CAST($1 AS TEXT) IS NULL OR kind = $1)
      AND (CAST($2 AS TEXT) IS NULL OR lower(who) LIKE $2 ESCAPE '\' OR lower(about) LIKE $2 ESCAPE '\' OR who = $3)
      AND (CAST($4 AS TEXT) IS NULL OR address LIKE $4 ESCAPE '\')
      AND at >= $5 AND at <= $6 AND position < $7
    ORDER BY position DESC LIMIT $8";

/// The newest first.
pub async fn search(connection: &mut Connection, filter: &EventFilter) -> Result<Vec<Event>, Failure> {
    let EventFilter { kind, who, account_hash, address, since, until, before, limit } = filter;
    let found = query_as(SEARCH)
        .bind_all((kind, who.as_deref().map(|who| format!("%{}%", escaped(who.trim()).to_lowercase()))))
        .bind_all((account_hash, address.as_deref().map(|address| format!("{}%", escaped(address)))))
        .bind_all((since.unwrap_or(UnixMillis(i64::MIN)), until.unwrap_or(UnixMillis(i64::MAX))))
        .bind_all((before.unwrap_or(i64::MAX), i64::from(*limit)))
        .fetch_all(connection)
        .await?;
    Ok(found)
}

/// Escapes `text` so that `LIKE` takes it literally.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}
