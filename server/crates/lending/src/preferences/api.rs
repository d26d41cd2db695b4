//! The calls about the user's own preferences.

use axum::{Extension, Json as Answer, Router, routing::get};

use super::{Preferences, PreferencesAndRules, set, with_rules};
use crate::{
    auth::{client_address::ClientAddress, session::Session},
    world::World,
};
use base::error::Failure;
use web::extract::Json;

/// The calls about preferences. All need a session.
pub fn live() -> Router {
    Router::new().route("/preferences", get(preferences).put(put_preferences))
}

async fn preferences(
    Extension(world): Extension<World>,
    session: Session,
) -> Result<Answer<PreferencesAndRules>, Failure> {
    Ok(Answer(with_rules(&world, &session.staff.staff_id).await?))
}

async fn put_preferences(
    Extension(world): Extension<World>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<Preferences>,
) -> Result<Answer<PreferencesAndRules>, Failure> {
    set(&world, session.clone(), address, new).await?;
    Ok(Answer(with_rules(&world, &session.staff.staff_id).await?))
}
