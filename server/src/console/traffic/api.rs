//! The API of the recorded calls.

use axum::{Json as Answer, Router, http::StatusCode, routing::get};

use super::{Call, filter::GivenFilter};
use crate::{Sandbox, error::Failure, events::Trail, http::extract::Query};

/// Routes, relative to the console's API.
pub fn routes() -> Router {
    Router::new().route("/traffic", get(latest_traffic).delete(clear_traffic))
}

async fn latest_traffic(
    sandbox: Sandbox,
    Query(filter): Query<GivenFilter>,
) -> Result<Answer<Vec<Call>>, Failure> {
    let filter = filter.checked()?;
    Ok(Answer(sandbox.traffic.latest_of(usize::MAX, |call| filter.matches(call))))
}

async fn clear_traffic(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    trail.write_alone(sandbox.database.begin().await?).await?;
    sandbox.traffic.clear();
    Ok(StatusCode::NO_CONTENT)
}
