//! Connections to either engine, and the statements that run on them.
//!
//! The same SQL with the same bindings runs on both: [`query`], [`query_as`] and [`query_scalar`]
//! work like sqlx's functions of the same name, on a connection to either engine. Values are
//! strings, integers and booleans, or types that are stored as one of these.

use std::{
    fmt, io,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use futures::{StreamExt, TryStreamExt, future::ready, stream::BoxStream};
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

/// A connection, and who owns it.
pub struct Held<DB: sqlx::Database> {
    owner: Owner<DB>,
    /// Whether a pooler in transaction mode is between: it gives each transaction another connection to the
    /// server, so nothing is prepared by name.
    is_pooled: bool,
    /// Whether a command has begun a transaction and none has ended it.
    is_in_transaction: bool,
    /// The schema that its transactions are in, if connections are shared between schemas: a comment that
    /// names it keeps its prepared statements apart.
    schema: Option<Arc<str>>,
}

impl<DB: sqlx::Database> fmt::Debug for Held<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("is_pooled", &self.is_pooled).finish_non_exhaustive()
    }
}

enum Owner<DB: sqlx::Database> {
    /// The pool, to which it returns.
    Pool(PoolConnection<DB>),
    /// The holder, until it is closed.
    Holder(Box<DB::Connection>),
}

impl<DB: sqlx::Database> Deref for Held<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        match &self.owner {
            Owner::Pool(connection) => connection,
            Owner::Holder(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> DerefMut for Held<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        match &mut self.owner {
            Owner::Pool(connection) => connection,
            Owner::Holder(connection) => connection,
        }
    }
}

impl<DB: sqlx::Database> Held<DB> {
    fn lent(connection: PoolConnection<DB>, is_pooled: bool) -> Self {
        Self { owner: Owner::Pool(connection), is_pooled, is_in_transaction: false, schema: None }
    }

    fn own(connection: DB::Connection, is_pooled: bool) -> Self {
        Self { owner: Owner::Holder(Box::new(connection)), is_pooled, is_in_transaction: false, schema: None }
    }

    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    fn detached(self) -> Self {
        let owner = match self.owner {
            Owner::Pool(connection) => Owner::Holder(Box::new(connection.detach())),
            own @ Owner::Holder(_) => own,
        };
        Self { owner, ..self }
    }

    /// Closes the connection on drop instead of returning it to the pool.
    fn discard(&mut self) {
        if let Owner::Pool(connection) = &mut self.owner {
            connection.close_on_drop();
        }
    }

    async fn close(self) -> Result<(), sqlx::Error> {
        match self.owner {
            Owner::Pool(connection) => connection.close().await,
            Owner::Holder(connection) => connection.close().await,
        }
    }
}

impl From<SqliteConnection> for Connection {
    fn from(connection: SqliteConnection) -> Self {
        Self::Sqlite(Held::own(connection, false))
    }
}

/// Evaluates `$run` for either engine, with `$on` bound to the engine's connection, `$with` to
/// its arguments, and `$keep` to whether the statement stays prepared.
macro_rules! either {
    ($connection:expr, $arguments:expr, |$on:ident, $with:ident, $keep:ident| $run:expr) => {
        match $connection {
            Connection::Sqlite(held) => {
                let ($on, $with, $keep) = (&mut **held, $arguments.sqlite, true);
                $run
            }
            Connection::Postgres(held) => {
                let ($with, $keep) = ($arguments.postgres, !held.is_pooled());
                // A pooler may answer each round trip of a statement from another connection.
                let in_own = held.is_pooled && !held.is_in_transaction;
                let running = async {
                    if in_own {
                        sqlx::raw_sql("BEGIN").execute(&mut **held).await?;
                    }
                    let $on = &mut **held;
                    let outcome = $run;
                    if in_own {
                        let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
                        sqlx::raw_sql(end).execute(&mut **held).await?;
                    }
                    outcome
                };
                match tokio::time::timeout(RESPONSE_TIMEOUT, running).await {
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
    /// Lets statements on this connection find rows by index. PostgreSQL would plan to read a small table as a
    /// whole, and keep to that while it grows. Through a pooler, each statement is planned anew.
    pub(super) async fn find_by_index(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Postgres(held) if !held.is_pooled() => self.command("SET enable_seqscan = off").await,
            _ => Ok(()),
        }
    }

    /// A connection to PostgreSQL, through a pooler in transaction mode if it `is_pooled`.
    pub(super) fn postgres(connection: PgConnection, is_pooled: bool) -> Self {
        Self::Postgres(Held::own(connection, is_pooled))
    }

    /// The same connection, whose transactions are in `schema`.
    pub(super) fn of_schema(mut self, schema: &str) -> Self {
        if let Self::Postgres(held) = &mut self {
            held.schema = (!held.is_pooled).then(|| schema.into());
        }
        self
    }

    /// Runs statements without values or rows, in one round trip if the engine allows it.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn command(&mut self, sql: impl SqlSafeStr) -> Result<(), sqlx::Error> {
        let sql = sql.into_sql_str();
        match self {
            Self::Sqlite(held) => sqlx::raw_sql(sql).execute(&mut **held).await.map(|_| ()),
            Self::Postgres(held) => {
                held.is_in_transaction = match sql.as_str().trim() {
                    begin if begin.starts_with("BEGIN") => true,
                    end if end.ends_with("COMMIT") || end == "ROLLBACK" => false,
                    _ => held.is_in_transaction,
                };
                let running = sqlx::raw_sql(sql).execute(&mut **held);
                let Ok(outcome) = tokio::time::timeout(RESPONSE_TIMEOUT, running).await else {
                    held.discard();
                    return Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()));
                };
                outcome.map(|_| ())
            }
        }
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
            Self::Sqlite(held) => held.close().await,
            Self::Postgres(held) => held.close().await,
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
        Self { connection: Some(Connection::Sqlite(Held::lent(connection, false))), in_schema: None }
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>, is_pooled: bool) -> Self {
        Self { connection: Some(Connection::Postgres(Held::lent(connection, is_pooled))), in_schema: None }
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

/// A row of either engine. What becomes of it is known last, so that running a statement is compiled once and
/// not for each type of row.
enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

type Take<'t> = dyn FnMut(Row) -> Result<(), sqlx::Error> + Send + 't;

impl Row {
    fn read<T: Fetched>(&self) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::from_row(row),
            Self::Postgres(row) => T::from_row(row),
        }
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
}

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
    /// For PostgreSQL only.
    lock: Option<&'static str>,
}

/// Creates a statement that returns no rows.
pub fn query(sql: impl SqlSafeStr) -> Query {
    Query { sql: sql.into_sql_str(), arguments: Ok(Arguments::default()), lock: None }
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

    fn ready(self, connection: &Connection) -> Result<(SqlStr, Arguments), sqlx::Error> {
        let arguments = self.arguments.map_err(sqlx::Error::Encode)?;
        let sql = match connection {
            Connection::Postgres(held) if self.lock.is_some() || held.schema.is_some() => {
                let mut sql = self.sql.as_str().to_owned();
                if let Some(lock) = self.lock {
                    sql = sql + " " + lock;
                }
                if let Some(schema) = &held.schema {
                    sql = sql + " /* " + schema + " */";
                }
                AssertSqlSafe(sql).into_sql_str()
            }
            _ => self.sql,
        };
        Ok((sql, arguments))
    }

    /// Runs the statement and returns the number of affected rows.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn execute(self, connection: &mut Connection) -> Result<u64, sqlx::Error> {
        let (sql, arguments) = self.ready(connection)?;
        either!(connection, arguments, |on, with, keep| sqlx::query_with(sql, with)
            .persistent(keep)
            .execute(on)
            .await
            .map(|done| done.rows_affected()))
    }

    async fn row(self, connection: &mut Connection) -> Result<Option<Row>, sqlx::Error> {
        let (sql, arguments) = self.ready(connection)?;
        either!(connection, arguments, |on, with, keep| sqlx::query_with(sql, with)
            .persistent(keep)
            .fetch_optional(on)
            .await
            .map(|row| row.map(Row::from)))
    }

    /// Gives each row to `take` as it comes, so that no row is kept twice.
    async fn each_row(self, connection: &mut Connection, take: &mut Take<'_>) -> Result<(), sqlx::Error> {
        let (sql, arguments) = self.ready(connection)?;
        either!(connection, arguments, |on, with, keep| sqlx::query_with(sql, with)
            .persistent(keep)
            .fetch(on)
            .try_for_each(|row| ready(take(row.into())))
            .await)
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

    /// Locks the rows on PostgreSQL with this clause, until the transaction ends. A file has one writer at a
    /// time.
    pub fn locking(mut self, clause: &'static str) -> Self {
        self.query.lock = Some(clause);
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
        self.query.row(connection).await?.map(|row| row.read()).transpose()
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let mut rows = Vec::new();
        let mut take = |row: Row| {
            rows.push(row.read()?);
            Ok(())
        };
        self.query.each_row(connection, &mut take).await?;
        Ok(rows)
    }

    /// Returns a stream of the rows.
    pub fn fetch(self, connection: &mut Connection) -> BoxStream<'_, Result<T, sqlx::Error>>
    where
        T: 'static,
    {
        let (sql, arguments) = match self.query.ready(connection) {
            Ok(ready) => ready,
            Err(error) => return futures::stream::once(async { Err(error) }).boxed(),
        };
        match connection {
            Connection::Sqlite(held) => sqlx::query_as_with(sql, arguments.sqlite).fetch(&mut **held),
            Connection::Postgres(held) => {
                let keep = !held.is_pooled();
                sqlx::query_as_with(sql, arguments.postgres).persistent(keep).fetch(&mut **held)
            }
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

    /// Locks the rows on PostgreSQL with this clause, until the transaction ends.
    pub fn locking(mut self, clause: &'static str) -> Self {
        self.0 = self.0.locking(clause);
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
