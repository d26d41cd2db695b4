//! The task that owns a writing connection, and lends it to one caller at a time.
//!
//! Each caller's statements run in a savepoint. As long as others wait, the connection goes on to the next
//! one in the same transaction, and all are committed together: one flush to disk for the whole batch
//! (measured 3 to 4 times the throughput of one commit per write). A dropped transaction is rolled back
//! alone. Callers are answered after the commit, with the outcome: committed, not done, or unknown if the
//! database failed during the commit. If no transaction can begin, all that wait are refused.
//!
//! On PostgreSQL, payouts have writers of their own, the lanes, that write side by side: constraints,
//! conditional updates and row locks enforce their rules. All other writes, of all servers, still come one
//! after the other, by the lock of one row. Work that replaces the data as a whole excludes every writer
//! (docs/decisions/0007).

use std::sync::Arc;

use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot, watch},
    time::Instant,
};
use tracing::{Instrument, Span};

use base::engine_error;

use crate::{
    connect::{PostgresOptions, connect_postgres, connect_sqlite},
    connection::Connection,
    transaction::{Commit, Outcome, Returned, Transaction},
};

/// The maximum number of writes per commit, which bounds how long a commit takes.
pub const MAX_BATCH_SIZE: usize = 64;

/// The maximum number of attempts to begin a transaction.
const MAX_BEGIN_ATTEMPTS: u32 = 3;

/// A message to the writer.
pub(super) enum Order {
    Begin(Begin),
    /// Finish queued writes, accept no more, and notify when done.
    Close(oneshot::Sender<()>),
}

/// A caller that waits for a transaction.
pub(super) struct Begin {
    /// `true` if no other transaction of any server may run meanwhile.
    pub is_alone: bool,
    /// The caller's places in the queue, released when its transaction begins.
    pub places: Vec<OwnedSemaphorePermit>,
    /// The reason, if no transaction can begin.
    pub granted: oneshot::Sender<Result<Transaction, Arc<str>>>,
    /// The step of the caller that waits.
    pub step: Span,
}

impl Begin {
    fn refuse(self, reason: &Arc<str>) {
        // Fails if the caller has gone.
        _ = self.granted.send(Err(Arc::clone(reason)));
    }
}

/// The database of the writer, and its transaction statements.
pub(super) enum Target {
    Sqlite {
        options: Box<SqliteConnectOptions>,
        /// `true` if a commit must survive a power failure.
        is_durable: bool,
    },
    Postgres(PostgresOptions, Excludes),
}

/// The other transactions that wait for those of a writer.
#[derive(Clone, Copy)]
pub(super) enum Excludes {
    /// Transactions that touch the same rows.
    Rows,
    /// Transactions of all servers, except payouts in lanes.
    Turn,
}

/// Begins a transaction on PostgreSQL and its first savepoint. It sets its own timeouts and options, because
/// a pooler may pass the connection on. A commit is flushed before it is answered, whatever the role or the
/// database sets; `remote_apply`, which waits for more, is kept.
///
/// At READ COMMITTED, each statement after a lock sees all commits before it. At a higher isolation level it
/// would see the state from before the wait.
///
/// The number of the lock is "mkopo" in ASCII. Work that replaces the data as a whole takes it exclusively.
macro_rules! begin {
    ($lock:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;
             SELECT set_config('synchronous_commit',
                        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
                             ELSE 'on' END, true),
                    set_config('lock_timeout', '4s', true),
                    set_config('statement_timeout', '10s', true),
                    set_config('idle_in_transaction_session_timeout', '10s', true),
                    set_config('jit', 'off', true),
                    set_config('client_min_messages', 'warning', true);",
            $lock,
            "SAVEPOINT work"
        )
    };
}

const BEGIN_SIDE_BY_SIDE: &str = begin!("SELECT pg_advisory_xact_lock_shared(469953900655);");

const BEGIN_IN_TURN: &str =
    begin!("SELECT pg_advisory_xact_lock_shared(469953900655); SELECT turn FROM write_turn FOR UPDATE;");

const BEGIN_ALONE: &str = begin!("SELECT pg_advisory_xact_lock(469953900655);");

impl Target {
    async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite { options, is_durable: true } => connect_sqlite(options).await?.into(),
            Self::Sqlite { options, .. } => options.connect().await?.into(),
            Self::Postgres(options, _) => connect_postgres(options).await?,
        })
    }

    /// Begins a transaction and its first savepoint.
    fn begin(&self, is_alone: bool) -> &'static str {
        match self {
            Self::Sqlite { .. } => "BEGIN IMMEDIATE; SAVEPOINT work",
            Self::Postgres(..) if is_alone => BEGIN_ALONE,
            Self::Postgres(_, Excludes::Rows) => BEGIN_SIDE_BY_SIDE,
            Self::Postgres(_, Excludes::Turn) => BEGIN_IN_TURN,
        }
    }

    fn commit(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "COMMIT",
            // In a failed transaction, COMMIT alone would roll back and report success.
            Self::Postgres(..) => "RELEASE work; COMMIT",
        }
    }
}

const NEXT_WRITE: &str = "RELEASE work; SAVEPOINT work";

const UNDO_WRITE: &str = "ROLLBACK TO work";

pub(super) struct Writer {
    target: Target,
    /// `None` before the first write, and after a failure that made it unusable.
    connection: Option<Connection>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// A caller that was taken from the queue, but must not share a transaction with those before it.
    next: Option<Begin>,
    committed: watch::Sender<()>,
    out_of_room: watch::Sender<Option<Instant>>,
    closing: Option<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn new(
        target: Target,
        connection: Option<Connection>,
        orders: mpsc::UnboundedReceiver<Order>,
        committed: watch::Sender<()>,
        out_of_room: watch::Sender<Option<Instant>>,
    ) -> Self {
        Self { target, connection, orders, next: None, committed, out_of_room, closing: None }
    }

    pub(super) async fn run(mut self) {
        if self.connection.is_none() {
            // The first write tries again.
            self.connection = self.target.connect().await.ok();
        }
        loop {
            if let Some(begin) = self.next.take() {
                self.write_together(begin).await;
                continue;
            }
            match self.orders.recv().await {
                Some(Order::Begin(first)) => self.write_together(first).await,
                Some(Order::Close(closed)) => self.close_after(closed),
                None => break,
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

    /// The next waiting caller that may share the transaction, without waiting for one.
    fn waiting(&mut self) -> Option<Begin> {
        match self.orders.try_recv().ok()? {
            Order::Begin(begin) if begin.is_alone => {
                self.next = Some(begin);
                None
            }
            Order::Begin(begin) => Some(begin),
            Order::Close(closed) => {
                self.close_after(closed);
                None
            }
        }
    }

    async fn write_together(&mut self, first: Begin) {
        let mut callers = Vec::new();
        let step = first.step.clone();
        let outcome = match self.begin(first.is_alone).instrument(step).await {
            Ok(connection) => self.attempt(connection, first, &mut callers).await,
            Err(error) => {
                tracing::error!(%error, "database unavailable");
                let reason: Arc<str> = engine_error::reason(&error).into();
                return self.refuse_together(first, &reason);
            }
        };
        for Commit { outcome: caller, .. } in callers {
            _ = caller.send(outcome.clone());
        }
        if outcome == Outcome::Committed {
            self.committed.send_replace(());
        }
    }

    /// Refuses all callers that waited for the same transaction. If each tried by itself, the last of many
    /// would wait once for each caller before it.
    fn refuse_together(&mut self, first: Begin, reason: &Arc<str>) {
        let may_join = !first.is_alone;
        first.refuse(reason);
        while may_join && let Some(refused) = self.waiting() {
            refused.refuse(reason);
        }
    }

    /// Begins a transaction, and returns its connection. Tries again if the connection broke or the
    /// transaction was a deadlock victim: nothing has been written in it yet.
    async fn begin(&mut self, is_alone: bool) -> Result<Connection, sqlx::Error> {
        let mut attempts = 1;
        loop {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.target.connect().await?,
            };
            connection.set_long(false);
            let Err(error) = connection.command(self.target.begin(is_alone)).await else {
                connection.set_long(is_alone);
                return Ok(connection);
            };
            if roll_back(&mut connection, &error).await != RolledBack::Failed {
                self.connection = Some(connection);
            }
            if attempts == MAX_BEGIN_ATTEMPTS || !engine_error::can_begin_again(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "retrying to begin a transaction");
            attempts += 1;
        }
    }

    /// Runs a batch, and returns its outcome for the `callers` that commit. Keeps the connection if it can be
    /// used again.
    async fn attempt(&mut self, connection: Connection, first: Begin, callers: &mut Vec<Commit>) -> Outcome {
        let Some((mut connection, ran)) = self.lend_to_all(connection, first, callers).await else {
            return Outcome::NotDone("the connection was lost".into());
        };
        let (outcome, is_usable) = match ran {
            Ok(()) => {
                let step = traces::of_the_first(callers.iter().map(|commit| &commit.step));
                self.commit(&mut connection).instrument(step).await
            }
            Err(error) => {
                tracing::error!(%error, "writing failed");
                let is_usable = roll_back(&mut connection, &error).await != RolledBack::Failed;
                (not_done(&error), is_usable)
            }
        };
        if is_usable {
            self.connection = Some(connection);
        }
        outcome
    }

    /// Commits, and returns whether the connection can be used again.
    async fn commit(&self, connection: &mut Connection) -> (Outcome, bool) {
        let Err(error) = connection.command(self.target.commit()).await else {
            return (Outcome::Committed, true);
        };
        tracing::error!(%error, "commit failed");
        if engine_error::is_disk_full(&error) {
            self.out_of_room.send_replace(Some(Instant::now()));
        }
        match (&self.target, roll_back(connection, &error).await) {
            (_, RolledBack::Failed) => (Outcome::Unknown, false),
            (Target::Sqlite { .. }, RolledBack::Now) => (not_done(&error), true),
            (_, _) if engine_error::is_uncommitted(&error) => (not_done(&error), true),
            (Target::Sqlite { .. }, RolledBack::Before) => (Outcome::Unknown, true),
            // PostgreSQL also accepts a rollback after a commit, and does nothing.
            (Target::Postgres(..), _) => (Outcome::Unknown, false),
        }
    }

    /// Lends the connection to the first caller and then to each waiting one. Returns it, and whether all
    /// went well; `None` if it did not come back.
    async fn lend_to_all(
        &mut self,
        mut connection: Connection,
        first: Begin,
        callers: &mut Vec<Commit>,
    ) -> Option<(Connection, Result<(), sqlx::Error>)> {
        let mut next = Some(first);
        let mut lent = 0;
        while let Some(Begin { is_alone, places, granted, step }) = next {
            if lent > 0
                && let Err(error) = connection.command(NEXT_WRITE).instrument(step).await
            {
                return Some((connection, Err(error)));
            }
            lent += 1;
            drop(places);
            let (transaction, returned) = Transaction::on(connection);
            // If the caller has gone, this drops the transaction, which gives the connection back.
            drop(granted.send(Ok(transaction)));
            let Returned { connection: back, commit } = returned.await.ok()?;
            connection = back;
            match commit {
                Some(caller) => callers.push(caller),
                None => {
                    // Fails if a disk error has already rolled the whole transaction back.
                    if let Err(error) = connection.command(UNDO_WRITE).await {
                        return Some((connection, Err(error)));
                    }
                }
            }
            let may_join = !is_alone && lent < MAX_BATCH_SIZE;
            next = if may_join { self.waiting() } else { None };
        }
        Some((connection, Ok(())))
    }
}

fn not_done(error: &sqlx::Error) -> Outcome {
    Outcome::NotDone(engine_error::reason(error).into())
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
