//! The call for reports.

use axum::{Extension, Json as Answer, Router, routing::get};

use super::{Question, Report, report};
use crate::{auth::session::Session, world::World};
use base::error::Failure;
use web::extract::Query;

pub fn live() -> Router {
    Router::new().route("/reports", get(show))
}

async fn show(
    Extension(world): Extension<World>,
    session: Session,
    Query(question): Query<Question>,
) -> Result<Answer<Report>, Failure> {
    Ok(Answer(report(&world, &session.staff.staff_id, question).await?))
}
