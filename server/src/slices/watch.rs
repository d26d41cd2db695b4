//! Watches builds that are new: takes those back that fail, and lets the plans of rollouts go on.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use semver::Version;

use super::{
    Bundled, Mark, Rollout, SliceBuilds, SliceName, locked, reports, rollout,
    rollout::Step,
    taken_back::{PEOPLE, Seen, take_back},
};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_as, query_scalar},
    error::Failure,
    events::{Kind, NewEvent, Trail},
};

/// Who takes builds back and lets plans go on, in the trail.
const BY: &str = "the service";

/// How often reports are written and builds are judged.
const INTERVAL: Duration = Duration::from_secs(1);

/// For how long before a watch began the pages of the build before count.
const BEFORE: Duration = Duration::from_hours(24);

/// A build that is watched.
#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub(super) struct Watch {
    pub name: String,
    pub version: String,
    /// The build that others get, or got before.
    pub against: Option<String>,
    pub began_at: UnixMillis,
    /// Since when everybody gets it.
    live_since: Option<UnixMillis>,
}

impl Watch {
    pub fn is_of(&self, version: &Version) -> bool {
        version.to_string() == self.version
    }

    /// Since when the pages of the build before count.
    pub fn before(&self) -> UnixMillis {
        self.began_at.minus(BEFORE)
    }
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

const ALL: &str = "SELECT name, version, against, began_at, live_since FROM slice_watch";

/// Writes the reports that wait, takes builds back, ends watches that are over, and lets plans go on.
///
/// # Errors
/// When the database fails.
pub async fn look(sandbox: &Sandbox) -> Result<(), Failure> {
    let _one_round = sandbox.server.reports.looking.lock().await;
    reports::write(sandbox).await?;
    let (bundled, now) = (Bundled::of(sandbox).await?, sandbox.clock.now());
    let mut reader = sandbox.database.read().await?;
    let watches: Vec<Watch> = query_as(ALL).fetch_all(&mut reader).await?;
    let watches: BTreeMap<&str, &Watch> = watches.iter().map(|watch| (watch.name.as_str(), watch)).collect();
    let rollouts = rollout::all(&mut reader, &bundled).await?;
    let names: BTreeSet<&str> = watches.keys().copied().chain(rollouts.keys().map(String::as_str)).collect();
    let length = sandbox.settings.watch_length();
    let mut with_due = Vec::new();
    for name in names {
        let (watch, rollout) = (watches.get(name).copied(), rollouts.get(name));
        if due(&mut reader, name, watch, rollout, length, now).await?.is_some() {
            with_due.push(name);
        }
    }
    drop(reader);
    for name in with_due {
        // Another slice must not wait for one that can't be changed.
        if let Err(failure) = act(sandbox, name, now).await {
            tracing::warn!(slice.name = name, ?failure, "slice.watch_failed");
        }
    }
    Ok(())
}

/// What is to be done with a slice.
enum Due {
    /// The build of its watch fails; why it is taken back.
    TakeBack(Watch, String),
    /// The build of its watch was live for long enough.
    EndWatch,
    /// The plan of its rollout has a next step.
    GoOn(Step),
}

const PEOPLE_SINCE: &str = "
    SELECT count(DISTINCT staff_id) FROM slice_page WHERE name = $1 AND version = $2 AND seen_at >= $3";

async fn due(
    connection: &mut Connection,
    name: &str,
    watch: Option<&Watch>,
    rollout: Option<&Rollout>,
    length: Duration,
    now: UnixMillis,
) -> Result<Option<Due>, Failure> {
    if let Some(watch) = watch {
        if watch.live_since.is_some_and(|since| now.since(since) >= length) {
            return Ok(Some(Due::EndWatch));
        }
        let seen = Seen::of(connection, watch).await?;
        if seen.is_to_be_taken_back() {
            return Ok(Some(Due::TakeBack(watch.clone(), seen.sentence())));
        }
        if seen.fails() {
            return Ok(None);
        }
    }
    let Some(Rollout { version, percent, plan: Some(plan), step_began_at, .. }) = rollout else {
        return Ok(None);
    };
    let Some((lasts, next)) = plan.after(*percent) else { return Ok(None) };
    if now.since(*step_began_at) < lasts {
        return Ok(None);
    }
    let people = query_scalar(PEOPLE_SINCE).bind(name).bind(version.to_string()).bind(*step_began_at);
    let people: i64 = people.fetch_one(connection).await?;
    Ok((people >= PEOPLE).then_some(Due::GoOn(next)))
}

const OF_ONE: &str = "
    SELECT name, version, against, began_at, live_since FROM slice_watch WHERE name = $1";

/// Does what is due with a slice, in one transaction: of several servers, one does it.
async fn act(sandbox: &Sandbox, name: &str, now: UnixMillis) -> Result<(), Failure> {
    let (name, length) = (SliceName::from_request(name)?, sandbox.settings.watch_length());
    let bundled = Bundled::of(sandbox).await?;
    // Its event depends on what is due.
    let mark = Mark::now(sandbox, Some(BY.to_owned()), Trail::default())?;
    let at = sandbox.clock.unset_now();
    let event = sandbox
        .database
        .write_in_turn(async move |connection: &mut Connection| {
            let slice = locked(connection, &bundled, &name).await?;
            let watch: Option<Watch> =
                query_as(OF_ONE).bind(name.as_str()).fetch_optional(&mut *connection).await?;
            let rollout = slice.rollout.as_ref();
            let due = due(connection, name.as_str(), watch.as_ref(), rollout, length, now).await?;
            let Some(due) = due else { return Ok(None) };
            let done = perform(connection, &bundled, &name, &slice, due, mark).await?;
            let Some((kind, details)) = done else { return Ok(None) };
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

/// Does what is due with a slice that is locked. Returns the event that it is, if any.
async fn perform(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    slice: &SliceBuilds,
    due: Due,
    mark: Mark,
) -> Result<Option<(Kind, String)>, Failure> {
    Ok(match due {
        Due::EndWatch => {
            end(connection, bundled, name).await?;
            None
        }
        Due::TakeBack(watch, why) => {
            let details = format!("{}, {why}", watch.version);
            let was_served = take_back(connection, bundled, name, slice, &watch, why, mark).await?;
            was_served.then_some((Kind::SliceRolledBack, details))
        }
        Due::GoOn(Step { percent: 100, .. }) => {
            rollout::go_live(connection, bundled, name, slice, mark).await?;
            Some((Kind::SlicePromoted, "by its plan".to_owned()))
        }
        Due::GoOn(Step { percent, .. }) => {
            rollout::go_to(connection, bundled, name, slice, percent, mark).await?;
            Some((Kind::SliceRolledOut, format!("to {percent}%, by its plan")))
        }
    })
}

// The share of a rollout changes, but not when its build was first seen.
const BEGIN: &str = "
    INSERT INTO slice_watch (name, version, against, began_at, live_since) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (name) DO UPDATE SET
        version = excluded.version, against = excluded.against, began_at = excluded.began_at,
        live_since = excluded.live_since
    WHERE slice_watch.version <> excluded.version OR slice_watch.live_since IS NOT NULL
       OR excluded.live_since IS NOT NULL";

/// Watches a build that is rolled out, unless it is watched already.
pub(super) async fn begin_rollout(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
) -> Result<(), Failure> {
    begin(connection, name, version, against, mark, None).await
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
    // What is live in other sandboxes is not watched.
    if bundled.sandbox_id.is_some() {
        return Ok(());
    }
    match against {
        Some(_) => begin(connection, name, version, against, mark, Some(mark.at)).await,
        None => end(connection, bundled, name).await,
    }
}

async fn begin(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
    live_since: Option<UnixMillis>,
) -> Result<(), Failure> {
    query(BEGIN)
        .bind(name.as_str())
        .bind(version.to_string())
        .bind(against.map(ToString::to_string))
        .bind(mark.at)
        .bind(live_since)
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

/// Ends the watch of a slice.
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
