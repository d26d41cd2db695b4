//! The API of the audit.

use axum::{Json as Answer, Router, extract::State, routing::get};

use crate::{
    Sandbox,
    error::Failure,
    payouts::{self, Invariant},
};

/// Routes, relative to the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new().route("/invariant", get(invariant))
}

async fn invariant(State(sandbox): State<Sandbox>) -> Result<Answer<Invariant>, Failure> {
    payouts::invariant(&mut *sandbox.database.read().await?).await.map(Answer)
}
