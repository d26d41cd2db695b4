//! What pages report of the slices that they load: how many loaded, failed and crashed, and nothing about
//! persons. Reports wait in memory and are written together, once a second at most.

pub mod api;
pub mod history;
mod limit;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

pub use self::limit::Limit;
use super::{Bundled, SliceBuilds, all, watch};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, Database, query, sweep},
    error::Failure,
};

/// How many reports may wait to be written; more are dropped.
const MAX_WAITING: usize = 10_000;

/// How long reports are kept.
pub const KEPT: Duration = Duration::from_hours(7 * 24);

/// What happened to a build on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was loaded.
    Loaded,
    /// It could not be loaded.
    NotLoaded,
    /// One of its screens has stopped working.
    Crashed,
    /// A call that one of its screens made failed.
    CallFailed,
}

crate::database::stored_as_text!(Outcome);

impl Outcome {
    /// Its name, in the contract, the database and the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::NotLoaded => "not_loaded",
            Self::Crashed => "crashed",
            Self::CallFailed => "call_failed",
        }
    }
}

/// A report of one page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    slice: String,
    version: String,
    outcome: Outcome,
    detail: String,
}

/// Who saw it: a user, or else a network address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Witness {
    /// The id of a user; `None` for somebody who is not signed in.
    pub user: Option<String>,
    /// The network address.
    pub address: String,
}

/// The reports that wait to be written, and how many each address sends.
#[derive(Debug, Default)]
pub struct Reports {
    waiting: Mutex<Vec<(Report, Witness, u32)>>,
    /// Limits what one address sends to this server.
    pub limit: Limit,
    /// Held while they are written and judged, so that this process does it one round at a time.
    pub looking: tokio::sync::Mutex<()>,
}

impl Reports {
    fn add(&self, reports: Vec<(Report, Witness, u32)>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_WAITING.saturating_sub(waiting.len());
        waiting.extend(reports.into_iter().take(room));
    }

    fn take(&self) -> Vec<(Report, Witness, u32)> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The time it took, in steps of a fifth: few values, of which each is at most 9% from the real one.
fn rounded(ms: u32) -> u32 {
    let steps = (f64::from(ms.clamp(16, 60_000)).log2() * 4.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 to 65,536")]
    let ms = (steps / 4.0).exp2().round() as u32;
    ms
}

/// The start of the minute of `at`.
pub fn minute(at: UnixMillis) -> UnixMillis {
    UnixMillis(at.0 - at.0.rem_euclid(60_000))
}

/// Writes all reports that wait, in one transaction.
///
/// # Errors
/// When the database fails; the reports are lost.
pub async fn write(sandbox: &Sandbox) -> Result<(), Failure> {
    let waiting = sandbox.server.reports.take();
    if waiting.is_empty() {
        return Ok(());
    }
    let (bundled, at) = (Bundled::of(sandbox).await?, minute(sandbox.clock.now()));
    let mut counted: BTreeMap<(Report, Witness), i64> = BTreeMap::new();
    for (report, witness, times) in waiting {
        *counted.entry((report, witness)).or_default() += i64::from(times);
    }
    let fingerprints = sandbox.fingerprints.clone();
    let stored = sandbox.database.write_in_turn(async move |connection: &mut Connection| {
        let slices = all(connection, &bundled).await?;
        counted.retain(|(report, _), _| report.is_known(&slices));
        store(connection, &counted, at).await?;
        watch::note(connection, &fingerprints, &counted).await?;
        Ok(counted)
    });
    for ((report, _), times) in stored.await? {
        let times = u64::try_from(times).unwrap_or(0);
        let Report { slice, version, outcome, .. } = &report;
        sandbox.server.metrics.reported(slice, version, outcome.name(), report.took(), times);
    }
    Ok(())
}

impl Report {
    /// The slice.
    pub fn slice(&self) -> &str {
        &self.slice
    }

    /// The version of its build.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What happened.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// How long it took to load.
    pub fn took(&self) -> Option<Duration> {
        let ms = (self.outcome == Outcome::Loaded).then(|| self.detail.parse().ok());
        ms.flatten().map(Duration::from_millis)
    }

    /// Whether the build exists, and the screen.
    fn is_known(&self, slices: &[SliceBuilds]) -> bool {
        let slice = slices.iter().find(|slice| slice.name == self.slice);
        let build = slice
            .and_then(|slice| slice.builds.iter().find(|build| build.version.to_string() == self.version));
        build.is_some_and(|build| {
            self.outcome != Outcome::Crashed
                || self.detail.is_empty()
                || build.brings.screens.iter().any(|screen| screen.path == self.detail)
        })
    }
}

const ADD: &str = "
    INSERT INTO slice_report (name, version, minute, outcome, detail, times) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (name, version, minute, outcome, detail) DO UPDATE SET
        times = slice_report.times + excluded.times";

async fn store(
    connection: &mut Connection,
    counted: &BTreeMap<(Report, Witness), i64>,
    at: UnixMillis,
) -> Result<(), Failure> {
    let mut of_minute: BTreeMap<&Report, i64> = BTreeMap::new();
    for ((report, _), times) in counted {
        *of_minute.entry(report).or_default() += times;
    }
    for (Report { slice, version, outcome, detail }, times) in of_minute {
        query(ADD)
            .bind(slice)
            .bind(version)
            .bind(at)
            .bind(*outcome)
            .bind(detail)
            .bind(times)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

const DELETE_BATCH: &str = "
    DELETE FROM slice_report WHERE (name, version, minute, outcome, detail) IN
        (SELECT name, version, minute, outcome, detail FROM slice_report
         WHERE minute <= $1 ORDER BY minute LIMIT 500)";

/// Deletes what was reported before `oldest`. Returns how many counts there were.
///
/// # Errors
/// When the database fails; earlier batches stay deleted.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_by_9_percent_at_most() {
        let mut values = std::collections::BTreeSet::new();
        for ms in 16..60_000 {
            let value = rounded(ms);
            assert!(f64::from(value).log2() - f64::from(ms).log2() < 0.15, "{ms}: {value}");
            values.insert(value);
        }
        assert!(values.len() < 50, "{values:?}");
        assert_eq!(rounded(0), 16);
    }
}
