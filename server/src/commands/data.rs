//! `mkopo data`: copies all data to another database, backs it up and restores it.

use anyhow::ensure;
use base::clock::Clock;
use console::data;
use indicatif::HumanCount;
use lending::events::Trail;
use store::{Database, url::DatabaseUrl};

use super::{
    backup::{self, BackupSettings},
    folder_lock,
};

/// The operations on all data.
#[derive(clap::Subcommand, Debug)]
pub enum DataCommand {
    /// Copy all data from one database to another, empty one; the engines may differ. Stop the
    /// service first: what it writes from then on is not in the copy.
    Copy {
        /// Database to copy: `postgres://user:password@host/name` or `sqlite:path/to/file`.
        #[arg(long, env = "MKOPO_COPY_FROM", hide_env_values = true, value_name = "URL")]
        from: DatabaseUrl,

        /// Empty database to copy to.
        #[arg(long, env = "MKOPO_COPY_TO", hide_env_values = true, value_name = "URL")]
        to: DatabaseUrl,
    },

    /// Write a consistent copy of all data to a new file. The service may keep running. For a
    /// database on PostgreSQL, use `pg_dump`.
    Backup(BackupSettings),

    /// Replace the data with a backup. Stop the service first.
    Restore(BackupSettings),
}

pub async fn run(command: DataCommand) -> anyhow::Result<()> {
    let (from, to) = match command {
        DataCommand::Copy { from, to } => (from, to),
        DataCommand::Backup(settings) => return backup::back_up(settings).await,
        DataCommand::Restore(settings) => return backup::restore(settings).await,
    };
    ensure!(!from.is_missing(), "can't copy {from}: the file does not exist");
    ensure!(from.to_string() != to.to_string(), "can't copy {from} to itself");
    let _lock = to.file().map(|file| folder_lock::lock_file(file, "stop it first")).transpose()?;
    // Opening migrates: a server that runs on the source would not start again on newer tables.
    ensure!(
        Database::is_current(&from, "--from").await?,
        "can't copy {from}: it is of another version of mkopo; copy it with that version"
    );
    let source = Database::open_named(&from, "--from").await?;
    let copied = copy(&source, &to).await;
    source.close().await;
    copied
}

async fn copy(source: &Database, to: &DatabaseUrl) -> anyhow::Result<()> {
    let target = Database::open_named(to, "--to").await?;
    let trail = Trail::of_command_line(Clock::system().now());
    let copied = data::copy(source, &target, &trail).await;
    target.close().await;
    let data::Copied { tables, rows, is_source_held } = copied?;
    println!(
        "Copied {} rows of {tables} tables to {to}; the books balance.",
        HumanCount(rows.unsigned_abs())
    );
    if is_source_held {
        eprintln!(
            "A server runs on the source, or was just killed: what it wrote since is not in the copy, such as payouts. Stop \
             it and copy again before a server runs on the copy, or loans are paid again."
        );
    }
    Ok(())
}
