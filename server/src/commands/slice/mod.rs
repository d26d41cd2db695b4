//! `mkopo slice`: deploys slices through a running service.

mod package;
mod print;
mod token;

use std::{io::Write, path::PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

pub use self::token::TokenCommand;
use super::{
    server::{Body, Server, ServerArguments, given},
    terminal::confirm,
};
use base::error::Failure;
use settings::values;
use slices::{Share, SliceName, archive};

/// The arguments of `mkopo slice`.
#[derive(clap::Args, Debug)]
pub struct SliceSettings {
    /// The service. A build must be compatible with its portal's shell.
    #[command(flatten)]
    pub server: ServerArguments,

    /// Author of the change, for the trail. Defaults to the user who runs the command.
    #[arg(long, global = true, env = "MKOPO_BY", value_parser = values::by, value_name = "NAME")]
    pub by: Option<String>,

    /// The sandbox to deploy to, for it alone; others follow `main`.
    #[arg(long, global = true, env = "MKOPO_SANDBOX", value_name = "NAME")]
    pub sandbox: Option<String>,

    /// The operation.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// The operations on slices.
#[derive(clap::Subcommand, Debug)]
pub enum SliceCommand {
    /// Check a build, store it, and make it live.
    Publish {
        /// Folder of the build, or of the package that has it in `dist`.
        #[arg(value_parser = values::folder)]
        folder: PathBuf,

        /// Store the build without making it live; `activate` makes it live later.
        #[arg(long, conflicts_with_all = ["percent", "plan"])]
        hold: bool,

        /// Accept a version below the live one, and a shell that can't load the live slices.
        #[arg(long)]
        force: bool,

        /// The share of browsers that get the build, instead of all.
        #[command(flatten)]
        share: ShareArguments,

        /// Do not take the build back automatically if it fails.
        #[arg(long)]
        no_watch: bool,
    },
    /// Make an existing build live; it may be an older one.
    Activate {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,

        /// Accept a shell that can't load the live slices.
        #[arg(long)]
        force: bool,

        /// Do not take the build back automatically if it fails.
        #[arg(long)]
        no_watch: bool,
    },
    /// Make the previous build live again.
    Rollback(Named),
    /// Give a stored build to some browsers, or change their share; the others keep the live one.
    Rollout {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,

        /// The share of browsers.
        #[command(flatten)]
        share: ShareArguments,

        /// Do not take the build back automatically if it fails.
        #[arg(long)]
        no_watch: bool,
    },
    /// Hold a rollout at its percentage: its plan no longer applies.
    Hold(Named),
    /// Make the build that is rolled out live for everybody.
    Promote(Named),
    /// End a rollout: everybody gets the live build.
    Abort(Named),
    /// Remove all published builds of a slice, after asking. The build that is bundled with the portal
    /// goes live; without one, the slice is gone.
    Remove {
        /// The slice, such as mfe-loans.
        name: String,

        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Make, list and revoke the tokens with which teams deploy their own slice.
    #[command(subcommand)]
    Token(TokenCommand),
    /// List all builds: slice, version, live or previous or its percentage, origin, time and author.
    List {
        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
}

/// A slice of the service.
#[derive(clap::Args, Debug)]
pub struct Named {
    /// The slice, such as mfe-loans.
    pub name: String,
}

/// The share of browsers that get a build.
#[derive(clap::Args, Debug)]
pub struct ShareArguments {
    /// Give the build to this percentage of all browsers, until you change it.
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,

    /// Give the build to more and more browsers: growing percentages, each with its duration, and at the
    /// end all, such as `5:10m,25:30m,100`.
    #[arg(long, conflicts_with = "percent")]
    plan: Option<String>,
}

impl ShareArguments {
    fn share(&self) -> Result<Option<Share>, Failure> {
        Share::from_request(self.percent, self.plan.as_deref())
    }
}

pub fn run(settings: SliceSettings) -> anyhow::Result<()> {
    let SliceSettings { server, by, sandbox, command } = settings;
    let server = server.open(sandbox.as_deref())?;
    let needs_console =
        matches!(command, SliceCommand::Remove { .. } | SliceCommand::Token(_) | SliceCommand::List { .. });
    ensure!(
        !server.is_deploy_token || !needs_console,
        "a deploy token only publishes, activates, rolls back and rolls out its slice; give the console token"
    );
    if let SliceCommand::Remove { name, yes: false } = &command {
        let question = format!("Remove all published builds of {name}?");
        let without_terminal = format!(
            "this removes all published builds of {name}; add --yes to remove them without being asked"
        );
        ensure!(confirm(&question, &without_terminal)?, "{name} was not removed");
    }
    Slices { server, by: by.unwrap_or_else(current_user) }.run(command)
}

/// The user's name from the environment, where CI systems and shells set it.
fn current_user() -> String {
    let names = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "LOGNAME", "USER", "USERNAME"];
    let name = names.iter().find_map(|name| std::env::var(name).ok());
    let name = name.unwrap_or_else(|| "unknown".to_owned());
    let plain: String = name.chars().filter(|c| (' '..='~').contains(c)).take(100).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

/// The slices of a service.
struct Slices {
    server: Server,
    by: String,
}

impl Slices {
    fn run(&self, command: SliceCommand) -> anyhow::Result<()> {
        let sentence = match command {
            SliceCommand::Publish { folder, hold, force, share, no_watch } => {
                share.share()?;
                let archive = archive::write(&package::files_in(&folder)?)?;
                let query = publish_query(hold, force, share, no_watch);
                let (status, slice) = self.call("POST", "", query, Body::Archive(archive))?;
                print::published(&package::version_in(&folder)?, status == 201, &slice)
            }
            SliceCommand::Activate { name, version, force, no_watch } => {
                let body = json!({ "version": version, "watch": !no_watch, "force": force });
                let slice = self.act("POST", &name, "/activate", Body::Json(body))?;
                print::live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollback(Named { name }) => {
                let slice = self.act("POST", &name, "/rollback", Body::Empty)?;
                print::live(&name, slice["live"].as_str())
            }
            SliceCommand::Rollout { name, version, share, no_watch } => {
                share.share()?.context("give --percent or --plan")?;
                let ShareArguments { percent, plan } = share;
                let body =
                    json!({ "version": version, "watch": !no_watch, "percent": percent, "plan": plan });
                print::rollout(&self.act("POST", &name, "/rollout", Body::Json(given(body)))?)
            }
            SliceCommand::Hold(Named { name }) => self.change_rollout(&name, "/hold")?,
            SliceCommand::Promote(Named { name }) => self.change_rollout(&name, "/promote")?,
            SliceCommand::Abort(Named { name }) => self.change_rollout(&name, "/abort")?,
            SliceCommand::Remove { name, .. } => {
                let slice = self.act("DELETE", &name, "", Body::Empty)?;
                print::removed(&name, slice["live"].as_str())
            }
            SliceCommand::Token(command) => return token::run(&self.server, command),
            SliceCommand::List { json } => {
                let (_, answer) = self.server.call("GET", self.path(), &[], Body::Empty)?;
                return print::all(&answer["slices"], json);
            }
        };
        Ok(writeln!(std::io::stdout(), "{sentence}")?)
    }

    fn path(&self) -> &'static str {
        if self.server.is_deploy_token { "/deploy/slices" } else { "/console/api/slices" }
    }

    /// Changes the slice `name`, and returns its new state.
    fn act(&self, method: &str, name: &str, act: &str, body: Body) -> anyhow::Result<Value> {
        let call = format!("/{}{act}", SliceName::from_request(name)?.as_str());
        Ok(self.call(method, &call, Vec::new(), body)?.1)
    }

    fn change_rollout(&self, name: &str, act: &str) -> anyhow::Result<String> {
        Ok(print::rollout(&self.act("POST", name, act, Body::Empty)?))
    }

    fn call(
        &self,
        method: &str,
        call: &str,
        mut query: Vec<(&'static str, String)>,
        body: Body,
    ) -> anyhow::Result<(u16, Value)> {
        // The name of a deploy token is the author.
        if !self.server.is_deploy_token {
            query.push(("by", self.by.clone()));
        }
        self.server.call(method, &format!("{}{call}", self.path()), &query, body)
    }
}

fn publish_query(
    hold: bool,
    force: bool,
    share: ShareArguments,
    no_watch: bool,
) -> Vec<(&'static str, String)> {
    let switch = |is_on: bool, value: &str| is_on.then(|| value.to_owned());
    let query = [
        ("hold", switch(hold, "true")),
        ("force", switch(force, "true")),
        ("percent", share.percent.map(|percent| percent.to_string())),
        ("plan", share.plan),
        ("watch", switch(no_watch, "false")),
    ];
    query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
