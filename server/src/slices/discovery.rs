//! What browsers get, in the format of the Frontend Discovery schema, for other tools.

use axum::{http::HeaderMap, response::Response};
use semver::Version;
use serde_json::{Map, Value, json};

use super::{Bundled, SliceBuilds, all};
use crate::{
    Sandbox,
    error::Failure,
    http::ready_body::{ReadyBody, digest},
};

/// The schema, in the version that the answer has.
const SCHEMA: &str = "https://github.com/awslabs/frontend-discovery/blob/main/schema/v1-pre.json";

/// `/.well-known/frontend-discovery.json`.
pub async fn show(sandbox: Sandbox, headers: HeaderMap) -> Result<Response, Failure> {
    let bundled = Bundled::of(&sandbox).await?;
    let slices = all(&mut *sandbox.server.database.read().await?, &bundled).await?;
    let slices = slices.iter().map(|slice| (slice.name.clone(), builds(slice)));
    let slices: Map<String, Value> = slices.filter(|slice| slice.1 != json!([])).collect();
    let body = serde_json::to_vec(&json!({ "schema": SCHEMA, "microFrontends": slices }))
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let digest = digest(&body);
    Ok(ReadyBody::new("application/json", body.into(), digest)?.answer_plain(&headers))
}

/// The live build and the one that is rolled out, with their shares of the traffic.
fn builds(slice: &SliceBuilds) -> Value {
    let rolled_out = slice.rollout.as_ref().map_or(0, |rollout| rollout.percent);
    let live = slice.live.as_ref().and_then(|live| {
        entry(slice, live, slice.previous.as_ref(), 100_u8.saturating_sub(rolled_out), true)
    });
    let new = slice
        .rollout
        .as_ref()
        .and_then(|rollout| entry(slice, &rollout.version, slice.live.as_ref(), rollout.percent, false));
    live.into_iter().chain(new).collect()
}

fn entry(
    slice: &SliceBuilds,
    version: &Version,
    fallback: Option<&Version>,
    traffic: u8,
    is_default: bool,
) -> Option<Value> {
    let build = slice.build(version)?;
    let mut entry = json!({
        "url": build.entry,
        "metadata": { "integrity": build.integrity, "version": build.version },
        "deployment": { "traffic": traffic, "default": is_default },
        "extras": {
            "moduleFederation": { "name": slice.name.replace('-', "_"), "module": "./slice" },
            "mkopo": { "shell": build.shell, "screens": build.brings.screens },
        },
    });
    if let Some(fallback) = fallback.and_then(|version| slice.build(version)) {
        entry["fallbackUrl"] = json!(fallback.entry);
    }
    Some(entry)
}
