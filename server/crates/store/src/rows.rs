//! Table rows as JSON values, which are the same for both engines: for snapshots and copies.

use std::fmt::Write;

use futures::{Stream, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Column, Executor, Row, SqlSafeStr, Statement, TypeInfo, postgres::PgRow, sqlite::SqliteRow,
};

use crate::{connection::Connection, query::query};
use base::error::Failure;

/// Rows with the order of their columns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    pub columns: Vec<String>,
    /// Strings, integers and nulls; a boolean is 0 or 1.
    pub rows: Vec<Vec<Value>>,
}

/// The maximum number of rows inserted by one statement.
const ROWS_PER_INSERT: usize = 100;

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
            other => Err(Failure::Internal(format!("unsupported column type {other}"))),
        }
    }
}

/// The maximum number of rows held in memory during a copy.
const CHUNK_SIZE: usize = 1000;

pub async fn copy(
    from: &mut Connection,
    to: &mut Connection,
    table: &str,
    select: &'static str,
) -> Result<(), Failure> {
    match from {
        Connection::Sqlite(on) => copy_stream(sqlx::query(select).fetch(&mut **on), to, table).await,
        Connection::Postgres(on) => {
            copy_stream(sqlx::query(select).persistent(false).fetch(&mut **on), to, table).await
        }
    }
}

async fn copy_stream<R: Readable>(
    rows: impl Stream<Item = Result<R, sqlx::Error>>,
    to: &mut Connection,
    table: &str,
) -> Result<(), Failure> {
    let mut chunks = std::pin::pin!(rows.try_chunks(CHUNK_SIZE));
    while let Some(chunk) = chunks.try_next().await.map_err(|error| error.1)? {
        insert(to, table, &R::all(&chunk)?).await?;
    }
    Ok(())
}

pub async fn read(connection: &mut Connection, select: &'static str) -> Result<Rows, Failure> {
    match connection {
        Connection::Sqlite(on) => Readable::all(&sqlx::query(select).fetch_all(&mut **on).await?),
        Connection::Postgres(on) => {
            Readable::all(&sqlx::query(select).persistent(false).fetch_all(&mut **on).await?)
        }
    }
}

/// Inserts rows into `table`, which must be a trusted name from the schema.
pub async fn insert(connection: &mut Connection, table: &str, content: &Rows) -> Result<(), Failure> {
    if content.rows.is_empty() {
        return Ok(());
    }
    let columns = content.columns.join(", ");
    let kinds = kinds(connection, format!("SELECT {columns} FROM {table}")).await?;
    for rows in content.rows.chunks(ROWS_PER_INSERT) {
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
        advance_sequence(connection, table).await?;
    }
    Ok(())
}

/// Advances PostgreSQL's sequence for `table` beyond the inserted positions. `SQLite` does so by
/// itself.
async fn advance_sequence(connection: &mut Connection, table: &str) -> Result<(), Failure> {
    let sequence = format!("pg_get_serial_sequence('{table}', 'position')");
    let advance = format!(
        "SELECT setval({sequence}, GREATEST(max(position) + 1, nextval({sequence})), false) FROM {table}"
    );
    Ok(connection.command(AssertSqlSafe(advance)).await?)
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
            // Behind a pooler, the next one who gets this connection prepares by the same name.
            if on.is_pooled {
                sqlx::raw_sql("DEALLOCATE ALL").execute(&mut **on).await?;
            }
            statement.columns().iter().map(|column| Kind::of(column.type_info().name())).collect()
        }
    }
}

/// A row of either engine.
trait Readable: Row + Sized {
    fn value(&self, column: usize, kind: Kind) -> Result<Value, sqlx::Error>;

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
