//! A `SQLite` file read on the thread of who asks. sqlx reads on threads of its own, and the way
//! there and back costs ten times what a small read does: too much for what every call asks.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

/// A connection for one small statement that is run again and again.
#[derive(Debug)]
pub struct InPlace(Connection);

impl InPlace {
    /// To `file`, which is there.
    pub(super) fn open(file: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(
            file,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        // No thread that serves calls may wait here; who writes keeps no reader waiting anyway.
        connection.busy_timeout(Duration::ZERO)?;
        Ok(Self(connection))
    }

    /// The numbers in the first row of `sql`; none when they can't be read at once, and a reader
    /// is to be asked what is the matter.
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
