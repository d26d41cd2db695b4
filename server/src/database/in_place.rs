//! Reads from a `SQLite` file on the caller's thread. sqlx reads on its own threads, and the round
//! trip to them costs ten times as much as a small read: too much for a read in every call.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

/// A connection for one small statement that runs often.
#[derive(Debug)]
pub struct InPlace(Connection);

impl InPlace {
    /// Opens `file`, which must exist.
    pub(super) fn open(file: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(
            file,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        // A thread that serves calls must not wait here. A writer does not block readers anyway.
        connection.busy_timeout(Duration::ZERO)?;
        Ok(Self(connection))
    }

    /// The numbers in the first row of `sql`; `None` if they can't be read immediately. Then use a
    /// reader to find the cause.
    pub fn numbers<const N: usize>(&self, sql: &'static str) -> Option<[i64; N]> {
        let read = || {
            self.0.prepare_cached(sql)?.query_row([], |row| {
                let mut numbers = [0; N];
                for (column, number) in numbers.iter_mut().enumerate() {
                    *number = row.get(column)?;
                }
                Ok(numbers)
            })
        };
        read().inspect_err(|error| tracing::warn!(%error, "database.not_read_in_place")).ok()
    }
}
