//! `mkopo slice token`: the tokens with which teams deploy their own slice.

use std::io::Write;

use serde_json::{Value, json};

use crate::commands::{
    server::{Body, Server, part},
    terminal::{elements, print_list, text},
};
use settings::values;
use slices::{SliceName, deploy};

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

/// The columns of the list.
const FIELDS: [&str; 4] = ["slice", "name", "expires_at", "last_used_at"];

pub fn run(server: &Server, command: TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Add { slice, name, expires } => {
            let new = json!({ "slice": slice, "name": name, "expires_in": expires });
            let added = server.console("POST", "/deploy-tokens", Body::Json(new))?;
            writeln!(std::io::stdout(), "{}", added["token"].as_str().unwrap_or_default())?;
        }
        TokenCommand::List { json } => {
            let all = server.console("GET", "/deploy-tokens", Body::Empty)?;
            let row = |token: &Value| FIELDS.map(|field| text(&token[field], "never used"));
            print_list(&all, json, elements(&all).map(row))?;
        }
        TokenCommand::Revoke { slice, name } => {
            let path =
                format!("/deploy-tokens/{}/{}", SliceName::from_request(&slice)?.as_str(), part(&name));
            server.console("DELETE", &path, Body::Empty)?;
            writeln!(std::io::stdout(), "The token {name} of {slice} is revoked.")?;
        }
    }
    Ok(())
}
