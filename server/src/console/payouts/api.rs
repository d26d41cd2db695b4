//! The API of the payouts and the audit.

use axum::{
    Json as Answer, Router,
    http::StatusCode,
    routing::{get, post},
};

use super::past::{self, GivenPayout};
use crate::{
    Sandbox,
    error::Failure,
    http::extract::Optional,
    payouts::{self, Invariant, Record},
};

/// Routes, relative to the console's API.
pub fn routes() -> Router {
    Router::new().route("/invariant", get(invariant)).route("/payouts", post(make_payout))
}

async fn make_payout(
    sandbox: Sandbox,
    Optional(given): Optional<GivenPayout>,
) -> Result<(StatusCode, Answer<Record>), Failure> {
    Ok((StatusCode::CREATED, Answer(past::make(&sandbox, given).await?)))
}

async fn invariant(sandbox: Sandbox) -> Result<Answer<Invariant>, Failure> {
    payouts::invariant(&mut *sandbox.database.read().await?).await.map(Answer)
}
