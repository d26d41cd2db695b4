//! `mkopo replay`: plays the evidence of a sandbox again in a new one, and prints what came out otherwise.

mod differences;
mod file;
mod play;

use std::{fmt::Write as _, io::Write, path::PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use self::{differences::Difference, file::Evidence, play::Player};
use super::server::{Body, ServerArguments};
use crate::settings::values;

/// The arguments of `mkopo replay`.
#[derive(clap::Args, Debug)]
pub struct ReplaySettings {
    /// The file, as the console's Traffic page or a test kit gives it.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The service to play it on, in a sandbox that is made for it and removed afterwards.
    #[command(flatten)]
    pub service: ServerArguments,

    /// The service's portal, if this machine reaches it at another address than people do.
    #[arg(long, env = "MKOPO_URL", value_parser = values::server, value_name = "URL")]
    pub portal: Option<String>,

    /// Print the differences as JSON.
    #[arg(long)]
    pub json: bool,

    /// Keep the sandbox for an hour after its last use, and print where it is.
    #[arg(long)]
    pub keep: bool,
}

/// The evidence says itself that it can't be played again.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotReplayable(String);

/// Runs the command.
pub async fn run(settings: ReplaySettings) -> anyhow::Result<()> {
    tokio::task::spawn_blocking(move || replay(settings)).await?
}

fn replay(settings: ReplaySettings) -> anyhow::Result<()> {
    let ReplaySettings { file, service, portal, json, keep } = settings;
    let evidence = Evidence::read(&file)?;
    let Some(start) = evidence.start.clone().filter(|_| evidence.replayable) else {
        let sentence = format!("{} can't be played again", file.display());
        let reasons = evidence.reasons.iter().fold(sentence, |mut text, reason| {
            _ = write!(text, "\n  {reason}");
            text
        });
        return Err(NotReplayable(reasons).into());
    };
    let remote = service.open(None)?;
    let portal = match portal {
        Some(portal) => portal,
        None => text(&remote.console("GET", "/sandboxes/main", Body::Empty)?, "url")?,
    };
    let mut wish = start;
    wish["expires_in"] = json!("1h");
    let made = remote.console("POST", "/sandboxes", Body::Json(wish))?;
    let name = text(&made, "name")?;
    let played = Player::new(&portal, &remote.address, &name, &text(&made, "token")?).play(&evidence.entries);
    if keep {
        eprintln!("The sandbox is kept: {}", text(&made, "url")?);
    } else {
        remote.console("DELETE", &format!("/sandboxes/{name}"), Body::Empty)?;
    }
    let differences = differences::between(&evidence.entries, &played?);
    print(&differences, evidence.entries.len(), json)?;
    match differences.len() {
        0 => Ok(()),
        1 => bail!("1 thing came out otherwise"),
        count => bail!("{count} things came out otherwise"),
    }
}

fn text(value: &Value, field: &str) -> anyhow::Result<String> {
    value[field].as_str().map(str::to_owned).with_context(|| format!("the service returned no {field}"))
}

/// One line for each difference, below the call that it is of.
fn print(differences: &[Difference], played: usize, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{:#}", json!({ "played": played, "differences": differences }))?;
        return Ok(());
    }
    let width = differences.iter().map(|one| one.place.chars().count()).max().unwrap_or_default();
    let mut last = 0;
    for Difference { number, call, place, recorded, replayed } in differences {
        if *number != last {
            writeln!(out, "{number:>4}  {call}")?;
            last = *number;
        }
        writeln!(
            out,
            "      {place:<width$}  {}  →  {}",
            shortened(recorded.as_ref()),
            shortened(replayed.as_ref())
        )?;
    }
    if differences.is_empty() {
        writeln!(out, "All {played} calls and acts came out as recorded.")?;
    }
    Ok(())
}

fn shortened(value: Option<&Value>) -> String {
    const LENGTH: usize = 60;
    let text = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    let shown: String = text.chars().take(LENGTH).collect();
    if shown.len() < text.len() { format!("{shown}…") } else { shown }
}
