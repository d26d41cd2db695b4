//! Connecting to either engine.

use std::time::Duration;

use sqlx::{ConnectOptions, SqliteConnection, postgres::PgConnectOptions, sqlite::SqliteConnectOptions};

use crate::{connection::Connection, durability};

/// The maximum wait for a connection to PostgreSQL, which is shorter than callers wait for an answer.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The options for connecting to PostgreSQL.
#[derive(Clone)]
pub(crate) struct PostgresOptions {
    pub options: Box<PgConnectOptions>,
    /// Whether there is a pooler in transaction mode.
    pub is_pooled: bool,
}

/// Connects to a file, and checks that its commits are durable.
pub(crate) async fn connect_sqlite(options: &SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    durability::check_sqlite(&mut connection).await?;
    Ok(connection)
}

/// Connects to PostgreSQL, with a timeout.
pub(crate) async fn connect_postgres(options: &PostgresOptions) -> Result<Connection, sqlx::Error> {
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, options.options.connect()).await;
    let connection =
        connected.unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))?;
    Ok(Connection::postgres(connection, options.is_pooled))
}
