//! The call for reports.

use axum::{Json as Answer, Router, routing::get};

use super::{Question, Report, report};
use crate::{Sandbox, auth::session::Session, error::Failure, http::extract::Query};

/// The call for reports. It needs a session.
pub fn live() -> Router {
    Router::new().route("/reports", get(show))
}

async fn show(
    sandbox: Sandbox,
    session: Session,
    Query(question): Query<Question>,
) -> Result<Answer<Report>, Failure> {
    Ok(Answer(report(&sandbox, &session.staff.staff_id, question).await?))
}
