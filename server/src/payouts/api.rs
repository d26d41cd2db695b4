//! The payout calls.

use axum::{
    Json as Answer, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use serde::Deserialize;

use super::{Disbursement, DisbursementRequest, PayoutStatus};
use crate::{Sandbox, auth::session::Session, edge::Json, error::Failure, lists, phone::Msisdn};

/// The calls about payouts; all need a session.
pub fn signed_in() -> Router<Sandbox> {
    Router::new()
        .route("/disbursements/{loan_id}/disburse", post(disburse))
        .route("/disbursement-records", get(records))
}

#[derive(Deserialize)]
struct WireRequest {
    agent_id: AgentId,
    amount: i64,
    phone_number: String,
}

/// The portal sends the number 1; others may send an id of ours.
#[derive(Deserialize)]
#[serde(untagged)]
enum AgentId {
    Number(u64),
    Text(String),
}

async fn disburse(
    State(sandbox): State<Sandbox>,
    session: Session,
    Path(loan_id): Path<String>,
    Json(request): Json<WireRequest>,
) -> Result<(StatusCode, Answer<Disbursement>), Failure> {
    let request = DisbursementRequest {
        agent_id: match request.agent_id {
            AgentId::Number(number) => number.to_string(),
            AgentId::Text(text) => text,
        },
        amount: request.amount,
        phone_number: Msisdn::parse(&request.phone_number).ok_or(Failure::PhoneMismatch)?,
    };
    let disbursement = super::disburse(&sandbox, &session.staff, loan_id, request).await?;
    let status = match disbursement.record.status {
        PayoutStatus::Pending => StatusCode::ACCEPTED,
        PayoutStatus::Completed | PayoutStatus::Failed => StatusCode::OK,
    };
    Ok((status, Answer(disbursement)))
}

async fn records(State(sandbox): State<Sandbox>, headers: HeaderMap) -> Result<Response, Failure> {
    let mut reader = sandbox.database.read().await?;
    lists::answer(&headers, &super::records(&mut reader).await?)
}
