//! The database: a `SQLite` file, or a PostgreSQL database that several servers share.
//!
//! With either engine, all writes of a process go through one task that owns the only writing
//! connection, and reads use a pool. [`query()`] and similar functions run
//! the same SQL on both engines.

mod companion;
mod connection;
mod durability;
mod engine_error;
mod in_place;

pub mod changes;
pub mod rows;
pub mod sandboxes;
mod schemas;
pub mod server_lease;
pub mod shared_clock;
pub mod sweep;
pub mod url;
pub mod versions;
mod writer;

pub use companion::Companion;
pub use connection::{Connection, Fetched, Query, QueryAs, QueryScalar, ReadTransaction, Reader};
pub use connection::{query, query_as, query_scalar};
pub use in_place::InPlace;
pub use writer::MAX_BATCH_SIZE;

use std::{path::Path, time::Duration};

use anyhow::Context;
use futures::future::BoxFuture;
use sqlx::{
    ConnectOptions, PgConnection, PgPool, SqliteConnection, SqlitePool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{mpsc, oneshot, watch};

use self::{
    schemas::Schema,
    url::{DatabaseUrl, Engine},
    writer::{Order, Writer, prepare},
};
use crate::error::Failure;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// How many writes may wait for the writer. Further ones fail with [`Failure::Busy`].
const MAX_QUEUED_WRITES: usize = 1024;

/// The number of reading connections, in addition to the one that reads versions.
const READERS: u32 = 8;

/// How long to wait for a reader of the file.
const READER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for a connection to PostgreSQL: shorter than callers wait for an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long closing the database waits for readers.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long PostgreSQL may run one statement.
const STATEMENT_TIMEOUT: &str = "10s";

/// How long a server waits for the write lock, which other servers hold for one commit each.
const LOCK_TIMEOUT: &str = "5s";

/// How long a transaction may be idle before PostgreSQL rolls it back, so that a dead server does not
/// block the others.
const IDLE_TIMEOUT: &str = "10s";

/// The size of the prepared statement cache: more than the number of statements.
const STATEMENT_CACHE_SIZE: usize = 512;

/// The database of one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    readers: Readers,
    writer: mpsc::Sender<Order>,
    commits: watch::Receiver<()>,
}

#[derive(Clone, Debug)]
enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
    /// A schema of a PostgreSQL database.
    Schema(Schema),
}

/// The load of the database.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Transactions waiting for the writer.
    pub writes_waiting: usize,
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
            .map_err(|error| engine_error::sentence(error, &format!("the database {url}"), setting))
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
            engine_error::sentence(
                error,
                &format!("the database in the data folder {name}"),
                "MKOPO_DATA_DIR",
            )
        })
    }

    /// Opens and migrates the database at `url`. A missing file is created.
    ///
    /// # Errors
    /// If it can't be reached or written, or was created by a newer version.
    pub async fn open_at(url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        match &url.engine {
            Engine::Sqlite(file) => Self::open(file).await,
            Engine::Postgres(options) => Self::open_postgres(options).await,
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
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(READER_TIMEOUT)
            .connect_with(options.clone().read_only(true).create_if_missing(false))
            .await?;
        let target = writer::Target::Sqlite(Box::new(options));
        Ok(Self::with(Readers::Sqlite(readers), target, Some(connection.into()), max_batch_size))
    }

    async fn open_postgres(options: &PgConnectOptions) -> Result<Self, sqlx::Error> {
        let options = options
            .clone()
            .application_name("mkopo")
            .statement_cache_capacity(STATEMENT_CACHE_SIZE)
            .options([("client_min_messages", "warning"), ("jit", "off")])
            .disable_statement_logging();
        {
            // Waits without a timeout for another server that is migrating the tables.
            let mut connection = connect_postgres(&options).await?;
            engine_error::check(&mut connection).await?;
            POSTGRES_MIGRATIONS.run(&mut connection).await?;
        }
        let options = options
            .options([("statement_timeout", STATEMENT_TIMEOUT), ("lock_timeout", LOCK_TIMEOUT)])
            .options([("idle_in_transaction_session_timeout", IDLE_TIMEOUT)]);
        let readers = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(CONNECT_TIMEOUT)
            .connect_with(options.clone().options([("default_transaction_read_only", "on")]))
            .await?;
        // The writer finds rows by their keys. PostgreSQL would plan to read tables as a whole while they
        // are small, and keep to that after a bulk insert until it analyzes them (measured: a third of the
        // payouts per second).
        let options = options.options([("enable_seqscan", "off")]);
        let connection = connect_postgres(&options).await?.into();
        let target = writer::Target::Postgres(Box::new(options));
        Ok(Self::with(Readers::Postgres(readers), target, Some(connection), MAX_BATCH_SIZE))
    }

    fn with(
        readers: Readers,
        target: writer::Target,
        connection: Option<Connection>,
        max_batch_size: usize,
    ) -> Self {
        let (sender, orders) = mpsc::channel(MAX_QUEUED_WRITES);
        let (committed, commits) = watch::channel(());
        tokio::spawn(Writer::new(target, connection, orders, max_batch_size, committed).run());
        Self { readers, writer: sender, commits }
    }

    /// A connection that sees all commits so far.
    pub async fn read(&self) -> Result<Reader, Failure> {
        Ok(match &self.readers {
            Readers::Sqlite(readers) => Reader::sqlite(readers.acquire().await?),
            Readers::Postgres(readers) => Reader::postgres(readers.acquire().await?),
            Readers::Schema(schema) => schema.read().await?,
        })
    }

    /// Whether connections are shared with other databases, so that none may be kept.
    fn shares_connections(&self) -> bool {
        matches!(self.readers, Readers::Schema(_))
    }

    /// A connection to read the file on the caller's thread; `None` on PostgreSQL.
    pub fn in_place(&self) -> Option<InPlace> {
        let Readers::Sqlite(readers) = &self.readers else { return None };
        InPlace::open(readers.connect_options().get_filename())
            .inspect_err(|error| tracing::warn!(%error, "database.not_read_in_place"))
            .ok()
    }

    /// Runs `work` in one transaction and returns when it is committed. If `work` fails, its changes
    /// are rolled back.
    ///
    /// # Errors
    /// The errors of `work`; [`Failure::Busy`] if the queue is full or the database is unavailable,
    /// and nothing was written; [`Failure::NotCommitted`] if it is unknown whether it was committed.
    pub async fn write<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
    {
        let (work, done) = prepare(work);
        self.writer.try_send(Order::Work(work)).map_err(|_| Failure::Busy)?;
        done.await
    }

    /// Like [`Database::write`], but waits if the queue is full: for work that continues an accepted
    /// call and must not be rejected halfway.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_in_turn<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
    {
        let (work, done) = prepare(work);
        self.writer.send(Order::Work(work)).await.map_err(|_| Failure::Busy)?;
        done.await
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
            Readers::Postgres(readers) => (readers.num_idle(), readers.size()),
            Readers::Schema(schema) => (schema.pool().num_idle(), schema.pool().size()),
        };
        let readers = usize::try_from(readers).unwrap_or(usize::MAX);
        Load {
            writes_waiting: self.writer.max_capacity() - self.writer.capacity(),
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
                Readers::Postgres(readers) => readers.close().await,
                // Others use its connections.
                Readers::Schema(_) => {}
            }
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, readers).await.is_err() {
            tracing::warn!("closing the database while it is still being read");
        }
        let (closed, is_closed) = oneshot::channel();
        if self.writer.send(Order::Close(closed)).await.is_ok() {
            _ = is_closed.await;
        }
    }
}

/// Connects to a file that keeps what was committed.
async fn connect_sqlite(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    durability::check_sqlite(&mut connection).await?;
    Ok(connection)
}

/// Connects to PostgreSQL, with a timeout.
async fn connect_postgres(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    tokio::time::timeout(CONNECT_TIMEOUT, options.connect())
        .await
        .unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
}
