//! The calls about notifications.

use axum::{
    Extension, Json as Answer, Router,
    routing::{get, put},
};
use serde::Deserialize;

use super::{Notifications, latest, mark_read};
use crate::{auth::session::Session, world::World};
use base::{clock::UnixMillis, error::Failure};
use web::extract::Json;

pub fn live() -> Router {
    Router::new().route("/notifications", get(notifications)).route("/notifications/read", put(put_read))
}

async fn notifications(
    Extension(world): Extension<World>,
    session: Session,
) -> Result<Answer<Notifications>, Failure> {
    Ok(Answer(latest(&world, &session.staff.staff_id).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    until: UnixMillis,
}

async fn put_read(
    Extension(world): Extension<World>,
    session: Session,
    Json(Read { until }): Json<Read>,
) -> Result<Answer<Notifications>, Failure> {
    let staff_id = session.staff.staff_id.clone();
    mark_read(&world, session, until).await?;
    Ok(Answer(latest(&world, &staff_id).await?))
}
