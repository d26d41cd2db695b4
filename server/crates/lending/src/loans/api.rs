//! The API of the pending list.

use axum::{Extension, Router, extract::Request, response::Response, routing::get};

use super::PendingLoan;
use crate::lists::{List, PageQuery};
use base::error::Failure;
use store::version::Version;
use web::extract::Query;

pub fn signed_in() -> Router {
    Router::new().route("/disbursements/pending", get(pending))
}

async fn pending(
    Extension(pending): Extension<List<PendingLoan>>,
    version: Version,
    Query(page): Query<PageQuery>,
    // Not `HeaderMap`, which would be a copy.
    request: Request,
) -> Result<Response, Failure> {
    pending.answer("/api/v1/disbursements/pending", version, &page, request.headers()).await
}
