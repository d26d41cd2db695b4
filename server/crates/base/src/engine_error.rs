//! Classification of database errors.

use sqlx::{
    migrate::MigrateError,
    postgres::{PgDatabaseError, PgSeverity},
};

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
            return Self::Unavailable(reason(&error).into());
        }
        if is_overflow(&error) {
            return Self::SumTooLarge;
        }
        Self::Storage(error)
    }
}

/// The reason of an error in one line, in the words of the database: sqlx repeats them with each cause.
pub fn reason(error: &sqlx::Error) -> String {
    use sqlx::Error as E;
    let words = match error {
        E::Migrate(error) => match &**error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
                "it was created by a newer version of mkopo; start that version".to_owned()
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => return reason(error),
            other => other.to_string(),
        },
        E::Database(error) => error.message().to_owned(),
        E::Configuration(error) => error.to_string(),
        E::Io(error) => error.to_string(),
        other => other.to_string(),
    };
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a number left 64 bits. Values that are bound or stored fit, so it was a sum.
fn is_overflow(error: &sqlx::Error) -> bool {
    match (postgres(error), error) {
        (Some(error), _) => error.code() == "22003",
        (None, sqlx::Error::Database(error)) => error.message() == "integer overflow",
        _ => false,
    }
}

/// `SQLite`'s primary result code.
fn sqlite_code(error: &dyn sqlx::error::DatabaseError) -> Option<u32> {
    error.code()?.parse::<u32>().ok().map(|extended| extended & 0xff)
}

const SQLITE_BUSY: u32 = 5;
const SQLITE_READONLY: u32 = 8;
const SQLITE_IOERR: u32 = 10;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_FULL: u32 = 13;
const SQLITE_CANTOPEN: u32 = 14;
const SQLITE_NOTADB: u32 = 26;

/// Returns whether the database, the connection or a lock caused the error, and not the statement, so that a
/// retry may succeed.
fn is_unavailable(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    match error {
        E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => true,
        E::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => ends_connection(error) || is_postgres_unavailable(error.code()),
            None => matches!(
                sqlite_code(&**error),
                Some(SQLITE_BUSY | SQLITE_READONLY | SQLITE_IOERR | SQLITE_FULL | SQLITE_CANTOPEN)
            ),
        },
        _ => false,
    }
}

fn is_postgres_unavailable(code: &str) -> bool {
    // Connection; resources; object state; operator intervention; system.
    const CLASSES: [&str; 5] = ["08", "53", "55", "57", "58"];
    const READ_ONLY: &str = "25006";
    code == READ_ONLY || code.get(..2).is_some_and(|class| CLASSES.contains(&class))
}

/// Returns whether PostgreSQL closes the connection, or never opened it, whatever the reason. With a full disk, for
/// example, it can't start a connection, which it calls an internal error.
fn ends_connection(error: &PgDatabaseError) -> bool {
    matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic)
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

/// Returns whether the database file is damaged, or is none.
pub fn is_damaged(error: &sqlx::Error) -> bool {
    match (postgres(error), error) {
        (None, sqlx::Error::Database(error)) => {
            matches!(sqlite_code(&**error), Some(SQLITE_CORRUPT | SQLITE_NOTADB))
        }
        _ => false,
    }
}

pub fn is_disk_full(error: &sqlx::Error) -> bool {
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
pub fn can_begin_again(error: &sqlx::Error) -> bool {
    match postgres(error) {
        Some(pg) => ends_connection(pg) || is_conflict(error),
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
pub fn is_uncommitted(error: &sqlx::Error) -> bool {
    match (postgres(error), error) {
        (Some(error), _) => error.severity() == PgSeverity::Error,
        (None, sqlx::Error::Database(error)) => sqlite_code(&**error) == Some(SQLITE_FULL),
        (None, _) => false,
    }
}
