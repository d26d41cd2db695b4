//! What every call of the portal's API goes through on its way in and out: it sees what was set
//! before it came, is given the faults that are for it, and is kept for the Traffic page.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{faults::inject::inject, in_force::catch_up, traffic::Observed};
use crate::{Sandbox, error::FailureFormat, http::edge};

/// Catches up, injects faults, observes.
pub async fn run(
    State(sandbox): State<Sandbox>,
    format: FailureFormat,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(failure) = catch_up(&sandbox, &mut request).await {
        return failure.into_response();
    }
    let (observed, request) = Observed::begin(request, sandbox.clock.now()).await;
    let mut response = inject(&sandbox, &format, request, next).await;
    edge::write_failure(&mut response, &format);
    observed.end(&sandbox.traffic, format.request_id, response).await
}
