//! Copies of the data under a name: saved, put back exactly as they were, removed.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Column, Row, TypeInfo, ValueRef};

use super::{ONE_ROW_TABLES, TABLES, empty};
use crate::{Sandbox, clock::UnixMillis, console, database::Connection, error::Failure};

/// How many snapshots there may be.
const AT_MOST: i64 = 100;

/// A snapshot, without what it holds.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Snapshot {
    /// Names it.
    pub name: String,
    /// When it was last saved.
    pub saved_at: UnixMillis,
}

/// A name that a snapshot can have.
#[derive(Clone, Debug)]
pub struct Name(String);

impl Name {
    /// Reads `text`; what is no plain name is none.
    ///
    /// # Errors
    /// [`Failure::BadValue`].
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_name = (1..=64).contains(&text.len())
            && text.bytes().all(is_safe)
            && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        is_name.then(|| Self(text.to_owned())).ok_or_else(|| {
            Failure::BadValue(
                "A snapshot's name has 1 to 64 letters, digits, dashes, dots and underscores, and begins with a \
                 letter or digit"
                    .to_owned(),
            )
        })
    }

    fn missing(self) -> Failure {
        Failure::SnapshotNotFound(self.0)
    }
}

const ALL: &str = "SELECT name, saved_at FROM snapshot ORDER BY name";

/// Every snapshot, by name.
pub async fn all(connection: &mut Connection) -> Result<Vec<Snapshot>, Failure> {
    Ok(sqlx::query_as(ALL).fetch_all(connection).await?)
}

/// The rows of a table, and in which order their columns come.
#[derive(Serialize, Deserialize)]
struct Content {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

const COUNT: &str = "SELECT count(*) FROM snapshot WHERE name <> $1";

const SAVE: &str = "
    INSERT INTO snapshot (name, saved_at) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET saved_at = excluded.saved_at
    RETURNING name, saved_at";

const FORGET_TABLES: &str = "DELETE FROM snapshot_table WHERE name = $1";

const SAVE_TABLE: &str = "INSERT INTO snapshot_table (name, table_name, content) VALUES ($1, $2, $3)";

/// Saves all data, of one moment, under `name`; what was saved under it before is gone.
///
/// # Errors
/// [`Failure::BadValue`] when there are too many.
pub async fn save(sandbox: &Sandbox, name: Name) -> Result<Snapshot, Failure> {
    let now = sandbox.clock.now();
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let others: i64 = sqlx::query_scalar(COUNT).bind(&name.0).fetch_one(&mut *connection).await?;
                if others >= AT_MOST {
                    return Err(Failure::BadValue(format!(
                        "There are {AT_MOST} snapshots; remove one first"
                    )));
                }
                let saved = sqlx::query_as(SAVE).bind(&name.0).bind(now).fetch_one(&mut *connection).await?;
                sqlx::query(FORGET_TABLES).bind(&name.0).execute(&mut *connection).await?;
                for table in ONE_ROW_TABLES.iter().chain(&TABLES) {
                    let content = read(connection, table.select).await?;
                    sqlx::query(SAVE_TABLE)
                        .bind(&name.0)
                        .bind(table.name)
                        .bind(content)
                        .execute(&mut *connection)
                        .await?;
                }
                Ok(saved)
            })
        })
        .await
}

/// A table's rows as JSON.
async fn read(connection: &mut Connection, select: &'static str) -> Result<String, Failure> {
    let rows = sqlx::query(select).fetch_all(connection).await?;
    let columns =
        rows.first().map(|row| row.columns().iter().map(|column| column.name().to_owned()).collect());
    let rows = rows.iter().map(|row| (0..row.len()).map(|column| value(row, column)).collect());
    let rows = rows.collect::<Result<Vec<Vec<Value>>, sqlx::Error>>()?;
    let content = Content { columns: columns.unwrap_or_default(), rows };
    serde_json::to_string(&content).map_err(|error| Failure::Internal(error.to_string()))
}

/// Tables hold texts and integers only.
fn value(row: &sqlx::sqlite::SqliteRow, column: usize) -> Result<Value, sqlx::Error> {
    let raw = row.try_get_raw(column)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let is_text = raw.type_info().name() == "TEXT";
    Ok(if is_text { row.try_get::<String, _>(column)?.into() } else { row.try_get::<i64, _>(column)?.into() })
}

const IS_THERE: &str = "SELECT count(*) FROM snapshot WHERE name = $1";

const SAVED_TABLE: &str = "SELECT content FROM snapshot_table WHERE name = $1 AND table_name = $2";

/// Puts the data of snapshot `name` in the place of all data, clock and faults among it.
///
/// # Errors
/// [`Failure::SnapshotNotFound`].
pub async fn restore(sandbox: &Sandbox, name: Name) -> Result<(), Failure> {
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let found: i64 =
                    sqlx::query_scalar(IS_THERE).bind(&name.0).fetch_one(&mut *connection).await?;
                if found == 0 {
                    return Err(name.missing());
                }
                empty(connection).await?;
                for table in ONE_ROW_TABLES.iter().chain(&TABLES) {
                    // One that came with a later version was empty, or as it is.
                    let saved: Option<String> = sqlx::query_scalar(SAVED_TABLE)
                        .bind(&name.0)
                        .bind(table.name)
                        .fetch_optional(&mut *connection)
                        .await?;
                    let Some(content) = saved else { continue };
                    sqlx::query(table.empty).execute(&mut *connection).await?;
                    let content: Content = serde_json::from_str(&content)
                        .map_err(|error| Failure::Internal(error.to_string()))?;
                    write(connection, table.name, content).await?;
                }
                Ok(())
            })
        })
        .await?;
    console::take_over(sandbox).await
}

async fn write(connection: &mut Connection, table: &str, content: Content) -> Result<(), sqlx::Error> {
    let mut insert = format!("INSERT INTO {table} ({}) VALUES (", content.columns.join(", "));
    for number in 1..=content.columns.len() {
        _ = write!(insert, "{}${number}", if number == 1 { "" } else { ", " });
    }
    insert.push(')');
    for row in content.rows {
        // Both names came of the database's own tables.
        let mut query = sqlx::query(AssertSqlSafe(insert.clone()));
        for value in row {
            query = match value {
                Value::String(text) => query.bind(text),
                Value::Number(number) => query.bind(number.as_i64()),
                _ => query.bind(None::<i64>),
            };
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

const REMOVE: &str = "DELETE FROM snapshot WHERE name = $1";

/// Forgets snapshot `name`.
///
/// # Errors
/// [`Failure::SnapshotNotFound`].
pub async fn remove(sandbox: &Sandbox, name: Name) -> Result<(), Failure> {
    sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                sqlx::query(FORGET_TABLES).bind(&name.0).execute(&mut *connection).await?;
                let removed = sqlx::query(REMOVE).bind(&name.0).execute(connection).await?.rows_affected();
                if removed == 0 { Err(name.missing()) } else { Ok(()) }
            })
        })
        .await
}
