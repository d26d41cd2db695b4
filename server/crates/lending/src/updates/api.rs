//! The call that opens a stream.

use axum::{
    Extension, Router,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};

use super::{Updates, stream};
use crate::auth::session::Session;
use base::error::Failure;
use web::Endless;

pub fn live() -> Router {
    Router::new().route("/events", get(open))
}

async fn open(
    Extension(updates): Extension<Updates>,
    session: Session,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let place = updates.open(&session)?;
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut response = stream::body(place, after).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // For nginx: passes each event on at once.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.extensions_mut().insert(Endless);
    Ok(response)
}
