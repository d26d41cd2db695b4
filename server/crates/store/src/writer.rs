//! The connection that writes, which one caller has at a time, for one transaction.
//!
//! Callers come one after the other. Nothing but a transaction that is committed changes anything: one that is
//! dropped, by a failure, a panic or a caller that is gone, is rolled back before the next one begins. If no
//! transaction can begin, all that waited meanwhile are refused. What many callers do at once is written in sets
//! (`sets.rs`), by one commit for all of them.
//!
//! On PostgreSQL, each kind of set has a writer of its own, so that claims, payments and results are written side
//! by side: constraints, conditional updates and row locks enforce their rules. All other writes, of all servers,
//! still come one after the other, by the lock of one row. Work that replaces the data as a whole excludes every
//! writer (docs/decisions/0007).

use std::{fmt, mem, sync::Arc};

use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use tokio::{sync::watch, time::Instant};

use base::{engine_error, error::Failure};

use crate::{
    connect::{PostgresOptions, connect_postgres, connect_sqlite},
    connection::Connection,
};

/// The maximum number of attempts to begin a transaction.
const MAX_BEGIN_ATTEMPTS: u32 = 3;

/// The database of the writer, and its transaction statements.
#[derive(Clone)]
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
    /// Transactions of all servers, except those of sets.
    Turn,
}

/// Begins a transaction on PostgreSQL and its savepoint. It sets its own timeouts and options, because
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

/// Without the password.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

impl Target {
    /// The same database, for writers that write side by side; `None` for a file.
    pub(super) fn side_by_side(&self) -> Option<Self> {
        match self {
            Self::Sqlite { .. } => None,
            Self::Postgres(options, _) => Some(Self::Postgres(options.clone(), Excludes::Rows)),
        }
    }

    async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite { options, is_durable: true } => connect_sqlite(options).await?.into(),
            Self::Sqlite { options, .. } => options.connect().await?.into(),
            Self::Postgres(options, _) => connect_postgres(options).await?,
        })
    }

    fn begin(&self, is_alone: bool) -> &'static str {
        match self {
            Self::Sqlite { .. } => "BEGIN IMMEDIATE",
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

#[derive(Debug)]
pub(super) struct Writer {
    target: Target,
    /// `None` before the first write, while a caller has it, and after a failure that made it unusable.
    connection: Option<Connection>,
    /// The last time that no transaction could begin, and the reason.
    refused: Option<(Instant, Arc<str>)>,
    is_closed: bool,
    committed: watch::Sender<()>,
    out_of_room: watch::Sender<Option<Instant>>,
}

impl Writer {
    pub(super) fn new(
        target: Target,
        connection: Option<Connection>,
        committed: watch::Sender<()>,
        out_of_room: watch::Sender<Option<Instant>>,
    ) -> Self {
        Self { target, connection, refused: None, is_closed: false, committed, out_of_room }
    }

    /// Begins a transaction for a caller that waits since it `asked`, and returns the connection.
    pub(super) async fn begin(&mut self, asked: Instant, is_alone: bool) -> Result<Connection, Failure> {
        if self.is_closed {
            return Err(Failure::Busy);
        }
        // If each tried by itself, the last of many would wait once for each caller before it.
        if let Some((at, reason)) = &self.refused
            && *at > asked
        {
            return Err(Failure::Unavailable(Arc::clone(reason)));
        }
        self.connection_in_transaction(is_alone).await.map_err(|error| {
            tracing::error!(%error, "database unavailable");
            let reason: Arc<str> = engine_error::reason(&error).into();
            // What waits for all others says nothing about those behind it.
            if !is_alone {
                self.refused = Some((Instant::now(), Arc::clone(&reason)));
            }
            Failure::Unavailable(reason)
        })
    }

    /// Tries again if the connection broke or the transaction was a deadlock victim: nothing has been written in
    /// it yet.
    async fn connection_in_transaction(&mut self, is_alone: bool) -> Result<Connection, sqlx::Error> {
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
            self.roll_back(connection, Some(&error)).await;
            if attempts == MAX_BEGIN_ATTEMPTS || !engine_error::can_begin_again(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "retrying to begin a transaction");
            attempts += 1;
        }
    }

    pub(super) async fn commit(&mut self, mut connection: Connection) -> Result<(), Failure> {
        let Err(error) = connection.command(self.target.commit()).await else {
            self.connection = Some(connection);
            self.committed.send_replace(());
            return Ok(());
        };
        tracing::error!(%error, "commit failed");
        let is_certain = match (self.roll_back(connection, Some(&error)).await, &self.target) {
            (RolledBack::Failed, _) => false,
            (RolledBack::Now, Target::Sqlite { .. }) => true,
            // PostgreSQL also accepts a rollback after a commit, and does nothing.
            _ => engine_error::is_uncommitted(&error),
        };
        if is_certain {
            return Err(Failure::Unavailable(engine_error::reason(&error).into()));
        }
        self.connection = None;
        Err(Failure::NotCommitted)
    }

    /// Rolls the transaction back, which may have `failed`, and keeps the connection if it can be used again. If it
    /// is broken, the engine rolls back by itself.
    pub(super) async fn roll_back(
        &mut self,
        mut connection: Connection,
        failed: Option<&sqlx::Error>,
    ) -> RolledBack {
        if mem::take(connection.lacked_room()) {
            self.out_of_room.send_replace(Some(Instant::now()));
        }
        if matches!(failed, Some(sqlx::Error::Io(_))) {
            return RolledBack::Failed;
        }
        let rolled_back = match connection.command("ROLLBACK").await {
            Ok(()) => RolledBack::Now,
            Err(sqlx::Error::Database(error)) if error.message().contains("no transaction is active") => {
                RolledBack::Before
            }
            Err(error) => {
                tracing::error!(%error, "rollback failed");
                return RolledBack::Failed;
            }
        };
        self.connection = Some(connection);
        rolled_back
    }

    /// Closes the connection. Later transactions are refused.
    pub(super) async fn close(&mut self) {
        self.is_closed = true;
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }
}

pub(super) enum RolledBack {
    Now,
    /// The engine had already rolled back.
    Before,
    Failed,
}
