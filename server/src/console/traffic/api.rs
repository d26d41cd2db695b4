//! The API of the recorded calls.

use axum::{Json as Answer, Router, extract::State, http::StatusCode, routing::get};

use super::Call;
use crate::Sandbox;

/// Routes, relative to the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new().route("/traffic", get(latest_traffic).delete(clear_traffic))
}

async fn latest_traffic(State(sandbox): State<Sandbox>) -> Answer<Vec<Call>> {
    Answer(sandbox.traffic.latest())
}

async fn clear_traffic(State(sandbox): State<Sandbox>) -> StatusCode {
    sandbox.traffic.clear();
    StatusCode::NO_CONTENT
}
