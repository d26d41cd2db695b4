//! The task that writes.
//!
//! It takes queued writes in order, runs each in its own savepoint, and commits them together: one
//! flush to disk for the whole batch (measured 3 to 4 times the throughput of one commit per write).
//! A write that fails is rolled back alone. Callers are answered after the commit, with the outcome
//! of their write: committed, not done, or unknown if the database failed during the commit. If no
//! transaction can begin, those that wait are refused together.
//!
//! On PostgreSQL, payouts have writers of their own, the lanes, that write side by side: their rules are
//! held by constraints, conditional updates and row locks. All other writes, of all servers, still come one
//! after the other, by the lock of one row. What replaces the data as a whole excludes every writer
//! (docs/decisions/0007).

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use sqlx::{
    AssertSqlSafe, ConnectOptions, SqlSafeStr, SqlStr, postgres::PgConnectOptions,
    sqlite::SqliteConnectOptions,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Companion, Connection, SharedConnections, connect_postgres, connect_sqlite, engine_error};
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
    /// Whether no other transaction may run meanwhile, of any server.
    is_alone: bool,
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

/// Wraps `work` for the writer, together with the task's companion, with a future of its result. What is in
/// `places` is dropped when it begins.
pub(super) fn prepare<T, F, P>(
    work: F,
    is_alone: bool,
    places: P,
) -> (Work, impl Future<Output = Result<T, Failure>>)
where
    T: Send + 'static,
    P: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Send + 'static,
{
    let (value_sender, mut value) = oneshot::channel();
    let run: RunToResult = Box::new(move |connection: &mut Connection| {
        drop(places);
        let work = work(connection);
        // Fails if the caller has disconnected; the write is committed anyway.
        work.map(|result| result.map(|value| _ = value_sender.send(value))).boxed()
    });
    let (work, done) = prepare_run(run, is_alone);
    let done = async move {
        done.await?;
        value.try_recv().map_err(|_| Failure::Internal("a write has no result".to_owned()))
    };
    (work, done)
}

type RunToResult = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<(), Failure>> + Send>;

/// What [`prepare`] does whatever the type of the result, so that it is compiled once.
fn prepare_run(work: RunToResult, is_alone: bool) -> (Work, BoxFuture<'static, Result<(), Failure>>) {
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
    (Work { is_alone, run, outcome: outcome_sender }, done.boxed())
}

/// The database of the writer, and its transaction statements.
pub(super) enum Target {
    Sqlite {
        options: Box<SqliteConnectOptions>,
        /// Whether a commit must survive a power failure.
        is_durable: bool,
        /// How long the connection is kept without being used; always, if `None`.
        idle_timeout: Option<Duration>,
    },
    Postgres(PostgresOptions, Excludes),
    /// A schema, on connections that are returned after each transaction; with its name, and how one begins.
    Schema(SharedConnections, Arc<str>, Arc<str>),
}

/// How to connect to PostgreSQL.
#[derive(Clone)]
pub(super) struct PostgresOptions {
    pub options: Box<PgConnectOptions>,
    /// Whether there is a pooler in transaction mode.
    pub is_pooled: bool,
}

/// Which other transactions wait for those of a writer.
#[derive(Clone, Copy)]
pub(super) enum Excludes {
    /// Those that touch the same rows.
    Rows,
    /// Those of all servers, except payouts in lanes.
    Turn,
}

/// Begins a transaction on PostgreSQL and its first savepoint. Its settings are its own, because a pooler may
/// pass the connection on. A commit is flushed before it is answered, whatever the role or the database has
/// set; `remote_apply` waits for more, and stays. A row is found by its key: PostgreSQL would plan to read
/// tables as a whole while they are small, and keep to that after a bulk insert until it analyzes them
/// (measured: a third of the payouts per second).
///
/// At READ COMMITTED, each statement after a lock sees all commits before it. At a higher isolation level it
/// would see the state from before the wait.
///
/// The number of the lock is "mkopo" in ASCII. Servers of the release before write one after the other and
/// each take it alone, so it is shared by those of this release.
macro_rules! begin {
    ($lock:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
             SELECT set_config('synchronous_commit',
                        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
                             ELSE 'on' END, true),
                    set_config('lock_timeout', '5s', true),
                    set_config('statement_timeout', '10s', true),
                    set_config('idle_in_transaction_session_timeout', '10s', true),
                    set_config('enable_seqscan', 'off', true),
                    set_config('jit', 'off', true),
                    set_config('client_min_messages', 'warning', true);",
            $lock,
            "SAVEPOINT work"
        )
    };
}

/// Sets are joined to tables by key, too, for the same reason.
const BEGIN_SIDE_BY_SIDE: &str = begin!(
    "SELECT pg_advisory_xact_lock_shared(469953900655),
            set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);"
);

const BEGIN_IN_TURN: &str =
    begin!("SELECT pg_advisory_xact_lock_shared(469953900655); SELECT turn FROM write_turn FOR UPDATE;");

const BEGIN_ALONE: &str = begin!("SELECT pg_advisory_xact_lock(469953900655);");

impl Target {
    async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite { options, is_durable: true, .. } => connect_sqlite(options).await?.into(),
            Self::Sqlite { options, .. } => options.connect().await?.into(),
            Self::Postgres(options, _) => connect_postgres(options).await?,
            Self::Schema(connections, name, _) => connections.acquire(name).await?,
        })
    }

    /// Begins a transaction and its first savepoint. One in a schema always excludes the schema's others.
    fn begin(&self, is_alone: bool) -> SqlStr {
        let begin = match self {
            Self::Schema(_, _, begin) => return AssertSqlSafe(begin.to_string()).into_sql_str(),
            Self::Sqlite { .. } => "BEGIN IMMEDIATE; SAVEPOINT work",
            Self::Postgres(..) if is_alone => BEGIN_ALONE,
            Self::Postgres(_, Excludes::Rows) => BEGIN_SIDE_BY_SIDE,
            Self::Postgres(_, Excludes::Turn) => BEGIN_IN_TURN,
        };
        begin.into_sql_str()
    }

    fn commit(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "COMMIT",
            // In a failed transaction, COMMIT alone would roll back and report success.
            Self::Postgres(..) | Self::Schema(..) => "RELEASE work; COMMIT",
        }
    }
}

const NEXT_WRITE: &str = "RELEASE work; SAVEPOINT work";

const UNDO_WRITE: &str = "ROLLBACK TO work";

pub(super) struct Writer {
    target: Target,
    /// `None` before the first write, after a failure that made it unusable, and when it was not used for long.
    connection: Option<Connection>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// Work that was taken from the queue and can't be done with what was before it.
    next: Option<Work>,
    max_batch_size: usize,
    committed: watch::Sender<()>,
    closing: Option<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn new(
        target: Target,
        connection: Option<Connection>,
        orders: mpsc::UnboundedReceiver<Order>,
        max_batch_size: usize,
        committed: watch::Sender<()>,
    ) -> Self {
        Self { target, connection, orders, next: None, max_batch_size, committed, closing: None }
    }

    pub(super) async fn run(mut self) {
        // A schema's writer borrows a connection for each transaction.
        if self.connection.is_none() && !matches!(self.target, Target::Schema(..)) {
            // The first write tries again.
            self.connection = self.target.connect().await.ok();
        }
        loop {
            if let Some(work) = self.next.take() {
                self.write_together(work).await;
                continue;
            }
            match self.next_order().await {
                Some(Order::Work(first)) => self.write_together(first).await,
                Some(Order::Close(closed)) => self.close_after(closed),
                None => break,
            }
        }
        if self.is_resting() {
            // The last connection to be closed deletes the log, if it may write.
            self.connection = self.target.connect().await.ok();
        }
        if let Some(connection) = self.connection {
            connection.close().await;
        }
        if let Some(closed) = self.closing {
            _ = closed.send(());
        }
    }

    /// Whether the connection was closed because nobody used it.
    fn is_resting(&self) -> bool {
        self.connection.is_none() && matches!(self.target, Target::Sqlite { idle_timeout: Some(_), .. })
    }

    /// The next order. Until it comes, the connection is kept for as long as the target says.
    async fn next_order(&mut self) -> Option<Order> {
        if let Target::Sqlite { idle_timeout: Some(idle_timeout), .. } = self.target
            && self.connection.is_some()
        {
            if let Ok(order) = tokio::time::timeout(idle_timeout, self.orders.recv()).await {
                return order;
            }
            if let Some(connection) = self.connection.take() {
                connection.close().await;
            }
        }
        self.orders.recv().await
    }

    fn close_after(&mut self, closed: oneshot::Sender<()>) {
        self.orders.close();
        self.closing = Some(closed);
    }

    /// The next queued write that others may join, without waiting for one.
    fn waiting(&mut self) -> Option<Work> {
        match self.orders.try_recv().ok()? {
            Order::Work(work) if work.is_alone => {
                self.next = Some(work);
                None
            }
            Order::Work(work) => Some(work),
            Order::Close(closed) => {
                self.close_after(closed);
                None
            }
        }
    }

    async fn write_together(&mut self, first: Work) {
        let mut callers = Vec::new();
        let outcome = match self.begin(first.is_alone).await {
            Ok(mut connection) => {
                let (outcome, is_usable) = self.attempt(&mut connection, first, &mut callers).await;
                self.put_back(connection, is_usable);
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "database unavailable");
                self.refuse_together(first, &mut callers);
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

    /// Takes the callers of the writes that waited for the same transaction. They have waited long enough:
    /// if each tried by itself, the last of many would wait as often as there are others.
    fn refuse_together(&mut self, first: Work, callers: &mut Vec<oneshot::Sender<WriteOutcome>>) {
        let may_join = !first.is_alone;
        callers.push(first.outcome);
        while may_join && let Some(work) = self.waiting() {
            callers.push(work.outcome);
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

    /// A connection in a transaction. Tries again if the connection broke or the transaction was a deadlock
    /// victim: nothing has been written in it yet.
    async fn begin(&mut self, is_alone: bool) -> Result<Connection, sqlx::Error> {
        let mut attempts = 1;
        loop {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.target.connect().await?,
            };
            let Err(error) = connection.command(self.target.begin(is_alone)).await else {
                return Ok(connection);
            };
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
            (Target::Sqlite { .. }, RolledBack::Now) => (WriteOutcome::NotDone, true),
            (_, _) if engine_error::is_uncommitted(&error) => (WriteOutcome::NotDone, true),
            (Target::Sqlite { .. }, RolledBack::Before) => (WriteOutcome::Unknown, true),
            // PostgreSQL also accepts a rollback after a commit, and does nothing.
            (Target::Postgres(..) | Target::Schema(..), _) => (WriteOutcome::Unknown, false),
        }
    }

    async fn run_all(
        &mut self,
        connection: &mut Connection,
        first: Work,
        callers: &mut Vec<oneshot::Sender<WriteOutcome>>,
    ) -> Result<(), sqlx::Error> {
        let mut next = Some(first);
        while let Some(Work { is_alone, run, outcome }) = next {
            callers.push(outcome);
            if callers.len() > 1 {
                connection.command(NEXT_WRITE).await?;
            }
            let commit = AssertUnwindSafe(run(connection)).catch_unwind().await.unwrap_or(false);
            if !commit {
                // Fails if a disk error has already rolled the whole transaction back.
                connection.command(UNDO_WRITE).await?;
            }
            let may_join = !is_alone && callers.len() < self.max_batch_size;
            next = if may_join { self.waiting() } else { None };
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
