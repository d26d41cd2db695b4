//! The API of the pending list.

use axum::{Router, extract::Request, response::Response, routing::get};

use crate::{Sandbox, database::version::Version, error::Failure, http::extract::Query, lists::PageQuery};

/// The calls about loans; all need a session.
pub fn signed_in() -> Router {
    Router::new().route("/disbursements/pending", get(pending))
}

async fn pending(
    sandbox: Sandbox,
    version: Version,
    Query(page): Query<PageQuery>,
    // Not `HeaderMap`, which would be a copy.
    request: Request,
) -> Result<Response, Failure> {
    sandbox.pending.answer("/api/v1/disbursements/pending", version, &page, request.headers()).await
}
