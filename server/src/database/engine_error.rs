//! Classification of database errors.

use anyhow::anyhow;
use sqlx::{
    migrate::MigrateError,
    postgres::{PgDatabaseError, PgSeverity},
};

use super::{Connection, query_as};
use crate::error::Failure;

/// An unavailable database is a temporary condition, not a bug: the transaction is rolled back, and
/// a retry may succeed.
impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        if is_conflict(&error) {
            tracing::info!(%error, "database conflict");
            return Self::Conflict;
        }
        if is_unavailable(&error) {
            tracing::warn!(%error, "database unavailable");
            return Self::Busy;
        }
        Self::Storage(error)
    }
}

/// `SQLite`'s primary result code.
fn sqlite_code(error: &dyn sqlx::error::DatabaseError) -> Option<u32> {
    error.code()?.parse::<u32>().ok().map(|extended| extended & 0xff)
}

const SQLITE_BUSY: u32 = 5;
const SQLITE_READONLY: u32 = 8;
const SQLITE_IOERR: u32 = 10;
const SQLITE_FULL: u32 = 13;
const SQLITE_CANTOPEN: u32 = 14;

/// Returns whether the database, the connection or a lock caused the error, and not the statement, so that a
/// retry may succeed.
fn is_unavailable(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    match error {
        E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => true,
        E::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => is_postgres_unavailable(error.code()),
            None => matches!(
                sqlite_code(&**error),
                Some(SQLITE_BUSY | SQLITE_READONLY | SQLITE_IOERR | SQLITE_FULL | SQLITE_CANTOPEN)
            ),
        },
        _ => false,
    }
}

fn is_postgres_unavailable(code: &str) -> bool {
    // Connection; resources; object state; operator intervention; system; authorization.
    const CLASSES: [&str; 6] = ["08", "53", "55", "57", "58", "28"];
    // Read-only (a standby took over), idle timeout, transaction timeout, database does not exist (any
    // more).
    const CODES: [&str; 4] = ["25006", "25P03", "25P04", "3D000"];
    CODES.contains(&code) || code.get(..2).is_some_and(|class| CLASSES.contains(&class))
}

fn postgres(error: &sqlx::Error) -> Option<&PgDatabaseError> {
    let sqlx::Error::Database(error) = error else { return None };
    error.try_downcast_ref()
}

/// Returns whether PostgreSQL undid the statement because of another transaction: a serialization failure or
/// a deadlock. The write can be repeated.
fn is_conflict(error: &sqlx::Error) -> bool {
    postgres(error).is_some_and(|error| matches!(error.code(), "40001" | "40P01"))
}

/// Returns whether the disk has no room for the write.
pub(super) fn is_disk_full(error: &sqlx::Error) -> bool {
    const POSTGRES_DISK_FULL: &str = "53100";
    match (postgres(error), error) {
        (Some(error), _) => error.code() == POSTGRES_DISK_FULL,
        (None, sqlx::Error::Database(error)) => {
            matches!(sqlite_code(&**error), Some(SQLITE_IOERR | SQLITE_FULL))
        }
        (None, sqlx::Error::Migrate(error)) => match &**error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => is_disk_full(error),
            _ => false,
        },
        (None, _) => false,
    }
}

/// Returns whether an empty transaction can be started again immediately: its connection broke since it was
/// last used, or it was the victim of a conflict.
pub(super) fn can_begin_again(error: &sqlx::Error) -> bool {
    match postgres(error) {
        Some(pg) => pg.severity() == PgSeverity::Fatal || is_conflict(error),
        None => match error {
            sqlx::Error::Io(error) => error.kind() != std::io::ErrorKind::TimedOut,
            sqlx::Error::Protocol(_) => true,
            _ => false,
        },
    }
}

/// Returns whether a failed commit certainly wrote nothing. A full disk fails before the commit record is
/// written. A commit that PostgreSQL rejects is rolled back; if PostgreSQL closes the connection instead, it
/// may have committed before.
pub(super) fn is_uncommitted(error: &sqlx::Error) -> bool {
    match (postgres(error), error) {
        (Some(error), _) => error.severity() == PgSeverity::Error,
        (None, sqlx::Error::Database(error)) => sqlite_code(&**error) == Some(SQLITE_FULL),
        (None, _) => false,
    }
}

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
