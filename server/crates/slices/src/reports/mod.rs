//! Reports from pages on the slices that they load: loads, failures and crashes. Reports wait in memory and
//! are written together, once a second at most.

pub mod api;
pub mod history;
mod places;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use self::places::Stack;
use crate::{
    builds::{Bundled, SliceBuilds, read_all},
    crashes::{self, Crash},
    of_world::Slices,
    taken_back,
    waiting::{CrashReport, Dropped, Outcome, Received, Report},
};
use base::{
    clock::UnixMillis,
    error::Failure,
    ids::{SessionId, StaffId},
};
use lending::auth::session;
use store::{Connection, Database, query, query_scalar, sweep};

/// Retention of reports.
pub const KEPT: Duration = Duration::from_hours(7 * 24);

/// Rounds a duration to steps of about a fifth: there are few values, each within 9% of the real one.
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

/// Writes all waiting reports, in one transaction. If it fails, they are lost.
pub async fn write(slices: &Slices) -> Result<(), Failure> {
    let mut waiting = slices.shared.reports.take();
    if waiting.is_empty() {
        return Ok(());
    }
    // Sessions follow the console's clock; builds, and what people saw of them, do not.
    let (bundled, at, now) = (Bundled::of(slices).await?, slices.clock.unset_now(), slices.clock.now());
    // Before the transaction, so that other writes do not wait for it.
    let places = places::places(slices, &mut waiting).await.unwrap_or_else(|failure| {
        tracing::warn!(?failure, "slice.crash_places_not_found");
        BTreeMap::new()
    });
    let stored = slices.database.write_in_turn(async move |connection: &mut Connection| {
        let slices = read_all(connection, &bundled).await?;
        let known: Vec<Received> = waiting.into_iter().filter_map(|one| one.known(&slices)).collect();
        let mut counted: BTreeMap<Report, i64> = BTreeMap::new();
        for Received { report, times, .. } in &known {
            *counted.entry(report.clone()).or_default() += i64::from(*times);
        }
        store(connection, &counted, minute(at)).await?;
        let people = people(connection, &known, now).await?;
        let crashes = crashes_of(&known, &places, &people);
        let dropped = crashes::note(connection, &crashes, at).await?;
        note_pages(connection, known, &people, at).await?;
        Ok((counted, dropped))
    });
    let (counted, dropped) = stored.await?;
    for (report, times) in counted {
        (slices.shared.report_stored)(&report, u64::try_from(times).unwrap_or(0));
    }
    slices.shared.count_dropped(Dropped::TooManyPlaces, usize::try_from(dropped).unwrap_or(0));
    Ok(())
}

/// The people whose sessions are live, by session.
type People = BTreeMap<SessionId, StaffId>;

async fn people(
    connection: &mut Connection,
    reports: &[Received],
    now: UnixMillis,
) -> Result<People, Failure> {
    let of_pages = reports.iter().filter(|received| received.report.outcome != Outcome::CallFailed);
    let sessions: BTreeSet<&SessionId> =
        of_pages.filter_map(|received| received.session_id.as_ref()).collect();
    let mut people = People::new();
    for session_id in sessions {
        if let Some(staff_id) = session::live_staff_id(connection, session_id, now).await? {
            people.insert(session_id.clone(), staff_id);
        }
    }
    Ok(people)
}

/// The crashes that people have seen, with how often.
fn crashes_of(known: &[Received], places: &BTreeMap<Stack, String>, people: &People) -> BTreeMap<Crash, i64> {
    let mut crashes = BTreeMap::new();
    for received in known {
        let place = Stack::of(received).and_then(|stack| places.get(&stack));
        let staff_id = received.session_id.as_ref().and_then(|session_id| people.get(session_id));
        let (Some(CrashReport { error, .. }), Some(place), Some(staff_id)) =
            (&received.crash, place, staff_id)
        else {
            continue;
        };
        let Report { slice, version, .. } = &received.report;
        let crash = Crash {
            name: slice.clone(),
            version: version.clone(),
            error: error.clone(),
            place: place.clone(),
            staff_id: staff_id.clone(),
        };
        *crashes.entry(crash).or_default() += i64::from(received.times);
    }
    crashes
}

/// Stores the pages of people with a live session: one for each person, build and screen.
async fn note_pages(
    connection: &mut Connection,
    known: Vec<Received>,
    people: &People,
    at: UnixMillis,
) -> Result<(), Failure> {
    let mut pages: BTreeMap<taken_back::Page, bool> = BTreeMap::new();
    for Received { report: Report { slice, version, outcome, .. }, screen, session_id, .. } in known {
        let session_id = session_id.filter(|_| outcome != Outcome::CallFailed);
        let staff_id = session_id.and_then(|session_id| people.get(&session_id).cloned());
        let Some(staff_id) = staff_id else { continue };
        let page = taken_back::Page { name: slice, version, staff_id, screen };
        *pages.entry(page).or_default() |= outcome != Outcome::Loaded;
    }
    for (page, has_failed) in pages {
        taken_back::note(connection, &page, has_failed, at).await?;
    }
    Ok(())
}

impl Received {
    /// Returns the report if its build exists and, for a crash, also its screen.
    fn known(mut self, slices: &[SliceBuilds]) -> Option<Self> {
        let Report { slice, version, outcome, .. } = &self.report;
        let slice = slices.iter().find(|known| known.name == *slice);
        let build = slice?.builds.iter().find(|build| build.version.to_string() == *version)?;
        if !self.screen.is_empty() && !build.brings.screens.iter().any(|screen| screen.path == self.screen) {
            if *outcome == Outcome::Crashed {
                return None;
            }
            // A build that is loaded in place of another may not have the same screens.
            self.screen.clear();
        }
        Some(self)
    }
}

/// The maximum number of rows for a minute, besides one for each build and outcome that counts what has no row.
const MAX_ROWS: i64 = 100;

const ROWS: &str = "SELECT count(*) FROM slice_report WHERE minute = $1";

const ADD: &str = "
    INSERT INTO slice_report (name, version, minute, outcome, detail, times) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (name, version, minute, outcome, detail) DO UPDATE SET
        times = slice_report.times + excluded.times";

async fn store(
    connection: &mut Connection,
    counted: &BTreeMap<Report, i64>,
    at: UnixMillis,
) -> Result<(), Failure> {
    let stored: i64 = query_scalar(ROWS).bind(at).fetch_one(&mut *connection).await?;
    let room = usize::try_from(MAX_ROWS - stored).unwrap_or_default();
    for (number, (Report { slice, version, outcome, detail }, times)) in counted.iter().enumerate() {
        let detail = if number < room { detail } else { "" };
        query(ADD).bind_all((slice, version, at, *outcome, detail, times)).run(connection).await?;
    }
    Ok(())
}

const DELETE_BATCH: &str = "
    DELETE FROM slice_report WHERE (name, version, minute, outcome, detail) IN
        (SELECT name, version, minute, outcome, detail FROM slice_report
         WHERE minute <= $1 ORDER BY minute LIMIT 500)";

const DELETE_PAGES: &str = "
    DELETE FROM slice_page WHERE (name, version, staff_id, screen) IN
        (SELECT name, version, staff_id, screen FROM slice_page WHERE seen_at <= $1 ORDER BY seen_at LIMIT 500)";

const DELETE_CRASHES: &str = "
    DELETE FROM slice_crash WHERE (name, version, error, place, staff_id) IN
        (SELECT name, version, error, place, staff_id FROM slice_crash
         WHERE seen_at <= $1 ORDER BY seen_at LIMIT 500)";

/// Deletes reports up to `oldest`, and returns the number of rows. If it fails, earlier batches stay deleted.
pub async fn delete_old(database: &Database, oldest: UnixMillis) -> Result<u64, Failure> {
    Ok(sweep::in_batches(database, move || query(DELETE_BATCH).bind(oldest)).await?
        + sweep::in_batches(database, move || query(DELETE_PAGES).bind(oldest)).await?
        + sweep::in_batches(database, move || query(DELETE_CRASHES).bind(oldest)).await?)
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
