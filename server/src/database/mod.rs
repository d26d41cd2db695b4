//! The store: a `SQLite` file, or a PostgreSQL database that several servers share.
//!
//! Either way all writes of a process go through one task that owns its only writing connection,
//! and there is a pool of readers. [`query()`] and its
//! siblings run the same SQL on both engines.

mod connection;
mod engine_error;
mod in_place;

pub mod rows;
pub mod url;
pub mod versions;
mod writer;

pub use connection::{Connection, Fetched, Query, QueryAs, QueryScalar, ReadTransaction, Reader};
pub use connection::{query, query_as, query_scalar};
pub use in_place::InPlace;
pub use writer::TOGETHER_AT_MOST;

use std::{path::Path, time::Duration};

use anyhow::Context;
use futures::future::BoxFuture;
use sqlx::{
    ConnectOptions, PgConnection, PgPool, SqlitePool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{mpsc, oneshot, watch};

use self::{
    url::{DatabaseUrl, Engine},
    writer::{Order, Writer, piece},
};
use crate::error::Failure;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// How many pieces of work may wait for the writer; one more is told to come again.
const WAITING_AT_MOST: usize = 1024;

/// How many connections read, besides the one that reads versions.
const READERS: u32 = 8;

/// How long is waited for a reader of the file.
const READER_WITHIN: Duration = Duration::from_secs(5);

/// How long is waited for PostgreSQL to let one in: callers hear that it is away before they lose
/// patience.
const REACHED_WITHIN: Duration = Duration::from_secs(2);

/// How long closing waits for readers.
const LAST_READERS: Duration = Duration::from_secs(2);

/// How long PostgreSQL may work on one statement.
const STATEMENT_WITHIN: &str = "10s";

/// How long a server waits for the others' writes. They hold the lock for one commit each.
const LOCK_WITHIN: &str = "5s";

/// How long a server may say nothing in the middle of a transaction before PostgreSQL takes it for
/// dead, undoes it and lets the others write.
const IDLE_WITHIN: &str = "10s";

/// How many statements a connection to PostgreSQL keeps prepared: more than there are.
const KEPT_PREPARED: usize = 512;

/// The store of one sandbox. Clones share it.
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
}

/// How busy the store is.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Transactions that wait for the writer.
    pub writes_waiting: usize,
    /// Open connections that nobody reads by.
    pub readers_idle: usize,
    /// Connections that somebody reads by.
    pub readers_busy: usize,
}

impl Database {
    /// Opens the store that `url` names, else the one in the data folder, making what is not there.
    ///
    /// # Errors
    /// A sentence that names the store and the setting, and never a password.
    pub async fn open_for(url: Option<&DatabaseUrl>, data_dir: &Path) -> anyhow::Result<Self> {
        match url {
            Some(url) => Self::open_named(url, "MKOPO_DATABASE_URL").await,
            None => Self::open_in(data_dir).await,
        }
    }

    /// Opens the store at `url`, which came by `setting`.
    ///
    /// # Errors
    /// A sentence that names the store and the setting, and never a password.
    pub async fn open_named(url: &DatabaseUrl, setting: &str) -> anyhow::Result<Self> {
        Self::open_at(url)
            .await
            .map_err(|error| engine_error::sentence(error, &format!("the database {url}"), setting))
    }

    /// Opens the store in the data folder, making what is not there.
    ///
    /// # Errors
    /// A sentence that names the folder and the setting.
    pub async fn open_in(folder: &Path) -> anyhow::Result<Self> {
        let name = folder.display();
        std::fs::create_dir_all(folder).with_context(|| {
            format!("can't make the data folder {name}; set MKOPO_DATA_DIR to one that can be written")
        })?;
        Self::open(&folder.join("mkopo.db")).await.map_err(|error| {
            engine_error::sentence(
                error,
                &format!("the database in the data folder {name}"),
                "MKOPO_DATA_DIR",
            )
        })
    }

    /// Opens the store at `url`, brings its tables up to date, and makes it first when it is a file
    /// that is not there.
    ///
    /// # Errors
    /// When it can't be reached or written, or was made by a newer version.
    pub async fn open_at(url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        match &url.engine {
            Engine::Sqlite(file) => Self::open(file).await,
            Engine::Postgres(options) => Self::open_postgres(options).await,
        }
    }

    /// Opens the store at `file`, making it when it is not there, and brings its tables up to
    /// date.
    ///
    /// # Errors
    /// When the file can't be opened or written, or was made by a newer version.
    pub async fn open(file: &Path) -> Result<Self, sqlx::Error> {
        Self::open_committing(file, TOGETHER_AT_MOST).await
    }

    /// Like [`Database::open`], with at most so many pieces of work in one commit.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn open_committing(file: &Path, together_at_most: usize) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .optimize_on_close(true, None)
            .disable_statement_logging();
        let mut connection = options.connect().await?;
        SQLITE_MIGRATIONS.run(&mut connection).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(READER_WITHIN)
            .connect_with(options.clone().read_only(true).create_if_missing(false))
            .await?;
        let target = writer::Target::Sqlite(Box::new(options));
        Ok(Self::with(Readers::Sqlite(readers), target, connection.into(), together_at_most))
    }

    async fn open_postgres(options: &PgConnectOptions) -> Result<Self, sqlx::Error> {
        let options = options
            .clone()
            .application_name("mkopo")
            .statement_cache_capacity(KEPT_PREPARED)
            .options([("client_min_messages", "warning"), ("jit", "off")])
            .disable_statement_logging();
        {
            // Waits as long as it takes for another server that is bringing the tables up to date.
            let mut connection = reach(&options).await?;
            engine_error::check(&mut connection).await?;
            POSTGRES_MIGRATIONS.run(&mut connection).await?;
        }
        let options = options
            .options([("statement_timeout", STATEMENT_WITHIN), ("lock_timeout", LOCK_WITHIN)])
            .options([("idle_in_transaction_session_timeout", IDLE_WITHIN)]);
        let readers = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(REACHED_WITHIN)
            .connect_with(options.clone().options([("default_transaction_read_only", "on")]))
            .await?;
        let connection = reach(&options).await?.into();
        let target = writer::Target::Postgres(Box::new(options));
        Ok(Self::with(Readers::Postgres(readers), target, connection, TOGETHER_AT_MOST))
    }

    fn with(
        readers: Readers,
        target: writer::Target,
        connection: Connection,
        together_at_most: usize,
    ) -> Self {
        let (sender, orders) = mpsc::channel(WAITING_AT_MOST);
        let (committed, commits) = watch::channel(());
        tokio::spawn(Writer::new(target, connection, orders, together_at_most, committed).run());
        Self { readers, writer: sender, commits }
    }

    /// A connection that sees the last commit.
    pub async fn read(&self) -> Result<Reader, Failure> {
        Ok(match &self.readers {
            Readers::Sqlite(readers) => Reader::sqlite(readers.acquire().await?),
            Readers::Postgres(readers) => Reader::postgres(readers.acquire().await?),
        })
    }

    /// The file, to be read without a reader; none on PostgreSQL.
    pub fn in_place(&self) -> Option<InPlace> {
        let Readers::Sqlite(readers) = &self.readers else { return None };
        InPlace::open(readers.connect_options().get_filename())
            .inspect_err(|error| tracing::warn!(%error, "database.not_read_in_place"))
            .ok()
    }

    /// Does `work` in one transaction; an error of its own undoes all of it. Returns once it is
    /// on disk.
    ///
    /// # Errors
    /// The work's own; [`Failure::Busy`] when too much waits or the store refuses, and nothing was
    /// done; [`Failure::NotCommitted`] when it failed so that it is not known what it kept.
    pub async fn write<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
    {
        let (work, done) = piece(work);
        self.writer.try_send(Order::Work(work)).map_err(|_| Failure::Busy)?;
        done.await
    }

    /// Like [`Database::write`], but waits for its turn however much waits already: for work that
    /// carries on what was accepted before, which must not be turned away half-way.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_in_turn<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
    {
        let (work, done) = piece(work);
        self.writer.send(Order::Work(work)).await.map_err(|_| Failure::Busy)?;
        done.await
    }

    /// How busy the store is.
    pub fn load(&self) -> Load {
        let (readers_idle, readers) = match &self.readers {
            Readers::Sqlite(readers) => (readers.num_idle(), readers.size()),
            Readers::Postgres(readers) => (readers.num_idle(), readers.size()),
        };
        let readers = usize::try_from(readers).unwrap_or(usize::MAX);
        Load {
            writes_waiting: self.writer.max_capacity() - self.writer.capacity(),
            readers_idle,
            readers_busy: readers.saturating_sub(readers_idle),
        }
    }

    /// Changes with each commit that this process makes.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.clone()
    }

    /// Does the work that waits, then closes every connection. What comes after is turned away.
    pub async fn close(&self) {
        // The last connection to close moves SQLite's log into the database proper, which only the
        // writing one can. A reader that is not given back must not keep it from closing.
        let readers = async {
            match &self.readers {
                Readers::Sqlite(readers) => readers.close().await,
                Readers::Postgres(readers) => readers.close().await,
            }
        };
        if tokio::time::timeout(LAST_READERS, readers).await.is_err() {
            tracing::warn!("closing the database while it is read");
        }
        let (closed, over) = oneshot::channel();
        if self.writer.send(Order::Close(closed)).await.is_ok() {
            _ = over.await;
        }
    }
}

/// A connection to PostgreSQL; one that does not answer is not waited for.
async fn reach(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    tokio::time::timeout(REACHED_WITHIN, options.connect())
        .await
        .unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
}
