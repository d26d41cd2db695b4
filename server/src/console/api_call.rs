//! The middleware of the portal's API: loads the console's changes, injects faults, and records each call
//! for the Traffic page.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{faults::inject::inject, sync::refresh, traffic::Observed};
use crate::{Sandbox, error::FailureFormat, http::edge};

/// Runs one call through it.
pub async fn run(sandbox: Sandbox, format: FailureFormat, mut request: Request, next: Next) -> Response {
    if let Err(failure) = refresh(&sandbox, &mut request).await {
        return failure.into_response();
    }
    let (observed, request) = Observed::begin(&sandbox, request).await;
    let mut response = inject(&sandbox, &format, request, next).await;
    edge::write_failure(&mut response, &format);
    observed.end(format.request_id, response).await
}
