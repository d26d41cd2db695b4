//! The only task of a process that writes.
//!
//! It takes queued writes in order, runs each in its own savepoint, and commits them together: one
//! flush to disk for the whole batch (measured 3 to 4 times the throughput of one commit per write).
//! A write that fails is rolled back alone. Callers are answered after the commit, with the outcome
//! of their write: committed, not done, or unknown if the database failed during the commit.
//!
//! On PostgreSQL, each transaction first takes one advisory lock that all servers share. So the
//! writes of all servers are serialized as they are on one `SQLite` file, and each sees all earlier
//! ones. Both engines give the same guarantees, and transactions never conflict.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use sqlx::{
    AssertSqlSafe, PgPool, SqlSafeStr, SqlStr, postgres::PgConnectOptions, sqlite::SqliteConnectOptions,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Companion, Connection, Reader, connect_postgres, connect_sqlite, engine_error};
use crate::error::Failure;

/// The maximum number of writes per commit, which bounds how long a commit takes.
pub const MAX_BATCH_SIZE: usize = 64;

/// How often to try to begin a transaction.
const MAX_BEGIN_ATTEMPTS: u32 = 3;

/// A message to the writer.
pub(super) enum Order {
    Work(Work),
    /// Finish queued writes, accept no more, and notify when done.
    Close(oneshot::Sender<()>),
}

pub(super) struct Work {
    /// Does the work, and returns whether to commit its changes.
    run: Run,
    outcome: oneshot::Sender<WriteOutcome>,
}

type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, bool> + Send>;

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WriteOutcome {
    /// It is on disk.
    Committed,
    /// Nothing was written.
    NotDone,
    /// The database failed during the commit, so the write may or may not be there.
    Unknown,
}

/// Wraps `work` for the writer, together with the task's companion, with a future of its result.
pub(super) fn prepare<T, F>(work: F) -> (Work, impl Future<Output = Result<T, Failure>>)
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
{
    let (result_sender, mut result) = oneshot::channel();
    let (outcome_sender, outcome) = oneshot::channel();
    let companion = Companion::current();
    let accompanying = companion.clone();
    let run: Run = Box::new(move |connection: &mut Connection| {
        async move {
            let mut result = work(connection).await;
            if result.is_ok()
                && let Some(companion) = accompanying
                && let Err(failure) = companion.write(connection).await
            {
                result = Err(failure);
            }
            let commit = result.is_ok();
            // Fails if the caller has disconnected; the write is committed anyway.
            _ = result_sender.send(result);
            commit
        }
        .boxed()
    });
    let done = async move {
        match outcome.await {
            Ok(WriteOutcome::Committed) => {}
            Ok(WriteOutcome::NotDone) => return Err(Failure::Busy),
            Ok(WriteOutcome::Unknown) | Err(_) => return Err(Failure::NotCommitted),
        }
        match result.try_recv() {
            Ok(result) => {
                if result.is_ok()
                    && let Some(companion) = companion
                {
                    companion.set_written();
                }
                result
            }
            Err(_) => Err(Failure::Internal("a write panicked and was rolled back".to_owned())),
        }
    };
    (Work { run, outcome: outcome_sender }, done)
}

/// The database of the writer, and its transaction statements.
pub(super) enum Target {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
    /// A schema, on connections that are returned after each transaction; with how one begins.
    Schema(PgPool, Arc<str>),
}

impl Target {
    async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(options) => connect_sqlite(options).await?.into(),
            Self::Postgres(options) => connect_postgres(options).await?.into(),
            Self::Schema(connections, _) => Reader::postgres(connections.acquire().await?).into_inner(),
        })
    }

    /// Begins a transaction that excludes all other writers, and its first savepoint.
    ///
    /// On PostgreSQL, each statement after the lock sees all earlier commits. At a higher isolation
    /// level it would see the state from before the wait for the lock. The lock's number is "mkopo"
    /// in ASCII. A commit is flushed before it is answered, whatever the role or the database has set;
    /// `remote_apply` waits for more, and stays.
    fn begin(&self) -> SqlStr {
        let begin = match self {
            Self::Schema(_, begin) => return AssertSqlSafe(begin.to_string()).into_sql_str(),
            Self::Sqlite(_) => "BEGIN IMMEDIATE; SAVEPOINT work",
            Self::Postgres(_) => {
                "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
                 SELECT pg_advisory_xact_lock(469953900655), set_config('synchronous_commit',
                     CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
                     true);
                 SAVEPOINT work"
            }
        };
        begin.into_sql_str()
    }

    fn commit(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "COMMIT",
            // In a failed transaction, COMMIT alone would roll back and report success.
            Self::Postgres(_) | Self::Schema(..) => "RELEASE work; COMMIT",
        }
    }
}

const NEXT_WRITE: &str = "RELEASE work; SAVEPOINT work";

const UNDO_WRITE: &str = "ROLLBACK TO work";

pub(super) struct Writer {
    target: Target,
    /// `None` after a failure that made it unusable.
    connection: Option<Connection>,
    orders: mpsc::Receiver<Order>,
    max_batch_size: usize,
    committed: watch::Sender<()>,
    closing: Option<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn new(
        target: Target,
        connection: Option<Connection>,
        orders: mpsc::Receiver<Order>,
        max_batch_size: usize,
        committed: watch::Sender<()>,
    ) -> Self {
        Self { target, connection, orders, max_batch_size, committed, closing: None }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Work(first) => self.write_together(first).await,
                Order::Close(closed) => self.close_after(closed),
            }
        }
        if let Some(connection) = self.connection {
            connection.close().await;
        }
        if let Some(closed) = self.closing {
            _ = closed.send(());
        }
    }

    fn close_after(&mut self, closed: oneshot::Sender<()>) {
        self.orders.close();
        self.closing = Some(closed);
    }

    /// The next queued write, without waiting for one.
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
        let mut callers = Vec::new();
        let outcome = match self.begin().await {
            Ok(mut connection) => {
                let (outcome, is_usable) = self.attempt(&mut connection, first, &mut callers).await;
                self.put_back(connection, is_usable);
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "database unavailable");
                callers.push(first.outcome);
                WriteOutcome::NotDone
            }
        };
        for caller in callers {
            _ = caller.send(outcome);
        }
        if outcome == WriteOutcome::Committed {
            self.committed.send_replace(());
        }
    }

    /// Keeps the connection for the next transaction, or returns it.
    fn put_back(&mut self, mut connection: Connection, is_usable: bool) {
        if let Target::Schema(..) = self.target {
            if !is_usable {
                connection.discard();
            }
        } else {
            self.connection = is_usable.then_some(connection);
        }
    }

    /// A connection in a transaction that excludes all other writers. Tries again if the connection
    /// broke or the transaction was a deadlock victim: nothing has been written in it yet.
    async fn begin(&mut self) -> Result<Connection, sqlx::Error> {
        let mut attempts = 1;
        loop {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.target.connect().await?,
            };
            let Err(error) = connection.command(self.target.begin()).await else { return Ok(connection) };
            let is_usable = roll_back(&mut connection, &error).await != RolledBack::Failed;
            self.put_back(connection, is_usable);
            if attempts == MAX_BEGIN_ATTEMPTS || !engine_error::can_begin_again(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "retrying to begin a transaction");
            attempts += 1;
        }
    }

    /// Returns the outcome of the batch, and whether the connection can be used again.
    async fn attempt(
        &mut self,
        connection: &mut Connection,
        first: Work,
        callers: &mut Vec<oneshot::Sender<WriteOutcome>>,
    ) -> (WriteOutcome, bool) {
        if let Err(error) = self.run_all(connection, first, callers).await {
            tracing::error!(%error, "writing failed");
            return (WriteOutcome::NotDone, roll_back(connection, &error).await != RolledBack::Failed);
        }
        let Err(error) = connection.command(self.target.commit()).await else {
            return (WriteOutcome::Committed, true);
        };
        tracing::error!(%error, "commit failed");
        match (&self.target, roll_back(connection, &error).await) {
            (_, RolledBack::Failed) => (WriteOutcome::Unknown, false),
            (Target::Sqlite(_), RolledBack::Now) => (WriteOutcome::NotDone, true),
            (_, _) if engine_error::is_uncommitted(&error) => (WriteOutcome::NotDone, true),
            (Target::Sqlite(_), RolledBack::Before) => (WriteOutcome::Unknown, true),
            // PostgreSQL also accepts a rollback after a commit, and does nothing.
            (Target::Postgres(_) | Target::Schema(..), _) => (WriteOutcome::Unknown, false),
        }
    }

    async fn run_all(
        &mut self,
        connection: &mut Connection,
        first: Work,
        callers: &mut Vec<oneshot::Sender<WriteOutcome>>,
    ) -> Result<(), sqlx::Error> {
        let mut next = Some(first);
        while let Some(Work { run, outcome }) = next {
            callers.push(outcome);
            if callers.len() > 1 {
                connection.command(NEXT_WRITE).await?;
            }
            let commit = AssertUnwindSafe(run(connection)).catch_unwind().await.unwrap_or(false);
            if !commit {
                // Fails if a disk error has already rolled the whole transaction back.
                connection.command(UNDO_WRITE).await?;
            }
            next = if callers.len() < self.max_batch_size { self.waiting() } else { None };
        }
        Ok(())
    }
}

#[derive(PartialEq)]
enum RolledBack {
    Now,
    /// The engine had already rolled back.
    Before,
    Failed,
}

/// Rolls the transaction back. If the connection is broken, the engine does so by itself.
async fn roll_back(connection: &mut Connection, failed: &sqlx::Error) -> RolledBack {
    if matches!(failed, sqlx::Error::Io(_)) {
        return RolledBack::Failed;
    }
    match connection.command("ROLLBACK").await {
        Ok(()) => RolledBack::Now,
        Err(sqlx::Error::Database(error)) if error.message().contains("no transaction is active") => {
            RolledBack::Before
        }
        Err(error) => {
            tracing::error!(%error, "rollback failed");
            RolledBack::Failed
        }
    }
}
