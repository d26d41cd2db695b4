//! The store: `SQLite` with one writer and a pool of readers.
//!
//! All writes go through one task that owns the only writing connection. It takes the work that
//! waits, in the order in which it came, runs each piece in a savepoint of its own, and commits
//! them together: one flush to disk for all, where a commit each would queue for the disk
//! (measured 3 to 4 times as many). A piece that fails is undone alone. Nobody is answered
//! before the commit that holds its work, and everybody hears what became of it: kept, not done,
//! or, when the disk failed in the middle of a commit, not known.

use std::{future::Future, panic::AssertUnwindSafe, path::Path, time::Duration};

use anyhow::Context;
use futures::{FutureExt, future::BoxFuture};
use sqlx::{
    ConnectOptions, Connection as _, SqliteConnection, SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::Failure;

/// A connection inside a transaction, or one that only reads.
pub type Connection = SqliteConnection;

/// A connection lent by the pool of readers.
pub type Reader = sqlx::pool::PoolConnection<sqlx::Sqlite>;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// How many pieces of work may wait for the writer; one more is told to come again.
const WAITING_AT_MOST: usize = 1024;
/// How many pieces of work one commit takes at most, so that nobody waits for a giant one.
pub const TOGETHER_AT_MOST: usize = 64;

/// How long closing waits for readers.
const LAST_READERS: Duration = Duration::from_secs(2);

/// The store of one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub struct Database {
    readers: SqlitePool,
    writer: mpsc::Sender<Order>,
    commits: watch::Receiver<()>,
}

/// What the writer is told.
enum Order {
    Work(Work),
    /// Do what waits, take no more, and say when that is over.
    Close(oneshot::Sender<()>),
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

struct Work {
    /// Does the work and says whether its changes are to be kept.
    run: Run,
    heard: oneshot::Sender<Fate>,
}

type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, bool> + Send>;

/// What became of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It is on disk.
    Kept,
    /// Nothing of it was done.
    NotDone,
    /// The disk failed while it was being kept. Nobody sees it now; after a crash of the machine
    /// it may be there.
    Unknown,
}

impl Database {
    /// Opens the store in the data folder, making what is not there.
    ///
    /// # Errors
    /// A sentence that names the folder and the setting.
    pub async fn open_in(folder: &Path) -> anyhow::Result<Self> {
        let name = folder.display();
        std::fs::create_dir_all(folder).with_context(|| {
            format!("can't make the data folder {name}; set MKOPO_DATA_DIR to one that can be written")
        })?;
        Self::open(&folder.join("mkopo.db")).await.with_context(|| {
            format!("can't open the database in the data folder {name}; set MKOPO_DATA_DIR to one that can be written")
        })
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
        MIGRATIONS.run(&mut connection).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options.clone().read_only(true).create_if_missing(false))
            .await?;
        let (sender, orders) = mpsc::channel(WAITING_AT_MOST);
        let (committed, commits) = watch::channel(());
        let writer = Writer {
            options,
            connection: Some(connection),
            orders,
            together_at_most,
            committed,
            closing: None,
        };
        tokio::spawn(writer.run());
        Ok(Self { readers, writer: sender, commits })
    }

    /// A connection that sees the last commit.
    pub async fn read(&self) -> Result<Reader, Failure> {
        Ok(self.readers.acquire().await?)
    }

    /// Does `work` in one transaction; an error of its own undoes all of it. Returns once it is
    /// on disk.
    ///
    /// # Errors
    /// The work's own; [`Failure::Busy`] when too much waits or the disk refuses, and nothing was
    /// done; [`Failure::NotCommitted`] when the disk failed so that it is not known what it kept.
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
        let readers_idle = self.readers.num_idle();
        let readers = usize::try_from(self.readers.size()).unwrap_or(usize::MAX);
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
        // The last connection to close moves the log into the database proper, which only the
        // writing one can. A reader that is not given back must not keep it from closing.
        if tokio::time::timeout(LAST_READERS, self.readers.close()).await.is_err() {
            tracing::warn!("closing the database while it is read");
        }
        let (closed, over) = oneshot::channel();
        if self.writer.send(Order::Close(closed)).await.is_ok() {
            _ = over.await;
        }
    }
}

/// `work` as the writer takes it, and what its sender waits for.
fn piece<T, F>(work: F) -> (Work, impl Future<Output = Result<T, Failure>>)
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
{
    let (tell, mut result) = oneshot::channel();
    let (heard, fate) = oneshot::channel();
    let run: Run = Box::new(move |connection: &mut Connection| {
        async move {
            let outcome = work(connection).await;
            let keep = outcome.is_ok();
            // Whoever went away meanwhile does not hear it; the work stands.
            _ = tell.send(outcome);
            keep
        }
        .boxed()
    });
    let done = async move {
        match fate.await {
            Ok(Fate::Kept) => {}
            Ok(Fate::NotDone) => return Err(Failure::Busy),
            Ok(Fate::Unknown) | Err(_) => return Err(Failure::NotCommitted),
        }
        match result.try_recv() {
            // The piece was undone alone, so that here too nothing was done.
            Ok(Err(Failure::Storage(error))) if disk_refused(&error) => {
                tracing::error!(%error, "storage refused");
                Err(Failure::Busy)
            }
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Internal("a piece of work panicked and was undone".to_owned())),
        }
    };
    (Work { run, heard }, done)
}

struct Writer {
    options: SqliteConnectOptions,
    /// None after a failure that left it unfit.
    connection: Option<Connection>,
    orders: mpsc::Receiver<Order>,
    together_at_most: usize,
    committed: watch::Sender<()>,
    closing: Option<oneshot::Sender<()>>,
}

impl Writer {
    async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Work(first) => self.write_together(first).await,
                Order::Close(closed) => self.close_after(closed),
            }
        }
        if let Some(connection) = self.connection {
            _ = connection.close().await;
        }
        if let Some(closed) = self.closing {
            _ = closed.send(());
        }
    }

    fn close_after(&mut self, closed: oneshot::Sender<()>) {
        self.orders.close();
        self.closing = Some(closed);
    }

    /// Work that waits already, without waiting for more.
    fn waiting(&mut self) -> Option<Work> {
        match self.orders.try_recv().ok()? {
            Order::Work(work) => Some(work),
            Order::Close(closed) => {
                self.close_after(closed);
                None
            }
        }
    }

    async fn write_together(&mut self, first: Work) {
        let mut heard = Vec::new();
        let fate = match self.connection().await {
            Ok(mut connection) => {
                let fate = self.attempt(&mut connection, first, &mut heard).await;
                self.connection = fate.1.then_some(connection);
                fate.0
            }
            Err(error) => {
                tracing::error!(%error, "database away");
                heard.push(first.heard);
                Fate::NotDone
            }
        };
        for heard in heard {
            _ = heard.send(fate);
        }
        if fate == Fate::Kept {
            self.committed.send_replace(());
        }
    }

    async fn connection(&mut self) -> Result<Connection, sqlx::Error> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.options.connect().await,
        }
    }

    /// What became of the whole batch, and whether the connection is fit for the next.
    async fn attempt(
        &mut self,
        connection: &mut Connection,
        first: Work,
        heard: &mut Vec<oneshot::Sender<Fate>>,
    ) -> (Fate, bool) {
        match self.run_all(connection, first, heard).await {
            Ok(()) => {}
            Err(error) => {
                tracing::error!(%error, "writing failed");
                return (Fate::NotDone, roll_back(connection).await != RolledBack::Failed);
            }
        }
        let Err(error) = sqlx::query("COMMIT").execute(&mut *connection).await else {
            return (Fate::Kept, true);
        };
        tracing::error!(%error, "commit failed");
        match roll_back(connection).await {
            RolledBack::Now => (Fate::NotDone, true),
            // A full disk refuses before the mark that makes a commit whole is written.
            RolledBack::Before if disk_full(&error) => (Fate::NotDone, true),
            RolledBack::Before => (Fate::Unknown, true),
            RolledBack::Failed => (Fate::Unknown, false),
        }
    }

    async fn run_all(
        &mut self,
        connection: &mut Connection,
        first: Work,
        heard: &mut Vec<oneshot::Sender<Fate>>,
    ) -> Result<(), sqlx::Error> {
        let mut next = Some(first);
        while let Some(Work { run, heard: who }) = next {
            heard.push(who);
            if heard.len() == 1 {
                sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
            }
            sqlx::query("SAVEPOINT work").execute(&mut *connection).await?;
            let keep = AssertUnwindSafe(run(connection)).catch_unwind().await.unwrap_or(false);
            if !keep {
                // Fails when the disk's failure has undone the whole transaction already.
                sqlx::query("ROLLBACK TO work").execute(&mut *connection).await?;
            }
            sqlx::query("RELEASE work").execute(&mut *connection).await?;
            next = if heard.len() < self.together_at_most { self.waiting() } else { None };
        }
        Ok(())
    }
}

#[derive(PartialEq)]
enum RolledBack {
    Now,
    /// `SQLite` had done it by itself.
    Before,
    Failed,
}

async fn roll_back(connection: &mut Connection) -> RolledBack {
    match sqlx::query("ROLLBACK").execute(connection).await {
        Ok(_) => RolledBack::Now,
        Err(sqlx::Error::Database(error)) if error.message().contains("no transaction is active") => {
            RolledBack::Before
        }
        Err(error) => {
            tracing::error!(%error, "roll-back failed");
            RolledBack::Failed
        }
    }
}

/// `SQLite`'s primary result code.
fn result_code(error: &sqlx::Error) -> Option<u32> {
    let sqlx::Error::Database(error) = error else { return None };
    error.code()?.parse::<u32>().ok().map(|extended| extended & 0xff)
}

fn disk_full(error: &sqlx::Error) -> bool {
    const SQLITE_FULL: u32 = 13;
    result_code(error) == Some(SQLITE_FULL)
}

/// Whether it was the disk, or who holds it, and not the statement.
fn disk_refused(error: &sqlx::Error) -> bool {
    const BUSY: u32 = 5;
    const READONLY: u32 = 8;
    const IOERR: u32 = 10;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    matches!(result_code(error), Some(BUSY | READONLY | IOERR | FULL | CANTOPEN))
        || matches!(error, sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed)
}
