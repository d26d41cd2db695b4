//! The audit trail: who did what, when and from where.
//!
//! An event is written in the transaction of what it is about, and as a line of the log. No code changes or
//! deletes one, except that old ones are deleted. It has no password, code, token or phone number, and of
//! a failed sign-in only a keyed hash of the account.

mod carry;
mod failures;
mod kind;
mod search;
mod trail;

pub use carry::{carry_over, since_backup};
pub use kind::Kind;
pub use search::{Event, Filter, search};
pub use trail::Trail;

use std::net::IpAddr;

use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query, sweep},
    error::Failure,
};

/// Who runs the commands of `mkopo`.
pub const COMMAND_LINE: &str = "command line";

/// The maximum length of the details, in characters.
const MAX_DETAILS: usize = 200;

/// An event that is not written yet.
#[derive(Clone, Debug)]
pub struct NewEvent {
    at: UnixMillis,
    kind: Kind,
    who: String,
    address: Option<IpAddr>,
    about: Option<String>,
    details: Option<String>,
}

const ADD: &str = "
    INSERT INTO event (at, kind, who, about, address, details, times) VALUES ($1, $2, $3, $4, $5, $6, 1)";

impl NewEvent {
    /// What `who` did from `address`. `at` is on the clock that nobody sets.
    pub fn new(at: UnixMillis, kind: Kind, who: impl Into<String>, address: Option<IpAddr>) -> Self {
        Self { at, kind, who: who.into(), address, about: None, details: None }
    }

    /// What an administrator of the machine did.
    pub fn on_command_line(at: UnixMillis, kind: Kind) -> Self {
        Self::new(at, kind, COMMAND_LINE, None)
    }

    /// Sets what it is about.
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }

    /// Sets the details.
    pub fn details(self, details: &str) -> Self {
        Self { details: Some(details.chars().take(MAX_DETAILS).collect()), ..self }
    }

    /// Writes it in the transaction of what it is about. A failure that is one of too many is only counted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn add(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        if self.kind.is_failure() && !failures::may_be_listed(connection, self.at).await? {
            return failures::count(connection, self.at).await;
        }
        query(ADD)
            .bind(self.at)
            .bind(self.kind)
            .bind(&self.who)
            .bind(&self.about)
            .bind(self.address.map(|address| address.to_string()))
            .bind(&self.details)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Logs it, after it was written.
    pub fn log(&self) {
        let Self { kind, who, address, about, details, .. } = self;
        tracing::info!(
            event.kind = kind.name(),
            event.who = who,
            event.about = about,
            event.address = address.map(tracing::field::display),
            event.details = details,
            "event"
        );
    }
}

const DELETE_BATCH: &str = "
    DELETE FROM event WHERE position IN (SELECT position FROM event WHERE at <= $1 ORDER BY at LIMIT 500)";

/// Deletes the events from before `oldest`. Returns how many there were.
///
/// # Errors
/// When the database fails; earlier batches stay deleted.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}
