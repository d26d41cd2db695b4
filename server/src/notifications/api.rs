//! The calls about notifications.

use axum::{
    Json as Answer, Router,
    routing::{get, put},
};
use serde::Deserialize;

use super::{Notifications, latest, mark_read};
use crate::{Sandbox, auth::session::Session, clock::UnixMillis, error::Failure, http::extract::Json};

/// The calls about notifications. All need a session.
pub fn live() -> Router {
    Router::new().route("/notifications", get(notifications)).route("/notifications/read", put(put_read))
}

async fn notifications(sandbox: Sandbox, session: Session) -> Result<Answer<Notifications>, Failure> {
    Ok(Answer(latest(&sandbox, &session.staff.staff_id).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    until: UnixMillis,
}

async fn put_read(
    sandbox: Sandbox,
    session: Session,
    Json(Read { until }): Json<Read>,
) -> Result<Answer<Notifications>, Failure> {
    let staff_id = session.staff.staff_id.clone();
    mark_read(&sandbox, session, until).await?;
    Ok(Answer(latest(&sandbox, &staff_id).await?))
}
