//! The calls about one's own preferences, with the one that saves all settings.

use axum::{
    Extension, Json as Answer, Router,
    routing::{get, put},
};

use super::{
    PreferencesAndRules,
    save::{NewSettings, SavedSettings, save},
    with_rules,
};
use crate::{
    auth::{client_address::ClientAddress, session::Session},
    world::World,
};
use base::error::Failure;
use web::extract::Json;

pub fn live() -> Router {
    Router::new().route("/preferences", get(preferences)).route("/settings", put(put_settings))
}

async fn preferences(
    Extension(world): Extension<World>,
    session: Session,
) -> Result<Answer<PreferencesAndRules>, Failure> {
    let mut reader = world.database.read().await?;
    Ok(Answer(with_rules(&mut reader, &session.staff.staff_id).await?))
}

async fn put_settings(
    Extension(world): Extension<World>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<NewSettings>,
) -> Result<Answer<SavedSettings>, Failure> {
    Ok(Answer(save(&world, session, address, new).await?))
}
