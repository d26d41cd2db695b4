//! Connections to either engine.

use std::{
    fmt, io,
    ops::{Deref, DerefMut},
    pin::{Pin, pin},
    time::Duration,
};

use sqlx::{
    Connection as _, Postgres, SqlSafeStr, Sqlite, SqliteConnection, Transaction, pool::PoolConnection,
};
use tracing::{Instrument, Span};

use base::engine_error::is_disk_full;

/// The maximum time for PostgreSQL's answer to one statement: a machine or network that does not respond is given
/// up then, so that the next attempt reaches the server that took over. Longer than a wait for a lock.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The same for work on the data as a whole, for which PostgreSQL's own timeout of 10 s is the shorter one.
const LONG_ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection that is in a transaction, or is only used to read.
#[derive(Debug)]
pub enum Connection {
    Sqlite(Held<Sqlite>),
    Postgres(Held<Postgres>),
}

/// A connection with its owner.
pub struct Held<DB: sqlx::Database> {
    owner: Owner<DB>,
    /// `true` if a pooler in transaction mode is in between. It gives each transaction another connection to
    /// the server, so nothing is prepared by name.
    pub(super) is_pooled: bool,
    /// `true` if its statements may take long.
    is_long: bool,
    /// `true` if the disk had no room for a statement, until the writer notes it.
    lacked_room: bool,
}

pub(super) enum Owner<DB: sqlx::Database> {
    /// The pool, to which the connection returns.
    Pool(PoolConnection<DB>),
    /// The pool, to which the connection returns when its transaction is rolled back.
    Transaction(Transaction<'static, DB>),
    /// The holder, until the connection is closed.
    Holder(Box<DB::Connection>),
}

impl<DB: sqlx::Database> fmt::Debug for Held<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("is_pooled", &self.is_pooled).finish_non_exhaustive()
    }
}

impl<DB: sqlx::Database> Deref for Held<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        match &self.owner {
            Owner::Pool(connection) => connection,
            Owner::Transaction(connection) => connection,
            Owner::Holder(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> DerefMut for Held<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        match &mut self.owner {
            Owner::Pool(connection) => connection,
            Owner::Transaction(connection) => connection,
            Owner::Holder(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> Held<DB> {
    fn of(owner: Owner<DB>, is_pooled: bool) -> Self {
        Self { owner, is_pooled, is_long: false, lacked_room: false }
    }

    pub(super) fn answer_timeout(&self) -> Duration {
        if self.is_long { LONG_ANSWER_TIMEOUT } else { ANSWER_TIMEOUT }
    }

    /// Closes the connection on drop instead of returning it to the pool. Returns the error of the answer that did not
    /// arrive.
    pub(super) fn give_up(&mut self) -> sqlx::Error {
        if let Owner::Pool(connection) = &mut self.owner {
            connection.close_on_drop();
        }
        sqlx::Error::Io(io::ErrorKind::TimedOut.into())
    }
}

impl From<SqliteConnection> for Connection {
    fn from(connection: SqliteConnection) -> Self {
        Self::sqlite(Owner::Holder(Box::new(connection)))
    }
}

impl Connection {
    pub(super) fn sqlite(owner: Owner<Sqlite>) -> Self {
        Self::Sqlite(Held::of(owner, false))
    }

    /// A connection to PostgreSQL, through a pooler in transaction mode if it `is_pooled`.
    pub(super) fn postgres(owner: Owner<Postgres>, is_pooled: bool) -> Self {
        Self::Postgres(Held::of(owner, is_pooled))
    }

    pub(super) fn set_long(&mut self, is_long: bool) {
        match self {
            Self::Sqlite(held) => held.is_long = is_long,
            Self::Postgres(held) => held.is_long = is_long,
        }
    }

    pub(super) fn lacked_room(&mut self) -> &mut bool {
        match self {
            Self::Sqlite(held) => &mut held.lacked_room,
            Self::Postgres(held) => &mut held.lacked_room,
        }
    }

    /// Runs statements without values or rows, in one round trip if the engine allows it.
    pub async fn command(&mut self, sql: impl SqlSafeStr) -> Result<(), sqlx::Error> {
        let sql = sql.into_sql_str();
        let step = self.statement(sql.as_str());
        let sql = sqlx::raw_sql(sql);
        let running = async {
            match self {
                Self::Sqlite(held) => sql.execute(&mut **held).await.map(|_| ()),
                Self::Postgres(held) => {
                    let timeout = held.answer_timeout();
                    let running = sql.execute(&mut **held);
                    let answered = tokio::time::timeout(timeout, running).await;
                    answered.unwrap_or_else(|_| Err(held.give_up())).map(|_| ())
                }
            }
        };
        let done = traced(step, pin!(running)).await;
        done.inspect_err(|error| *self.lacked_room() |= is_disk_full(error))
    }

    /// The step that running `sql` here is.
    pub(super) fn statement(&self, sql: &str) -> Span {
        let system = match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        };
        traces::statement(system, sql)
    }

    /// Updates PostgreSQL's planner statistics. Autovacuum does so about a minute after a bulk insert;
    /// until then, PostgreSQL finds single rows by a sequential scan (measured 28 ms instead of
    /// 0.02). `SQLite` does not need it.
    pub async fn analyze(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            // Suppresses the warnings that system tables can't be analyzed.
            Self::Postgres(_) => self.command("SET LOCAL client_min_messages = error; ANALYZE").await,
        }
    }

    pub async fn close(self) {
        _ = match self {
            Self::Sqlite(held) => close(held).await,
            Self::Postgres(held) => close(held).await,
        };
    }
}

/// Runs a statement as `step`, which fails with it. It is pinned where it is, so that no caller's future has it twice.
pub(super) async fn traced<T>(
    step: Span,
    running: Pin<&mut impl Future<Output = Result<T, sqlx::Error>>>,
) -> Result<T, sqlx::Error> {
    let done = running.instrument(step.clone()).await;
    if done.is_err() {
        step.record("otel.status_code", "ERROR");
    }
    done
}

async fn close<DB: sqlx::Database>(held: Held<DB>) -> Result<(), sqlx::Error> {
    match held.owner {
        Owner::Pool(connection) => connection.close().await,
        Owner::Transaction(transaction) => transaction.rollback().await,
        Owner::Holder(connection) => connection.close().await,
    }
}
