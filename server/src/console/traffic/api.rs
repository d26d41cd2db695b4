//! Calls about traffic.

use axum::{Json as Answer, Router, extract::State, http::StatusCode, routing::get};

use super::Call;
use crate::Sandbox;

/// Under the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new().route("/traffic", get(latest_traffic).delete(forget_traffic))
}

async fn latest_traffic(State(sandbox): State<Sandbox>) -> Answer<Vec<Call>> {
    Answer(sandbox.traffic.latest())
}

async fn forget_traffic(State(sandbox): State<Sandbox>) -> StatusCode {
    sandbox.traffic.forget();
    StatusCode::NO_CONTENT
}
