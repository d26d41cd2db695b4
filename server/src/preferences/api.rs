//! The calls about one's own preferences.

use axum::{Json as Answer, Router, routing::get};

use super::{Preferences, PreferencesAndRules, set, with_rules};
use crate::{
    Sandbox,
    auth::{client_address::ClientAddress, session::Session},
    error::Failure,
    http::extract::Json,
};

/// The calls about preferences. All need a session.
pub fn live() -> Router {
    Router::new().route("/preferences", get(preferences).put(put_preferences))
}

async fn preferences(sandbox: Sandbox, session: Session) -> Result<Answer<PreferencesAndRules>, Failure> {
    Ok(Answer(with_rules(&sandbox, &session.staff.staff_id).await?))
}

async fn put_preferences(
    sandbox: Sandbox,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<Preferences>,
) -> Result<Answer<PreferencesAndRules>, Failure> {
    set(&sandbox, session.clone(), address, new).await?;
    Ok(Answer(with_rules(&sandbox, &session.staff.staff_id).await?))
}
