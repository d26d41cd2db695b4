//! The database of one sandbox: its readers and its writers.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::ensure;
use sqlx::{ConnectOptions, PgPool, SqlitePool};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch},
    time::Instant,
};

use base::error::Failure;

use crate::{
    connect::{PostgresOptions, connect_postgres},
    connection::{Connection, Owner, traced},
    query::{Query, QueryAs, query_scalar},
    transaction::Transaction,
    writer::{Target, Writer},
};

/// The maximum number of writes that wait for the writers. Further ones fail with [`Failure::Busy`].
const MAX_QUEUED_WRITES: usize = 1024;

/// The maximum wait for readers when the database is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for which the disk counts as full after a write that it had no room for.
const NO_ROOM_TERM: Duration = Duration::from_secs(10);

/// Poll interval for rows of other servers.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

const FSYNC: &str = "SELECT current_setting('fsync')";

/// The database of one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    readers: Readers,
    writer: Arc<Mutex<Writer>>,
    side_writers: Arc<parking_lot::Mutex<Vec<Arc<Mutex<Writer>>>>>,
    /// What side writers write to; `None` for a file, which has one writer at a time.
    side: Option<Target>,
    /// One permit for each write that may wait.
    places: Arc<Semaphore>,
    conflicts: Arc<AtomicU64>,
    committed: watch::Sender<()>,
    /// The time of the last write that the disk had no room for.
    out_of_room: watch::Sender<Option<Instant>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    /// The pool, and whether there is a pooler in transaction mode.
    Postgres(PgPool, bool),
}

#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub writes_waiting: usize,
    /// Writes that PostgreSQL undid because of another one, and that were tried again, since the start.
    pub conflicts: u64,
    pub readers_idle: usize,
    pub readers_busy: usize,
}

impl Database {
    pub(crate) fn with(readers: Readers, target: Target, connection: Connection) -> Self {
        let (committed, out_of_room) = (watch::Sender::new(()), watch::Sender::new(None));
        let side = target.side_by_side();
        let writer = Writer::new(target, Some(connection), committed.clone(), out_of_room.clone());
        Self {
            readers,
            writer: Arc::new(Mutex::new(writer)),
            side_writers: Arc::default(),
            side,
            places: Arc::new(Semaphore::new(MAX_QUEUED_WRITES)),
            conflicts: Arc::default(),
            committed,
            out_of_room,
        }
    }

    /// A connection to read, which sees all commits so far. It returns to the pool when it is dropped.
    pub async fn read(&self) -> Result<Connection, Failure> {
        Ok(match &self.readers {
            Readers::Sqlite(readers) => Connection::sqlite(Owner::Pool(readers.acquire().await?)),
            // A pooler may answer each round trip outside of a transaction from another connection.
            Readers::Postgres(readers, true) => {
                const BEGIN: &str = "BEGIN READ ONLY";
                let step = traces::statement("postgresql", BEGIN);
                let begun = traced(step, pin!(readers.begin_with(BEGIN))).await?;
                Connection::postgres(Owner::Transaction(begun), true)
            }
            Readers::Postgres(readers, false) => {
                Connection::postgres(Owner::Pool(readers.acquire().await?), false)
            }
        })
    }

    /// A connection like that of [`Database::read`], which sees one consistent snapshot of all commits so far.
    pub async fn read_snapshot(&self) -> Result<Connection, Failure> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        let mut connection = match &self.readers {
            Readers::Sqlite(readers) => {
                let step = traces::statement("sqlite", "BEGIN");
                Connection::sqlite(Owner::Transaction(traced(step, pin!(readers.begin())).await?))
            }
            Readers::Postgres(readers, is_pooled) => {
                let step = traces::statement("postgresql", BEGIN);
                let begun = traced(step, pin!(readers.begin_with(BEGIN))).await?;
                Connection::postgres(Owner::Transaction(begun), *is_pooled)
            }
        };
        connection.set_long(true);
        Ok(connection)
    }

    /// A reading connection outside of the pool, so that it never waits for slower readers; `None` through a
    /// pooler, which shares connections anyway.
    pub(crate) async fn connect_reader(&self) -> Result<Option<Connection>, Failure> {
        Ok(match &self.readers {
            Readers::Sqlite(readers) => Some(readers.connect_options().connect().await?.into()),
            Readers::Postgres(_, true) => None,
            Readers::Postgres(readers, false) => {
                let options = Box::new((*readers.connect_options()).clone());
                Some(connect_postgres(&PostgresOptions { options, is_pooled: false }).await?)
            }
        })
    }

    /// Returns whether several servers can share the database.
    pub fn is_shared(&self) -> bool {
        matches!(self.readers, Readers::Postgres(..))
    }

    /// Begins a transaction when its turn comes. Meanwhile, no other one runs on any server, except those of
    /// sets.
    pub async fn begin(&self) -> Result<Transaction, Failure> {
        Transaction::begin(&self.writer, false, vec![self.place_in_turn().await?]).await
    }

    /// Begins a transaction like [`Database::begin`] while no other one writes, on any server: for work that
    /// reads or replaces the data as a whole.
    pub async fn begin_alone(&self) -> Result<Transaction, Failure> {
        Transaction::begin(&self.writer, true, vec![self.place_in_turn().await?]).await
    }

    /// Runs `work` in one transaction and returns when it is committed. If `work` fails, its changes are
    /// rolled back. Meanwhile, no other transaction runs on any server, except those of sets.
    ///
    /// # Errors
    /// The errors of `work`; [`Failure::Busy`] if the queue is full, and [`Failure::Unavailable`]:
    /// nothing was written; [`Failure::NotCommitted`] if it is unknown whether it was committed.
    pub async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Transaction::begin(&self.writer, false, vec![self.place()?]).await?.run(work).await
    }

    /// Runs one statement like [`Database::write`], and returns the number of affected rows.
    pub async fn execute(&self, statement: Query) -> Result<u64, Failure> {
        self.write(async move |connection: &mut Connection| Ok(statement.execute(connection).await?)).await
    }

    /// Like [`Database::write`], but waits if the queue is full: for work that continues an accepted
    /// call and must not be rejected halfway.
    pub async fn write_in_turn<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.begin().await?.run(work).await
    }

    /// Runs one statement like [`Database::write_in_turn`], and returns the number of affected rows.
    pub async fn execute_in_turn(&self, statement: Query) -> Result<u64, Failure> {
        let work = async move |connection: &mut Connection| Ok(statement.execute(connection).await?);
        self.write_in_turn(work).await
    }

    /// Like [`Database::write_in_turn`], while no other transaction writes, on any server: for work that
    /// reads or replaces the data as a whole, or changes a rule for all payouts.
    pub async fn write_alone<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.begin_alone().await?.run(work).await
    }

    /// A writer for which only transactions that touch the same rows wait. In a file, there is only one writer.
    pub(crate) fn side_writer(&self) -> Arc<Mutex<Writer>> {
        let Some(target) = self.side.clone() else { return Arc::clone(&self.writer) };
        let writer = Writer::new(target, None, self.committed.clone(), self.out_of_room.clone());
        let writer = Arc::new(Mutex::new(writer));
        self.side_writers.lock().push(Arc::clone(&writer));
        writer
    }

    /// Counts a set that is tried again because of another transaction.
    pub(crate) fn count_conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    /// A place among the writes that wait.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| Failure::Busy)
    }

    pub(crate) async fn place_in_turn(&self) -> Result<OwnedSemaphorePermit, Failure> {
        Arc::clone(&self.places).acquire_owned().await.map_err(|_| Failure::Busy)
    }

    /// Checks that PostgreSQL flushes commits to disk at all, which no transaction can set. In demo mode, warns instead.
    pub async fn check_durability(&self, demo: bool) -> anyhow::Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        let fsync: String = query_scalar(FSYNC).fetch_one(&mut self.read().await?).await?;
        if fsync != "on" {
            let lost = "PostgreSQL has fsync = off, so a power failure can lose payouts that were answered";
            ensure!(demo, "{lost}; set it to on");
            tracing::warn!("{lost}");
        }
        Ok(())
    }

    pub fn load(&self) -> Load {
        let (readers_idle, readers) = match &self.readers {
            Readers::Sqlite(readers) => (readers.num_idle(), readers.size()),
            Readers::Postgres(readers, _) => (readers.num_idle(), readers.size()),
        };
        let readers = usize::try_from(readers).unwrap_or(usize::MAX);
        Load {
            writes_waiting: MAX_QUEUED_WRITES - self.places.available_permits(),
            conflicts: self.conflicts.load(Ordering::Relaxed),
            readers_idle,
            readers_busy: readers.saturating_sub(readers_idle),
        }
    }

    /// Returns `true` for some seconds after a write that the disk had no room for. A smaller one may have succeeded
    /// since.
    pub fn lacks_room(&self) -> bool {
        self.out_of_room.borrow().is_some_and(|at| at.elapsed() < NO_ROOM_TERM)
    }

    /// The rows of `statement`. As long as there are none, runs it again after commits and every quarter of a
    /// second, for up to `timeout` (in real time).
    pub async fn wait_for_rows<T: Send>(
        &self,
        timeout: Duration,
        statement: impl Fn() -> QueryAs<T>,
    ) -> Result<Vec<T>, Failure> {
        let deadline = Instant::now() + timeout;
        let mut commits = self.commits();
        loop {
            commits.mark_unchanged();
            let found = statement().fetch_all(&mut self.read().await?).await?;
            if !found.is_empty() || Instant::now() >= deadline {
                return Ok(found);
            }
            let next_poll = (Instant::now() + POLL_INTERVAL).min(deadline);
            _ = tokio::time::timeout_at(next_poll, commits.changed()).await;
        }
    }

    /// Notifies of each commit of this process.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.committed.subscribe()
    }

    /// Finishes queued writes, then closes all connections. Later writes are rejected.
    pub async fn close(&self) {
        // The writing connection must be closed last, because the last connection checkpoints
        // SQLite's write-ahead log. A reader that is still in use must not prevent that.
        let readers = async {
            match &self.readers {
                Readers::Sqlite(readers) => readers.close().await,
                Readers::Postgres(readers, _) => readers.close().await,
            }
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, readers).await.is_err() {
            tracing::warn!("closing the database while it is still being read");
        }
        let side_writers = self.side_writers.lock().clone();
        for writer in side_writers.iter().chain([&self.writer]) {
            writer.lock().await.close().await;
        }
    }
}
