//! Copies all data from one database to another, of any engine.

use anyhow::{anyhow, ensure};

use super::{EVENT, MOVED_TABLES, NEXT_GENERATION, ONE_ROW_TABLES, SNAPSHOT_TABLES, TABLES, Table};
use base::error::Failure;
use lending::{
    events::{Entry, EventKind, Trail},
    payouts,
};
use store::{Connection, Database, query, query_scalar, rows, server_lease};

#[derive(Clone, Copy, Debug)]
pub struct Copied {
    pub tables: usize,
    pub rows: i64,
    /// `true` if a server runs on the source, or was killed less than 30 s ago.
    pub is_source_held: bool,
}

/// Tables of any size are copied, and the target may be slow.
const WITHOUT_TIMEOUTS: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Copies a consistent snapshot of `from` into `to` in one transaction, and compares the two before the
/// commit.
///
/// # Errors
/// When `to` is not empty, or differs from `from` after the copy. `to` is unchanged then.
pub async fn copy(from: &Database, to: &Database, trail: &Trail) -> anyhow::Result<Copied> {
    for table in TABLES.iter().chain(&SNAPSHOT_TABLES).chain(&MOVED_TABLES) {
        let rows = count(&mut to.read().await?, table).await?;
        ensure!(rows == 0, "the target database is not empty: its table {} has rows", table.name);
    }
    let mut snapshot = from.read_snapshot().await?;
    if matches!(snapshot, Connection::Postgres(_)) {
        snapshot.command(WITHOUT_TIMEOUTS).await?;
    }
    let copy = async move |connection: &mut Connection| copy_all(snapshot, connection).await;
    let copying = trail.write(to.begin_alone().await?, [Entry::of(EventKind::DataCopied)], copy);
    copying.await.map_err(|failure| match failure {
        Failure::Internal(reason) => anyhow!("nothing was copied: {reason}"),
        failure => anyhow!(failure).context("nothing was copied"),
    })
}

async fn copy_all(mut from: Connection, to: &mut Connection) -> Result<Copied, Failure> {
    // No server can enter itself until this transaction ends.
    if let Some(held_for) = server_lease::held_for(to).await? {
        return Err(Failure::Internal(format!(
            "a server runs on the target database; stop it first. If it was killed, wait {} s",
            held_for.as_secs() + 1
        )));
    }
    let is_source_held = server_lease::held_for(&mut from).await?.is_some();
    let mut copied = Copied { tables: 0, rows: 0, is_source_held };
    for table in &ONE_ROW_TABLES {
        query(table.empty).execute(to).await?;
    }
    let tables = ONE_ROW_TABLES.iter().chain(&TABLES).chain(&SNAPSHOT_TABLES).chain(&MOVED_TABLES);
    for table in tables.chain([&EVENT]) {
        let before = count(to, table).await?;
        rows::copy(&mut from, to, table.name, table.select).await?;
        let (sent, arrived) = (count(&mut from, table).await?, count(to, table).await? - before);
        if sent != arrived {
            let reason =
                format!("table {} has {sent} rows in the source and {arrived} in the target", table.name);
            return Err(Failure::Internal(reason));
        }
        copied.tables += 1;
        copied.rows += arrived;
    }
    let (sent, arrived) = (payouts::invariant(&mut from).await?, payouts::invariant(to).await?);
    if sent != arrived || !arrived.ok {
        return Err(Failure::Internal(format!(
            "the audit failed: {sent:?} in the source, {arrived:?} in the target"
        )));
    }
    query(NEXT_GENERATION).execute(to).await?;
    to.analyze().await?;
    Ok(copied)
}

async fn count(connection: &mut Connection, table: &Table) -> Result<i64, Failure> {
    Ok(query_scalar(table.count).fetch_one(connection).await?)
}
