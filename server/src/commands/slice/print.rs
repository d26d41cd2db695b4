//! Prints the state of slices.

use std::io::Write;

use serde_json::Value;

pub fn published(version: &str, is_new: bool, slice: &Value) -> anyhow::Result<()> {
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
    writeln!(std::io::stdout(), "{name} {version} {outcome}; {live_build}.")?;
    Ok(())
}

/// Prints the versions of a slice that browsers get.
pub fn rollout(slice: &Value) -> anyhow::Result<()> {
    let (name, others) = (slice["name"].as_str().unwrap_or_default(), slice["live"].as_str());
    let rollout = &slice["rollout"];
    let Some((version, percent)) = rollout["version"].as_str().zip(rollout["percent"].as_u64()) else {
        return live(name, others);
    };
    let plan = rollout["plan"].as_str().map(|plan| format!(", by the plan {plan}")).unwrap_or_default();
    let others = others.unwrap_or("nothing");
    writeln!(
        std::io::stdout(),
        "{percent}% of browsers get {name} {version}{plan}; the others get {others}."
    )?;
    Ok(())
}

pub fn live(name: &str, live: Option<&str>) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{name} {} is live.", live.unwrap_or("nothing"))?;
    Ok(())
}

pub fn removed(name: &str, live: Option<&str>) -> anyhow::Result<()> {
    let outcome = match live {
        Some(live) => format!("{name} is back to {live}, which is bundled with the portal."),
        None => format!("{name} is removed."),
    };
    writeln!(std::io::stdout(), "{outcome}")?;
    Ok(())
}

/// Prints a line per build: slice, version, status or percentage of a rollout, origin, time and author.
pub fn all(slices: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{slices:#}")?;
        return Ok(());
    }
    for slice in slices.as_array().into_iter().flatten() {
        for build in slice["builds"].as_array().into_iter().flatten() {
            let rollout = &slice["rollout"];
            let share = rollout["percent"].as_u64().filter(|_| build["version"] == rollout["version"]);
            let share = share.map(|percent| format!("{percent}%"));
            let status = if let Some(share) = &share {
                share
            } else if build["version"] == slice["live"] {
                "live"
            } else if build["version"] == slice["previous"] {
                "previous"
            } else {
                "-"
            };
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            writeln!(
                out,
                "{}\t{}\t{status}\t{}\t{}\t{}",
                text(&slice["name"]),
                text(&build["version"]),
                text(&build["origin"]),
                text(&build["published_at"]),
                text(&build["published_by"])
            )?;
        }
    }
    Ok(())
}
