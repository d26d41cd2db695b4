//! Checks that committed data survives a power failure.
//!
//! The writer sets PostgreSQL's `synchronous_commit` in each transaction, whatever the role or the database
//! sets ([`super::writer`]). Settings that it can't set are checked here.

use anyhow::ensure;
use sqlx::SqliteConnection;

use crate::{connection::Connection, query::query_scalar};

const JOURNAL_MODE: &str = "SELECT journal_mode FROM pragma_journal_mode";
const SYNCHRONOUS: &str = "SELECT synchronous FROM pragma_synchronous";
/// The level at which every commit is flushed.
const FULL: i64 = 2;

const FOREIGN_KEYS: &str = "SELECT foreign_keys FROM pragma_foreign_keys";

/// Checks that a connection to a file has the requested settings: `SQLite` ignores those that it does not
/// support.
pub(super) async fn check_sqlite(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let refused = |what: &str, is: &str| {
        let sentence = format!("SQLite has {what} = {is}, and could lose or spoil data");
        Err(sqlx::Error::Configuration(sentence.into()))
    };
    let journal_mode: String = sqlx::query_scalar(JOURNAL_MODE).fetch_one(&mut *connection).await?;
    if journal_mode != "wal" {
        return refused("journal_mode", &journal_mode);
    }
    let synchronous: i64 = sqlx::query_scalar(SYNCHRONOUS).fetch_one(&mut *connection).await?;
    if synchronous < FULL {
        return refused("synchronous", &synchronous.to_string());
    }
    let has_foreign_keys: bool = sqlx::query_scalar(FOREIGN_KEYS).fetch_one(&mut *connection).await?;
    if !has_foreign_keys {
        return refused("foreign_keys", "off");
    }
    Ok(())
}

const FSYNC: &str = "SELECT current_setting('fsync')";

/// Checks that PostgreSQL flushes commits to disk at all.
pub(super) async fn check_flushes(connection: &mut Connection, demo: bool) -> anyhow::Result<()> {
    if let Connection::Sqlite(_) = connection {
        return Ok(());
    }
    let fsync: String = query_scalar(FSYNC).fetch_one(connection).await?;
    let flushes = fsync == "on";
    ensure!(
        flushes || demo,
        "PostgreSQL has fsync = off, so a power failure can lose payouts that were answered; set it to on"
    );
    if !flushes {
        tracing::warn!("PostgreSQL has fsync = off: a power failure can lose payouts that were answered");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::*;

    #[tokio::test]
    async fn settings_that_sqlite_ignored_are_refused() {
        // A database in memory has no log.
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let refused = check_sqlite(&mut connection).await.unwrap_err().to_string();
        assert!(refused.contains("journal_mode = memory"), "{refused}");

        let folder = tempfile::tempdir().unwrap();
        let file = format!("sqlite:{}?mode=rwc", folder.path().join("mkopo.db").display());
        let mut connection = SqliteConnection::connect(&file).await.unwrap();
        for (set, expected) in [
            ("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", "synchronous = 1"),
            ("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF", "foreign_keys = off"),
        ] {
            sqlx::raw_sql(set).execute(&mut connection).await.unwrap();
            let refused = check_sqlite(&mut connection).await.unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        sqlx::raw_sql("PRAGMA foreign_keys = ON").execute(&mut connection).await.unwrap();
        check_sqlite(&mut connection).await.unwrap();
    }
}
