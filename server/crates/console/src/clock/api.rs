//! The API of the clock.

use super::{ClockChange, ClockState, set, state};
use axum::{Json as Answer, Router, http::StatusCode, routing::get};
use base::error::Failure;
use lending::events::Trail;
use web::extract::Json;
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/clock", get(show_clock).put(set_clock).delete(unset_clock))
}

async fn show_clock(sandbox: Sandbox) -> Answer<ClockState> {
    Answer(state(&sandbox))
}

async fn unset_clock(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    sandbox.world.unset_clock(&trail).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn set_clock(
    sandbox: Sandbox,
    trail: Trail,
    Json(change): Json<ClockChange>,
) -> Result<Answer<ClockState>, Failure> {
    set(&sandbox, change.checked()?, &trail).await.map(Answer)
}
