//! `mkopo sandbox`: makes, lists and removes sandboxes of a running service.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    server::{Body, ServerArguments, given},
    terminal::{elements, print_list, text},
};
use console::stories::read_file;
use lending::demo::{DemoData, Recording};
use worlds::sandboxes::Name;

/// The arguments of `mkopo sandbox`.
#[derive(clap::Args, Debug)]
pub struct SandboxSettings {
    /// The service.
    #[command(flatten)]
    pub server: ServerArguments,

    /// The operation.
    #[command(subcommand)]
    pub command: SandboxCommand,
}

/// The operations on sandboxes.
#[derive(clap::Subcommand, Debug)]
pub enum SandboxCommand {
    /// Make a sandbox, and print its addresses and its token as JSON.
    Add(AddSandbox),
    /// List all sandboxes: name, address, calls, last use, end and size.
    List {
        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
    /// Remove a sandbox with all its data.
    Remove {
        /// Its name.
        name: String,
    },
}

/// The sandbox to make.
#[derive(clap::Args, Debug)]
pub struct AddSandbox {
    /// Its name: 1 to 40 lower-case letters, digits and dashes. Made up if missing.
    pub name: Option<String>,

    /// The seed of its demo data, a number or `empty`.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<String>,

    /// The time at which its clock starts, such as 2026-11-14T09:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,

    /// Stop its clock.
    #[arg(long)]
    pub frozen: bool,

    /// Add the loans and payouts of this file, written by `mkopo provider record`. Without --seed, there are
    /// no others.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// The story that it tells, which has its seed, its time and all that happens in it: the name of one, or a file.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["seed", "now", "frozen", "from"])]
    pub story: Option<String>,

    /// Time without use after which it expires, such as 90m, 12h or 2d; 24h by default.
    #[arg(long, value_name = "DURATION")]
    pub expires_in: Option<String>,
}

pub fn run(settings: SandboxSettings) -> anyhow::Result<()> {
    let server = settings.server.open(None)?;
    match settings.command {
        SandboxCommand::Add(add) => {
            let made = server.console("POST", "/sandboxes", Body::Json(add.body()?))?;
            Ok(writeln!(std::io::stdout(), "{made:#}")?)
        }
        SandboxCommand::List { json } => print_all(&server.console("GET", "/sandboxes", Body::Empty)?, json),
        SandboxCommand::Remove { name } => {
            server.console("DELETE", &format!("/sandboxes/{}", Name::existing(&name)?), Body::Empty)?;
            Ok(writeln!(std::io::stdout(), "{name} is removed.")?)
        }
    }
}

impl AddSandbox {
    fn body(&self) -> anyhow::Result<Value> {
        let recording = self.from.as_deref().map(Recording::read).transpose()?;
        Ok(given(json!({
            "name": self.name,
            "seed": self.seed.as_deref().map(DemoData::seed_of_text),
            "now": self.now,
            "expires_in": self.expires_in,
            "frozen": self.frozen.then_some(true),
            "story": self.story.as_deref().map(story).transpose()?,
            "recording": recording,
        })))
    }
}

/// The name of a story, or the whole one in a file.
fn story(given: &str) -> anyhow::Result<Value> {
    let path = Path::new(given);
    if path.extension().is_none() {
        return Ok(json!(given));
    }
    Ok(yaml_serde::from_str(&read_file(path)?.text)?)
}

fn print_all(all: &Value, is_json: bool) -> anyhow::Result<()> {
    let fields = ["name", "url", "calls", "last_used_at", "expires_at", "size"];
    let rows = elements(all).map(|one| fields.map(|field| text(&one[field], "-")));
    print_list(all, is_json, rows)
}
