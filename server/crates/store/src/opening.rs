//! Reasons why a database can't be opened.

use anyhow::anyhow;
use sqlx::migrate::MigrateError;

use crate::{connection::Connection, query::query_as};

/// The oldest supported version of PostgreSQL.
const MIN_POSTGRES_VERSION: i32 = 140_000;

const POSTGRES_PROPERTIES: &str = "
    SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";

/// Rejects an unsuitable PostgreSQL database before anything is changed in it.
pub(super) async fn check(connection: &mut Connection) -> Result<(), sqlx::Error> {
    let (version, encoding, is_read_only): (i32, String, bool) =
        query_as(POSTGRES_PROPERTIES).fetch_one(connection).await?;
    let unsuitable = |what: &str| Err(sqlx::Error::Configuration(what.into()));
    if version < MIN_POSTGRES_VERSION {
        return unsuitable("it is older than PostgreSQL 14");
    }
    if encoding != "UTF8" {
        return unsuitable("its encoding is not UTF8");
    }
    if is_read_only {
        return unsuitable("it is read-only");
    }
    Ok(())
}

/// Describes in one sentence why the database can't be opened.
pub(super) fn sentence(error: sqlx::Error, store: &str, setting: &str) -> anyhow::Error {
    if let sqlx::Error::Migrate(error) = error {
        return match *error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => anyhow!(
                "{store} was created by a newer version of mkopo; start that version, or set {setting} to another"
            ),
            MigrateError::VersionMismatch(_) | MigrateError::Dirty(_) => anyhow!(
                "{store} has tables that differ from those of this version of mkopo ({error}); set {setting} to \
                 another"
            ),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                sentence(error, store, setting)
            }
            other => anyhow!("can't migrate the tables of {store}: {other}"),
        };
    }
    let reason = match &error {
        sqlx::Error::Database(error) => one_line(error.message()),
        sqlx::Error::Configuration(reason) => one_line(&reason.to_string()),
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            "it does not answer".to_owned()
        }
        sqlx::Error::Io(error) => one_line(&error.to_string()),
        other => one_line(&other.to_string()),
    };
    anyhow!("can't open {store}; set {setting} to one that can be written: {reason}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
