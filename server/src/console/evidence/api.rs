//! The API of the evidence.

use axum::{Json as Answer, Router, routing::get};

use super::Evidence;
use crate::{Sandbox, error::Failure};

/// Routes, relative to the console's API.
pub fn routes() -> Router {
    Router::new().route("/evidence", get(evidence))
}

async fn evidence(sandbox: Sandbox) -> Result<Answer<Evidence>, Failure> {
    super::of(&sandbox).await.map(Answer)
}
