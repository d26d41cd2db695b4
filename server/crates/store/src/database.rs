//! The database of one sandbox: its readers and its writers.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::{Deref, DerefMut},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use sqlx::{
    ConnectOptions, PgPool, SqlitePool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use base::error::Failure;

use crate::{
    connect::{CONNECT_TIMEOUT, PostgresOptions, connect_postgres, connect_sqlite},
    connection::Connection,
    durability, migrate, opening,
    transaction::Transaction,
    url::{DatabaseUrl, Engine},
    writer::{Begin, Excludes, MAX_BATCH_SIZE, Order, Target, Writer},
};

pub(crate) static SQLITE_MIGRATIONS: Migrator = sqlx_macros::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx_macros::migrate!("migrations/postgres");

/// The maximum number of writes that wait for the writers. Further ones fail with [`Failure::Busy`].
const MAX_QUEUED_WRITES: usize = 1024;

/// The number of reading connections, in addition to the one that reads versions.
const READERS: u32 = 8;

/// The maximum wait for a reader of the file.
pub(crate) const READER_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum wait for readers when the database is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// PostgreSQL's timeout for a reader's statement. A writer sets its own in each transaction.
const STATEMENT_TIMEOUT: &str = "10s";

/// The idle time after which PostgreSQL rolls a transaction back.
const IDLE_TIMEOUT: &str = "10s";

/// The size of the prepared statement cache: more than the number of statements.
pub(crate) const STATEMENT_CACHE_SIZE: usize = 512;

/// The database of one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    readers: Readers,
    writer: mpsc::UnboundedSender<Order>,
    /// The writers of payouts. Without lanes, the writer is the only one.
    lanes: Arc<[mpsc::UnboundedSender<Order>]>,
    /// One permit for each write that may wait.
    places: Arc<Semaphore>,
    conflicts: Arc<AtomicU64>,
    commits: watch::Receiver<()>,
}

#[derive(Clone, Debug)]
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    /// The pool, and whether there is a pooler in transaction mode.
    Postgres(PgPool, bool),
}

/// A connection to read, which returns to the pool.
#[derive(Debug)]
pub struct Reader(Connection);

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

/// The load of the database.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Writes waiting for a writer.
    pub writes_waiting: usize,
    /// Writes that PostgreSQL undid because of another one, and that were tried again, since the start.
    pub conflicts: u64,
    /// Idle reading connections.
    pub readers_idle: usize,
    /// Reading connections in use.
    pub readers_busy: usize,
}

impl Database {
    /// Opens the database at `url`, or else the one in the data folder, creating it if needed.
    ///
    /// # Errors
    /// A sentence that names the database and the setting, but never a password.
    pub async fn open_for(url: Option<&DatabaseUrl>, data_dir: &Path) -> anyhow::Result<Self> {
        match url {
            Some(url) => Self::open_named(url, "MKOPO_DATABASE_URL").await,
            None => Self::open_in(data_dir).await,
        }
    }

    /// Opens the database at `url`, the value of `setting`.
    ///
    /// # Errors
    /// A sentence that names the database and the setting, but never a password.
    pub async fn open_named(url: &DatabaseUrl, setting: &str) -> anyhow::Result<Self> {
        Self::open_at(url)
            .await
            .map_err(|error| opening::sentence(error, &format!("the database {url}"), setting))
    }

    /// Opens the database in the data folder, creating both if needed.
    ///
    /// # Errors
    /// A sentence that names the folder and the setting.
    pub async fn open_in(folder: &Path) -> anyhow::Result<Self> {
        let name = folder.display();
        std::fs::create_dir_all(folder).with_context(|| {
            format!("can't create the data folder {name}; set MKOPO_DATA_DIR to one that can be written")
        })?;
        Self::open(&folder.join("mkopo.db")).await.map_err(|error| {
            opening::sentence(error, &format!("the database in the data folder {name}"), "MKOPO_DATA_DIR")
        })
    }

    /// Opens and migrates the database at `url`. A missing file is created.
    ///
    /// # Errors
    /// If it can't be reached or written, or was created by a newer version.
    pub async fn open_at(url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        match &url.engine {
            Engine::Sqlite(file) => Self::open(file).await,
            Engine::Postgres(options) => Self::open_postgres(options, url).await,
        }
    }

    /// Opens and migrates the database at `file`, creating it if needed.
    ///
    /// # Errors
    /// If the file can't be opened or written, or was created by a newer version.
    pub async fn open(file: &Path) -> Result<Self, sqlx::Error> {
        Self::open_with_batch_size(file, MAX_BATCH_SIZE).await
    }

    /// Like [`Database::open`], with a different maximum number of writes per commit.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn open_with_batch_size(file: &Path, max_batch_size: usize) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .optimize_on_close(true, None)
            .disable_statement_logging();
        let mut connection = connect_sqlite(&options).await?;
        SQLITE_MIGRATIONS.run(&mut connection).await?;
        // Optimizing writes: it fails on a reader, and sqlx then doesn't wait for the end of that connection.
        let read_options =
            options.clone().read_only(true).create_if_missing(false).optimize_on_close(false, None);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(READER_TIMEOUT)
            .connect_with(read_options)
            .await?;
        let target = Target::Sqlite { options: Box::new(options), is_durable: true };
        Ok(Self::with(Readers::Sqlite(readers), target, Some(connection.into()), Vec::new(), max_batch_size))
    }

    async fn open_postgres(options: &PgConnectOptions, url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        let is_pooled = url.is_pooled();
        let options = options.clone().application_name("mkopo").disable_statement_logging();
        let mut read_options = options.clone().statement_cache_capacity(STATEMENT_CACHE_SIZE);
        let mut options = read_options.clone();
        if is_pooled {
            // A pooler refuses settings that it can't restore.
            options = options.extra_float_digits(None).statement_cache_capacity(0);
            read_options = options.clone();
        } else {
            options = options.options([("client_min_messages", "warning"), ("jit", "off")]);
            read_options = options
                .clone()
                .options([("statement_timeout", STATEMENT_TIMEOUT), ("default_transaction_read_only", "on")])
                .options([("idle_in_transaction_session_timeout", IDLE_TIMEOUT)]);
        }
        let options = PostgresOptions { options: Box::new(options), is_pooled };
        {
            // Waits without a timeout for another server that is migrating the tables.
            let mut connection = connect_postgres(&options).await?;
            // Through a pooler, each transaction may be on another connection.
            connection.command("BEGIN READ ONLY").await?;
            opening::check(&mut connection).await?;
            connection.command("COMMIT").await?;
            migrate::run(&mut connection, &POSTGRES_MIGRATIONS).await?;
        }
        let connection = connect_postgres(&options).await?;
        let readers = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(CONNECT_TIMEOUT)
            .connect_with(read_options)
            .await?;
        let lanes = url.lanes();
        let target = |excludes| Target::Postgres(options.clone(), excludes);
        let lanes = match lanes {
            0 | 1 => Vec::new(),
            lanes => (0..lanes).map(|_| target(Excludes::Rows)).collect(),
        };
        let writer = target(Excludes::Turn);
        Ok(Self::with(Readers::Postgres(readers, is_pooled), writer, Some(connection), lanes, MAX_BATCH_SIZE))
    }

    pub(crate) fn with(
        readers: Readers,
        writer: Target,
        connection: Option<Connection>,
        lanes: Vec<Target>,
        max_batch_size: usize,
    ) -> Self {
        let (committed, commits) = watch::channel(());
        let spawn = |target, connection| {
            let (sender, orders) = mpsc::unbounded_channel();
            tokio::spawn(Writer::new(target, connection, orders, max_batch_size, committed.clone()).run());
            sender
        };
        let writer = spawn(writer, connection);
        let lanes: Vec<_> = lanes.into_iter().map(|lane| spawn(lane, None)).collect();
        let lanes = if lanes.is_empty() { vec![writer.clone()] } else { lanes };
        Self {
            readers,
            writer,
            lanes: lanes.into(),
            places: Arc::new(Semaphore::new(MAX_QUEUED_WRITES)),
            conflicts: Arc::default(),
            commits,
        }
    }

    /// A connection that sees all commits so far.
    ///
    /// # Errors
    /// [`Failure::Busy`] if none is free in time.
    pub async fn read(&self) -> Result<Reader, Failure> {
        Ok(Reader(match &self.readers {
            Readers::Sqlite(readers) => Connection::sqlite_of_pool(readers.acquire().await?),
            // A pooler may answer each round trip outside of a transaction from another connection.
            Readers::Postgres(readers, true) => {
                Connection::postgres_reading(readers.begin_with("BEGIN READ ONLY").await?, true)
            }
            Readers::Postgres(readers, false) => Connection::postgres_of_pool(readers.acquire().await?),
        }))
    }

    /// A connection that sees one consistent snapshot of all commits so far.
    ///
    /// # Errors
    /// As [`Database::read`].
    pub async fn read_snapshot(&self) -> Result<Reader, Failure> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        Ok(Reader(match &self.readers {
            Readers::Sqlite(readers) => Connection::sqlite_reading(readers.begin().await?),
            Readers::Postgres(readers, is_pooled) => {
                Connection::postgres_reading(readers.begin_with(BEGIN).await?, *is_pooled)
            }
        }))
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

    /// Begins a transaction when its turn comes. Meanwhile, no other one runs on any server, except payouts
    /// in lanes.
    ///
    /// # Errors
    /// [`Failure::Busy`] if the database is unavailable.
    pub async fn begin(&self) -> Result<Transaction, Failure> {
        begin(&self.writer, false, vec![self.place_in_turn().await?]).await
    }

    /// Begins a transaction like [`Database::begin`] while no other one writes, on any server: for work that
    /// reads or replaces the data as a whole.
    ///
    /// # Errors
    /// As [`Database::begin`].
    pub async fn begin_alone(&self) -> Result<Transaction, Failure> {
        begin(&self.writer, true, vec![self.place_in_turn().await?]).await
    }

    /// Runs `work` in one transaction and returns when it is committed. If `work` fails, its changes are
    /// rolled back. Meanwhile, no other transaction runs on any server, except payouts in lanes.
    ///
    /// # Errors
    /// The errors of `work`; [`Failure::Busy`] if the queue is full or the database is unavailable,
    /// and nothing was written; [`Failure::NotCommitted`] if it is unknown whether it was committed.
    pub async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = self.place()?;
        self.run(work, false, place).await
    }

    /// Like [`Database::write`], but waits if the queue is full: for work that continues an accepted
    /// call and must not be rejected halfway.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_in_turn<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = self.place_in_turn().await?;
        self.run(work, false, place).await
    }

    /// Like [`Database::write_in_turn`], while no other transaction writes, on any server: for work that
    /// reads or replaces the data as a whole.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_alone<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = self.place_in_turn().await?;
        self.run(work, true, place).await
    }

    async fn run<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
        is_alone: bool,
        place: OwnedSemaphorePermit,
    ) -> Result<T, Failure> {
        let mut transaction = begin(&self.writer, is_alone, vec![place]).await?;
        let done = work(&mut transaction).await?;
        transaction.commit().await?;
        Ok(done)
    }

    /// The number of lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the lane of `key`.
    pub(crate) fn lane_of(&self, key: &str) -> usize {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        usize::try_from(hasher.finish() % self.lanes.len() as u64).unwrap_or(0)
    }

    /// Begins a transaction in `lane`. Only transactions that touch the same rows wait for it. `places` are
    /// released when it begins.
    pub(crate) async fn begin_in_lane(
        &self,
        lane: usize,
        places: Vec<OwnedSemaphorePermit>,
    ) -> Result<Transaction, Failure> {
        begin(&self.lanes[lane], false, places).await
    }

    /// Counts a transaction in a lane that PostgreSQL undid because of another one.
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

    /// Checks that a power failure loses nothing that was committed. In demo mode, warns instead.
    ///
    /// # Errors
    /// A sentence that says what to change.
    pub async fn check_durability(&self, demo: bool) -> anyhow::Result<()> {
        durability::check_flushes(&mut *self.read().await?, demo).await
    }

    /// The current load.
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

    /// Notifies of each commit of this process.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.clone()
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
        for writer in self.lanes.iter().chain([&self.writer]) {
            let (closed, is_closed) = oneshot::channel();
            if writer.send(Order::Close(closed)).is_ok() {
                _ = is_closed.await;
            }
        }
    }
}

/// Begins a transaction of `writer`.
async fn begin(
    writer: &mpsc::UnboundedSender<Order>,
    is_alone: bool,
    places: Vec<OwnedSemaphorePermit>,
) -> Result<Transaction, Failure> {
    let (granted, transaction) = oneshot::channel();
    writer.send(Order::Begin(Begin { is_alone, places, granted })).map_err(|_| Failure::Busy)?;
    transaction.await.map_err(|_| Failure::Busy)
}
