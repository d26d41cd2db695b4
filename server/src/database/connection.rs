//! Connections to either engine, and the statements that run on them.
//!
//! The same SQL with the same bindings runs on both: [`query`], [`query_as`] and [`query_scalar`]
//! work like sqlx's functions of the same name, on a connection to either engine. Values are
//! strings, integers and booleans, or types that are stored as one of these.

use std::{
    io,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use sqlx::{
    Arguments as _, AssertSqlSafe, Connection as _, Encode, FromRow, PgConnection, Postgres, SqlSafeStr,
    SqlStr, Sqlite, SqliteConnection, Type,
    error::BoxDynError,
    pool::PoolConnection,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};
use tokio::sync::OwnedSemaphorePermit;

use super::schemas::begin_reading;
use crate::clock::UnixMillis;

/// How long PostgreSQL may take to answer one statement. Its own statement timeout is shorter; this
/// one is for a machine or network that does not respond.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection that is in a transaction, or is only used to read.
#[derive(Debug)]
pub enum Connection {
    /// A connection to a file.
    Sqlite(Held<Sqlite>),
    /// A connection to a server.
    Postgres(Held<Postgres>),
}

/// Who owns a connection.
#[derive(Debug)]
pub enum Held<DB: sqlx::Database> {
    /// The pool, to which it returns.
    Lent(PoolConnection<DB>),
    /// The holder, until it is closed.
    Own(Box<DB::Connection>),
}

impl<DB: sqlx::Database> Deref for Held<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        match self {
            Self::Lent(connection) => connection,
            Self::Own(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> DerefMut for Held<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        match self {
            Self::Lent(connection) => connection,
            Self::Own(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> Held<DB> {
    fn detached(self) -> Self {
        match self {
            Self::Lent(connection) => Self::Own(Box::new(connection.detach())),
            own @ Self::Own(_) => own,
        }
    }

    /// Closes the connection on drop instead of returning it to the pool.
    fn discard(&mut self) {
        if let Self::Lent(connection) = self {
            connection.close_on_drop();
        }
    }
}

impl From<SqliteConnection> for Connection {
    fn from(connection: SqliteConnection) -> Self {
        Self::Sqlite(Held::Own(Box::new(connection)))
    }
}

impl From<PgConnection> for Connection {
    fn from(connection: PgConnection) -> Self {
        Self::Postgres(Held::Own(Box::new(connection)))
    }
}

/// Evaluates `$run` for either engine, with `$on` bound to the engine's connection and `$with` to
/// its arguments.
macro_rules! either {
    ($connection:expr, $arguments:expr, |$on:ident, $with:ident| $run:expr) => {
        match $connection {
            Connection::Sqlite(held) => {
                let ($on, $with) = (&mut **held, $arguments.sqlite);
                $run
            }
            Connection::Postgres(held) => {
                let ($on, $with) = (&mut **held, $arguments.postgres);
                match tokio::time::timeout(RESPONSE_TIMEOUT, async { $run }).await {
                    Ok(outcome) => outcome,
                    Err(_) => {
                        held.discard();
                        Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()))
                    }
                }
            }
        }
    };
}

impl Connection {
    /// Runs statements without values or rows, in one round trip if the engine allows it.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn command(&mut self, sql: impl SqlSafeStr) -> Result<(), sqlx::Error> {
        let (sql, arguments) = (sql.into_sql_str(), Arguments::default());
        either!(self, arguments, |on, _with| sqlx::raw_sql(sql).execute(on).await.map(|_| ()))
    }

    /// The time of the engine's machine.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn engine_now(&mut self) -> Result<UnixMillis, sqlx::Error> {
        let now = match self {
            Self::Sqlite(_) => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Self::Postgres(_) => "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)",
        };
        query_scalar(now).fetch_one(self).await
    }

    /// Updates PostgreSQL's planner statistics. Autovacuum does so about a minute after a bulk insert;
    /// until then, PostgreSQL finds single rows by a sequential scan (measured 28 ms instead of
    /// 0.02). `SQLite` does not need it.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn analyze(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            // Suppresses the warnings that system tables can't be analyzed.
            Self::Postgres(_) => self.command("SET LOCAL client_min_messages = error; ANALYZE").await,
        }
    }

    /// Closes the connection.
    pub async fn close(self) {
        _ = match self {
            Self::Sqlite(Held::Own(connection)) => connection.close().await,
            Self::Postgres(Held::Own(connection)) => connection.close().await,
            Self::Sqlite(Held::Lent(connection)) => connection.close().await,
            Self::Postgres(Held::Lent(connection)) => connection.close().await,
        };
    }

    /// Closes the connection on drop instead of returning it to the pool.
    pub(super) fn discard(&mut self) {
        match self {
            Self::Sqlite(held) => held.discard(),
            Self::Postgres(held) => held.discard(),
        }
    }
}

/// A connection from the pool of readers.
#[derive(Debug)]
pub struct Reader {
    /// `None` once it was given away.
    connection: Option<Connection>,
    /// The transaction that it is in, to read one schema.
    in_schema: Option<InSchema>,
}

/// A transaction that reads one schema, and a place among those of that schema.
#[derive(Debug)]
struct InSchema {
    name: Arc<str>,
    _slot: OwnedSemaphorePermit,
}

impl Reader {
    pub(super) fn sqlite(connection: PoolConnection<Sqlite>) -> Self {
        Self { connection: Some(Connection::Sqlite(Held::Lent(connection))), in_schema: None }
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>) -> Self {
        Self { connection: Some(Connection::Postgres(Held::Lent(connection))), in_schema: None }
    }

    /// A connection in a transaction that reads one schema; it ends with the reader.
    pub(super) fn in_schema(connection: Connection, name: Arc<str>, slot: OwnedSemaphorePermit) -> Self {
        Self { connection: Some(connection), in_schema: Some(InSchema { name, _slot: slot }) }
    }

    #[expect(clippy::expect_used, reason = "only the reader's end gives it away")]
    pub(super) fn into_inner(mut self) -> Connection {
        self.connection.take().expect("a connection until the end")
    }

    /// Removes the connection from the pool.
    pub fn detach(self) -> Connection {
        match self.into_inner() {
            Connection::Sqlite(held) => Connection::Sqlite(held.detached()),
            Connection::Postgres(held) => Connection::Postgres(held.detached()),
        }
    }

    /// Starts a transaction that reads one consistent snapshot.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn begin(mut self) -> Result<ReadTransaction, sqlx::Error> {
        match (&*self, &self.in_schema) {
            (Connection::Sqlite(_), _) => self.command("BEGIN").await?,
            (Connection::Postgres(_), None) => {
                self.command("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
            }
            (Connection::Postgres(_), Some(InSchema { name, .. })) => {
                let begin = format!("COMMIT; {}", begin_reading(name, "REPEATABLE READ"));
                self.command(AssertSqlSafe(begin)).await?;
            }
        }
        Ok(ReadTransaction { reader: self, is_ended: false })
    }
}

/// Ends the transaction that reads a schema, after the caller has gone on.
impl Drop for Reader {
    fn drop(&mut self) {
        let (Some(mut connection), Some(in_schema)) = (self.connection.take(), self.in_schema.take()) else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return connection.discard() };
        runtime.spawn(async move {
            if connection.command("ROLLBACK").await.is_err() {
                connection.discard();
            }
            drop(connection);
            drop(in_schema);
        });
    }
}

impl Deref for Reader {
    type Target = Connection;

    #[expect(clippy::expect_used, reason = "only the reader's end gives it away")]
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a connection until the end")
    }
}

impl DerefMut for Reader {
    #[expect(clippy::expect_used, reason = "only the reader's end gives it away")]
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a connection until the end")
    }
}

/// A reader that sees one consistent snapshot.
#[derive(Debug)]
pub struct ReadTransaction {
    reader: Reader,
    is_ended: bool,
}

impl ReadTransaction {
    /// Returns the connection to the pool.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn end(mut self) -> Result<(), sqlx::Error> {
        self.reader.command("COMMIT").await?;
        self.reader.in_schema = None;
        self.is_ended = true;
        Ok(())
    }
}

/// The next user of this connection must not see the old snapshot.
impl Drop for ReadTransaction {
    fn drop(&mut self) {
        if !self.is_ended {
            self.reader.discard();
        }
    }
}

impl Deref for ReadTransaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.reader
    }
}

impl DerefMut for ReadTransaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.reader
    }
}

/// A type that can be read from a row of either engine.
pub trait Fetched: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T> Fetched for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// The values of a statement, encoded for each engine.
#[derive(Default)]
struct Arguments {
    sqlite: SqliteArguments,
    postgres: PgArguments,
}

impl Arguments {
    fn add<'t, T>(&mut self, value: &T) -> Result<(), BoxDynError>
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        self.sqlite.add(value)?;
        self.postgres.add(value)
    }
}

/// A statement that returns the number of affected rows.
#[must_use = "a statement does nothing until it is run"]
pub struct Query {
    sql: SqlStr,
    arguments: Result<Arguments, BoxDynError>,
}

/// Creates a statement that returns no rows.
pub fn query(sql: impl SqlSafeStr) -> Query {
    Query { sql: sql.into_sql_str(), arguments: Ok(Arguments::default()) }
}

impl Query {
    /// Binds the next value.
    pub fn bind<'t, T>(mut self, value: T) -> Self
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        if let Ok(arguments) = &mut self.arguments
            && let Err(error) = arguments.add(&value)
        {
            self.arguments = Err(error);
        }
        self
    }

    fn ready(self) -> Result<(SqlStr, Arguments), sqlx::Error> {
        Ok((self.sql, self.arguments.map_err(sqlx::Error::Encode)?))
    }

    /// Runs the statement and returns the number of affected rows.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn execute(self, connection: &mut Connection) -> Result<u64, sqlx::Error> {
        let (sql, arguments) = self.ready()?;
        either!(connection, arguments, |on, with| sqlx::query_with(sql, with)
            .execute(on)
            .await
            .map(|done| done.rows_affected()))
    }
}

/// A statement whose rows are read as `T`.
#[must_use = "a statement does nothing until it is run"]
pub struct QueryAs<T> {
    query: Query,
    rows: std::marker::PhantomData<fn() -> T>,
}

/// Creates a statement that returns rows.
pub fn query_as<T: Fetched>(sql: impl SqlSafeStr) -> QueryAs<T> {
    QueryAs { query: query(sql), rows: std::marker::PhantomData }
}

impl<T: Fetched> QueryAs<T> {
    /// Binds the next value.
    pub fn bind<'t, V>(mut self, value: V) -> Self
    where
        V: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        self.query = self.query.bind(value);
        self
    }

    /// Returns exactly one row.
    ///
    /// # Errors
    /// Errors of the engine; [`sqlx::Error::RowNotFound`] if there is none.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        self.fetch_optional(connection).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Returns the row, if any.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        let (sql, arguments) = self.query.ready()?;
        either!(connection, arguments, |on, with| sqlx::query_as_with(sql, with).fetch_optional(on).await)
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let (sql, arguments) = self.query.ready()?;
        either!(connection, arguments, |on, with| sqlx::query_as_with(sql, with).fetch_all(on).await)
    }

    /// Returns a stream of the rows.
    pub fn fetch(self, connection: &mut Connection) -> BoxStream<'_, Result<T, sqlx::Error>>
    where
        T: 'static,
    {
        let (sql, arguments) = match self.query.ready() {
            Ok(ready) => ready,
            Err(error) => return futures::stream::once(async { Err(error) }).boxed(),
        };
        match connection {
            Connection::Sqlite(held) => sqlx::query_as_with(sql, arguments.sqlite).fetch(&mut **held),
            Connection::Postgres(held) => sqlx::query_as_with(sql, arguments.postgres).fetch(&mut **held),
        }
    }
}

/// A statement whose rows have one column.
#[must_use = "a statement does nothing until it is run"]
pub struct QueryScalar<T>(QueryAs<(T,)>);

/// Creates a statement that returns rows with one column.
pub fn query_scalar<T>(sql: impl SqlSafeStr) -> QueryScalar<T>
where
    (T,): Fetched,
{
    QueryScalar(query_as(sql))
}

impl<T> QueryScalar<T>
where
    (T,): Fetched,
{
    /// Binds the next value.
    pub fn bind<'t, V>(mut self, value: V) -> Self
    where
        V: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        self.0 = self.0.bind(value);
        self
    }

    /// Returns exactly one value.
    ///
    /// # Errors
    /// Errors of the engine; [`sqlx::Error::RowNotFound`] if there is none.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        Ok(self.0.fetch_one(connection).await?.0)
    }

    /// Returns the value, if any.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        Ok(self.0.fetch_optional(connection).await?.map(|row| row.0))
    }

    /// Returns all values.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        Ok(self.0.fetch_all(connection).await?.into_iter().map(|row| row.0).collect())
    }
}
