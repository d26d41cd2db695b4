//! `mkopo story`: checks the files of stories.

use std::{io::Write, path::PathBuf};

use anyhow::bail;

use crate::console::stories::read_file;

/// The arguments of `mkopo story`.
#[derive(clap::Args, Debug)]
pub struct StorySettings {
    /// The operation.
    #[command(subcommand)]
    pub command: StoryCommand,
}

/// The operations on stories.
#[derive(clap::Subcommand, Debug)]
pub enum StoryCommand {
    /// Check files, as the service does when it reads them. Prints file, line and reason of what is wrong.
    Check {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Runs the command.
///
/// # Errors
/// If a file is wrong.
pub fn run(settings: StorySettings) -> anyhow::Result<()> {
    let StoryCommand::Check { files } = settings.command;
    let mut out = std::io::stdout().lock();
    let mut wrong = 0;
    for path in &files {
        match read_file(path) {
            Ok(file) => writeln!(out, "{}: {}", path.display(), file.story.title.0)?,
            Err(bad) => {
                wrong += 1;
                writeln!(out, "{bad}")?;
            }
        }
    }
    if wrong > 0 {
        bail!("{wrong} of {} files can't be read", files.len());
    }
    Ok(())
}
