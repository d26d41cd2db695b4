//! Migrates the tables of a database.

use sqlx::{
    AssertSqlSafe,
    migrate::{MigrateError, Migrator},
};

use crate::{
    connection::Connection,
    query::{query, query_as},
};

/// Excludes other servers that migrate, until the transaction ends. The lock's number is that of the write
/// lock plus one.
const BEGIN: &str = "
    BEGIN;
    SELECT pg_advisory_xact_lock(469953900656);
    CREATE TABLE IF NOT EXISTS _sqlx_migrations (
        version BIGINT PRIMARY KEY,
        description TEXT NOT NULL,
        installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
        success BOOLEAN NOT NULL,
        checksum BYTEA NOT NULL,
        execution_time BIGINT NOT NULL
    )";

const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations ORDER BY version";

const ADD: &str = "
    INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
    VALUES ($1, $2, true, $3, 0)";

/// Applies the migrations that are missing.
///
/// sqlx takes a session lock and prepares statements by name, which a pooler in transaction mode loses.
/// Through a pooler, all missing migrations are applied in one transaction.
pub(super) async fn run(connection: &mut Connection, migrator: &Migrator) -> Result<(), sqlx::Error> {
    match connection {
        Connection::Postgres(held) if held.is_pooled => {
            connection.command(BEGIN).await?;
            apply_missing(connection, migrator).await?;
            connection.command("COMMIT").await
        }
        Connection::Postgres(held) => Ok(migrator.run(&mut **held).await?),
        Connection::Sqlite(held) => Ok(migrator.run(&mut **held).await?),
    }
}

/// Returns whether exactly these migrations have been applied.
pub(super) async fn are_applied(
    connection: &mut Connection,
    migrator: &Migrator,
) -> Result<bool, sqlx::Error> {
    let applied: Vec<(i64, Vec<u8>)> = match query_as(APPLIED).fetch_all(connection).await {
        Err(sqlx::Error::Database(error)) if lacks_table(&*error) => return Ok(false),
        applied => applied?,
    };
    let known = migrator.iter().map(|migration| (migration.version, migration.checksum.to_vec()));
    Ok(applied.into_iter().eq(known))
}

fn lacks_table(error: &dyn sqlx::error::DatabaseError) -> bool {
    error.code().as_deref() == Some("42P01") || error.message().starts_with("no such table")
}

async fn apply_missing(connection: &mut Connection, migrator: &Migrator) -> Result<(), sqlx::Error> {
    let applied: Vec<(i64, Vec<u8>)> = query_as(APPLIED).fetch_all(&mut *connection).await?;
    let known = |version: i64| migrator.iter().find(|migration| migration.version == version);
    for (version, checksum) in &applied {
        let migration = known(*version).ok_or(MigrateError::VersionMissing(*version))?;
        if *migration.checksum != **checksum {
            return Err(MigrateError::VersionMismatch(*version).into());
        }
    }
    for migration in migrator.iter() {
        if applied.iter().all(|(version, _)| *version != migration.version) {
            connection.command(AssertSqlSafe(migration.sql.as_str().to_owned())).await?;
            query(ADD)
                .bind_all((migration.version, &*migration.description, migration.checksum.to_vec()))
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}
