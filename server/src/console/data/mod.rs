//! The data as a whole: back to the demo data, kept under a name and put back, or copied into
//! another store.

pub(super) mod api;
mod copy;
pub(super) mod page;
mod reset;
pub mod snapshots;

pub use copy::{Copied, copy};
pub use reset::reset;

use crate::database::{Connection, query};

/// A table, and what is done with all of it.
struct Table {
    name: &'static str,
    select: &'static str,
    count: &'static str,
    empty: &'static str,
}

macro_rules! tables {
    ($($name:literal),*) => {
        [$(Table {
            name: $name,
            select: concat!("SELECT * FROM ", $name),
            count: concat!("SELECT count(*) FROM ", $name),
            empty: concat!("DELETE FROM ", $name),
        }),*]
    };
}

/// The tables that always have their one row.
const ONE_ROW_TABLES: [Table; 3] = tables!["clock_setting", "mobile_money_account", "mobile_money_scenario"];

/// Every table whose rows come and go, those that others refer to first.
const TABLES: [Table; 12] = tables![
    "fault",
    "staff",
    "session",
    "one_time_code",
    "try_count",
    "customer",
    "loan",
    "payout",
    "idempotency_key",
    "mobile_money_payment",
    "mobile_money_next_outcome",
    "outbox_message"
];

/// The copies under a name, which reset and restore leave alone.
const SNAPSHOT_TABLES: [Table; 2] = tables!["snapshot", "snapshot_table"];

const FORGET_CHANGES: &str = "DELETE FROM loan_change";

const MOVE_ALL_VERSIONS: &str = "UPDATE version SET value = value + 1";

/// Leaves no row where rows come and go, and lets nothing that was kept in memory pass for what
/// comes now. The versions are no data: they only ever grow.
async fn empty(connection: &mut Connection) -> Result<(), sqlx::Error> {
    for table in TABLES.iter().rev() {
        query(table.empty).execute(&mut *connection).await?;
    }
    query(FORGET_CHANGES).execute(&mut *connection).await?;
    query(MOVE_ALL_VERSIONS).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Database, query_scalar};

    #[tokio::test]
    async fn no_table_is_forgotten() {
        // Builds of slices are what is deployed.
        const NO_DATA: [&str; 6] =
            ["version", "loan_change", "slice", "slice_build", "slice_file", "slice_event"];
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("mkopo.db")).await.unwrap();
        let mut there: Vec<String> = query_scalar(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
             AND substr(name, 1, 5) <> '_sqlx'",
        )
        .fetch_all(&mut database.read().await.unwrap())
        .await
        .unwrap();
        there.sort();
        let mut known: Vec<&str> = ONE_ROW_TABLES
            .iter()
            .chain(&TABLES)
            .chain(&SNAPSHOT_TABLES)
            .map(|table| table.name)
            .chain(NO_DATA)
            .collect();
        known.sort_unstable();
        assert_eq!(there, known);
    }
}
