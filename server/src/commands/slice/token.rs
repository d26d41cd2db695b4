//! `mkopo slice token`: the tokens with which teams deploy their own slice.

use std::io::Write;

use serde_json::{Value, json};

use super::parse;
use crate::commands::server::{Body, Server, part};
use settings::values;
use slices::deploy;

/// The operations on deploy tokens.
#[derive(clap::Subcommand, Debug)]
pub enum TokenCommand {
    /// Print a new token, once. It publishes, activates, rolls back and holds that slice, and nothing else.
    Add {
        /// The slice, such as mfe-repayments. It may have no build yet.
        slice: String,

        /// Name of the token in the list and the trail.
        #[arg(long, default_value = deploy::NAME, value_parser = values::token_name)]
        name: String,

        /// Lifetime of the token in days, such as 90d.
        #[arg(long, default_value = deploy::EXPIRES_IN, value_name = "DAYS")]
        expires: String,
    },
    /// List all tokens: slice, name, end, and last use.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// End a token at once.
    Revoke {
        /// The slice, such as mfe-repayments.
        slice: String,

        /// The token's name.
        #[arg(long, default_value = deploy::NAME, value_parser = values::token_name)]
        name: String,
    },
}

/// Runs the command.
pub fn run(server: &Server, command: TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Add { slice, name, expires } => {
            let new = json!({ "slice": slice, "name": name, "expires_in": expires });
            let added = server.console("POST", "/deploy-tokens", Body::Json(new))?;
            writeln!(std::io::stdout(), "{}", added["token"].as_str().unwrap_or_default())?;
        }
        TokenCommand::List { json } => {
            print_all(&server.console("GET", "/deploy-tokens", Body::Empty)?, json)?;
        }
        TokenCommand::Revoke { slice, name } => {
            let path = format!("/deploy-tokens/{}/{}", parse(&slice)?.as_str(), part(&name));
            server.console("DELETE", &path, Body::Empty)?;
            writeln!(std::io::stdout(), "The token {name} of {slice} is revoked.")?;
        }
    }
    Ok(())
}

/// Prints a line per token: slice, name, end, and last use.
fn print_all(tokens: &Value, is_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{tokens:#}")?;
        return Ok(());
    }
    for token in tokens.as_array().into_iter().flatten() {
        let text = |field: &str| token[field].as_str().unwrap_or("never used").to_owned();
        let [slice, name, expires_at, last_used_at] =
            ["slice", "name", "expires_at", "last_used_at"].map(text);
        writeln!(out, "{slice}\t{name}\t{expires_at}\t{last_used_at}")?;
    }
    Ok(())
}
