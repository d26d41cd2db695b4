//! Begins, changes and ends rollouts.

use semver::Version;
use serde::Deserialize;

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuilds, lock, locked, read_one, set_live, set_previous},
    of_world::Slices,
    refusal::SliceRefusal,
    rollout::{self, Rollout, Share},
    trail::{self, Mark, SliceAction},
    watched,
};
use base::error::Failure;
use store::{Connection, query};

/// The body of a request for a rollout.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RolloutBody {
    pub version: String,
    percent: Option<u8>,
    plan: Option<String>,
    #[serde(default = "yes")]
    pub watch: bool,
}

/// Builds are watched unless a request says otherwise.
pub(super) fn yes() -> bool {
    true
}

impl RolloutBody {
    pub fn share(&self) -> Result<Share, Failure> {
        let share = Share::from_request(self.percent, self.plan.as_deref())?;
        share.ok_or_else(|| Failure::bad_field("percent", "Give a percentage or a plan"))
    }
}

/// Fails while a rollout runs: the live build can't be changed then.
pub(super) fn refuse_during(slice: &SliceBuilds) -> Result<(), Failure> {
    let Some(Rollout { version, percent, .. }) = &slice.rollout else { return Ok(()) };
    Err(SliceRefusal::RolloutRuns {
        name: slice.name.clone(),
        version: version.to_string(),
        percent: *percent,
    }
    .into())
}

/// Fails if the caller has seen another version than `version`, which the act would be about by now.
pub(super) fn refuse_unless_seen(
    slice: &SliceBuilds,
    seen: Option<&Version>,
    version: &Version,
) -> Result<(), Failure> {
    if seen.is_none_or(|seen| seen == version) {
        return Ok(());
    }
    Err(SliceRefusal::Changed(slice.name.clone()).into())
}

/// Gives an existing build to some browsers; the others keep the live one. If a rollout of this build
/// runs, its share is changed. If the build `is_watched`, it is taken back when it fails. Returns the new
/// state of the slice.
pub async fn roll_out(
    slices: &Slices,
    name: SliceName,
    version: Version,
    share: Share,
    is_watched: bool,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let entry = SliceAction::RolledOut.entry(&name).with("version", &version);
    let entry = entry.with("percent", share.percent).with_some("plan", share.plan.as_ref());
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    trail
        .write_done(slices.database.begin().await?, async move |connection: &mut Connection| {
            lock(connection, &name).await?;
            let is_changed = begin(connection, &bundled, &name, &version, &share, is_watched, mark).await?;
            Ok((read_one(connection, &bundled, &name).await?, is_changed.then_some(entry)))
        })
        .await
}

const SET: &str = "
    INSERT INTO slice_rollout (name, version, percent, plan, began_at, step_began_at)
    VALUES ($1, $2, $3, $4, $5, $5)
    ON CONFLICT (name) DO UPDATE SET
        version = excluded.version, percent = excluded.percent, plan = excluded.plan,
        began_at = CASE WHEN slice_rollout.version = excluded.version THEN slice_rollout.began_at
                        ELSE excluded.began_at END,
        step_began_at = excluded.step_began_at";

/// Begins or changes a rollout of a slice that is locked. Returns `false` if there was nothing to change.
pub(super) async fn begin(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    share: &Share,
    is_watched: bool,
    mark: Mark,
) -> Result<bool, Failure> {
    refuse_for_everybody(bundled, name)?;
    let before = read_one(connection, bundled, name).await?.existing()?;
    let build = before.existing_build(version)?;
    if before.live.as_ref() == Some(version) {
        return Err(SliceRefusal::AlreadyLive { name: before.name, version: version.to_string() }.into());
    }
    let running = before.rollout.as_ref();
    if running.is_some_and(|running| running.version != *version) {
        refuse_during(&before)?;
    }
    let against = before.live.as_ref();
    let watch_changed = watched::begin_rollout(connection, name, version, against, is_watched, &mark).await?;
    let is_same = |running: &Rollout| (running.percent, &running.plan) == (share.percent, &share.plan);
    if running.is_some_and(is_same) {
        return Ok(watch_changed);
    }
    build.check_fits(name, false, connection, bundled).await?;
    let (percent, plan) = (i64::from(share.percent), share.plan.as_ref().map(ToString::to_string));
    let set = query(SET).bind_all((name.as_str(), version.to_string(), percent, plan, mark.set_at));
    set.run(connection).await?;
    let live = before.live.as_ref();
    let note = Some(share.note());
    trail::add(connection, mark, SliceAction::RolledOut, name, Some(version), live, note).await?;
    Ok(true)
}

/// Fails where everybody gets the same build: in a sandbox, because only the deployment itself has visitors to roll a
/// build out to, and for the shell.
pub(super) fn refuse_for_everybody(bundled: &Bundled, name: &SliceName) -> Result<(), Failure> {
    if bundled.sandbox_id.is_some() {
        return Err(SliceRefusal::NotInSandbox.into());
    }
    if name.is_shell() { Err(SliceRefusal::ShellNotRolledOut.into()) } else { Ok(()) }
}

/// A change of a running rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays at its percentage: its plan no longer applies.
    Hold,
    /// Its build goes live for everybody.
    Promote,
    /// It ends: everybody gets the live build.
    Abort,
}

impl Change {
    fn action(self) -> SliceAction {
        match self {
            Self::Hold => SliceAction::RolloutHeld,
            Self::Promote => SliceAction::Promoted,
            Self::Abort => SliceAction::Aborted,
        }
    }
}

const DROP_PLAN: &str = "UPDATE slice_rollout SET plan = NULL WHERE name = $1";

/// Changes the rollout of a slice; if a version was `seen`, only while that one is rolled out. Returns the new state of
/// the slice.
pub async fn change(
    slices: &Slices,
    name: SliceName,
    change: Change,
    seen: Option<Version>,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let act = change.action();
    let entry = act.entry(&name);
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    trail
        .write_done(slices.database.begin().await?, async move |connection: &mut Connection| {
            let before = locked(connection, &bundled, &name).await?;
            let Rollout { version, percent, plan, .. } = running(&before)?;
            refuse_unless_seen(&before, seen.as_ref(), version)?;
            let (live, note) = (before.live.as_ref(), Some(format!("at {percent}%")));
            let after = match change {
                Change::Hold if plan.is_none() => return Ok((before, None)),
                Change::Promote => go_live(connection, &bundled, &name, &before, mark).await?,
                Change::Hold | Change::Abort => {
                    if change == Change::Hold {
                        query(DROP_PLAN).bind(name.as_str()).execute(&mut *connection).await?;
                    } else {
                        rollout::delete(connection, &name).await?;
                        watched::end(connection, &name).await?;
                    }
                    trail::add(connection, mark, act, &name, Some(version), live, note).await?;
                    set_previous(connection, &bundled, &name).await?
                }
            };
            Ok((after, Some(entry)))
        })
        .await
}

const GO_TO: &str = "UPDATE slice_rollout SET percent = $2, step_began_at = $3 WHERE name = $1";

/// Goes on to the next percentage of a plan.
pub(super) async fn go_to(
    connection: &mut Connection,
    name: &SliceName,
    before: &SliceBuilds,
    percent: u8,
    mark: Mark,
) -> Result<(), Failure> {
    let Rollout { version, .. } = running(before)?;
    query(GO_TO).bind_all((name.as_str(), i64::from(percent), mark.set_at)).run(connection).await?;
    let (live, note) = (before.live.as_ref(), Some(format!("to {percent}%, by its plan")));
    trail::add(connection, mark, SliceAction::RolledOut, name, Some(version), live, note).await
}

const BEGIN_STEP_AGAIN: &str = "UPDATE slice_rollout SET step_began_at = $2 WHERE name = $1";

/// Begins the current step of a plan again.
pub(super) async fn begin_step_again(
    connection: &mut Connection,
    name: &SliceName,
    mark: &Mark,
) -> Result<(), Failure> {
    Ok(query(BEGIN_STEP_AGAIN).bind(name.as_str()).bind(mark.set_at).run(connection).await?)
}

/// Makes the build of a rollout live. If the build is watched, the watch goes on. Returns the new state of the slice.
pub(super) async fn go_live(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    before: &SliceBuilds,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let Rollout { version, .. } = running(before)?;
    before.existing_build(version)?.check_fits(name, false, connection, bundled).await?;
    rollout::delete(connection, name).await?;
    watched::went_live(connection, name, version, mark.at).await?;
    let live = before.live.as_ref();
    set_live(connection, name, Some(version)).await?;
    trail::add(connection, mark, SliceAction::Promoted, name, Some(version), live, None).await?;
    set_previous(connection, bundled, name).await
}

fn running(slice: &SliceBuilds) -> Result<&Rollout, Failure> {
    let is_known = !slice.builds.is_empty();
    let refusal = if is_known { SliceRefusal::NoRollout } else { SliceRefusal::SliceNotFound };
    slice.rollout.as_ref().ok_or_else(|| refusal(slice.name.clone()).into())
}
