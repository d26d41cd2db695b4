//! The audit trail: who did what, when and from where.
//!
//! An event is written in the transaction of its act, and as a line of the log. Events are never changed, and
//! only old ones are deleted. An event has no password, code, token or phone number, and for a failed sign-in
//! only a keyed hash of the account.

mod carry;
mod failures;
mod kind;
mod search;
mod trail;

pub use carry::{carry_over, since_backup};
pub use kind::EventKind;
pub use search::{Event, EventFilter, search};
pub use trail::{Entry, Trail};

use std::net::IpAddr;

use base::{clock::UnixMillis, error::Failure};
use store::{Connection, Database, query, sweep};

/// The author of events of the `mkopo` commands.
pub const COMMAND_LINE: &str = "command line";

/// The maximum length of the details, in characters.
const MAX_DETAILS: usize = 200;

/// An event that is not written yet.
#[derive(Clone, Debug)]
pub struct NewEvent {
    at: UnixMillis,
    kind: EventKind,
    who: String,
    address: Option<IpAddr>,
    about: Option<String>,
    details: Option<String>,
    /// The keyed hash of the account of `who`, which the log has in its place.
    account: Option<String>,
}

const ADD: &str = "
    INSERT INTO event (at, kind, who, about, address, details, times, traceparent)
    VALUES ($1, $2, $3, $4, $5, $6, 1, $7)";

impl NewEvent {
    /// Creates an event by `who` from `address`. `at` is base time, without the console's setting.
    pub fn new(at: UnixMillis, kind: EventKind, who: impl Into<String>, address: Option<IpAddr>) -> Self {
        Self { at, kind, who: who.into(), address, about: None, details: None, account: None }
    }

    /// Sets the keyed hash of the account, by which the lines of the log about one person can be found.
    pub fn of_account(self, account: &str) -> Self {
        Self { account: Some(account.to_owned()), ..self }
    }

    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: Some(about.into()), ..self }
    }

    pub fn details(self, details: &str) -> Self {
        Self { details: Some(details.chars().take(MAX_DETAILS).collect()), ..self }
    }

    /// Writes the event in the transaction of its act. A failure above the hourly limit is only counted.
    pub async fn add(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        if self.kind.is_failure() && !failures::may_be_listed(connection, self.at).await? {
            return failures::count(connection, self.at).await;
        }
        query(ADD)
            .bind_all((self.at, self.kind, &self.who, &self.about))
            .bind_all((self.address.map(|address| address.to_string()), &self.details, traces::traceparent()))
            .run(connection)
            .await
    }

    /// Logs the event, after it was written. Logs are kept elsewhere and longer, so they have no whole e-mail address.
    pub fn log(&self) {
        let Self { kind, who, address, about, details, account, .. } = self;
        let who = account.clone().unwrap_or_else(|| without_address(who));
        tracing::info!(
            event.kind = %kind,
            event.who = who,
            event.about = about.as_deref().map(without_address),
            event.address = address.map(tracing::field::display),
            event.details = details,
            "event"
        );
    }
}

/// Runs `work` in a transaction, writes the event that it returns there, too, and logs it after the commit.
/// If it fails, neither is written.
pub async fn write<T>(
    database: &Database,
    work: impl AsyncFnOnce(&mut Connection) -> Result<(T, NewEvent), Failure>,
) -> Result<T, Failure> {
    let written = database.write(async move |connection: &mut Connection| {
        let (done, event) = work(connection).await?;
        event.add(connection).await?;
        Ok((done, event))
    });
    let (done, event) = written.await?;
    event.log();
    Ok(done)
}

/// The details of a change: each value of `after` that differs from the same one of `before`, with its name.
pub(crate) fn changes<const N: usize>(
    before: [(&'static str, String); N],
    after: [(&'static str, String); N],
) -> String {
    let changed = before.into_iter().zip(after).filter(|(before, after)| before != after);
    changed.map(|(_, (name, value))| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// `text`, with only the first letter and the domain of an e-mail address.
fn without_address(text: &str) -> String {
    match text.split_once('@') {
        Some((name, domain)) => format!("{}•••@{domain}", name.chars().take(1).collect::<String>()),
        None => text.to_owned(),
    }
}

const DELETE_BATCH: &str = "
    DELETE FROM event WHERE position IN (SELECT position FROM event WHERE at <= $1 ORDER BY at LIMIT 500)";

/// Deletes the events from before `oldest`, and returns their number. If it fails, earlier batches stay deleted.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}
