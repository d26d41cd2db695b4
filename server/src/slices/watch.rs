//! Watches new builds: takes back those that fail, and continues the plans of rollouts.

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
use crate::Sandbox;
use base::{clock::UnixMillis, error::Failure};
use lending::events::{Kind, NewEvent, Trail};
use store::{Connection, query, query_as, query_scalar};

/// The author of these changes in the trail.
const BY: &str = "the service";

/// Interval at which reports are written and builds are judged.
const INTERVAL: Duration = Duration::from_secs(1);

/// Pages of the earlier build count from this long before the watch began.
const BEFORE: Duration = Duration::from_hours(24);

/// A build that is watched.
#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub(super) struct Watch {
    pub name: String,
    pub version: String,
    /// The build to compare with: the one that others get, or that was live before.
    pub against: Option<String>,
    pub began_at: UnixMillis,
    /// When it went live for everybody; `None` during a rollout.
    live_since: Option<UnixMillis>,
}

impl Watch {
    pub fn is_of(&self, version: &Version) -> bool {
        version.to_string() == self.version
    }

    /// The time from which the pages of the earlier build count.
    pub fn before(&self) -> UnixMillis {
        self.began_at.minus(BEFORE)
    }
}

/// Runs [`look`] again and again, for as long as the future is polled. Every server does this.
pub async fn keep_watching(sandbox: Sandbox) {
    loop {
        sandbox.clock.sleep(INTERVAL).await;
        if let Err(failure) = look(&sandbox).await {
            tracing::warn!(?failure, "slice.watch_failed");
        }
    }
}

const ALL: &str = "SELECT name, version, against, began_at, live_since FROM slice_watch";

/// Writes waiting reports, takes builds back, ends watches that are over, and continues plans.
///
/// # Errors
/// When the database fails.
pub async fn look(sandbox: &Sandbox) -> Result<(), Failure> {
    let _one_round = sandbox.server.reports.looking.lock().await;
    reports::write(sandbox).await?;
    let now = sandbox.clock.now();
    let mut reader = sandbox.database.read().await?;
    let watches: Vec<Watch> = query_as(ALL).fetch_all(&mut reader).await?;
    let watches: BTreeMap<&str, &Watch> = watches.iter().map(|watch| (watch.name.as_str(), watch)).collect();
    let rollouts = rollout::all(&mut reader).await?;
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
        // A slice that can't be changed must not hold up the others.
        if let Err(failure) = act(sandbox, name, now).await {
            tracing::warn!(slice.name = name, ?failure, "slice.watch_failed");
        }
    }
    Ok(())
}

/// The change that is due on a slice.
enum Due {
    /// The watched build fails and is taken back, for the reason in the text.
    TakeBack(Watch, String),
    /// The watched build was live for long enough.
    EndWatch,
    /// The next step of the rollout's plan is due.
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

/// Makes the due change on a slice, in one transaction, so that only one of several servers makes it.
async fn act(sandbox: &Sandbox, name: &str, now: UnixMillis) -> Result<(), Failure> {
    let (name, length) = (SliceName::from_request(name)?, sandbox.settings.watch_length());
    let bundled = Bundled::of(sandbox).await?;
    // The event depends on the change that is due.
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

/// Makes the due change on a locked slice. Returns the kind and the details of its event, if any.
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
            end(connection, name).await?;
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
            rollout::go_to(connection, name, slice, percent, mark).await?;
            Some((Kind::SliceRolledOut, format!("to {percent}%, by its plan")))
        }
    })
}

// When only the share of a rollout changes, the watch keeps its start.
const BEGIN: &str = "
    INSERT INTO slice_watch (name, version, against, began_at, live_since) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (name) DO UPDATE SET
        version = excluded.version, against = excluded.against, began_at = excluded.began_at,
        live_since = excluded.live_since
    WHERE slice_watch.version <> excluded.version OR slice_watch.live_since IS NOT NULL
       OR excluded.live_since IS NOT NULL";

/// Watches a build during its rollout, unless it is watched already.
pub(super) async fn begin_rollout(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
) -> Result<(), Failure> {
    begin(connection, name, version, against, mark, None).await
}

/// Watches a build that goes live for everybody, unless there is no earlier build to go back to.
pub(super) async fn begin_live(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
) -> Result<(), Failure> {
    // Builds in other sandboxes are not watched.
    if bundled.sandbox_id.is_some() {
        return Ok(());
    }
    match against {
        Some(_) => begin(connection, name, version, against, mark, Some(mark.at)).await,
        None => end(connection, name).await,
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

/// Continues the watch of a build whose rollout ends because it goes live.
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
pub(super) async fn end(connection: &mut Connection, name: &SliceName) -> Result<(), Failure> {
    query(END).bind(name.as_str()).execute(connection).await?;
    Ok(())
}
