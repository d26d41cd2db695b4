//! The API of the recorded calls.

use axum::{Json as Answer, Router, http::StatusCode, response::Response, routing::get};

use super::{filter::GivenFilter, har};
use base::error::Failure;
use lending::events::Trail;
use web::extract::Query;
use worlds::{sandboxes::Sandbox, traffic::Call};

pub fn routes() -> Router {
    Router::new()
        .route("/traffic", get(latest_traffic).delete(clear_traffic))
        .route("/traffic.har", get(archive))
}

async fn latest_traffic(
    sandbox: Sandbox,
    Query(filter): Query<GivenFilter>,
) -> Result<Answer<Vec<Call>>, Failure> {
    let filter = filter.checked().map_err(|wrong| wrong.failure)?;
    super::latest(&sandbox, usize::MAX, filter).await.map(Answer)
}

async fn archive(sandbox: Sandbox) -> Result<Response, Failure> {
    har::file(&sandbox).await
}

async fn clear_traffic(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    super::clear(&sandbox, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
