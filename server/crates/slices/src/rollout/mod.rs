//! Rollouts: a build goes to some browsers first, and to the others once it works.

mod bucket;
mod plan;

use std::collections::BTreeMap;

use semver::Version;
use serde::Serialize;

pub use self::{
    bucket::Bucket,
    plan::{Plan, Step},
};
use crate::build::SliceName;
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query, query_as};

/// A build that some browsers get, while the others keep the live one.
#[derive(Clone, Debug, Serialize)]
pub struct Rollout {
    pub version: Version,
    /// The number of buckets, of 100, that get the build.
    pub percent: u8,
    /// The plan that raises the percentage; `None` when people change it.
    pub plan: Option<Plan>,
    pub began_at: UnixMillis,
    /// When the current percentage was set.
    pub step_began_at: UnixMillis,
}

/// The share of browsers that get a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The percentage; that of the first step if there is a plan.
    pub(super) percent: u8,
    pub(super) plan: Option<Plan>,
}

impl Share {
    pub fn from_request(percent: Option<u8>, plan: Option<&str>) -> Result<Option<Self>, Failure> {
        match (percent, plan) {
            (None, None) => Ok(None),
            (Some(percent @ ..=100), None) => Ok(Some(Self { percent, plan: None })),
            (None, Some(plan)) => {
                let plan: Plan = plan.parse().map_err(|text: String| Failure::bad_field("plan", text))?;
                Ok(Some(Self { percent: plan.first().percent, plan: Some(plan) }))
            }
            (Some(_), None) => {
                Err(Failure::bad_field("percent", "A percentage is a whole number from 0 to 100"))
            }
            (Some(_), Some(_)) => Err(Failure::bad_field("plan", "Give either a percentage or a plan")),
        }
    }

    /// The note in the trail.
    pub(super) fn note(&self) -> String {
        match &self.plan {
            None => format!("to {}%", self.percent),
            Some(plan) => format!("to {}%, by the plan {plan}", self.percent),
        }
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

const END: &str = "DELETE FROM slice_rollout WHERE name = $1";

pub(super) async fn delete(connection: &mut Connection, name: &SliceName) -> Result<(), Failure> {
    Ok(query(END).bind(name.as_str()).run(connection).await?)
}
