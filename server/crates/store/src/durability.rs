//! Checks that committed data survives a power failure.
//!
//! The writer sets PostgreSQL's `synchronous_commit` in each transaction, whatever the role or the database
//! sets ([`super::writer`]). Settings that it can't set are checked here.

use anyhow::ensure;

use crate::{connection::Connection, query::query_scalar};

const FSYNC: &str = "SELECT current_setting('fsync')";

/// Checks that PostgreSQL flushes commits to disk at all.
pub(super) async fn check_flushes(connection: &mut Connection, demo: bool) -> anyhow::Result<()> {
    if let Connection::Sqlite(_) = connection {
        return Ok(());
    }
    let fsync: String = query_scalar(FSYNC).fetch_one(connection).await?;
    let flushes = fsync == "on";
    ensure!(
        flushes || demo,
        "PostgreSQL has fsync = off, so a power failure can lose payouts that were answered; set it to on"
    );
    if !flushes {
        tracing::warn!("PostgreSQL has fsync = off: a power failure can lose payouts that were answered");
    }
    Ok(())
}
