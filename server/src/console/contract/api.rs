//! The API of what differs from the contract.

use axum::{Json as Answer, Router, extract::State, routing::get};

use super::report;
use crate::{Sandbox, provider::Report};

/// Routes, relative to the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new().route("/contract", get(differences))
}

async fn differences(State(sandbox): State<Sandbox>) -> Answer<Report> {
    Answer(report(&sandbox))
}
