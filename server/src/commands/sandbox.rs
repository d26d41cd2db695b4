//! `mkopo sandbox`: makes, lists and removes sandboxes, either directly in the store, while the service may
//! be running, or through the console of a remote service.

use std::{io::Write, path::PathBuf, time::Duration};

use anyhow::{Context, ensure};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::slice::{Remote, current_user};
use crate::{
    auth::{fingerprint::Fingerprints, password::Passwords},
    clock::{Clock, UnixMillis, duration},
    database::{Database, shared_clock},
    demo::{Recording, World},
    error::Failure,
    events::{Kind, NewEvent, with_act},
    randomness::Randomness,
    sandboxes::{EXPIRES_IN, Made, Name, Sandboxes, Wish},
    settings::{Settings, values},
};

/// The arguments of `mkopo sandbox`.
#[derive(clap::Args, Debug)]
pub struct SandboxSettings {
    /// The settings of the service, as for `mkopo serve`. It may keep running.
    #[command(flatten)]
    pub settings: Settings,

    /// Use the console at this address, instead of the service's store.
    #[arg(long, global = true, env = "MKOPO_SERVER", value_parser = values::server, value_name = "URL")]
    pub server: Option<String>,

    /// The operator's console token of that service.
    #[arg(long, global = true, allow_hyphen_values = true, value_parser = values::existing_console_token,
          value_name = "TOKEN")]
    pub token: Option<SecretString>,

    /// What to do.
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

    /// The time that its clock starts with, such as 2026-11-14T09:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,

    /// Stop its clock.
    #[arg(long)]
    pub frozen: bool,

    /// Add the loans and payouts of this file, which `mkopo provider record` wrote. Without --seed, there are
    /// no others.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// How long it is kept without being used, such as 90m, 12h or 2d; 24h by default.
    #[arg(long, value_name = "DURATION")]
    pub expires_in: Option<String>,
}

/// Runs the command.
pub async fn run(settings: SandboxSettings) -> anyhow::Result<()> {
    let SandboxSettings { settings, server, token, command } = settings;
    if let Some(server) = server {
        let token = token.or_else(|| settings.given_console_token().cloned());
        let token = token.context("--server needs --token, the operator's console token of that service")?;
        let remote = Remote { server, token, by: current_user(), sandbox: None };
        return tokio::task::spawn_blocking(move || run_remote(&remote, command)).await?;
    }
    let database = settings.store.open_existing().await?;
    let local = Local::new(&settings, database.clone()).await;
    let done = match local {
        Ok(local) => Box::pin(local.run(command)).await,
        Err(error) => Err(error),
    };
    database.close().await;
    done
}

impl AddSandbox {
    fn seed(&self) -> Option<Value> {
        self.seed.as_deref().map(|seed| seed.parse::<u32>().map_or_else(|_| json!(seed), |seed| json!(seed)))
    }

    fn recording(&self) -> anyhow::Result<Option<Recording>> {
        self.from.as_deref().map(Recording::read).transpose()
    }

    fn body(&self) -> anyhow::Result<Value> {
        let mut body = json!({ "frozen": self.frozen });
        let fields = [
            ("name", self.name.as_ref().map(|name| json!(name))),
            ("seed", self.seed()),
            ("now", self.now.as_ref().map(|now| json!(now))),
            ("expires_in", self.expires_in.as_ref().map(|expires_in| json!(expires_in))),
            ("recording", self.recording()?.map(|recording| json!(recording))),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                body[name] = value;
            }
        }
        Ok(body)
    }

    fn wish(&self) -> anyhow::Result<Wish> {
        let parse = |name: &String| {
            Name::parse(name).context(
                "a name is 1 to 40 lower-case letters, digits and dashes, without a dash at either end",
            )
        };
        let wish = Wish {
            name: self.name.as_ref().map(parse).transpose()?,
            world: World::of_json(self.seed().as_ref())?,
            now: self.now.as_deref().map(UnixMillis::settable).transpose()?,
            recording: self.recording()?,
            is_frozen: self.frozen,
            expires_in: self.expires_in.as_deref().map_or(Ok(EXPIRES_IN), duration)?,
        };
        ensure!(wish.has_valid_expiry(), "--expires-in must be from 5 s to 365 days");
        Ok(wish)
    }
}

struct Local {
    database: Database,
    sandboxes: Sandboxes,
    clock: Clock,
}

impl Local {
    async fn new(settings: &Settings, database: Database) -> anyhow::Result<Self> {
        ensure!(
            settings.max_sandboxes() > 0,
            "sandboxes are off; set MKOPO_SANDBOXES as for the service, or MKOPO_DEMO=true"
        );
        let (clock, randomness) = (Clock::system(), Randomness::from_os());
        shared_clock::set(&database, &clock).await?;
        let secret = settings.token_secret(&randomness).context("the token secret can't be read")?;
        let sandboxes = Sandboxes::new(
            settings,
            database.clone(),
            Fingerprints::new(&secret),
            Passwords::new(randomness.clone()),
            clock.clone(),
            randomness,
        );
        Ok(Self { database, sandboxes, clock })
    }

    async fn run(&self, command: SandboxCommand) -> anyhow::Result<()> {
        let done = self.perform(command).await;
        self.sandboxes.close_all(Duration::ZERO).await;
        done
    }

    async fn perform(&self, command: SandboxCommand) -> anyhow::Result<()> {
        match command {
            SandboxCommand::Add(add) => {
                let wish = add.wish()?;
                let event = self.event(Kind::SandboxMade, add.name.as_deref());
                let trail = crate::events::Trail::default();
                let making = self.sandboxes.make(wish, &trail);
                let Made { record, token } = with_act(&self.database, event, making, Result::is_ok).await?;
                let mut made = serde_json::to_value(self.sandboxes.listed(&record, None))?;
                made["token"] = json!(token);
                print_made(&made)
            }
            SandboxCommand::List { json } => {
                print_all(&serde_json::to_value(self.sandboxes.list().await?)?, json)
            }
            SandboxCommand::Remove { name } => {
                let event = self.event(Kind::SandboxRemoved, Some(&name));
                let removing =
                    async { self.sandboxes.remove(&Name::existing(&name)?, &Default::default()).await };
                with_act(&self.database, event, removing, Result::<(), Failure>::is_ok).await?;
                print_removed(&name)
            }
        }
    }

    fn event(&self, kind: Kind, name: Option<&str>) -> Vec<NewEvent> {
        let event = NewEvent::on_command_line(self.clock.unset_now(), kind);
        vec![name.into_iter().fold(event, NewEvent::about)]
    }
}

fn run_remote(remote: &Remote, command: SandboxCommand) -> anyhow::Result<()> {
    match command {
        SandboxCommand::Add(add) => print_made(&remote.console("POST", "/sandboxes", Some(&add.body()?))?),
        SandboxCommand::List { json } => print_all(&remote.console("GET", "/sandboxes", None)?, json),
        SandboxCommand::Remove { name } => {
            let parsed = Name::existing(&name)?;
            remote.console("DELETE", &format!("/sandboxes/{parsed}"), None)?;
            print_removed(&name)
        }
    }
}

/// The fields that a new sandbox has in the API, too.
fn print_made(made: &Value) -> anyhow::Result<()> {
    let fields = ["name", "url", "console_url", "token", "created_at", "expires_at"];
    let shown: serde_json::Map<String, Value> =
        fields.iter().map(|field| ((*field).to_owned(), made[*field].clone())).collect();
    writeln!(std::io::stdout(), "{:#}", Value::Object(shown))?;
    Ok(())
}

fn print_removed(name: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{name} is removed.")?;
    Ok(())
}

fn print_all(all: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    for one in all.as_array().into_iter().flatten() {
        let fields = ["name", "url", "calls", "last_used_at", "expires_at", "size"];
        let fields: Vec<String> = fields.iter().map(|field| text(&one[*field])).collect();
        writeln!(out, "{}", fields.join("\t"))?;
    }
    Ok(())
}
