//! The calls about one's own preferences, with the one that saves all settings.

use axum::{
    Json as Answer, Router,
    routing::{get, put},
};

use super::{
    PreferencesAndRules,
    save::{NewSettings, SavedSettings, save},
    with_rules,
};
use crate::{
    Sandbox,
    auth::{client_address::ClientAddress, session::Session},
    error::Failure,
    http::extract::Json,
};

/// The calls about preferences. All need a session.
pub fn live() -> Router {
    Router::new().route("/preferences", get(preferences)).route("/settings", put(put_settings))
}

async fn preferences(sandbox: Sandbox, session: Session) -> Result<Answer<PreferencesAndRules>, Failure> {
    let mut reader = sandbox.database.read().await?;
    Ok(Answer(with_rules(&mut reader, &session.staff.staff_id).await?))
}

async fn put_settings(
    sandbox: Sandbox,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<NewSettings>,
) -> Result<Answer<SavedSettings>, Failure> {
    Ok(Answer(save(&sandbox, session, address, new).await?))
}
