//! All data from one store into another, of whatever engine.

use anyhow::{anyhow, ensure};

use super::{ONE_ROW_TABLES, SNAPSHOT_TABLES, TABLES, Table};
use crate::{
    database::{Connection, Database, ReadTransaction, query, query_scalar, rows},
    error::Failure,
    payouts,
};

/// What was copied.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// From how many tables.
    pub tables: usize,
    /// How many rows.
    pub rows: i64,
}

/// Copies what `from` holds at one moment into `to`, in one transaction, and holds the two
/// together before it is kept.
///
/// # Errors
/// A sentence, when `to` is not empty, or what arrived is not what was sent. Then nothing was
/// copied.
pub async fn copy(from: &Database, to: &Database) -> anyhow::Result<Copied> {
    for table in TABLES.iter().chain(&SNAPSHOT_TABLES) {
        let rows = count(&mut *to.read().await?, table).await?;
        ensure!(rows == 0, "the store to copy to is not empty: its table {} has rows", table.name);
    }
    let moment = from.read().await?.begin().await?;
    let copying = to.write_in_turn(move |connection: &mut Connection| Box::pin(copy_all(moment, connection)));
    copying.await.map_err(|failure| match failure {
        Failure::Internal(wrong) => anyhow!("nothing was copied: {wrong}"),
        failure => anyhow!(failure).context("nothing was copied"),
    })
}

async fn copy_all(mut from: ReadTransaction, to: &mut Connection) -> Result<Copied, Failure> {
    let mut copied = Copied { tables: 0, rows: 0 };
    for table in &ONE_ROW_TABLES {
        query(table.empty).execute(to).await?;
    }
    for table in ONE_ROW_TABLES.iter().chain(&TABLES).chain(&SNAPSHOT_TABLES) {
        rows::copy(&mut from, to, table.name, table.select).await?;
        let (sent, arrived) = (count(&mut from, table).await?, count(to, table).await?);
        if sent != arrived {
            let wrong = format!("{sent} rows of table {} were sent and {arrived} arrived", table.name);
            return Err(Failure::Internal(wrong));
        }
        copied.tables += 1;
        copied.rows += arrived;
    }
    let (sent, arrived) = (payouts::invariant(&mut from).await?, payouts::invariant(to).await?);
    if sent != arrived || !arrived.ok {
        return Err(Failure::Internal(format!(
            "the books are not right: {sent:?} sent, {arrived:?} arrived"
        )));
    }
    from.end().await?;
    to.analyze().await?;
    Ok(copied)
}

async fn count(connection: &mut Connection, table: &Table) -> Result<i64, Failure> {
    Ok(query_scalar(table.count).fetch_one(connection).await?)
}
