//! The API of the differences from the contract.

use axum::{Json as Answer, Router, routing::get};

use super::report;
use provider::Report;
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/contract", get(differences))
}

async fn differences(sandbox: Sandbox) -> Answer<Report> {
    Answer(report(&sandbox))
}
