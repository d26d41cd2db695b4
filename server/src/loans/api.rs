//! The pending list's call.

use axum::{Router, extract::State, http::HeaderMap, response::Response, routing::get};

use crate::{Sandbox, error::Failure, lists};

/// The calls about loans; all need a session.
pub fn signed_in() -> Router<Sandbox> {
    Router::new().route("/disbursements/pending", get(pending))
}

async fn pending(State(sandbox): State<Sandbox>, headers: HeaderMap) -> Result<Response, Failure> {
    let mut reader = sandbox.database.read().await?;
    lists::answer(&headers, &super::pending(&mut reader).await?)
}
