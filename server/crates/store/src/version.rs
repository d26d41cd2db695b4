//! The version of the data, by which everything kept in memory is known to be current.
//!
//! It is the engine's own. On `SQLite`, it is `data_version`, which each commit on another connection
//! changes, in this process or another. On PostgreSQL, it is the snapshot, which the end of a writing
//! transaction changes, and the server's start time, because a failover that lost commits assigns their
//! numbers again. As long as it is the same, a list, a session or a setting that was read is current. This
//! process numbers the versions in order.
//!
//! The read is shared: one task collects all waiting calls, reads once, answers them, and continues with the
//! calls that arrived meanwhile. So each call gets a read that started after it asked. A read for each call
//! would reduce throughput to a third.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{Instrument, Span};

use crate::{
    connection::Connection,
    database::Database,
    query::{query_as, query_scalar},
};
use base::error::Failure;

/// A version of the data, as this process counts them. An API handler can extract it: it includes every write
/// that was answered before the call arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u64);

/// The copy of the data that work was begun on, so that work begun on another one is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx_macros::FromRow)]
pub struct DataCopy {
    /// A reset or a restore replaces the data, and moves the generation in the same transaction.
    pub generation: i64,
    /// A failover of PostgreSQL begins a new timeline, on which commits that were acknowledged before may be
    /// missing. Always 0 on `SQLite`.
    pub timeline: i64,
}

impl DataCopy {
    /// Reads the copy that `connection` leads to.
    pub async fn of(connection: &mut Connection) -> Result<Self, sqlx::Error> {
        query_as("SELECT generation, timeline FROM data_copy").fetch_one(connection).await
    }
}

const OF_SQLITE: &str = "PRAGMA data_version";

/// A pooler may pass the connection on to another server, or to another database of the same name.
const OF_POSTGRES: &str = "
    SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(),
                     (SELECT oid FROM pg_database WHERE datname = current_database())),
           pg_is_in_recovery(), (SELECT timeline FROM data_copy)";

/// The maximum time of a read, after which waiting calls fail with [`Failure::Busy`].
const READ_TIMEOUT: Duration = Duration::from_secs(2);

base::from_extensions!(Version, Failure::Busy);

/// Reads the version once for all waiting calls. Clones share the read.
#[derive(Clone, Debug)]
pub struct SharedRead {
    latest: Arc<AtomicU64>,
    copies: watch::Sender<()>,
    ask: mpsc::UnboundedSender<Waiter>,
    stop: CancellationToken,
    reading: TaskTracker,
}

/// A call that waits for the version.
struct Waiter {
    answer: oneshot::Sender<Version>,
    /// The step in which it waits.
    step: Span,
}

impl SharedRead {
    /// Reads from `database` until it is ended or the last clone is dropped.
    pub fn of(database: Database) -> Self {
        // Unbounded: a call waits here at most once, and the number of connections is bounded.
        let (ask, waiting) = mpsc::unbounded_channel();
        let (stop, reading) = (CancellationToken::new(), TaskTracker::new());
        let (latest, copies) = (Arc::<AtomicU64>::default(), watch::Sender::default());
        let source = Source {
            latest: Arc::clone(&latest),
            copies: copies.clone(),
            seen: None,
            timeline: None,
            database,
            connection: None,
        };
        reading.spawn(source.read_until(stop.clone(), waiting));
        Self { latest, copies, ask, stop, reading }
    }

    /// Invalidates everything kept in memory, because another copy of the data was put in place.
    pub fn forget(&self) {
        self.latest.fetch_add(1, Ordering::AcqRel);
        self.copies.send_replace(());
    }

    /// Notifies of other copies of the data: after a failover of PostgreSQL, or when a backup was put in place.
    pub fn copies(&self) -> watch::Receiver<()> {
        self.copies.subscribe()
    }

    /// Stops reading and closes the connection, which would prevent the final checkpoint.
    pub async fn end(&self) {
        self.stop.cancel();
        self.reading.close();
        self.reading.wait().await;
    }

    /// The version, from a read that starts after this call.
    pub async fn version(&self) -> Result<Version, Failure> {
        let (answer, answered) = oneshot::channel();
        self.ask.send(Waiter { answer, step: traces::current() }).map_err(|_| Failure::Busy)?;
        answered.await.map_err(|_| Failure::Busy)
    }
}

/// The source of versions, which the reading task owns.
struct Source {
    latest: Arc<AtomicU64>,
    /// The engine's version at the latest read.
    seen: Option<String>,
    /// PostgreSQL's timeline at the latest read.
    timeline: Option<i64>,
    copies: watch::Sender<()>,
    database: Database,
    /// Outside of the pool, so that it never waits for slower readers.
    connection: Option<Connection>,
}

impl Source {
    async fn read_until(mut self, stop: CancellationToken, mut waiting: mpsc::UnboundedReceiver<Waiter>) {
        stop.run_until_cancelled(self.read_for_all(&mut waiting)).await;
        if let Some(connection) = self.connection {
            connection.close().await;
        }
    }

    async fn read_for_all(&mut self, waiting: &mut mpsc::UnboundedReceiver<Waiter>) {
        const BATCH_SIZE: usize = 1024;
        let mut waiters = Vec::with_capacity(BATCH_SIZE);
        while waiting.recv_many(&mut waiters, BATCH_SIZE).await > 0 {
            // Lets calls that are about to ask do so now, and share the read.
            tokio::task::yield_now().await;
            while let Ok(waiter) = waiting.try_recv() {
                waiters.push(waiter);
            }
            let step = waiters.first().map_or_else(Span::none, |waiter| waiter.step.clone());
            let reading = tokio::time::timeout(READ_TIMEOUT, self.read()).instrument(step);
            match reading.await.unwrap_or(Err(Failure::Busy)) {
                Ok(version) => {
                    for waiter in waiters.drain(..) {
                        // Fails if the caller has disconnected.
                        _ = waiter.answer.send(version);
                    }
                }
                Err(failure) => {
                    tracing::error!(error = ?failure, "reading the version failed");
                    // A dropped waiter is answered with [`Failure::Busy`].
                    waiters.clear();
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Version, Failure> {
        let (engine_version, timeline) = match self.connection.take() {
            Some(connection) => match self.read_on(connection).await {
                Ok(version) => version,
                // The connection broke since its last use, for example when PostgreSQL restarted.
                Err(failure) => {
                    tracing::warn!(?failure, "reading the version on a new connection");
                    self.read_on_new_connection().await?
                }
            },
            None => self.read_on_new_connection().await?,
        };
        if self.seen.as_ref() != Some(&engine_version) {
            self.seen = Some(engine_version);
            self.latest.fetch_add(1, Ordering::AcqRel);
        }
        if self.timeline.replace(timeline).is_some_and(|before| before != timeline) {
            self.copies.send_replace(());
        }
        Ok(Version(self.latest.load(Ordering::Acquire)))
    }

    async fn read_on_new_connection(&mut self) -> Result<(String, i64), Failure> {
        match self.database.connect_reader().await? {
            Some(connection) => {
                if let Connection::Sqlite(_) = connection {
                    // Versions of different connections can't be compared.
                    self.seen = None;
                }
                self.read_on(connection).await
            }
            None => engine_version(&mut self.database.read().await?).await,
        }
    }

    /// The engine's version and timeline. Keeps the connection for the next read, if it is usable.
    async fn read_on(&mut self, mut connection: Connection) -> Result<(String, i64), Failure> {
        let version = engine_version(&mut connection).await?;
        self.connection = Some(connection);
        Ok(version)
    }
}

async fn engine_version(connection: &mut Connection) -> Result<(String, i64), Failure> {
    if let Connection::Sqlite(_) = connection {
        let version: i64 = query_scalar(OF_SQLITE).fetch_one(connection).await?;
        return Ok((version.to_string(), 0));
    }
    let (version, is_standby, timeline): (String, bool, i64) =
        query_as(OF_POSTGRES).fetch_one(connection).await?;
    // A standby may not have replayed all answered writes. The next connection may lead to a writer.
    if is_standby { Err(Failure::Busy) } else { Ok((version, timeline)) }
}
