//! `mkopo seed`: made-up loans and records, as many as are asked for.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{clock::Clock, database::Database, demo, settings::DatabaseSettings};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

/// What is to be added, and where.
#[derive(clap::Args, Debug)]
pub struct SeedSettings {
    /// Folder that holds the database. The service may run meanwhile.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// How many loans that wait to be paid out.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub loans: u32,

    /// How many records of payouts, spread over the last year.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub records: u32,

    /// The same seed on the same data makes the same.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,
}

/// Adds what `settings` say, to the database of a service that may run meanwhile.
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
        demo::seed(&database, Clock::system().now(), seed, loans, records, |made| bar.inc(u64::from(made)))
            .await;
    bar.finish_and_clear();
    database.close().await;
    seeded?;
    let ms = started.elapsed().as_millis().max(1);
    println!(
        "Made {} loans and {} records in {:.1?}: {} a second.",
        HumanCount(loans.into()),
        HumanCount(records.into()),
        started.elapsed(),
        HumanCount(u64::try_from(u128::from(total) * 1000 / ms)?),
    );
    Ok(())
}
