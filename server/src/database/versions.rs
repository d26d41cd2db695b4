//! What of the store has changed: a number each for what the lists show, for the sessions, and for
//! what the console sets. Triggers move them with every write. Whatever is kept in memory is known
//! to hold, or not, by one small read, in any process.
//!
//! That read is shared: one task takes all who wait, reads once, answers them, and goes on with
//! those that came meanwhile. So everybody sees a read that began after they asked, and a read
//! for each would cost four fifths of all throughput. A `SQLite` file is read in place.

use std::time::Duration;

use axum::{extract::FromRequestParts, http::request::Parts};
use sqlx::FromRow;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Connection, Database, InPlace, query_as};
use crate::error::Failure;

/// The numbers at one moment. A call of the API can take them: no write that was answered before
/// the call came is missing from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct Versions {
    /// Of what the pending list and the records show.
    pub loans: i64,
    /// Of the sessions: moved by every end of one, and by every change of whose they are.
    pub sessions: i64,
    /// Of the clock and the faults.
    pub console: i64,
}

const READ: &str = "
    SELECT (SELECT value FROM version WHERE name = 'loans') AS loans,
           (SELECT value FROM version WHERE name = 'sessions') AS sessions,
           (SELECT value FROM version WHERE name = 'console') AS console";

/// How long a read may take before those who wait for it are told that the store is away.
const PATIENCE: Duration = Duration::from_secs(2);

impl Versions {
    /// The numbers as `connection` sees them.
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

/// Reads the numbers for all who wait at once. Clones share the read.
#[derive(Clone, Debug)]
pub struct SharedRead {
    ask: mpsc::UnboundedSender<Waiter>,
    stop: CancellationToken,
    reading: TaskTracker,
}

/// Who waits to be told the numbers.
type Waiter = oneshot::Sender<Versions>;

impl SharedRead {
    /// Reads from `database`, until told to stop or the last clone is gone.
    pub fn of(database: Database) -> Self {
        // Unbounded: a call waits here once at most, and the number of connections is bounded.
        let (ask, waiting) = mpsc::unbounded_channel();
        let (stop, reading) = (CancellationToken::new(), TaskTracker::new());
        reading.spawn(read_until(stop.clone(), database, waiting));
        Self { ask, stop, reading }
    }

    /// Reads no more, and closes its connection, which would keep the store from being tidied up.
    pub async fn end(&self) {
        self.stop.cancel();
        self.reading.close();
        self.reading.wait().await;
    }

    /// The numbers, read after now.
    ///
    /// # Errors
    /// [`Failure::Busy`] when the store does not answer.
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

/// Where the numbers are read.
struct Source {
    database: Database,
    in_place: Option<InPlace>,
    /// Taken from the pool for good: never behind slower readers.
    connection: Option<Connection>,
}

impl Source {
    async fn read_for_all(&mut self, waiting: &mut mpsc::UnboundedReceiver<Waiter>) {
        const AT_ONCE: usize = 1024;
        let mut waiters = Vec::with_capacity(AT_ONCE);
        while waiting.recv_many(&mut waiters, AT_ONCE).await > 0 {
            // Calls that are about to ask ask now, and share the read.
            let mut asked = 0;
            while asked < waiters.len() {
                asked = waiters.len();
                tokio::task::yield_now().await;
                while let Ok(waiter) = waiting.try_recv() {
                    waiters.push(waiter);
                }
            }
            let reading = tokio::time::timeout(PATIENCE, self.read());
            match reading.await.unwrap_or(Err(Failure::Busy)) {
                Ok(versions) => {
                    for waiter in waiters.drain(..) {
                        // Whoever went away meanwhile does not hear it.
                        _ = waiter.send(versions);
                    }
                }
                Err(failure) => {
                    tracing::error!(error = ?failure, "versions.read failed");
                    // To be dropped unanswered is the answer.
                    waiters.clear();
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Versions, Failure> {
        if let Some([loans, sessions, console]) = self.in_place.as_ref().and_then(|file| file.numbers(READ)) {
            return Ok(Versions { loans, sessions, console });
        }
        if let Some(mut kept) = self.connection.take() {
            match Versions::read(&mut kept).await {
                Ok(versions) => {
                    self.connection = Some(kept);
                    return Ok(versions);
                }
                // It broke since it was last used, as when the store was restarted meanwhile.
                Err(error) => tracing::warn!(%error, "versions.read on another connection"),
            }
        }
        let mut new = self.database.read().await?.detach();
        let versions = Versions::read(&mut new).await?;
        self.connection = Some(new);
        Ok(versions)
    }
}
