//! What of the store has changed: a number each for the pending list, the records and the
//! sessions. A write that touches one of them moves its number in the same transaction, so that
//! whatever was kept in memory is known to be stale by one small read, in any process.

use crate::database::Connection;

/// What has a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versioned {
    /// The pending list: a loan that waits, or anything it shows of it.
    Pending,
    /// The records.
    Records,
    /// The sessions and whose they are: moved by every end of one.
    Sessions,
}

impl Versioned {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Records => "records",
            Self::Sessions => "sessions",
        }
    }
}

const MOVE: &str = "UPDATE version SET value = value + 1 WHERE name = $1";

/// Moves the version of `what`; called in the transaction that changes it.
pub async fn moved(connection: &mut Connection, what: Versioned) -> Result<(), sqlx::Error> {
    sqlx::query(MOVE).bind(what.name()).execute(connection).await?;
    Ok(())
}
