//! `mkopo data`: all data from one database into another, or into a file and back.

use crate::{
    console::data,
    database::{Database, url::DatabaseUrl},
    settings::values,
};
use anyhow::ensure;
use indicatif::HumanCount;

use super::backup::{self, BackupSettings};

/// What is to be done with the data as a whole.
#[derive(clap::Args, Debug)]
pub struct DataSettings {
    /// What to do.
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What can be done with the data as a whole.
#[derive(clap::Subcommand, Debug)]
pub enum DataCommand {
    /// Copy all data of one database into another, empty one, of whatever kind. Stop the service
    /// first: what it writes meanwhile is not in the copy.
    Copy {
        /// Database to copy: `postgres://user:password@host/name` or `sqlite:path/to/file`.
        #[arg(long, env = "MKOPO_COPY_FROM", hide_env_values = true, value_parser = values::database_url,
              value_name = "URL")]
        from: DatabaseUrl,

        /// Empty database to copy to.
        #[arg(long, env = "MKOPO_COPY_TO", hide_env_values = true, value_parser = values::database_url,
              value_name = "URL")]
        to: DatabaseUrl,
    },

    /// Write all data, as of one moment, into a new file. The service may run meanwhile. A database on
    /// PostgreSQL is copied by its own tools.
    Backup(BackupSettings),

    /// Put what `mkopo data backup` wrote in the place of the data. Stop the service first.
    Restore(BackupSettings),
}

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
