//! The clock of servers that share a database, which is the database's. Machines' clocks differ, and
//! decisions about money and leases must not depend on the machine that makes them.

use std::time::{Duration, Instant};

use crate::{connection::Connection, database::Database};
use base::{clock::Clock, error::Failure};

/// The interval between measurements of the difference.
const INTERVAL: Duration = Duration::from_secs(10);

/// The number of measurements in a row, of which the fastest counts.
const TRIES: usize = 3;

/// The largest difference that needs no attention, in ms.
const TOLERANCE_MS: i64 = 2000;

/// Sets `clock` to the database's time. Does nothing for a file, which is on this machine.
pub async fn set(database: &Database, clock: &Clock) -> Result<(), Failure> {
    if clock.machine_now().is_none() {
        return Ok(());
    }
    let mut reader = database.read().await?;
    if let Connection::Sqlite(_) = reader {
        return Ok(());
    }
    let mut measured = Vec::new();
    for _ in 0..TRIES {
        measured.push(Measured::now(&mut reader, clock).await?);
    }
    let fastest = measured.into_iter().min_by_key(|measured| measured.error_ms);
    let before = clock.correction_ms();
    // A difference below the error of the measurement is ignored.
    if let Some(Measured { behind_ms, error_ms }) = fastest
        && (behind_ms - before).abs() > error_ms
    {
        clock.correct_by(behind_ms);
        report(before, behind_ms);
    }
    Ok(())
}

/// Sets `clock` every few seconds, for as long as the future is polled.
pub async fn keep_set(database: Database, clock: Clock) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(failure) = set(&database, &clock).await {
            tracing::warn!(?failure, "clock.not_compared");
        }
    }
}

/// Returns the time by which the machine's clock is ahead of the database's, in ms, if it needs attention.
pub fn wrong_by_ms(clock: &Clock) -> Option<i64> {
    Some(-clock.correction_ms()).filter(|ahead| ahead.abs() > TOLERANCE_MS)
}

fn report(before: i64, behind_ms: i64) {
    let is_wrong = behind_ms.abs() > TOLERANCE_MS;
    if is_wrong && (behind_ms - before).abs() > TOLERANCE_MS {
        tracing::warn!(
            clock_offset_ms = -behind_ms,
            "this machine's clock differs from the database's, which is used; synchronise it"
        );
    } else if !is_wrong && before.abs() > TOLERANCE_MS {
        tracing::info!("this machine's clock agrees with the database's again");
    }
}

struct Measured {
    /// The time by which the machine is behind the database.
    behind_ms: i64,
    /// Half of the round trip.
    error_ms: i64,
}

impl Measured {
    async fn now(connection: &mut Connection, clock: &Clock) -> Result<Self, Failure> {
        let sent = Instant::now();
        let database = connection.engine_now().await?;
        let half_ms = i64::try_from(sent.elapsed().as_millis()).unwrap_or(i64::MAX) / 2;
        let machine = clock.machine_now().unwrap_or(database);
        // The answer is half a round trip old.
        Ok(Self { behind_ms: database.0 + half_ms - machine.0, error_ms: half_ms + 1 })
    }
}
