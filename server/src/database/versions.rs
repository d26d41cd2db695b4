//! Version numbers of cached data: of the lists, of the sessions, and of the console's settings.
//! Triggers increment them with every write, so one small read tells any process whether its caches
//! are current.
//!
//! That read is shared: one task collects all waiting calls, reads once, answers them, and continues
//! with the calls that arrived meanwhile. So each call gets a read that started after it asked. A
//! read per call would reduce throughput by four fifths. A `SQLite` file is read on the task's thread.
//!
//! On PostgreSQL, a number that every payout moves would make payouts wait for each other. There, the
//! number of the lists is this process's own: it counts the looks that found something new in the feed of
//! changed loans ([`super::changes`]).
//!
//! The numbers only grow, unless another copy of the data is put in place of the one they were read
//! from: a backup, or a standby that lags. What was cached then says nothing, even where its number is
//! the same. So each process counts the copies that it has seen, and caches compare that number first.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{extract::FromRequestParts, http::request::Parts};
use futures::FutureExt;
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};
use sqlx_macros::FromRow;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Connection, Database, InPlace, Readers, query_as};
use crate::error::Failure;

/// The current versions. An API handler can extract them: they include every write that was answered
/// before the call arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct Versions {
    /// Which copy of the data they are of, counted by this process.
    #[sqlx(skip)]
    pub copy: u64,
    /// The version of the pending list and the records.
    pub loans: i64,
    /// The version of the sessions: incremented when a session ends or its user changes.
    pub sessions: i64,
    /// The version of the clock and the faults.
    pub console: i64,
    /// Which PostgreSQL server and which database this is; 0 on `SQLite`.
    pub store: i64,
}

/// What a look at PostgreSQL finds.
#[derive(FromRow)]
struct Look {
    #[sqlx(flatten)]
    versions: Versions,
    /// What this look sees.
    snapshot: String,
    /// Whether loans have changed since the last look.
    has_changes: bool,
    /// Whether changes that the last look did not see may have been deleted.
    is_too_late: bool,
}

/// Which data the store holds. A reset and a restore put other data in its place, and move the number
/// in the same transaction: what was begun on other data is recognized by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx_macros::Type)]
#[sqlx(transparent)]
pub struct Generation(i64);

const READ: &str = "
    SELECT (SELECT value FROM version WHERE name = 'loans') AS loans,
           (SELECT value FROM version WHERE name = 'sessions') AS sessions,
           (SELECT value FROM version WHERE name = 'console') AS console,
           CAST(0 AS BIGINT) AS store";

/// A pooler may pass the connection on to another server, or to another database of the same name. `{schema}`
/// stands for the name of the schema and a dot, or for nothing: a statement that names it needs no transaction
/// with a search path, which would be two round trips more for every call.
const LOOK: &str = "
    SELECT CAST(0 AS BIGINT) AS loans,
           (SELECT value FROM {schema}version WHERE name = 'sessions') AS sessions,
           (SELECT value FROM {schema}version WHERE name = 'console') AS console,
           (SELECT hashint8extended(
                oid::bigint, CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000 AS BIGINT))
            FROM pg_database WHERE datname = current_database()) AS store,
           CAST(pg_current_snapshot() AS TEXT) AS snapshot,
           EXISTS (SELECT FROM {schema}loan_feed
                   WHERE xid >= pg_snapshot_xmin(CAST($1 AS PG_SNAPSHOT))
                   AND NOT pg_visible_in_snapshot(xid, CAST($1 AS PG_SNAPSHOT))) AS has_changes,
           COALESCE((SELECT xid > pg_snapshot_xmin(CAST($1 AS PG_SNAPSHOT)) FROM {schema}loan_feed_start), false)
               AS is_too_late";

/// How long a read may take before waiting calls fail with [`Failure::Busy`].
const READ_TIMEOUT: Duration = Duration::from_secs(2);

impl Versions {
    /// Reads the versions on `connection`. On PostgreSQL, that of the lists is as it was in an earlier
    /// release; [`SharedRead`] has its own.
    pub async fn read(connection: &mut Connection) -> Result<Self, sqlx::Error> {
        query_as(READ).fetch_one(connection).await
    }

    /// Whether they can't follow `before` on the same copy of the data.
    fn are_of_another_copy_than(&self, before: &Self) -> bool {
        self.store != before.store
            || self.loans < before.loans
            || self.sessions < before.sessions
            || self.console < before.console
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Versions {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get().copied().ok_or(Failure::Busy)
    }
}

/// Reads the versions once for all waiting calls. Clones share the read.
#[derive(Clone, Debug)]
pub struct SharedRead {
    copy: Arc<AtomicU64>,
    ask: mpsc::UnboundedSender<Waiter>,
    stop: CancellationToken,
    reading: TaskTracker,
}

/// A call that waits for the versions.
type Waiter = oneshot::Sender<Versions>;

impl SharedRead {
    /// Reads from `database` until it is ended or the last clone is dropped.
    pub fn of(database: Database) -> Self {
        // Unbounded: a call waits here at most once, and the number of connections is bounded.
        let (ask, waiting) = mpsc::unbounded_channel();
        let (stop, reading) = (CancellationToken::new(), TaskTracker::new());
        let copy = Arc::default();
        reading.spawn(read_until(stop.clone(), database, Arc::clone(&copy), waiting));
        Self { copy, ask, stop, reading }
    }

    /// Which copy of the data the latest read was of.
    pub fn copy(&self) -> u64 {
        self.copy.load(Ordering::Acquire)
    }

    /// Forgets everything cached: another copy of the data was put in place.
    pub fn forget(&self) {
        self.copy.fetch_add(1, Ordering::AcqRel);
    }

    /// Stops reading and closes the connection, which would prevent the final checkpoint.
    pub async fn end(&self) {
        self.stop.cancel();
        self.reading.close();
        self.reading.wait().await;
    }

    /// The versions, from a read that starts after this call.
    ///
    /// # Errors
    /// [`Failure::Busy`] if the database does not answer.
    pub async fn versions(&self) -> Result<Versions, Failure> {
        let (answer, answered) = oneshot::channel();
        self.ask.send(answer).map_err(|_| Failure::Busy)?;
        answered.await.map_err(|_| Failure::Busy)
    }
}

async fn read_until(
    stop: CancellationToken,
    database: Database,
    copy: Arc<AtomicU64>,
    mut waiting: mpsc::UnboundedReceiver<Waiter>,
) {
    let in_place = database.in_place();
    let schema = match &database.readers {
        Readers::Schema(schema) => format!("\"{}\".", schema.name()),
        Readers::Sqlite(_) | Readers::Postgres(..) => String::new(),
    };
    let look = AssertSqlSafe(LOOK.replace("{schema}", &schema)).into_sql_str();
    let mut source =
        Source { copy, latest: None, snapshot: None, look, in_place, database, connection: None };
    stop.run_until_cancelled(source.read_for_all(&mut waiting)).await;
    if let Some(connection) = source.connection {
        connection.close().await;
    }
}

/// Where the versions are read.
struct Source {
    /// Counts the copies of the data.
    copy: Arc<AtomicU64>,
    latest: Option<Versions>,
    /// What the latest look at PostgreSQL saw.
    snapshot: Option<String>,
    database: Database,
    /// How PostgreSQL is asked.
    look: SqlStr,
    in_place: Option<InPlace>,
    /// Removed from the pool, so that it never waits for slower readers.
    connection: Option<Connection>,
}

impl Source {
    async fn read_for_all(&mut self, waiting: &mut mpsc::UnboundedReceiver<Waiter>) {
        const BATCH_SIZE: usize = 1024;
        let mut waiters = Vec::with_capacity(BATCH_SIZE);
        while waiting.recv_many(&mut waiters, BATCH_SIZE).await > 0 {
            // Lets calls that are about to ask do so now, and share the read.
            let mut asked = 0;
            while asked < waiters.len() {
                asked = waiters.len();
                tokio::task::yield_now().await;
                while let Ok(waiter) = waiting.try_recv() {
                    waiters.push(waiter);
                }
            }
            let reading = tokio::time::timeout(READ_TIMEOUT, self.read());
            match reading.await.unwrap_or(Err(Failure::Busy)) {
                Ok(versions) => {
                    for waiter in waiters.drain(..) {
                        // Fails if the caller has disconnected.
                        _ = waiter.send(versions);
                    }
                }
                Err(failure) => {
                    tracing::error!(error = ?failure, "reading the versions failed");
                    // A dropped waiter is answered with [`Failure::Busy`].
                    waiters.clear();
                }
            }
        }
    }

    /// The versions, with the number of the copy that they are of.
    async fn read(&mut self) -> Result<Versions, Failure> {
        let (versions, follows) = self.read_numbers().await?;
        let is_same_copy = match &self.latest {
            Some(latest) => follows && !versions.are_of_another_copy_than(latest),
            None => true,
        };
        if !is_same_copy {
            tracing::warn!("the database may be another copy; everything cached is read again");
            self.copy.fetch_add(1, Ordering::AcqRel);
        }
        self.latest = Some(versions);
        Ok(Versions { copy: self.copy.load(Ordering::Acquire), ..versions })
    }

    /// The numbers, and whether they surely follow those before.
    async fn read_numbers(&mut self) -> Result<(Versions, bool), Failure> {
        let in_place = self.in_place.as_ref().and_then(|file| file.numbers(READ));
        if let Some([loans, sessions, console, store]) = in_place {
            return Ok((Versions { copy: 0, loans, sessions, console, store }, true));
        }
        // Boxed: it is large, and would be moved for every read.
        self.look_at_numbers().boxed().await
    }

    /// [`Source::read_numbers`], on a connection.
    async fn look_at_numbers(&mut self) -> Result<(Versions, bool), Failure> {
        if let Some(mut connection) = self.connection.take() {
            match self.look(&mut connection).await {
                Ok((versions, is_in_time)) => {
                    self.connection = Some(connection);
                    return Ok((versions, is_in_time));
                }
                // The connection broke since its last use, for example when PostgreSQL restarted.
                Err(error) => tracing::warn!(%error, "reading the versions on a new connection"),
            }
        }
        if let Readers::Schema(schema) = self.database.readers.clone() {
            let mut connection = schema.connection().await?;
            let mut looked = self.look(&mut connection).await;
            if let Err(sqlx::Error::Io(_)) = looked {
                connection.discard();
                connection = schema.connection().await?;
                looked = self.look(&mut connection).await;
            }
            return Ok(looked?);
        }
        let mut new = self.database.read().await?.detach();
        new.find_by_index().await?;
        self.snapshot = None;
        let (versions, _) = self.look(&mut new).await?;
        // A new connection may lead to another server; a file is the same one.
        let is_same = matches!(new, Connection::Sqlite(_));
        self.connection = Some(new);
        Ok((versions, is_same))
    }

    /// The numbers, and whether nothing has been missed since the last look.
    async fn look(&mut self, connection: &mut Connection) -> Result<(Versions, bool), sqlx::Error> {
        if let Connection::Sqlite(_) = connection {
            return Ok((Versions::read(connection).await?, true));
        }
        let look: Look =
            query_as(self.look.clone()).bind(self.snapshot.as_deref()).fetch_one(connection).await?;
        let is_first = self.snapshot.replace(look.snapshot).is_none();
        let before = self.latest.map_or(0, |latest| latest.loans);
        let loans = before + i64::from(look.has_changes || is_first);
        Ok((Versions { loans, ..look.versions }, !look.is_too_late))
    }
}
