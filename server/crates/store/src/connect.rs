//! Connecting to either engine.

use std::{path::Path, time::Duration};

use sqlx::{
    ConnectOptions, SqliteConnection,
    postgres::PgConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};

use crate::connection::{Connection, Owner};

/// The maximum wait for a connection to PostgreSQL, which is shorter than callers wait for an answer.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum wait of a write while another program has locked the file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The options that every file has. A missing one is created.
pub(crate) fn sqlite_options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .disable_statement_logging()
}

#[derive(Clone)]
pub(crate) struct PostgresOptions {
    pub options: Box<PgConnectOptions>,
    /// `true` if there is a pooler in transaction mode.
    pub is_pooled: bool,
}

/// Connects to a file. A file system that can't share memory has no write-ahead log.
pub(crate) async fn connect_sqlite(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut connection).await?;
    if mode != "wal" {
        let sentence = format!("SQLite has journal_mode = {mode}, and could lose or spoil data");
        return Err(sqlx::Error::Configuration(sentence.into()));
    }
    Ok(connection)
}

pub(crate) async fn connect_postgres(options: &PostgresOptions) -> Result<Connection, sqlx::Error> {
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, options.options.connect()).await;
    let connection =
        connected.unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))?;
    Ok(Connection::postgres(Owner::Holder(Box::new(connection)), options.is_pooled))
}
