//! The command line.

use std::process::ExitCode;

use clap::Parser;
use mkopo::commands::{CommandLine, NotReplayable};

// Without huge pages: with them, a thread takes 2 MB for a few KB, and an open sandbox has three threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    // Every file that a command creates is for this user only, also those that SQLite creates itself.
    #[cfg(unix)]
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
    // The settings make it large.
    match Box::pin(command.run()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mkopo: {error:#}");
            if error.is::<NotReplayable>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
