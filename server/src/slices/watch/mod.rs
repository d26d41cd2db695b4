//! Takes a build back that fails more often than the one before, and lets the plans of rollouts go on.

mod evidence;
mod seen;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use semver::Version;

use self::seen::Seen;
use super::{
    Bundled, Mark, Rollout, SliceBuilds, SliceName,
    build::check_shell,
    check_paths, lock, read_one,
    reports::{Outcome, Report, Witness, minute, write},
    rollout,
    rollout::Step,
    set_live, trail,
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
#[derive(Clone, Debug, sqlx_macros::FromRow)]
#[expect(clippy::struct_field_names, reason = "the columns are called so")]
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
    let _one_round = sandbox.server.reports.looking.lock().await;
    write(sandbox).await?;
    let (bundled, now) = (Bundled::of(sandbox).await?, sandbox.clock.now());
    let mut reader = sandbox.database.read().await?;
    let mut watches: BTreeMap<String, Watch> = BTreeMap::new();
    for watch in query_as::<Watch>(ALL).fetch_all(&mut reader).await? {
        watches.insert(watch.name.clone(), watch);
    }
    let rollouts = rollout::all(&mut reader, &bundled).await?;
    let names: BTreeSet<&String> = watches.keys().chain(rollouts.keys()).collect();
    let mut with_due = Vec::new();
    for name in names {
        let (watch, rollout) = (watches.get(name), rollouts.get(name));
        if due(&mut reader, name, watch, rollout, &sandbox.settings.rollback, now).await?.is_some() {
            with_due.push(name.clone());
        }
    }
    drop(reader);
    for name in with_due {
        // Another slice must not wait for one that can't be changed.
        if let Err(failure) = act(sandbox, &name, now).await {
            tracing::warn!(slice.name = name, ?failure, "slice.watch_failed");
        }
    }
    Ok(())
}

const ALL: &str = "
    SELECT name, watch_id, version, against, live_since, pages_before, failed_before FROM slice_watch";

/// What is to be done with a slice.
enum Due {
    /// The build of its watch fails too often.
    TakeBack(Watch, Seen),
    /// The build of its watch was live for long enough.
    EndWatch,
    /// The plan of its rollout has a next step.
    GoOn(Step),
}

async fn due(
    connection: &mut Connection,
    name: &str,
    watch: Option<&Watch>,
    rollout: Option<&Rollout>,
    settings: &RollbackSettings,
    now: UnixMillis,
) -> Result<Option<Due>, Failure> {
    let mut is_healthy = true;
    if let Some(watch) = watch {
        if watch.live_since.is_some_and(|since| now.since(since) >= settings.time()) {
            return Ok(Some(Due::EndWatch));
        }
        let seen = Seen::of(connection, watch).await?;
        if seen.is_worse(settings) {
            return Ok(Some(Due::TakeBack(watch.clone(), seen)));
        }
        is_healthy = !seen.exceeds(settings);
    }
    let Some(Rollout { version, percent, plan: Some(plan), step_began_at, .. }) = rollout else {
        return Ok(None);
    };
    let Some((lasts, next)) = plan.after(*percent).filter(|_| is_healthy) else { return Ok(None) };
    if now.since(*step_began_at) < lasts {
        return Ok(None);
    }
    let loads = loads_since(connection, name, version, *step_began_at).await?;
    Ok((loads >= i64::from(settings.rollback_pages)).then_some(Due::GoOn(next)))
}

/// Does what is due with a slice, in one transaction: of several servers, one does it.
async fn act(sandbox: &Sandbox, name: &str, now: UnixMillis) -> Result<(), Failure> {
    let (name, settings) = (SliceName::from_request(name)?, sandbox.settings.rollback);
    let (bundled, mark) = (Bundled::of(sandbox).await?, Mark::now(sandbox, Some(BY.to_owned()))?);
    let at = sandbox.clock.unset_now();
    let event = sandbox
        .database
        .write_in_turn(async move |connection: &mut Connection| {
            lock(connection, &name).await?;
            let slice = read_one(connection, &bundled, &name).await?;
            let watch: Option<Watch> =
                query_as(OF_ONE).bind(name.as_str()).fetch_optional(&mut *connection).await?;
            let rollout = slice.rollout.as_ref();
            let due = due(connection, name.as_str(), watch.as_ref(), rollout, &settings, now).await?;
            let (kind, details) = match due {
                None => return Ok(None),
                Some(Due::EndWatch) => {
                    end(connection, &bundled, &name).await?;
                    return Ok(None);
                }
                Some(Due::TakeBack(watch, seen)) => {
                    let details = format!("{}, {}", watch.version, seen.sentence());
                    if !take_back(connection, &bundled, &name, &slice, &watch, &seen, mark).await? {
                        return Ok(None);
                    }
                    (Kind::SliceRolledBack, details)
                }
                Some(Due::GoOn(next)) if next.percent == 100 => {
                    rollout::go_live(connection, &bundled, &name, &slice, mark).await?;
                    (Kind::SlicePromoted, "by its plan".to_owned())
                }
                Some(Due::GoOn(Step { percent, .. })) => {
                    rollout::go_to(connection, &bundled, &name, &slice, percent, mark).await?;
                    (Kind::SliceRolledOut, format!("to {percent}%, by its plan"))
                }
            };
            let event = NewEvent::new(at, kind, BY, None).about(name.as_str()).details(&details);
            event.add(connection).await?;
            Ok(Some(event))
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

/// Takes the build of a watch back, and says why in the trail. Returns whether browsers still got it.
async fn take_back(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    watch: &Watch,
    seen: &Seen,
    mark: Mark,
) -> Result<bool, Failure> {
    let is_watched = |version: &&Version| version.to_string() == watch.version;
    let (act, note, live) = (SliceAction::RolledBack, Some(seen.sentence()), slice.live.as_ref());
    end(connection, bundled, name).await?;
    if let Some(version) = slice.rollout.as_ref().map(|rollout| &rollout.version).filter(is_watched) {
        rollout::delete(connection, name).await?;
        trail::add(connection, bundled, mark, act, name, Some(version), live, note).await?;
        return Ok(true);
    }
    if !live.is_some_and(|live| is_watched(&live)) {
        return Ok(false);
    }
    let before = slice.builds.iter().find(|build| Some(build.version.to_string()) == watch.against);
    let before = before.ok_or(Failure::NoPreviousBuild)?;
    check_shell(&before.shell, bundled.shell()?)?;
    check_paths(connection, bundled, name, &before.brings).await?;
    set_live(connection, bundled, name, Some(&before.version), None).await?;
    trail::add(connection, bundled, mark, act, name, Some(&before.version), live, note).await?;
    Ok(true)
}

const LOADS: &str = "
    SELECT CAST(COALESCE(sum(times), 0) AS BIGINT) AS pages, CAST(0 AS BIGINT) AS failed FROM slice_report
    WHERE name = $1 AND version = $2 AND minute >= $3 AND outcome IN ('loaded', 'not_loaded')";

async fn loads_since(
    connection: &mut Connection,
    name: &str,
    version: &Version,
    since: UnixMillis,
) -> Result<i64, Failure> {
    let (loads, _): (i64, i64) = query_as(LOADS)
        .bind(name)
        .bind(version.to_string())
        .bind(minute(since))
        .fetch_one(connection)
        .await?;
    Ok(loads)
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
