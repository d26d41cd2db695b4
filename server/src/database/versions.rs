//! Version numbers of cached data: of the lists, of the sessions, and of the console's settings.
//! Triggers increment them with every write, so one small read tells any process whether its caches
//! are current.
//!
//! That read is shared: one task collects all waiting calls, reads once, answers them, and continues
//! with the calls that arrived meanwhile. So each call gets a read that started after it asked. A
//! read per call would reduce throughput by four fifths. A `SQLite` file is read on the task's thread.

use std::time::Duration;

use axum::{extract::FromRequestParts, http::request::Parts};
use sqlx::FromRow;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Connection, Database, InPlace, query_as};
use crate::error::Failure;

/// The current versions. An API handler can extract them: they include every write that was answered
/// before the call arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct Versions {
    /// The version of the pending list and the records.
    pub loans: i64,
    /// The version of the sessions: incremented when a session ends or its user changes.
    pub sessions: i64,
    /// The version of the clock and the faults.
    pub console: i64,
}

/// Which data the store holds. A reset and a restore put other data in its place, and move the number
/// in the same transaction: what was begun on other data is recognized by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Generation(i64);

const READ: &str = "
    SELECT (SELECT value FROM version WHERE name = 'loans') AS loans,
           (SELECT value FROM version WHERE name = 'sessions') AS sessions,
           (SELECT value FROM version WHERE name = 'console') AS console";

/// How long a read may take before waiting calls fail with [`Failure::Busy`].
const READ_TIMEOUT: Duration = Duration::from_secs(2);

impl Versions {
    /// Reads the versions on `connection`.
    pub async fn read(connection: &mut Connection) -> Result<Self, sqlx::Error> {
        query_as(READ).fetch_one(connection).await
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
        reading.spawn(read_until(stop.clone(), database, waiting));
        Self { ask, stop, reading }
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
    mut waiting: mpsc::UnboundedReceiver<Waiter>,
) {
    let mut source = Source { in_place: database.in_place(), database, connection: None };
    stop.run_until_cancelled(source.read_for_all(&mut waiting)).await;
    if let Some(connection) = source.connection {
        connection.close().await;
    }
}

/// Where the versions are read.
struct Source {
    database: Database,
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

    async fn read(&mut self) -> Result<Versions, Failure> {
        if let Some([loans, sessions, console]) = self.in_place.as_ref().and_then(|file| file.numbers(READ)) {
            return Ok(Versions { loans, sessions, console });
        }
        if let Some(mut connection) = self.connection.take() {
            match Versions::read(&mut connection).await {
                Ok(versions) => {
                    self.connection = Some(connection);
                    return Ok(versions);
                }
                // The connection broke since its last use, for example when PostgreSQL restarted.
                Err(error) => tracing::warn!(%error, "reading the versions on a new connection"),
            }
        }
        let mut new = self.database.read().await?.detach();
        let versions = Versions::read(&mut new).await?;
        self.connection = Some(new);
        Ok(versions)
    }
}
