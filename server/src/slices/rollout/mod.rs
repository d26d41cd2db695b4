//! Rollouts: a build goes to some browsers first, and to the others once it works.

mod bucket;
mod plan;

use std::collections::BTreeMap;

use semver::Version;
use serde::{Deserialize, Serialize};

pub use self::{
    bucket::Bucket,
    plan::{Plan, Step},
};
use super::{
    Bundled, Mark, SliceBuilds, SliceName, build::check_shell, check_paths, lock, locked, read_one, set_live,
    trail, trail::SliceAction, watch,
};
use crate::slices::SliceRefusal;
use base::{clock::UnixMillis, error::Failure};
use lending::events::Kind;
use store::{Connection, Database, query, query_as};

/// A build that some browsers get, while the others keep the live one.
#[derive(Clone, Debug, Serialize)]
pub struct Rollout {
    /// The build.
    pub version: Version,
    /// The number of buckets, of 100, that get the build.
    pub percent: u8,
    /// The plan that raises the percentage; `None` when people change it.
    pub plan: Option<Plan>,
    /// When the rollout began.
    pub began_at: UnixMillis,
    /// When the current percentage was set.
    pub step_began_at: UnixMillis,
}

/// The share of browsers that get a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// A percentage, until somebody changes it.
    Percent(u8),
    /// The growing percentages of a plan.
    Planned(Plan),
}

impl Share {
    /// The share that a request asks for, if any.
    ///
    /// # Errors
    /// [`Failure::BadField`].
    pub fn from_request(percent: Option<u8>, plan: Option<&str>) -> Result<Option<Self>, Failure> {
        match (percent, plan) {
            (None, None) => Ok(None),
            (Some(percent @ ..=100), None) => Ok(Some(Self::Percent(percent))),
            (None, Some(plan)) => {
                let plan = plan.parse().map_err(|text| Failure::BadField { field: "plan", text })?;
                Ok(Some(Self::Planned(plan)))
            }
            (Some(_), None) => {
                let text = "A percentage is a whole number from 0 to 100".to_owned();
                Err(Failure::BadField { field: "percent", text })
            }
            (Some(_), Some(_)) => {
                let text = "Give either a percentage or a plan".to_owned();
                Err(Failure::BadField { field: "plan", text })
            }
        }
    }

    fn percent(&self) -> u8 {
        match self {
            Self::Percent(percent) => *percent,
            Self::Planned(plan) => plan.first().percent,
        }
    }

    fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Percent(_) => None,
            Self::Planned(plan) => Some(plan),
        }
    }

    /// The note in the trail.
    fn note(&self) -> String {
        match self {
            Self::Percent(percent) => format!("to {percent}%"),
            Self::Planned(plan) => format!("to {}%, by the plan {plan}", plan.first().percent),
        }
    }
}

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
        Share::from_request(self.percent, self.plan.as_deref())?.ok_or_else(|| Failure::BadField {
            field: "percent",
            text: "Give a percentage or a plan".to_owned(),
        })
    }
}

#[derive(sqlx_macros::FromRow)]
struct RolloutRow {
    name: String,
    version: String,
    percent: i64,
    plan: Option<String>,
    began_at: UnixMillis,
    step_began_at: UnixMillis,
}

impl RolloutRow {
    fn rollout(self) -> Result<Rollout, Failure> {
        let unreadable =
            |error: &dyn std::fmt::Display| Failure::Internal(format!("rollout of {}: {error}", self.name));
        Ok(Rollout {
            version: Version::parse(&self.version).map_err(|error| unreadable(&error))?,
            percent: u8::try_from(self.percent).map_err(|error| unreadable(&error))?,
            plan: self
                .plan
                .map(|plan| plan.parse())
                .transpose()
                .map_err(|error: String| unreadable(&error))?,
            began_at: self.began_at,
            step_began_at: self.step_began_at,
        })
    }
}

const ALL: &str = "SELECT name, version, percent, plan, began_at, step_began_at FROM slice_rollout";

/// The rollouts, by slice; sandboxes have none.
pub(super) async fn all(connection: &mut Connection) -> Result<BTreeMap<String, Rollout>, Failure> {
    let rows: Vec<RolloutRow> = query_as(ALL).fetch_all(connection).await?;
    rows.into_iter().map(|row| Ok((row.name.clone(), row.rollout()?))).collect()
}

const OF_ONE: &str = "
    SELECT name, version, percent, plan, began_at, step_began_at FROM slice_rollout WHERE name = $1";

/// The rollout of one slice, if any.
pub(super) async fn of_one(
    connection: &mut Connection,
    name: &SliceName,
) -> Result<Option<Rollout>, Failure> {
    let row: Option<RolloutRow> = query_as(OF_ONE).bind(name.as_str()).fetch_optional(connection).await?;
    row.map(RolloutRow::rollout).transpose()
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

/// Gives an existing build to some browsers; the others keep the live one. If a rollout of this build
/// runs, its share is changed. If the build `is_watched`, it is taken back when it fails. Returns the new
/// state of the slice.
///
/// # Errors
/// [`SliceRefusal::SliceNotFound`], [`SliceRefusal::BuildNotFound`], [`SliceRefusal::WrongShell`], [`SliceRefusal::PathTaken`],
/// [`SliceRefusal::NoPortal`], [`SliceRefusal::RolloutRuns`], [`SliceRefusal::AlreadyLive`], [`SliceRefusal::NotInSandbox`].
pub async fn roll_out(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    version: Version,
    share: Share,
    is_watched: bool,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let (bundled, events) = (bundled.clone(), mark.events.clone());
    events
        .write(database.begin().await?, async move |connection: &mut Connection| {
            lock(connection, &name).await?;
            begin(connection, &bundled, &name, &version, &share, is_watched, mark).await?;
            read_one(connection, &bundled, &name).await
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

/// Begins or changes a rollout of a slice that is locked.
pub(super) async fn begin(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    share: &Share,
    is_watched: bool,
    mark: Mark,
) -> Result<(), Failure> {
    refuse_in_sandbox(bundled)?;
    let before = read_one(connection, bundled, name).await?.existing()?;
    let build = before.build(version).ok_or_else(|| SliceRefusal::BuildNotFound {
        name: before.name.clone(),
        version: version.to_string(),
    })?;
    check_shell(&build.shell, bundled.shell()?)?;
    if before.live.as_ref() == Some(version) {
        return Err(SliceRefusal::AlreadyLive { name: before.name, version: version.to_string() }.into());
    }
    let running = before.rollout.as_ref();
    if running.is_some_and(|running| running.version != *version) {
        return refuse_during(&before);
    }
    if is_watched {
        watch::begin_rollout(connection, name, version, before.live.as_ref(), &mark).await?;
    } else {
        watch::end(connection, name).await?;
    }
    let is_same =
        |running: &Rollout| (running.percent, running.plan.as_ref()) == (share.percent(), share.plan());
    if running.is_some_and(is_same) {
        return Ok(());
    }
    check_paths(connection, bundled, name, &build.brings).await?;
    query(SET)
        .bind(name.as_str())
        .bind(version.to_string())
        .bind(i64::from(share.percent()))
        .bind(share.plan().map(ToString::to_string))
        .bind(mark.at)
        .execute(&mut *connection)
        .await?;
    let live = before.live.as_ref();
    let note = Some(share.note());
    trail::add(connection, mark, SliceAction::RolledOut, name, Some(version), live, note).await
}

/// Fails in any sandbox but `main`: only the deployment itself has visitors to roll a build out to.
pub(super) fn refuse_in_sandbox(bundled: &Bundled) -> Result<(), Failure> {
    if bundled.sandbox_id.is_some() { Err(SliceRefusal::NotInSandbox.into()) } else { Ok(()) }
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
    /// The kind of its event.
    pub fn kind(self) -> Kind {
        match self {
            Self::Hold => Kind::SliceRolloutHeld,
            Self::Promote => Kind::SlicePromoted,
            Self::Abort => Kind::SliceRolloutAborted,
        }
    }
}

/// Changes the rollout of a slice. Returns the new state of the slice.
///
/// # Errors
/// [`SliceRefusal::NoRollout`]; to promote, also [`SliceRefusal::WrongShell`], [`SliceRefusal::PathTaken`] and
/// [`SliceRefusal::NoPortal`].
pub async fn change(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    change: Change,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let (bundled, events) = (bundled.clone(), mark.events.clone());
    events
        .write(database.begin().await?, async move |connection: &mut Connection| {
            let before = locked(connection, &bundled, &name).await?;
            match change {
                Change::Hold => drop_plan(connection, &name, &before, mark).await?,
                Change::Promote => go_live(connection, &bundled, &name, &before, mark).await?,
                Change::Abort => end(connection, &name, &before, mark).await?,
            }
            read_one(connection, &bundled, &name).await
        })
        .await
}

const END: &str = "DELETE FROM slice_rollout WHERE name = $1";

/// Deletes the rollout of a slice.
pub(super) async fn delete(connection: &mut Connection, name: &SliceName) -> Result<(), Failure> {
    query(END).bind(name.as_str()).execute(connection).await?;
    Ok(())
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
    query(GO_TO).bind(name.as_str()).bind(i64::from(percent)).bind(mark.at).execute(&mut *connection).await?;
    let (live, note) = (before.live.as_ref(), Some(format!("to {percent}%, by its plan")));
    trail::add(connection, mark, SliceAction::RolledOut, name, Some(version), live, note).await
}

/// Makes the build of a rollout live. If the build is watched, the watch goes on.
pub(super) async fn go_live(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    before: &SliceBuilds,
    mark: Mark,
) -> Result<(), Failure> {
    let Rollout { version, .. } = running(before)?;
    let build = before.build(version).ok_or_else(|| SliceRefusal::NoRollout(before.name.clone()))?;
    check_shell(&build.shell, bundled.shell()?)?;
    check_paths(connection, bundled, name, &build.brings).await?;
    delete(connection, name).await?;
    watch::went_live(connection, name, version, mark.at).await?;
    let live = before.live.as_ref();
    set_live(connection, name, Some(version), live).await?;
    trail::add(connection, mark, SliceAction::Promoted, name, Some(version), live, None).await
}

async fn end(
    connection: &mut Connection,
    name: &SliceName,
    before: &SliceBuilds,
    mark: Mark,
) -> Result<(), Failure> {
    let Rollout { version, percent, .. } = running(before)?;
    delete(connection, name).await?;
    watch::end(connection, name).await?;
    let (live, note) = (before.live.as_ref(), Some(format!("at {percent}%")));
    trail::add(connection, mark, SliceAction::Aborted, name, Some(version), live, note).await
}

const DROP_PLAN: &str = "UPDATE slice_rollout SET plan = NULL WHERE name = $1";

async fn drop_plan(
    connection: &mut Connection,
    name: &SliceName,
    before: &SliceBuilds,
    mark: Mark,
) -> Result<(), Failure> {
    let Rollout { version, percent, plan, .. } = running(before)?;
    if plan.is_none() {
        return Ok(());
    }
    query(DROP_PLAN).bind(name.as_str()).execute(&mut *connection).await?;
    let (live, note) = (before.live.as_ref(), Some(format!("at {percent}%")));
    trail::add(connection, mark, SliceAction::RolloutHeld, name, Some(version), live, note).await
}

fn running(slice: &SliceBuilds) -> Result<&Rollout, Failure> {
    slice.rollout.as_ref().ok_or_else(|| SliceRefusal::NoRollout(slice.name.clone()).into())
}
