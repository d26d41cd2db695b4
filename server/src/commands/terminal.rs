//! Questions and lists on the terminal.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use serde_json::Value;

/// Asks for consent on the terminal. Returns whether the answer is yes.
pub fn confirm(question: &str, without_terminal: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("{without_terminal}");
    }
    let mut terminal = std::io::stderr();
    write!(terminal, "{question} Type yes: ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("yes"))
}

/// Asks for a password, which is not shown.
pub fn password(prompt: &str) -> anyhow::Result<String> {
    rpassword::prompt_password(prompt).context("the password could not be read")
}

/// Prints `all` as JSON, or else a line for each of its `rows`, with tabs between the cells.
pub fn print_list<const N: usize>(
    all: &Value,
    is_json: bool,
    rows: impl Iterator<Item = [String; N]>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if is_json {
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    for row in rows {
        writeln!(out, "{}", row.join("\t"))?;
    }
    Ok(())
}

pub fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The text of a cell, or `missing` if the value is null.
pub fn text(value: &Value, missing: &str) -> String {
    match value {
        Value::Null => missing.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
