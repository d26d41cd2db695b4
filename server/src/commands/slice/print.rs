//! Sentences on the state of slices, and the list of their builds.

use serde_json::Value;

use crate::commands::terminal::{elements, print_list, text};

pub fn published(version: &str, is_new: bool, slice: &Value) -> String {
    let name = slice["name"].as_str().unwrap_or_default();
    let outcome = if is_new { "is published" } else { "was already published" };
    let live_build = match (slice["live"].as_str(), slice["rollout"]["percent"].as_u64()) {
        (live, Some(percent)) if slice["rollout"]["version"] == version => {
            format!("{percent}% of browsers get it, the others {}", live.unwrap_or("nothing"))
        }
        (Some(live), _) if live == version => "it is live".to_owned(),
        (Some(live), _) => format!("{live} is live"),
        (None, _) => "no build of it is live".to_owned(),
    };
    format!("{name} {version} {outcome}; {live_build}.")
}

/// The versions of a slice that browsers get.
pub fn rollout(slice: &Value) -> String {
    let (name, others) = (slice["name"].as_str().unwrap_or_default(), slice["live"].as_str());
    let rollout = &slice["rollout"];
    let Some((version, percent)) = rollout["version"].as_str().zip(rollout["percent"].as_u64()) else {
        return live(name, others);
    };
    let plan = rollout["plan"].as_str().map(|plan| format!(", by the plan {plan}")).unwrap_or_default();
    let others = others.unwrap_or("nothing");
    format!("{percent}% of browsers get {name} {version}{plan}; the others get {others}.")
}

pub fn live(name: &str, live: Option<&str>) -> String {
    format!("{name} {} is live.", live.unwrap_or("nothing"))
}

pub fn removed(name: &str, live: Option<&str>) -> String {
    match live {
        Some(live) => format!("{name} is back to {live}."),
        None => format!("{name} is removed."),
    }
}

/// Prints a line per build: slice, version, status or percentage of a rollout, origin, time and author.
pub fn all(slices: &Value, is_json: bool) -> anyhow::Result<()> {
    let rows = elements(slices).flat_map(|slice| {
        elements(&slice["builds"]).map(move |build| {
            let [version, origin, published_at, published_by] =
                ["version", "origin", "published_at", "published_by"].map(|field| text(&build[field], "-"));
            [text(&slice["name"], "-"), version, status(slice, build), origin, published_at, published_by]
        })
    });
    print_list(slices, is_json, rows)
}

/// Which browsers get a build of the slice.
fn status(slice: &Value, build: &Value) -> String {
    let (version, rollout) = (&build["version"], &slice["rollout"]);
    match rollout["percent"].as_u64() {
        Some(percent) if *version == rollout["version"] => format!("{percent}%"),
        _ if *version == slice["live"] => "live".to_owned(),
        _ if *version == slice["previous"] => "previous".to_owned(),
        _ => "-".to_owned(),
    }
}
