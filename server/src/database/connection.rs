//! Connections of either engine, and the statements that run on them.
//!
//! The same SQL runs on both, bound the same way: [`query`], [`query_as`] and [`query_scalar`] are
//! sqlx's own, for a connection that may be of one engine or the other. Values are texts, whole
//! numbers and booleans, or types that are kept as one.

use std::{
    io,
    ops::{Deref, DerefMut},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use sqlx::{
    Arguments as _, Connection as _, Encode, FromRow, PgConnection, Postgres, SqlSafeStr, SqlStr, Sqlite,
    SqliteConnection, Type,
    error::BoxDynError,
    pool::PoolConnection,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

/// How long PostgreSQL may take to answer one statement. It gives a statement up itself before
/// that; this is for a machine or a network that fell silent.
const SILENCE: Duration = Duration::from_secs(15);

/// A connection inside a transaction, or one that only reads.
#[derive(Debug)]
pub enum Connection {
    /// To a file.
    Sqlite(Held<Sqlite>),
    /// To a server.
    Postgres(Held<Postgres>),
}

/// How a connection is held.
#[derive(Debug)]
pub enum Held<DB: sqlx::Database> {
    /// Goes back to its pool.
    Lent(PoolConnection<DB>),
    /// Nobody else's, until it is closed.
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

    /// Nobody is to get this connection after its holder.
    fn give_up(&mut self) {
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

/// What comes of `$run`, the same for either engine, with `$on` the engine's own connection and
/// `$with` its own arguments.
macro_rules! either {
    ($connection:expr, $arguments:expr, |$on:ident, $with:ident| $run:expr) => {
        match $connection {
            Connection::Sqlite(held) => {
                let ($on, $with) = (&mut **held, $arguments.sqlite);
                $run
            }
            Connection::Postgres(held) => {
                let ($on, $with) = (&mut **held, $arguments.postgres);
                match tokio::time::timeout(SILENCE, async { $run }).await {
                    Ok(outcome) => outcome,
                    Err(_) => {
                        held.give_up();
                        Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()))
                    }
                }
            }
        }
    };
}

impl Connection {
    /// Runs statements that take no values and give no rows, in one exchange where the engine can.
    ///
    /// # Errors
    /// The engine's.
    pub async fn command(&mut self, sql: impl SqlSafeStr) -> Result<(), sqlx::Error> {
        let (sql, arguments) = (sql.into_sql_str(), Arguments::default());
        either!(self, arguments, |on, _with| sqlx::raw_sql(sql).execute(on).await.map(|_| ()))
    }

    /// Has PostgreSQL count what its tables hold, by which it plans: it does so by itself a minute
    /// after many rows came, and until then looks for one of them by reading all (measured 28 ms
    /// instead of 0.02). `SQLite` plans without.
    ///
    /// # Errors
    /// The engine's.
    pub async fn count_anew(&mut self) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            // Of the system's own tables it would say that they are not ours to count.
            Self::Postgres(_) => self.command("SET LOCAL client_min_messages = error; ANALYZE").await,
        }
    }

    /// Says good-bye.
    pub async fn close(self) {
        _ = match self {
            Self::Sqlite(Held::Own(connection)) => connection.close().await,
            Self::Postgres(Held::Own(connection)) => connection.close().await,
            Self::Sqlite(Held::Lent(connection)) => connection.close().await,
            Self::Postgres(Held::Lent(connection)) => connection.close().await,
        };
    }

    fn give_up(&mut self) {
        match self {
            Self::Sqlite(held) => held.give_up(),
            Self::Postgres(held) => held.give_up(),
        }
    }
}

/// A connection lent by the pool of readers.
#[derive(Debug)]
pub struct Reader(Connection);

impl Reader {
    pub(super) fn sqlite(connection: PoolConnection<Sqlite>) -> Self {
        Self(Connection::Sqlite(Held::Lent(connection)))
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>) -> Self {
        Self(Connection::Postgres(Held::Lent(connection)))
    }

    /// The connection, taken from the pool for good.
    pub fn detach(self) -> Connection {
        match self.0 {
            Connection::Sqlite(held) => Connection::Sqlite(held.detached()),
            Connection::Postgres(held) => Connection::Postgres(held.detached()),
        }
    }

    /// Sees one moment from here on, whatever is written meanwhile.
    ///
    /// # Errors
    /// The engine's.
    pub async fn hold_still(mut self) -> Result<ReadTransaction, sqlx::Error> {
        let begin = match &self.0 {
            Connection::Sqlite(_) => "BEGIN",
            Connection::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        };
        self.command(begin).await?;
        Ok(ReadTransaction { reader: self, is_over: false })
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

/// A reader that sees one moment.
#[derive(Debug)]
pub struct ReadTransaction {
    reader: Reader,
    is_over: bool,
}

impl ReadTransaction {
    /// Gives the connection back.
    ///
    /// # Errors
    /// The engine's.
    pub async fn end(mut self) -> Result<(), sqlx::Error> {
        self.reader.command("COMMIT").await?;
        self.is_over = true;
        Ok(())
    }
}

/// Whoever reads by this connection next must not be left in the past.
impl Drop for ReadTransaction {
    fn drop(&mut self) {
        if !self.is_over {
            self.reader.give_up();
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

/// What a statement can select: one row of either engine.
pub trait Fetched: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T> Fetched for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// The values of a statement, as each engine takes them.
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

/// A statement that tells how many rows it touched.
#[must_use = "a statement does nothing until it is run"]
pub struct Query {
    sql: SqlStr,
    arguments: Result<Arguments, BoxDynError>,
}

/// A statement to be run for what it does.
pub fn query(sql: impl SqlSafeStr) -> Query {
    Query { sql: sql.into_sql_str(), arguments: Ok(Arguments::default()) }
}

impl Query {
    /// Gives the next value.
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

    /// Runs it, and says how many rows it touched.
    ///
    /// # Errors
    /// The engine's.
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

/// A statement to be run for its rows.
pub fn query_as<T: Fetched>(sql: impl SqlSafeStr) -> QueryAs<T> {
    QueryAs { query: query(sql), rows: std::marker::PhantomData }
}

impl<T: Fetched> QueryAs<T> {
    /// Gives the next value.
    pub fn bind<'t, V>(mut self, value: V) -> Self
    where
        V: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        self.query = self.query.bind(value);
        self
    }

    /// The one row.
    ///
    /// # Errors
    /// The engine's; [`sqlx::Error::RowNotFound`] when there is none.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        self.fetch_optional(connection).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// The row, when there is one.
    ///
    /// # Errors
    /// The engine's.
    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        let (sql, arguments) = self.query.ready()?;
        either!(connection, arguments, |on, with| sqlx::query_as_with(sql, with).fetch_optional(on).await)
    }

    /// Every row.
    ///
    /// # Errors
    /// The engine's.
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let (sql, arguments) = self.query.ready()?;
        either!(connection, arguments, |on, with| sqlx::query_as_with(sql, with).fetch_all(on).await)
    }

    /// Every row, one after the other as they come.
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

/// A statement whose rows are one value each.
#[must_use = "a statement does nothing until it is run"]
pub struct QueryScalar<T>(QueryAs<(T,)>);

/// A statement to be run for the one column of its rows.
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
    /// Gives the next value.
    pub fn bind<'t, V>(mut self, value: V) -> Self
    where
        V: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        self.0 = self.0.bind(value);
        self
    }

    /// The one value.
    ///
    /// # Errors
    /// The engine's; [`sqlx::Error::RowNotFound`] when there is none.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        Ok(self.0.fetch_one(connection).await?.0)
    }

    /// The value, when there is one.
    ///
    /// # Errors
    /// The engine's.
    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        Ok(self.0.fetch_optional(connection).await?.map(|row| row.0))
    }

    /// Every value.
    ///
    /// # Errors
    /// The engine's.
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        Ok(self.0.fetch_all(connection).await?.into_iter().map(|row| row.0).collect())
    }
}
