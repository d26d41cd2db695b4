//! The middleware of the portal's API: loads the console's changes, injects faults, forwards the call if
//! there is a provider, checks the session if the call needs one, and records the call for Traffic.
//!
//! A single layer does all of it, because each layer clones the layers inside it for every call, and moves
//! the request and the response once more.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    edge,
    inject::{inject, to_be_repeated},
    observed::Observed,
};
use base::error::{Failure, FailureFormat};
use lending::auth::authenticate;
use provider::forward;
use worlds::sandboxes::{Sandbox, sync::refresh};

/// Runs a call that anybody may make.
pub async fn public(sandbox: Sandbox, format: FailureFormat, request: Request, next: Next) -> Response {
    run(&sandbox, format, request, |request| next.run(request)).await
}

/// Runs a call that needs a live session.
pub async fn signed_in(sandbox: Sandbox, format: FailureFormat, request: Request, next: Next) -> Response {
    run(&sandbox, format, request, |request| authenticate::require(&sandbox.auth, request, next)).await
}

/// Runs a call of the live screens, which needs a live session. It does not exist in a sandbox whose screens are as
/// specified.
pub async fn live(sandbox: Sandbox, format: FailureFormat, request: Request, next: Next) -> Response {
    run(&sandbox, format, request, async |request| {
        if sandbox.settings.has_live_screens() {
            authenticate::require(&sandbox.auth, request, next).await
        } else {
            Failure::NotFound.into_response()
        }
    })
    .await
}

async fn run<F: Future<Output = Response>>(
    sandbox: &Sandbox,
    format: FailureFormat,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    if let Err(failure) = refresh(sandbox, &mut request).await {
        return failure.into_response();
    }
    if let Some(response) = to_be_repeated(sandbox, &request) {
        return response;
    }
    let (observed, request) = Observed::begin(sandbox, request).await;
    let answer =
        |request| forward::unless_own(sandbox.provider.as_ref(), &sandbox.world, &format, request, answer);
    let mut response = inject(sandbox, &format, request, answer).await;
    edge::write_failure(&mut response, &format);
    observed.end(format.request_id, response).await
}
