//! `mkopo story`: checks the files of stories, and makes links for guests.

use std::{io::Write, path::PathBuf};

use anyhow::bail;
use serde_json::{Value, json};

use super::{
    server::{Body, ServerArguments, given, part},
    terminal::{self, elements, print_list},
};
use console::stories::{BadFile, read_file};

/// The operations on stories.
#[derive(clap::Subcommand, Debug)]
pub enum StoryCommand {
    /// Check files, as the service does when it reads them. Prints file, line and reason of what is wrong.
    Check {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Make a link to a story, and print its address, then its id.
    Link(AddLink),
    /// List the links: id, story, sandboxes made and at most, end, state.
    Links {
        /// The service.
        #[command(flatten)]
        server: ServerArguments,
        /// Print JSON, with the field names of the console's API.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a link. Its sandboxes stay until their time.
    Revoke {
        /// The service.
        #[command(flatten)]
        server: ServerArguments,
        /// Its id.
        id: String,
    },
}

/// The link to make.
#[derive(clap::Args, Debug)]
pub struct AddLink {
    /// The service.
    #[command(flatten)]
    pub server: ServerArguments,

    /// The name of the story.
    pub story: String,

    /// The role of who opens it, and the roles of others whom they can invite: `agent`, `supervisor`, `admin`.
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,

    /// Maximum number of sandboxes that it makes; 1 by default.
    #[arg(long, value_name = "NUMBER")]
    pub worlds: Option<u32>,

    /// Lifetime of each sandbox, such as 30m or 2h; 2h by default.
    #[arg(long, value_name = "DURATION")]
    pub lives_for: Option<String>,

    /// Time for which the link works, such as 12h or 7d; 7d by default.
    #[arg(long, value_name = "DURATION")]
    pub works_for: Option<String>,
}

pub fn run(command: StoryCommand) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match command {
        StoryCommand::Check { files } => return check(&files),
        StoryCommand::Link(add) => {
            let body = Body::Json(add.body());
            let made = add.server.open(None)?.console("POST", "/story-links", body)?;
            writeln!(out, "{}", made["url"].as_str().unwrap_or_default())?;
            eprintln!("Its id is {}.", made["id"].as_str().unwrap_or_default());
        }
        StoryCommand::Links { server, json } => {
            let all = server.open(None)?.console("GET", "/story-links", Body::Empty)?;
            let row = |link: &Value| {
                let text = |field: &str| terminal::text(&link[field], "");
                let state = terminal::text(&link["ended"], "open").replace('_', " ");
                let made = format!("{} of {}", link["made"], link["worlds"]);
                [text("id"), text("story"), made, text("works_until"), state]
            };
            print_list(&all, json, elements(&all).map(row))?;
        }
        StoryCommand::Revoke { server, id } => {
            server.open(None)?.console("DELETE", &format!("/story-links/{}", part(&id)), Body::Empty)?;
            writeln!(out, "The link is revoked.")?;
        }
    }
    Ok(())
}

fn check(files: &[PathBuf]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut wrong = 0;
    for path in files {
        match read_file(path) {
            Ok(file) => writeln!(out, "{}: {}", path.display(), file.story.title.0)?,
            Err(bad) => {
                wrong += 1;
                // As it was given: a file of another folder may have the same name.
                let bad = BadFile { file: path.display().to_string(), ..bad };
                writeln!(out, "{bad}")?;
            }
        }
    }
    if wrong > 0 {
        bail!("{wrong} of {} files are not valid", files.len());
    }
    Ok(())
}

impl AddLink {
    fn body(&self) -> Value {
        given(json!({
            "story": self.story,
            "roles": Some(&self.roles).filter(|roles| !roles.is_empty()),
            "worlds": self.worlds,
            "lives_for": self.lives_for,
            "works_for": self.works_for,
        }))
    }
}
