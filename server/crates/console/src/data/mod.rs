//! Operations on the whole database: reset to the demo data, snapshots, and copies to another database.

pub(super) mod api;
mod copy;
pub(super) mod page;
mod reset;
pub mod snapshots;

pub use copy::{Copied, copy};
pub use reset::{Start, reset, reset_and};

use store::{Connection, query};

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

/// The tables that are never empty.
const ONE_ROW_TABLES: [Table; 4] =
    tables!["clock_setting", "mobile_money_account", "mobile_money_scenario", "portal_rules"];

/// All other tables with data, ordered so that referenced tables come first.
const TABLES: [Table; 15] = tables![
    "fault",
    "staff",
    "preference",
    "notification_read",
    "session",
    "one_time_code",
    "try_count",
    "customer",
    "loan",
    "payout",
    "idempotency_key",
    "mobile_money_payment",
    "mobile_money_next_outcome",
    "outbox_message",
    "story"
];

/// The tables of a deployment that a copy has too, and resets and snapshots have not.
const MOVED_TABLES: [Table; 2] = tables!["deploy_token", "story_link"];

/// The audit trail, which a copy adds to that of the target. Without positions: those of the target go on.
const EVENT: Table = Table {
    select: "SELECT at, kind, who, about, address, details, times, traceparent FROM event ORDER BY position",
    ..tables!["event"][0]
};

/// The tables of snapshots, which reset and restore do not change.
const SNAPSHOT_TABLES: [Table; 2] = tables!["snapshot", "snapshot_table"];

const NEXT_GENERATION: &str = "UPDATE generation SET value = value + 1";

/// Deletes all rows but those of [`ONE_ROW_TABLES`], and cuts off work on them by a new generation.
async fn empty(connection: &mut Connection) -> Result<(), sqlx::Error> {
    for table in TABLES.iter().rev() {
        query(table.empty).execute(&mut *connection).await?;
    }
    query(NEXT_GENERATION).run(connection).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Database, query_scalar};

    #[tokio::test]
    async fn every_table_is_listed() {
        // Slices, servers and sandboxes are deployments, not data, and operators stay signed in to the console.
        const EXCLUDED: [&str; 14] = [
            "generation",
            "server_lease",
            "slice",
            "slice_build",
            "slice_file",
            "slice_event",
            "slice_rollout",
            "slice_report",
            "slice_watch",
            "slice_page",
            "slice_crash",
            "console_sign_in",
            "sandbox",
            "slice_lock",
        ];
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("mkopo.db")).await.unwrap();
        let mut existing: Vec<String> = query_scalar(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
             AND substr(name, 1, 5) <> '_sqlx'",
        )
        .fetch_all(&mut database.read().await.unwrap())
        .await
        .unwrap();
        existing.sort();
        let mut known: Vec<&str> = ONE_ROW_TABLES
            .iter()
            .chain(&TABLES)
            .chain(&SNAPSHOT_TABLES)
            .chain(&MOVED_TABLES)
            .chain([&EVENT])
            .map(|table| table.name)
            .chain(EXCLUDED)
            .collect();
        known.sort_unstable();
        assert_eq!(
            existing, known,
            "list a new table in TABLES, in the order of its references, if resets and snapshots have it, in \
             MOVED_TABLES if only copies have it, or in EXCLUDED of this test"
        );
    }
}
