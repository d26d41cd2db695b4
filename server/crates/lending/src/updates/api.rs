//! The call that opens a stream.

use axum::{
    Extension, Router,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};

use super::{Updates, stream};
use crate::auth::session::Session;
use base::error::Failure;
use web::Endless;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// For nginx: passes each event on at once.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The call that opens a stream. It needs a session.
pub fn live() -> Router {
    Router::new().route("/events", get(open))
}

async fn open(
    Extension(updates): Extension<Updates>,
    session: Session,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let place = updates.open(&session)?;
    let after = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let mut response = stream::body(place, after).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response.extensions_mut().insert(Endless);
    Ok(response)
}
