//! `mkopo seed`: adds generated loans and records.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{clock::Clock, database::Database, demo, settings::DatabaseSettings};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

/// How much to add, and to which database.
#[derive(clap::Args, Debug)]
pub struct SeedSettings {
    /// Folder that holds the database. The service may keep running.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// The database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Number of loans that wait to be paid out.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub loans: u32,

    /// Number of payout records, spread over the last year.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub records: u32,

    /// Seed: the same seed on the same data adds the same loans and records.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,
}

/// Runs the command. The service may keep running.
pub async fn run(settings: SeedSettings) -> anyhow::Result<()> {
    let SeedSettings { data_dir, database, loans, records, seed } = settings;
    let database = Database::open_for(database.url(), &data_dir).await?;
    let total = u64::from(loans) + u64::from(records);
    let bar = ProgressBar::new(total).with_style(ProgressStyle::with_template(
        "{wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left",
    )?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let started = Instant::now();
    let seeded =
        demo::seed(&database, Clock::system().now(), seed, loans, records, |added| bar.inc(u64::from(added)))
            .await;
    bar.finish_and_clear();
    database.close().await;
    seeded?;
    let ms = started.elapsed().as_millis().max(1);
    println!(
        "Added {} loans and {} records in {:.1?}: {} per second.",
        HumanCount(loans.into()),
        HumanCount(records.into()),
        started.elapsed(),
        HumanCount(u64::try_from(u128::from(total) * 1000 / ms)?),
    );
    Ok(())
}
