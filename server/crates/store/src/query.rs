//! The statements that run on a connection to either engine.
//!
//! Both run the same SQL with the same bindings: [`query`], [`query_as`] and [`query_scalar`] work like
//! sqlx's functions. Values are strings, integers and booleans, or types that are stored as one of these.

use std::pin::pin;

use futures::{TryStreamExt, future::ready};
use serde::Serialize;
use serde_json::json;
use sqlx::{
    Arguments as _, AssertSqlSafe, Encode, FromRow, Postgres, SqlSafeStr, SqlStr, Sqlite, Type,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use base::{clock::UnixMillis, engine_error::is_disk_full};

use crate::connection::{Connection, traced};

/// Runs `$query` as a step: evaluates `$run` for either engine, with `$statement` bound to sqlx's query and `$on` to the
/// engine's connection.
macro_rules! run {
    ($query:expr, $connection:expr, |$statement:ident, $on:ident| $run:expr) => {{
        let (sql, arguments) = $query.ready($connection)?;
        let step = $connection.statement(sql.as_str());
        let running = async {
            match $connection {
                Connection::Sqlite(held) => {
                    let ($statement, $on) = (sqlx::query_with(sql, arguments.sqlite), &mut **held);
                    $run
                }
                Connection::Postgres(held) => {
                    let (keep, timeout) = (!held.is_pooled, held.answer_timeout());
                    let running = async {
                        let $statement = sqlx::query_with(sql, arguments.postgres).persistent(keep);
                        let $on = &mut **held;
                        $run
                    };
                    tokio::time::timeout(timeout, running).await.unwrap_or_else(|_| Err(held.give_up()))
                }
            }
        };
        let done = traced(step, pin!(running)).await;
        done.inspect_err(|error| *$connection.lacked_room() |= is_disk_full(error))
    }};
}

/// A type that can be read from a row of either engine.
pub trait Fetched: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T> Fetched for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// A row of either engine. It is converted last, so that running a statement is compiled once and not for
/// each type of row.
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
    fn add<'t>(&mut self, value: &impl Value<'t>) -> Result<(), BoxDynError> {
        self.sqlite.add(value)?;
        self.postgres.add(value)
    }
}

/// A value that can be bound on either engine.
pub trait Value<'t>: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres> {}

impl<'t, T> Value<'t> for T where T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres> {}

/// Values that are bound one after the other: a tuple.
pub trait Values<'t> {
    fn bind_to(self, query: Query) -> Query;
}

macro_rules! values {
    ($($type:ident $value:ident),+) => {
        impl<'t, $($type: Value<'t>),+> Values<'t> for ($($type,)+) {
            fn bind_to(self, query: Query) -> Query {
                let ($($value,)+) = self;
                query$(.bind($value))+
            }
        }
    };
}

values!(A first, B second);
values!(A first, B second, C third);
values!(A first, B second, C third, D fourth);
values!(A first, B second, C third, D fourth, E fifth);
values!(A first, B second, C third, D fourth, E fifth, F sixth);
values!(A first, B second, C third, D fourth, E fifth, F sixth, G seventh);
values!(A first, B second, C third, D fourth, E fifth, F sixth, G seventh, H eighth);

/// The value for a statement that takes ids: a list of them, each under `id`, for `json_each`.
pub fn listed(ids: impl IntoIterator<Item: Serialize>) -> String {
    ids.into_iter().map(|id| json!({ "id": id })).collect::<serde_json::Value>().to_string()
}

/// A statement that returns the number of affected rows.
#[must_use = "a statement does nothing until it is run"]
pub struct Query {
    sql: SqlStr,
    arguments: Result<Arguments, BoxDynError>,
    /// The locking clause, for PostgreSQL only.
    lock: Option<&'static str>,
}

/// Creates a statement that returns no rows.
pub fn query(sql: impl SqlSafeStr) -> Query {
    Query { sql: sql.into_sql_str(), arguments: Ok(Arguments::default()), lock: None }
}

impl Query {
    pub fn bind<'t>(mut self, value: impl Value<'t>) -> Self {
        if let Ok(arguments) = &mut self.arguments
            && let Err(error) = arguments.add(&value)
        {
            self.arguments = Err(error);
        }
        self
    }

    pub fn bind_all<'t>(self, values: impl Values<'t>) -> Self {
        values.bind_to(self)
    }

    fn ready(self, connection: &Connection) -> Result<(SqlStr, Arguments), sqlx::Error> {
        let arguments = self.arguments.map_err(sqlx::Error::Encode)?;
        let sql = match (connection, self.lock) {
            (Connection::Postgres(_), Some(lock)) => {
                AssertSqlSafe(format!("{} {lock}", self.sql.as_str())).into_sql_str()
            }
            _ => self.sql,
        };
        Ok((sql, arguments))
    }

    /// Runs the statement and returns the number of affected rows.
    pub async fn execute(self, connection: &mut Connection) -> Result<u64, sqlx::Error> {
        run!(self, connection, |statement, on| statement.execute(on).await.map(|done| done.rows_affected()))
    }

    /// Runs the statement, however many rows it affects.
    pub async fn run(self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        self.execute(connection).await.map(|_| ())
    }

    async fn row(self, connection: &mut Connection) -> Result<Option<Row>, sqlx::Error> {
        run!(self, connection, |statement, on| statement
            .fetch_optional(on)
            .await
            .map(|row| row.map(Row::from)))
    }

    /// Gives each row to `take` as it comes, so that no row is kept twice.
    async fn each_row(self, connection: &mut Connection, take: &mut Take<'_>) -> Result<(), sqlx::Error> {
        run!(self, connection, |statement, on| statement
            .fetch(on)
            .try_for_each(|row| ready(take(row.into())))
            .await)
    }
}

/// A statement whose rows are read as `T`.
#[must_use = "a statement does nothing until it is run"]
pub struct QueryAs<T> {
    query: Query,
    read: fn(&Row) -> Result<T, sqlx::Error>,
}

pub fn query_as<T: Fetched>(sql: impl SqlSafeStr) -> QueryAs<T> {
    QueryAs { query: query(sql), read: Row::read }
}

/// Creates a statement that returns rows with one column.
pub fn query_scalar<T>(sql: impl SqlSafeStr) -> QueryAs<T>
where
    (T,): Fetched,
{
    QueryAs { query: query(sql), read: |row| Ok(row.read::<(T,)>()?.0) }
}

impl<T: Send> QueryAs<T> {
    pub fn bind<'t>(self, value: impl Value<'t>) -> Self {
        Self { query: self.query.bind(value), ..self }
    }

    pub fn bind_all<'t>(self, values: impl Values<'t>) -> Self {
        Self { query: self.query.bind_all(values), ..self }
    }

    /// Locks the rows on PostgreSQL with this clause, until the transaction ends. A file has one writer at a
    /// time.
    pub fn locking(mut self, clause: &'static str) -> Self {
        self.query.lock = Some(clause);
        self
    }

    /// Returns exactly one row; [`sqlx::Error::RowNotFound`] if there is none.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<T, sqlx::Error> {
        self.fetch_optional(connection).await?.ok_or(sqlx::Error::RowNotFound)
    }

    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<T>, sqlx::Error> {
        self.query.row(connection).await?.map(|row| (self.read)(&row)).transpose()
    }

    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let mut rows = Vec::new();
        self.for_each(connection, |row| {
            rows.push(row);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Gives each row to `take` as it comes.
    pub async fn for_each(
        self,
        connection: &mut Connection,
        mut take: impl FnMut(T) -> Result<(), sqlx::Error> + Send,
    ) -> Result<(), sqlx::Error> {
        self.query.each_row(connection, &mut |row| take((self.read)(&row)?)).await
    }
}

impl Connection {
    /// Returns the time of the engine's machine.
    pub async fn engine_now(&mut self) -> Result<UnixMillis, sqlx::Error> {
        let now = match self {
            Self::Sqlite(_) => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Self::Postgres(_) => "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)",
        };
        query_scalar(now).fetch_one(self).await
    }
}
