//! What a store's errors mean.

use anyhow::anyhow;
use sqlx::{
    PgConnection,
    migrate::MigrateError,
    postgres::{PgDatabaseError, PgSeverity},
};

use crate::error::Failure;

/// A store that is away is no fault of the program: the same may go well in a moment. What had
/// been begun is undone with the transaction.
impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        if is_away(&error) {
            tracing::warn!(%error, "store away");
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

/// Whether it was the store, or the way to it, or who holds it, and not the statement: the same
/// may go well another time.
fn is_away(error: &sqlx::Error) -> bool {
    use sqlx::Error as E;
    match error {
        E::Io(_) | E::Tls(_) | E::Protocol(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => true,
        E::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => is_postgres_away(error.code()),
            None => matches!(
                sqlite_code(&**error),
                Some(SQLITE_BUSY | SQLITE_READONLY | SQLITE_IOERR | SQLITE_FULL | SQLITE_CANTOPEN)
            ),
        },
        _ => false,
    }
}

fn is_postgres_away(code: &str) -> bool {
    // Connections; resources; locks and operators; the system below; who may come in.
    const CLASSES: [&str; 6] = ["08", "53", "55", "57", "58", "28"];
    // Serialization failure, deadlock, read only (a standby took over), idle for too long,
    // transaction for too long, no such database (any more).
    const CODES: [&str; 6] = ["40001", "40P01", "25006", "25P03", "25P04", "3D000"];
    CODES.contains(&code) || code.get(..2).is_some_and(|class| CLASSES.contains(&class))
}

fn postgres(error: &sqlx::Error) -> Option<&PgDatabaseError> {
    let sqlx::Error::Database(error) = error else { return None };
    error.try_downcast_ref()
}

/// Whether a transaction in which nothing was done may be begun again at once: its connection
/// broke since it was last used, or another transaction was let go before it.
pub(super) fn may_be_begun_again(error: &sqlx::Error) -> bool {
    match postgres(error) {
        Some(error) => error.severity() == PgSeverity::Fatal || matches!(error.code(), "40001" | "40P01"),
        None => match error {
            sqlx::Error::Io(error) => error.kind() != std::io::ErrorKind::TimedOut,
            sqlx::Error::Protocol(_) => true,
            _ => false,
        },
    }
}

/// Whether a failed commit certainly kept nothing: a full disk refuses before the mark that makes
/// a commit whole is written, and what PostgreSQL says no to it has undone. When it ends the
/// connection instead, it may have done so afterwards.
pub(super) fn is_before_commit(error: &sqlx::Error) -> bool {
    match (postgres(error), error) {
        (Some(error), _) => error.severity() == PgSeverity::Error,
        (None, sqlx::Error::Database(error)) => sqlite_code(&**error) == Some(SQLITE_FULL),
        (None, _) => false,
    }
}

/// The oldest PostgreSQL that this was tried with.
const OLDEST_POSTGRES: i32 = 140_000;

const ABOUT_POSTGRES: &str = "
    SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";

/// Refuses a PostgreSQL that can't hold the store, before anything is done there.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let (version, encoding, is_read_only): (i32, String, bool) =
        sqlx::query_as(ABOUT_POSTGRES).fetch_one(connection).await?;
    let unfit = |what: &str| Err(sqlx::Error::Configuration(what.into()));
    if version < OLDEST_POSTGRES {
        return unfit("it is older than PostgreSQL 14");
    }
    if encoding != "UTF8" {
        return unfit("its encoding is not UTF8");
    }
    if is_read_only {
        return unfit("it can only be read");
    }
    Ok(())
}

/// Why the store can't be opened, as one sentence.
pub(super) fn sentence(error: sqlx::Error, store: &str, setting: &str) -> anyhow::Error {
    if let sqlx::Error::Migrate(error) = error {
        return match *error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => anyhow!(
                "{store} was made by a newer version of mkopo; start that one, or set {setting} to another"
            ),
            MigrateError::VersionMismatch(_) | MigrateError::Dirty(_) => anyhow!(
                "{store} has tables that are not as this version of mkopo makes them ({error}); set {setting} to \
                 another"
            ),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                sentence(error, store, setting)
            }
            other => anyhow!("can't bring the tables of {store} up to date: {other}"),
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
