//! The file with the evidence.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;

/// The version of the format that is played.
const VERSION: u64 = 1;

#[derive(Debug, Deserialize)]
pub(super) struct Evidence {
    pub replayable: bool,
    pub reasons: Vec<String>,
    /// As the call that makes a sandbox takes it.
    pub start: Option<Value>,
    pub entries: Vec<Entry>,
}

/// A call, an act or a form.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    pub number: u64,
    pub kind: String,
    pub began: u64,
    pub ended: u64,
    pub at: String,
    pub frozen: bool,
    pub settled: u64,
    pub request: Sent,
    pub response: Got,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Sent {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub token: Option<String>,
    pub body: Value,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Got {
    pub status: Option<u16>,
    pub fault: Value,
    pub body: Value,
}

impl Evidence {
    /// Reads a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
        let json: Value = serde_json::from_slice(&text).with_context(|| format!("{shown} is not JSON"))?;
        match json["version"].as_u64() {
            Some(VERSION) => {}
            Some(other) => bail!("{shown} has version {other}, and this program plays version {VERSION}"),
            None => bail!("{shown} is not evidence: it has no version"),
        }
        Self::of(json).with_context(|| format!("{shown} is not evidence"))
    }

    /// Parses what the service answers.
    pub fn of(json: Value) -> anyhow::Result<Self> {
        Ok(serde_json::from_value(json)?)
    }
}
