//! The data as a whole: back to the demo data, or kept under a name and put back.

mod reset;

pub use reset::reset;

use crate::database::Connection;

/// A table, and what empties it.
struct Table {
    name: &'static str,
    empty: &'static str,
}

/// Every table whose rows come and go, those that others refer to first.
const TABLES: [Table; 12] = [
    Table { name: "fault", empty: "DELETE FROM fault" },
    Table { name: "staff", empty: "DELETE FROM staff" },
    Table { name: "session", empty: "DELETE FROM session" },
    Table { name: "one_time_code", empty: "DELETE FROM one_time_code" },
    Table { name: "try_count", empty: "DELETE FROM try_count" },
    Table { name: "customer", empty: "DELETE FROM customer" },
    Table { name: "loan", empty: "DELETE FROM loan" },
    Table { name: "payout", empty: "DELETE FROM payout" },
    Table { name: "idempotency_key", empty: "DELETE FROM idempotency_key" },
    Table { name: "mobile_money_payment", empty: "DELETE FROM mobile_money_payment" },
    Table { name: "mobile_money_next_outcome", empty: "DELETE FROM mobile_money_next_outcome" },
    Table { name: "outbox_message", empty: "DELETE FROM outbox_message" },
];

const MOVE_ALL_VERSIONS: &str = "UPDATE version SET value = value + 1";

/// Leaves no row, and lets nothing that was kept in memory pass for what comes now: the versions
/// are no data, and only ever grow.
async fn empty(connection: &mut Connection) -> Result<(), sqlx::Error> {
    for table in TABLES.iter().rev() {
        sqlx::query(table.empty).execute(&mut *connection).await?;
    }
    sqlx::query(MOVE_ALL_VERSIONS).execute(connection).await?;
    Ok(())
}
