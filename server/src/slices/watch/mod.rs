//! Takes a build back that fails more often than the one before, and lets the plans of rollouts go on.

mod evidence;
mod seen;

use std::{collections::BTreeMap, time::Duration};

use semver::Version;

use self::{evidence::Pages, seen::Seen};
use super::{
    Bundled, Mark, Rollout, SliceBuilds, SliceName, all,
    build::check_shell,
    check_paths, lock, read_one,
    reports::{Outcome, Report, Witness, minute, write},
    rollout, set_live, trail,
    trail::SliceAction,
};
use crate::{
    Sandbox,
    auth::fingerprint::Fingerprints,
    clock::UnixMillis,
    database::{Connection, query, query_as},
    error::Failure,
    events::{Kind, NewEvent},
    settings::rollback::RollbackSettings,
};

/// Who takes builds back and lets plans go on, in the trail.
const BY: &str = "the service";

/// How often reports are written and builds are judged.
const INTERVAL: Duration = Duration::from_secs(1);

/// For how long before a build went live the reports of the one before count.
const BEFORE: Duration = Duration::from_hours(24);

/// A build that is watched.
#[derive(Clone, Debug, sqlx::FromRow)]
struct Watch {
    name: String,
    watch_id: String,
    version: String,
    against: Option<String>,
    live_since: Option<UnixMillis>,
    pages_before: i64,
    failed_before: i64,
}

/// Writes reports, judges builds and lets plans go on, for as long as the future is polled. Any server does.
pub async fn keep_watching(sandbox: Sandbox) {
    loop {
        sandbox.clock.sleep(INTERVAL).await;
        if let Err(failure) = look(&sandbox).await {
            tracing::warn!(?failure, "slice.watch_failed");
        }
    }
}

/// Writes the reports that wait, takes builds back, ends watches that are over, and lets plans go on.
///
/// # Errors
/// When the database fails.
pub async fn look(sandbox: &Sandbox) -> Result<(), Failure> {
    write(sandbox).await?;
    let (settings, now) = (sandbox.settings.rollback, sandbox.clock.now());
    let mut reader = sandbox.database.read().await?;
    let watches: Vec<Watch> = query_as(ALL).fetch_all(&mut reader).await?;
    let rollouts: Vec<(String, UnixMillis)> = query_as(PLANNED).fetch_all(&mut reader).await?;
    let mut due: Vec<String> = rollouts.into_iter().map(|rollout| rollout.0).collect();
    for watch in watches {
        let seen = Seen::of(&mut reader, &watch).await?;
        if watch.is_over(&settings, now) || seen.is_worse(&settings) {
            due.push(watch.name);
        }
    }
    drop(reader);
    due.sort_unstable();
    due.dedup();
    for name in due {
        tend(sandbox, &name, settings, now).await?;
    }
    Ok(())
}

const ALL: &str = "
    SELECT name, watch_id, version, against, live_since, pages_before, failed_before FROM slice_watch";

const PLANNED: &str = "SELECT name, step_began_at FROM slice_rollout WHERE plan IS NOT NULL";

/// What was done by itself.
struct Done {
    kind: Kind,
    details: String,
}

/// Does what is due with one slice, in one transaction: of several servers, one does it.
async fn tend(
    sandbox: &Sandbox,
    name: &str,
    settings: RollbackSettings,
    now: UnixMillis,
) -> Result<(), Failure> {
    let name = SliceName::from_request(name)?;
    let (bundled, mark) = (Bundled::of(sandbox).await?, Mark::now(sandbox, Some(BY.to_owned()))?);
    let at = sandbox.clock.unset_now();
    let event = sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                lock(connection, &name).await?;
                let done = tend_locked(connection, &bundled, &name, &settings, mark, now).await?;
                let Some(Done { kind, details }) = done else { return Ok(None) };
                let event = NewEvent::new(at, kind, BY, None).about(name.as_str()).details(&details);
                event.add(connection).await?;
                Ok(Some(event))
            })
        })
        .await?;
    if let Some(event) = event {
        event.log();
    }
    Ok(())
}

const OF_ONE: &str = "
    SELECT name, watch_id, version, against, live_since, pages_before, failed_before
    FROM slice_watch WHERE name = $1";

async fn tend_locked(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    settings: &RollbackSettings,
    mark: Mark,
    now: UnixMillis,
) -> Result<Option<Done>, Failure> {
    let slice = read_one(connection, bundled, name).await?;
    let watch: Option<Watch> = query_as(OF_ONE).bind(name.as_str()).fetch_optional(&mut *connection).await?;
    let mut seen = Seen::default();
    if let Some(watch) = &watch {
        seen = Seen::of(connection, watch).await?;
        if watch.is_over(settings, now) || !watch.is_of(&slice) {
            end(connection, bundled, name).await?;
        } else if seen.is_worse(settings) {
            return take_back(connection, bundled, name, &slice, watch, &seen, mark).await.map(Some);
        }
    }
    go_on(connection, bundled, name, &slice, settings, &seen, mark).await
}

/// Takes the build of a watch back, and says why.
async fn take_back(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    watch: &Watch,
    seen: &Seen,
    mark: Mark,
) -> Result<Done, Failure> {
    let note = seen.sentence();
    let details = format!("{}, {note}", watch.version);
    let running = slice.rollout.as_ref().filter(|rollout| rollout.version.to_string() == watch.version);
    let live = slice.live.as_ref();
    end(connection, bundled, name).await?;
    if let Some(Rollout { version, .. }) = running {
        rollout::delete(connection, name).await?;
        trail::add(connection, bundled, mark, SliceAction::RolledBack, name, Some(version), live, Some(note))
            .await?;
    } else {
        let before = slice.builds.iter().find(|build| Some(build.version.to_string()) == watch.against);
        let before = before.ok_or(Failure::NoPreviousBuild)?;
        check_shell(&before.shell, bundled.shell()?)?;
        check_paths(connection, bundled, name, &before.brings).await?;
        let version = Some(&before.version);
        set_live(connection, bundled, name, version, None).await?;
        trail::add(connection, bundled, mark, SliceAction::RolledBack, name, version, live, Some(note)).await?;
    }
    tracing::warn!(slice.name = name.as_str(), version = watch.version, "slice.taken_back");
    Ok(Done { kind: Kind::SliceRolledBack, details })
}

/// Lets the plan of a rollout go on, if its step has lasted long enough, enough pages have loaded the build, and
/// it is healthy.
async fn go_on(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    settings: &RollbackSettings,
    seen: &Seen,
    mark: Mark,
) -> Result<Option<Done>, Failure> {
    let Some(running) = &slice.rollout else { return Ok(None) };
    let next = running.plan.as_ref().and_then(|plan| plan.after(running.percent));
    let Some((lasts, next)) = next.filter(|_| !seen.exceeds(settings)) else { return Ok(None) };
    if mark.at.since(running.step_began_at) < lasts
        || loads_since(connection, name, &running.version, running.step_began_at).await?
            < i64::from(settings.rollback_pages)
    {
        return Ok(None);
    }
    let version = &running.version;
    if next.percent == 100 {
        rollout::go_live(connection, bundled, name, slice, mark).await?;
        return Ok(Some(Done { kind: Kind::SlicePromoted, details: format!("{version}, by its plan") }));
    }
    rollout::go_to(connection, bundled, name, slice, next.percent, mark).await?;
    let details = format!("{version} to {}%, by its plan", next.percent);
    Ok(Some(Done { kind: Kind::SliceRolledOut, details }))
}

const LOADS: &str = "
    SELECT CAST(COALESCE(sum(times), 0) AS BIGINT) AS pages, CAST(0 AS BIGINT) AS failed FROM slice_report
    WHERE name = $1 AND version = $2 AND minute >= $3 AND outcome IN ('loaded', 'not_loaded')";

async fn loads_since(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    since: UnixMillis,
) -> Result<i64, Failure> {
    let (loads, _): (i64, i64) = query_as(LOADS)
        .bind(name.as_str())
        .bind(version.to_string())
        .bind(minute(since))
        .fetch_one(connection)
        .await?;
    Ok(loads)
}

impl Watch {
    /// Whether the build has been live for long enough.
    fn is_over(&self, settings: &RollbackSettings, now: UnixMillis) -> bool {
        self.live_since.is_some_and(|since| now.since(since) >= settings.time())
    }

    /// Whether browsers still get the build.
    fn is_of(&self, slice: &SliceBuilds) -> bool {
        slice.served().any(|version| version.to_string() == self.version)
    }
}

const BEGIN: &str = "
    INSERT INTO slice_watch (name, watch_id, version, against, live_since, pages_before, failed_before)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const PAGES_BEFORE: &str = "
    SELECT CAST(COALESCE(sum(CASE WHEN outcome <> 'crashed' THEN times ELSE 0 END), 0) AS BIGINT) AS pages,
           CAST(COALESCE(sum(CASE WHEN outcome <> 'loaded' THEN times ELSE 0 END), 0) AS BIGINT) AS failed
    FROM slice_report
    WHERE name = $1 AND version = $2 AND minute >= $3 AND outcome IN ('loaded', 'not_loaded', 'crashed')";

/// Watches a build that is rolled out, unless it is watched already.
pub(super) async fn begin_rollout(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
) -> Result<(), Failure> {
    let watch: Option<Watch> = query_as(OF_ONE).bind(name.as_str()).fetch_optional(&mut *connection).await?;
    let version = version.to_string();
    if watch.is_some_and(|watch| watch.version == version && watch.live_since.is_none()) {
        return Ok(());
    }
    end(connection, bundled, name).await?;
    query(BEGIN)
        .bind(name.as_str())
        .bind(&mark.id)
        .bind(version)
        .bind(against.map(ToString::to_string))
        .bind(None::<UnixMillis>)
        .bind(0_i64)
        .bind(0_i64)
        .execute(connection)
        .await?;
    Ok(())
}

/// Watches a build that goes live for everybody, against the one before; without one, nothing could be done.
pub(super) async fn begin_live(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
) -> Result<(), Failure> {
    end(connection, bundled, name).await?;
    let against = against.filter(|_| bundled.sandbox_id.is_none()).map(ToString::to_string);
    let Some(against) = against else { return Ok(()) };
    let (pages, failed): (i64, i64) = query_as(PAGES_BEFORE)
        .bind(name.as_str())
        .bind(&against)
        .bind(mark.at.minus(BEFORE))
        .fetch_one(&mut *connection)
        .await?;
    query(BEGIN)
        .bind(name.as_str())
        .bind(&mark.id)
        .bind(version.to_string())
        .bind(against)
        .bind(Some(mark.at))
        .bind(pages)
        .bind(failed)
        .execute(connection)
        .await?;
    Ok(())
}

const WENT_LIVE: &str = "
    UPDATE slice_watch SET live_since = $3 WHERE name = $1 AND version = $2 AND live_since IS NULL";

/// Goes on watching a build that was rolled out and goes live now.
pub(super) async fn went_live(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    at: UnixMillis,
) -> Result<(), Failure> {
    query(WENT_LIVE).bind(name.as_str()).bind(version.to_string()).bind(at).execute(connection).await?;
    Ok(())
}

const END: &str = "DELETE FROM slice_watch WHERE name = $1";

/// Ends the watch of a slice, with all that is known of witnesses. What is live in other sandboxes is not
/// watched.
pub(super) async fn end(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
) -> Result<(), Failure> {
    if bundled.sandbox_id.is_some() {
        return Ok(());
    }
    query(END).bind(name.as_str()).execute(connection).await?;
    Ok(())
}

const NOTE: &str = "
    INSERT INTO slice_witness (watch_id, version, witness, address, pages, failed)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (watch_id, version, witness) DO UPDATE SET
        pages = slice_witness.pages + excluded.pages, failed = slice_witness.failed + excluded.failed";

/// Notes what witnesses reported of builds that are watched.
pub(super) async fn note(
    connection: &mut Connection,
    fingerprints: &Fingerprints,
    counted: &BTreeMap<(Report, Witness), i64>,
) -> Result<(), Failure> {
    let watches: Vec<Watch> = query_as(ALL).fetch_all(&mut *connection).await?;
    let mut noted: BTreeMap<(String, String, String, String), (i64, i64)> = BTreeMap::new();
    for ((report, witness), times) in counted {
        let is_watched = |watch: &&Watch| {
            watch.name == report.slice()
                && (watch.version == report.version() || watch.against.as_deref() == Some(report.version()))
        };
        let Some(watch) = watches.iter().find(is_watched) else { continue };
        let (pages, failed) = match report.outcome() {
            Outcome::Loaded => (*times, 0),
            Outcome::NotLoaded => (*times, *times),
            Outcome::Crashed => (0, *times),
            Outcome::CallFailed => continue,
        };
        let hash = |kind: &str, who: &str| fingerprints.of(&["witness", &watch.watch_id, kind, who]);
        let address = hash("address", &witness.address);
        let who = witness.user.as_deref().map_or_else(|| address.clone(), |user| hash("user", user));
        let key = (watch.watch_id.clone(), report.version().to_owned(), who, address);
        let sum = noted.entry(key).or_default();
        *sum = (sum.0 + pages, sum.1 + failed);
    }
    for ((watch_id, version, witness, address), (pages, failed)) in noted {
        query(NOTE)
            .bind(watch_id)
            .bind(version)
            .bind(witness)
            .bind(address)
            .bind(pages)
            .bind(failed)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
