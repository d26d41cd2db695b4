//! `mkopo data`: all data from one database into another, or into a file and back.

use anyhow::ensure;
use indicatif::HumanCount;
use mkopo::{
    config::{DataCommand, DataSettings},
    console::data,
    database::{Database, url::DatabaseUrl},
};

use crate::backup;

/// Does what `settings` say.
pub async fn run(settings: DataSettings) -> anyhow::Result<()> {
    let (from, to) = match settings.command {
        DataCommand::Copy { from, to } => (from, to),
        DataCommand::Backup(settings) => return backup::back_up(settings).await,
        DataCommand::Restore(settings) => return backup::restore(settings).await,
    };
    ensure!(!from.is_missing(), "there is no file {from} to copy");
    let source = Database::open_named(&from, "--from").await?;
    let copied = copy(&source, &to).await;
    source.close().await;
    copied
}

async fn copy(source: &Database, to: &DatabaseUrl) -> anyhow::Result<()> {
    let target = Database::open_named(to, "--to").await?;
    let copied = data::copy(source, &target).await;
    target.close().await;
    let data::Copied { tables, rows } = copied?;
    println!(
        "Copied {} rows of {tables} tables to {to}; the books are right.",
        HumanCount(rows.unsigned_abs())
    );
    Ok(())
}
