//! The payout API.

use axum::{
    Extension, Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{DisbursementRequest, IdempotencyKey, KeyedCall, PayoutRefusal, Payouts, Record, Reply};
use crate::{
    auth::session::Session,
    lists::{List, PageQuery},
};
use base::{
    error::{Failure, FailureFormat, failure_media_type},
    ids::LoanId,
    kes::Kes,
    phone::Msisdn,
};
use store::version::Version;
use web::extract::{Json, LARGEST_INTEGER, Path, Query};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The longest id of a loan, in characters.
const MAX_LOAN_ID_LENGTH: usize = 64;

pub fn signed_in() -> Router {
    Router::new()
        .route("/disbursements/{loan_id}/disburse", post(disburse))
        .route("/disbursement-records", get(records))
}

#[derive(Deserialize, Serialize)]
struct WireRequest {
    agent_id: WireAgentId,
    amount: Kes,
    phone_number: String,
    /// Not used, but compared when a key is used again.
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The portal sends the number 1; other clients may send a string id.
#[derive(Deserialize, Serialize)]
#[serde(untagged, expecting = "agent_id must be an integer or a string")]
enum WireAgentId {
    Number(i64),
    Text(String),
}

impl WireRequest {
    fn check(&self) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::InvalidRequest(what.to_owned()));
        match &self.agent_id {
            WireAgentId::Number(number) if !(0..=LARGEST_INTEGER).contains(number) => {
                return wrong("agent_id must be between 0 and 2^53 - 1");
            }
            WireAgentId::Text(text) if text.chars().count() > 64 => {
                return wrong("agent_id must have at most 64 characters");
            }
            WireAgentId::Number(_) | WireAgentId::Text(_) => {}
        }
        if !(1..=LARGEST_INTEGER).contains(&self.amount.0) {
            return wrong("amount must be between 1 and 2^53 - 1");
        }
        if !(1..=32).contains(&self.phone_number.chars().count()) {
            return wrong("phone_number must have 1 to 32 characters");
        }
        Ok(())
    }
}

async fn disburse(
    Extension(payouts): Extension<Payouts>,
    session: Session,
    format: FailureFormat,
    Path(loan_id): Path<LoanId>,
    headers: HeaderMap,
    Json(wire): Json<WireRequest>,
) -> Result<Response, Failure> {
    // Checked before anything is stored about the call.
    if loan_id.contains('\0') || loan_id.chars().count() > MAX_LOAN_ID_LENGTH {
        return Err(PayoutRefusal::LoanNotFound(loan_id).into());
    }
    let key = idempotency_key(&headers)?;
    wire.check()?;
    let call = key.map(|key| {
        let body = serde_json::to_value(&wire).map_err(Failure::internal)?;
        Ok::<_, Failure>(KeyedCall::new(session.staff.staff_id.clone(), key, &loan_id, &body))
    });
    let call = call.transpose()?;
    let request = DisbursementRequest {
        loan_id,
        agent_id: match wire.agent_id {
            WireAgentId::Number(number) => number.to_string().into(),
            WireAgentId::Text(text) => text.into(),
        },
        amount: wire.amount,
        phone_number: Msisdn::parse(&wire.phone_number),
    };
    Ok(super::disburse(&payouts, &session, request, call, format).await?.into_response())
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Failure> {
    let mut sent = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = sent.next() else { return Ok(None) };
    if sent.next().is_some() {
        return Err(PayoutRefusal::BadIdempotencyKey.into());
    }
    let key = value.to_str().ok().and_then(IdempotencyKey::parse);
    key.map(Some).ok_or(PayoutRefusal::BadIdempotencyKey.into())
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(header::CONTENT_TYPE, failure_media_type(self.problem));
        if self.replayed {
            response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}

async fn records(
    Extension(records): Extension<List<Record>>,
    version: Version,
    Query(page): Query<PageQuery>,
    request: Request,
) -> Result<Response, Failure> {
    records.answer("/api/v1/disbursement-records", version, &page, request.headers()).await
}
