//! `mkopo seed`: adds generated loans and records.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::folder_lock;
use base::{clock::Clock, randomness::Randomness};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use lending::{
    auth::password::Passwords,
    demo::{self, Recording},
    events::{Entry, EventKind, Trail},
};
use settings::StoreSettings;
use store::Database;

/// The arguments of `mkopo seed`.
#[derive(clap::Args, Debug)]
pub struct SeedSettings {
    /// The database. Stop a service on it first, unless it is on PostgreSQL.
    #[command(flatten)]
    pub store: StoreSettings,

    /// Number of loans that wait to be paid out.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub loans: u32,

    /// Number of payout records, spread over the last year.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub records: u32,

    /// Seed: the same seed on the same data adds the same loans and records.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,

    /// Add the loans and payouts of this file, written by `mkopo provider record`, instead of generated ones.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["loans", "records", "seed"])]
    pub from: Option<PathBuf>,
}

pub async fn run(settings: SeedSettings) -> anyhow::Result<()> {
    let SeedSettings { store, loans, records, seed, from } = settings;
    let _lock = folder_lock::lock(&store, "stop it first")?;
    let database = store.open().await?;
    if let Some(file) = from {
        let added = add_recorded(&database, &file).await;
        database.close().await;
        return added;
    }
    let total = u64::from(loans) + u64::from(records);
    let bar = ProgressBar::new(total).with_style(ProgressStyle::with_template(
        "{wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left",
    )?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let started = Instant::now();
    let now = Clock::system().now();
    let entry =
        Entry::of(EventKind::DataSeeded).with("loans", loans).with("records", records).with("seed", seed);
    let seeded = async {
        demo::seed(&database, now, seed, loans, records, |added| bar.inc(u64::from(added))).await?;
        Trail::of_command_line(now).write_alone(database.begin().await?, entry).await?;
        anyhow::Ok(())
    };
    let seeded = seeded.await;
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

/// Adds the loans and payouts of a recording.
async fn add_recorded(database: &Database, file: &Path) -> anyhow::Result<()> {
    let recording = Recording::read(file)?;
    let randomness = Randomness::from_os();
    // A random password that nobody knows.
    let password = hex::encode(randomness.bytes::<32>());
    let hash = Passwords::new(randomness).hash(password.into()).await?;
    let now = Clock::system().now();
    let (loans, payouts) = recording.add(database, &hash, now).await?;
    let trail = Trail::of_command_line(now).noting("a recording".to_owned());
    trail.write_alone(database.begin().await?, Entry::of(EventKind::DataSeeded)).await?;
    println!("Added {} loans and {} payouts.", HumanCount(loans as u64), HumanCount(payouts as u64));
    Ok(())
}
