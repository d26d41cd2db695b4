//! Watches new builds: takes back those that fail, and continues the plans of rollouts.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuilds, locked},
    of_world::Slices,
    reports, roll_out,
    rollout::{self, Rollout, Step},
    taken_back::{PEOPLE, Seen, take_back},
    trail::Mark,
    watched::{self, Watch},
};
use base::{clock::UnixMillis, error::Failure};
use lending::events::{EventKind, NewEvent, Trail};
use store::{Connection, query_scalar};

/// The author of these changes in the trail.
const BY: &str = "the service";

/// Interval at which reports are written and builds are judged.
const INTERVAL: Duration = Duration::from_secs(1);

/// A build is watched for this long after it went live for everybody.
const WATCHED_LIVE: Duration = Duration::from_hours(1);

/// Runs [`look`] again and again, for as long as the future is polled. Every server does this.
pub async fn keep_watching(slices: Slices) {
    loop {
        slices.clock.sleep(INTERVAL).await;
        if let Err(failure) = look(&slices).await {
            tracing::warn!(?failure, "slice.watch_failed");
        }
    }
}

/// Writes waiting reports, takes builds back, ends watches that are over, and continues plans.
pub async fn look(slices: &Slices) -> Result<(), Failure> {
    let _one_round = slices.shared.reports.looking.lock().await;
    reports::write(slices).await?;
    let now = Now::of(slices);
    let mut reader = slices.database.read().await?;
    let watches = watched::all(&mut reader).await?;
    let watches: BTreeMap<&str, &Watch> = watches.iter().map(|watch| (watch.name.as_str(), watch)).collect();
    let rollouts = rollout::all(&mut reader).await?;
    let names: BTreeSet<&str> = watches.keys().copied().chain(rollouts.keys().map(String::as_str)).collect();
    let mut with_due = Vec::new();
    for name in names {
        let (watch, rollout) = (watches.get(name).copied(), rollouts.get(name));
        if due(&mut reader, name, watch, rollout, now).await?.is_some() {
            with_due.push(name);
        }
    }
    drop(reader);
    for name in with_due {
        // A slice that can't be changed must not hold up the others.
        if let Err(failure) = act(slices, name).await {
            tracing::warn!(slice.name = name, ?failure, "slice.watch_failed");
        }
    }
    Ok(())
}

/// The time, by both clocks.
#[derive(Clone, Copy)]
struct Now {
    /// By the machine's clock, by which builds are watched.
    machine: UnixMillis,
    /// By the console's clock, which plans follow.
    console: UnixMillis,
}

impl Now {
    fn of(slices: &Slices) -> Self {
        Self { machine: slices.clock.unset_now(), console: slices.clock.now() }
    }
}

/// The change that is due on a slice.
enum Due {
    /// The watched build fails and is taken back, for the reason in the text.
    TakeBack(Watch, String),
    /// The watched build was live for long enough.
    EndWatch,
    /// The console's clock was moved back to before the step began.
    BeginStepAgain,
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
    now: Now,
) -> Result<Option<Due>, Failure> {
    if let Some(watch) = watch {
        if watch.live_since.is_some_and(|since| now.machine.since(since) >= WATCHED_LIVE) {
            return Ok(Some(Due::EndWatch));
        }
        let seen = Seen::of(connection, watch).await?;
        if seen.is_to_be_taken_back() {
            let why = seen.sentence(connection, watch).await?;
            return Ok(Some(Due::TakeBack(watch.clone(), why)));
        }
        if seen.fails() {
            return Ok(None);
        }
    }
    let Some(Rollout { version, percent, plan: Some(plan), step_began_at, .. }) = rollout else {
        return Ok(None);
    };
    let Some((lasts, next)) = plan.after(*percent) else { return Ok(None) };
    if *step_began_at > now.console {
        return Ok(Some(Due::BeginStepAgain));
    }
    let lasted = now.console.since(*step_began_at);
    if lasted < lasts {
        return Ok(None);
    }
    let since = now.machine.minus(lasted);
    let people = query_scalar(PEOPLE_SINCE).bind(name).bind(version.to_string()).bind(since);
    let people: i64 = people.fetch_one(connection).await?;
    Ok((people >= PEOPLE).then_some(Due::GoOn(next)))
}

/// Makes the due change on a slice, in one transaction, so that only one of several servers makes it.
async fn act(slices: &Slices, name: &str) -> Result<(), Failure> {
    let name = SliceName::from_request(name)?;
    let bundled = Bundled::of(slices).await?;
    let transaction = slices.world.begin_with_current_clock().await?;
    let now = Now::of(slices);
    // The event depends on the change that is due.
    let mark = Mark::now(slices, Some(BY.to_owned()), Trail::default())?;
    let event = transaction
        .run(async move |connection: &mut Connection| {
            let slice = locked(connection, &bundled, &name).await?;
            let watches = watched::all(connection).await?;
            let watch = watches.iter().find(|watch| watch.name == name.as_str());
            let rollout = slice.rollout.as_ref();
            let due = due(connection, name.as_str(), watch, rollout, now).await?;
            let Some(due) = due else { return Ok(None) };
            let done = perform(connection, &bundled, &name, &slice, due, mark).await?;
            let Some((kind, details)) = done else { return Ok(None) };
            let event = NewEvent::new(now.machine, kind, BY, None).about(name.as_str()).details(&details);
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
) -> Result<Option<(EventKind, String)>, Failure> {
    Ok(match due {
        Due::EndWatch => {
            watched::end(connection, name).await?;
            None
        }
        Due::TakeBack(watch, why) => {
            let done = take_back(connection, bundled, name, slice, &watch, &why, mark).await?;
            done.map(|(act, note)| (act.kind(), format!("{}, {note}", watch.version)))
        }
        Due::BeginStepAgain => {
            roll_out::begin_step_again(connection, name, &mark).await?;
            None
        }
        Due::GoOn(Step { percent: 100, .. }) => {
            roll_out::go_live(connection, bundled, name, slice, mark).await?;
            Some((EventKind::SlicePromoted, "by its plan".to_owned()))
        }
        Due::GoOn(Step { percent, .. }) => {
            roll_out::go_to(connection, name, slice, percent, mark).await?;
            Some((EventKind::SliceRolledOut, format!("to {percent}%, by its plan")))
        }
    })
}
