//! All rows of a table as JSON values, the same whichever engine holds them: for copies that are
//! put back later, or elsewhere.

use std::fmt::Write;

use futures::{Stream, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Column, Executor, Row, SqlSafeStr, Statement, TypeInfo, postgres::PgRow, sqlite::SqliteRow,
};

use super::{Connection, query};
use crate::error::Failure;

/// Rows, and in which order their columns come.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// The columns' names.
    pub columns: Vec<String>,
    /// Texts, whole numbers and nulls; a boolean is 0 or 1.
    pub rows: Vec<Vec<Value>>,
}

/// How many rows one statement inserts.
const AT_ONCE: usize = 100;

/// What a column holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Integer,
    Boolean,
}

impl Kind {
    fn of(type_name: &str) -> Result<Self, Failure> {
        match type_name {
            "TEXT" => Ok(Self::Text),
            "INTEGER" | "INT8" => Ok(Self::Integer),
            "BOOLEAN" | "BOOL" => Ok(Self::Boolean),
            other => Err(Failure::Internal(format!("a column of type {other}"))),
        }
    }
}

/// How many rows are in memory while they are copied.
const IN_HAND: usize = 1000;

/// Puts what `select` selects in `from` into `table` of `to`.
pub async fn copy(
    from: &mut Connection,
    to: &mut Connection,
    table: &str,
    select: &'static str,
) -> Result<(), Failure> {
    match from {
        Connection::Sqlite(on) => copy_stream(sqlx::query(select).fetch(&mut **on), to, table).await,
        Connection::Postgres(on) => copy_stream(sqlx::query(select).fetch(&mut **on), to, table).await,
    }
}

async fn copy_stream<R: Readable>(
    rows: impl Stream<Item = Result<R, sqlx::Error>>,
    to: &mut Connection,
    table: &str,
) -> Result<(), Failure> {
    let mut chunks = std::pin::pin!(rows.try_chunks(IN_HAND));
    while let Some(chunk) = chunks.try_next().await.map_err(|error| error.1)? {
        insert(to, table, &R::all(&chunk)?).await?;
    }
    Ok(())
}

/// What `select` selects.
pub async fn read(connection: &mut Connection, select: &'static str) -> Result<Rows, Failure> {
    match connection {
        Connection::Sqlite(on) => Readable::all(&sqlx::query(select).fetch_all(&mut **on).await?),
        Connection::Postgres(on) => Readable::all(&sqlx::query(select).fetch_all(&mut **on).await?),
    }
}

/// Puts rows into `table`, whose name is one of the schema's own.
pub async fn insert(connection: &mut Connection, table: &str, content: &Rows) -> Result<(), Failure> {
    if content.rows.is_empty() {
        return Ok(());
    }
    let columns = content.columns.join(", ");
    let kinds = kinds(connection, format!("SELECT {columns} FROM {table}")).await?;
    for rows in content.rows.chunks(AT_ONCE) {
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        for number in 0..rows.len() * kinds.len() {
            let before = match number {
                0 => "(",
                _ if number.is_multiple_of(kinds.len()) => "), (",
                _ => ", ",
            };
            _ = write!(sql, "{before}${}", number + 1);
        }
        sql.push(')');
        let mut insert = query(AssertSqlSafe(sql));
        for (value, kind) in rows.iter().flat_map(|row| row.iter().zip(&kinds)) {
            insert = match kind {
                Kind::Text => insert.bind(value.as_str()),
                Kind::Integer => insert.bind(value.as_i64()),
                Kind::Boolean => insert.bind(value.as_i64().map(|number| number != 0)),
            };
        }
        insert.execute(connection).await?;
    }
    if matches!(connection, Connection::Postgres(_)) && content.columns.iter().any(|name| name == "position")
    {
        number_on(connection, table).await?;
    }
    Ok(())
}

/// Has PostgreSQL number the next row of `table` after those that brought their numbers along;
/// `SQLite` does so by itself.
async fn number_on(connection: &mut Connection, table: &str) -> Result<(), Failure> {
    let sequence = format!("pg_get_serial_sequence('{table}', 'position')");
    let number_on = format!(
        "SELECT setval({sequence}, GREATEST(max(position) + 1, nextval({sequence})), false) FROM {table}"
    );
    Ok(connection.command(AssertSqlSafe(number_on)).await?)
}

async fn kinds(connection: &mut Connection, select: String) -> Result<Vec<Kind>, Failure> {
    let select = AssertSqlSafe(select).into_sql_str();
    match connection {
        Connection::Sqlite(on) => {
            let statement = (&mut **on).prepare(select).await?;
            statement.columns().iter().map(|column| Kind::of(column.type_info().name())).collect()
        }
        Connection::Postgres(on) => {
            let statement = (&mut **on).prepare(select).await?;
            statement.columns().iter().map(|column| Kind::of(column.type_info().name())).collect()
        }
    }
}

/// A row of either engine.
trait Readable: Row + Sized {
    /// The value in that column, which is of that kind.
    fn value(&self, column: usize, kind: Kind) -> Result<Value, sqlx::Error>;

    /// Those rows, as values.
    fn all(rows: &[Self]) -> Result<Rows, Failure> {
        let Some(first) = rows.first() else { return Ok(Rows::default()) };
        let columns = first.columns().iter().map(|column| column.name().to_owned()).collect();
        let kinds = first.columns().iter().map(|column| Kind::of(column.type_info().name()));
        let kinds = kinds.collect::<Result<Vec<Kind>, Failure>>()?;
        let values = |row: &Self| kinds.iter().enumerate().map(|(at, kind)| row.value(at, *kind)).collect();
        Ok(Rows { columns, rows: rows.iter().map(values).collect::<Result<_, sqlx::Error>>()? })
    }
}

macro_rules! readable {
    ($row:ty) => {
        impl Readable for $row {
            fn value(&self, column: usize, kind: Kind) -> Result<Value, sqlx::Error> {
                Ok(match kind {
                    Kind::Text => self.try_get::<Option<String>, _>(column)?.into(),
                    Kind::Integer => self.try_get::<Option<i64>, _>(column)?.into(),
                    Kind::Boolean => self.try_get::<Option<bool>, _>(column)?.map(i64::from).into(),
                })
            }
        }
    };
}

readable!(SqliteRow);
readable!(PgRow);
