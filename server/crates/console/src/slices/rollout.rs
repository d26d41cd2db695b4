//! Rollouts on the page: the form to begin or change a rollout, and the buttons to end it.

use leptos::prelude::*;
use semver::Version;

use crate::view::prelude::*;
use base::error::Failure;
use slices::{
    Mark, Rollout, Share, SliceBuilds, SliceName, SliceRefusal,
    roll_out::{self, Change},
};

/// The buttons of a slice while a rollout of it runs.
pub fn buttons(visit: &Visit, name: &str, rollout: &Rollout) -> AnyView {
    let Rollout { version, plan, .. } = rollout;
    let button =
        |act, label| Button::new(act, label).field("name", name).field("version", version.to_string());
    let promote = button("promote", "Promote").about(format!("Promote {name} {version}")).confirm(
        format!("Promote {name} {version}?"),
        "Everyone who loads the portal from now on gets this build.",
    );
    let hold = button("hold", "Hold").quiet().about(format!("Hold the rollout of {name}"));
    let abort = button("abort", "Abort").quiet().about(format!("Abort the rollout of {name}")).confirm(
        format!("Abort the rollout of {name} {version}?"),
        "Everyone who loads the portal from now on gets the live build.",
    );
    let hold = plan.is_some().then(|| visit.button(hold));
    view! { {visit.button(promote)}{hold}{visit.button(abort)} }.into_any()
}

/// One sentence about a rollout that runs.
pub fn sentence(rollout: &Rollout, live: Option<&Version>) -> String {
    let Rollout { version, percent, plan, .. } = rollout;
    let plan = plan.as_ref().map(|plan| format!(", by the plan {plan}")).unwrap_or_default();
    let others = live.map_or_else(|| "have none".to_owned(), |live| format!("have {live}"));
    format!("{percent}% of browsers have {version}{plan}; the others {others}.")
}

/// The form that gives a build to some browsers.
pub fn form(visit: &Visit, slices: &[SliceBuilds]) -> Option<AnyView> {
    let builds: Vec<String> = slices.iter().filter(|slice| !slice.is_shell()).flat_map(choices).collect();
    let first = builds.first()?.clone();
    let builds = builds.into_iter().map(|build| (build.clone(), build));
    let build = Field::choice("build", "Build", builds).value(first);
    let share = Field::text("share", "Share")
        .hint("A percentage such as 10, or a plan such as 5:10m,25:30m,100.")
        .value("10");
    let form = visit.form("roll-out", "in fields", [build, share], Submit::Main("Roll out"));
    Some(card("roll-out", "Rollout", form))
}

/// The builds that can be rolled out: those that are not live, or the one that is being rolled out.
fn choices(slice: &SliceBuilds) -> impl Iterator<Item = String> {
    let running = slice.rollout.as_ref().map(|rollout| &rollout.version);
    let builds = slice.builds.iter().map(|build| &build.version);
    builds
        .filter(move |version| {
            running.map_or(slice.live.as_ref() != Some(version), |running| running == *version)
        })
        .map(|version| format!("{} {version}", slice.name))
}

pub async fn roll_out(visit: &Visit, mark: Mark) -> Result<Done, FieldError> {
    let build = visit.sent.text("build");
    let (name, version) = build.split_once(' ').unwrap_or((build, ""));
    let name = SliceName::from_request(name).map_err(FieldError::of("build"))?;
    let version = name.version_from_request(version).map_err(FieldError::of("build"))?;
    let share = share(visit.sent.text("share")).map_err(FieldError::of("share"))?;
    let slice = roll_out::roll_out(&visit.sandbox.slices, name, version, share, true, mark).await?;
    let rollout = slice.rollout.ok_or_else(|| SliceRefusal::NoRollout(slice.name.clone()))?;
    Ok(Done::new("rolled-out").with(format!("{} {}: {}%", slice.name, rollout.version, rollout.percent)))
}

/// Changes the rollout that the page showed.
pub async fn change(visit: &Visit, change: Change, mark: Mark) -> Result<SliceBuilds, Failure> {
    let name = SliceName::from_request(visit.sent.text("name"))?;
    let seen = seen(visit, &name)?;
    roll_out::change(&visit.sandbox.slices, name, change, seen, mark).await
}

/// The version that the page showed on the button, if the form has it.
pub fn seen(visit: &Visit, name: &SliceName) -> Result<Option<Version>, Failure> {
    visit.sent.given("version").map(|version| name.version_from_request(version)).transpose()
}

/// A percentage or a plan.
fn share(text: &str) -> Result<Share, Failure> {
    let share = match text.trim_end_matches('%').trim().parse() {
        Ok(percent) => Share::from_request(Some(percent), None)?,
        Err(_) => Share::from_request(None, Some(text))?,
    };
    share.ok_or_else(|| Failure::BadValue("Give a percentage or a plan".to_owned()))
}
