//! The API to approve loans.

use axum::{Json as Answer, Router, http::StatusCode, routing::post};
use serde::Deserialize;

use super::{GivenLoan, approve};
use base::error::Failure;
use lending::{events::Trail, loans::PendingLoan};
use web::extract::{Object, Optional};
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/loans", post(approve_loans))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApproveLoans {
    count: Option<u32>,
    loan: Option<Object<GivenLoan>>,
}

async fn approve_loans(
    sandbox: Sandbox,
    trail: Trail,
    Optional(ApproveLoans { count, loan }): Optional<ApproveLoans>,
) -> Result<(StatusCode, Answer<Vec<PendingLoan>>), Failure> {
    let loan = loan.map(|Object(loan)| loan).unwrap_or_default();
    let approved = approve(&sandbox, count.unwrap_or(1), loan, &trail).await?;
    Ok((StatusCode::CREATED, Answer(approved)))
}
