//! `mkopo seed`: made-up loans and records, as many as are asked for.

use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use mkopo::{clock::Clock, config::SeedSettings, database::Database, demo};

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
