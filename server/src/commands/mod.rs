//! The `mkopo` commands; each has its own arguments.

mod backup;
mod data;
mod folder_lock;
mod provider;
mod ready;
mod sandbox;
mod seed;
mod serve;
mod server;
mod shutdown;
mod slice;
mod story;
mod terminal;
mod user;

use std::{collections::HashSet, process::ExitCode};

use clap::{
    CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use base::error::Failure;
use settings::Settings;

/// Runs the command that was typed, and returns its exit code.
// Not in the program itself, which would compile all commands a second time.
#[expect(clippy::missing_panics_doc, reason = "only without a runtime")]
#[tokio::main]
pub async fn run() -> ExitCode {
    // Every file that a command creates is for this user only, also those that SQLite creates itself.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let command = match CommandLine::try_parse() {
        Ok(line) => line.command,
        Err(error) => {
            let typed: Vec<String> =
                std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
            let Some(sentence) = CommandLine::setting_error(&error, &typed) else { error.exit() };
            eprintln!("mkopo: {sentence}");
            return ExitCode::FAILURE;
        }
    };
    // Boxed, because the settings make the future large.
    match Box::pin(command.run()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mkopo: {}", said(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error with its causes. Of an unavailable database it has the reason: commands have no log to look it up.
fn said(error: &anyhow::Error) -> String {
    let causes = error.chain().map(|cause| match cause.downcast_ref::<Failure>() {
        Some(Failure::Unavailable(reason)) => reason.to_string(),
        _ => cause.to_string(),
    });
    causes.collect::<Vec<_>>().join(": ")
}

/// The characters of a wrong value that are shown.
const MAX_SHOWN: usize = 200;

/// Provider of the Mkopo portal: the API, the simulated mobile money, and the built slices.
#[derive(clap::Parser, Debug)]
#[command(name = "mkopo", version, about)]
pub struct CommandLine {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// Describes the invalid setting in one sentence. It names the option if that was `typed`, or else the
    /// environment variable; `None` when `error` is not about a setting.
    pub fn setting_error(error: &clap::Error, typed: &[String]) -> Option<String> {
        if error.kind() == ErrorKind::MissingRequiredArgument {
            return None;
        }
        let context = |kind| error.get(kind).map(ToString::to_string);
        let option = context(ContextKind::InvalidArg)?;
        let mut command = Self::command();
        // Gives each command the arguments that those above it share with it.
        command.build();
        let command = typed.iter().fold(&command, |at, word| at.find_subcommand(word).unwrap_or(at));
        let argument = command.get_arguments().find(|argument| {
            argument.get_long().is_some_and(|long| option.split(' ').next() == Some(&format!("--{long}")))
        })?;
        let variable = argument.get_env()?.to_string_lossy();
        let long = format!("--{}", argument.get_long()?);
        let is_typed = |word: &String| {
            word.strip_prefix(&long).is_some_and(|rest| matches!(rest.chars().next(), None | Some('=')))
        };
        let setting = if typed.iter().any(is_typed) { long.as_str() } else { &variable };
        let reason = match (std::error::Error::source(error), error.get(ContextKind::ValidValue)) {
            (Some(reason), _) => reason.to_string(),
            (None, Some(ContextValue::Strings(possible))) if !possible.is_empty() => {
                format!("give {}", possible.join(" or "))
            }
            (None, _) => "give a value".to_owned(),
        };
        // As on a screen: a value of several lines would make several lines of the sentence.
        let value = base::text::shown(&context(ContextKind::InvalidValue).unwrap_or_default(), MAX_SHOWN);
        Some(if argument.is_hide_env_values_set() {
            format!("{setting} is invalid: {reason}.")
        } else {
            format!("{setting} can't be '{value}': {reason}.")
        })
    }
}

/// Warns of variables that look like settings and are those of no command, such as misspelt ones.
fn warn_of_unknown_variables() {
    let mut known = HashSet::new();
    let mut commands = vec![CommandLine::command()];
    while let Some(command) = commands.pop() {
        known
            .extend(command.get_arguments().filter_map(|argument| argument.get_env().map(ToOwned::to_owned)));
        commands.extend(command.get_subcommands().cloned());
    }
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MKOPO_") && !known.contains(&name) {
            tracing::warn!(variable = %name.display(), "no setting has this name");
        }
    }
}

/// The commands of `mkopo`.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Run the service until it is stopped.
    #[command(after_help = "Traces have the variables OTEL_… of OpenTelemetry: see docs/traces.md.")]
    Serve(Settings),
    /// Run the service in demo mode until it is stopped: with demo data, and demo accounts with a known password.
    Demo(Settings),
    /// Check that the service on this machine is ready, for health checks.
    Ready(ready::ReadySettings),
    /// Manage the accounts of staff.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Copy, back up or restore all data.
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Add generated loans and records, for load tests.
    Seed(seed::SeedSettings),
    /// Publish builds of slices, and choose which are live.
    Slice(slice::SliceSettings),
    /// Try a provider before the portal runs on it.
    #[command(subcommand)]
    Provider(provider::ProviderCommand),
    /// Make, list and remove sandboxes.
    Sandbox(sandbox::SandboxSettings),
    /// Check the files of stories, and make links for guests.
    #[command(subcommand)]
    Story(story::StoryCommand),
}

impl Command {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Serve(settings) => serve::run(settings).await,
            Self::Demo(settings) => serve::run(Settings { demo: true, ..settings }).await,
            Self::Ready(settings) => ready::run(&settings),
            Self::User(command) => user::run(command).await,
            Self::Data(command) => data::run(command).await,
            Self::Seed(settings) => Box::pin(seed::run(settings)).await,
            Self::Slice(settings) => tokio::task::spawn_blocking(|| slice::run(settings)).await?,
            Self::Provider(command) => provider::run(command).await,
            Self::Sandbox(settings) => tokio::task::spawn_blocking(|| sandbox::run(settings)).await?,
            Self::Story(command) => tokio::task::spawn_blocking(|| story::run(command)).await?,
        }
    }
}
