//! The API of the payouts and the audit.

use axum::{Json as Answer, Router, http::StatusCode, routing::get};
use serde::Deserialize;

use super::past::{self, GivenPayout};
use crate::wait::wait;
use base::{error::Failure, ids::LoanId};
use lending::{
    events::Trail,
    payouts::{self, Invariant, Record},
};
use web::extract::{Optional, Query};
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/invariant", get(invariant)).route("/payouts", get(records).post(make_payout))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordsQuery {
    loan_id: Option<LoanId>,
    settled: Option<bool>,
    wait: Option<String>,
}

async fn records(
    sandbox: Sandbox,
    Query(query): Query<RecordsQuery>,
) -> Result<Answer<Vec<Record>>, Failure> {
    let wait = wait(query.wait.as_deref())?;
    let filter = payouts::RecordFilter { loan_id: query.loan_id, is_settled: query.settled };
    payouts::wait_for_records(&sandbox.database, &filter, wait).await.map(Answer)
}

async fn make_payout(
    sandbox: Sandbox,
    trail: Trail,
    Optional(given): Optional<GivenPayout>,
) -> Result<(StatusCode, Answer<Record>), Failure> {
    Ok((StatusCode::CREATED, Answer(past::make(&sandbox, given, &trail).await?)))
}

async fn invariant(sandbox: Sandbox) -> Result<Answer<Invariant>, Failure> {
    payouts::invariant(&mut sandbox.database.read().await?).await.map(Answer)
}
