//! The API of the clock.

use axum::{Json as Answer, Router, http::StatusCode, routing::get};
use serde::Deserialize;

use super::{Change, ClockState, set, state};
use crate::sandboxes::Sandbox;
use base::{
    clock::{UnixMillis, duration},
    error::Failure,
};
use lending::events::Trail;
use web::extract::Json;

/// Routes, relative to the console's API.
pub fn routes() -> Router {
    Router::new().route("/clock", get(show_clock).put(set_clock).delete(unset_clock))
}

async fn show_clock(sandbox: Sandbox) -> Answer<ClockState> {
    Answer(state(&sandbox))
}

async fn unset_clock(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    super::unset(&sandbox, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockChange {
    now: Option<String>,
    advance: Option<String>,
    frozen: Option<bool>,
}

async fn set_clock(
    sandbox: Sandbox,
    trail: Trail,
    Json(change): Json<ClockChange>,
) -> Result<Answer<ClockState>, Failure> {
    let now = change.now.map(|now| now.parse::<UnixMillis>()).transpose().map_err(Failure::BadValue)?;
    let advance = change.advance.as_deref().map(duration).transpose()?;
    let advance_ms = advance.map(|by| i64::try_from(by.as_millis()).unwrap_or(i64::MAX));
    set(&sandbox, Change { now, advance_ms, frozen: change.frozen }, &trail).await.map(Answer)
}
