//! The sandboxes of the deployment, and the links from one console to another.

pub mod api;
pub(super) mod made;
pub(super) mod open;
pub(super) mod page;

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::sandboxes::Sandbox;
use base::error::Failure;

/// Answers that there is nothing where there are no sandboxes.
pub async fn hide_when_off(sandbox: Sandbox, request: Request, next: Next) -> Response {
    if sandbox.server.sandboxes.are_on() {
        next.run(request).await
    } else {
        Failure::NotFound.into_response()
    }
}
