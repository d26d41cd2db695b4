//! The calls about the rules that administrators set.

use axum::{Extension, Json as Answer, Router, routing::get};

use super::{NewPortalRules, PortalRules, all, set};
use crate::{
    auth::{client_address::ClientAddress, session::Session},
    world::World,
};
use base::error::Failure;
use web::extract::Json;

/// The calls for administrators.
pub fn for_admins() -> Router {
    Router::new().route("/settings", get(rules).put(put_rules))
}

async fn rules(Extension(world): Extension<World>) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(all(&world, &mut *world.database.read().await?).await?))
}

async fn put_rules(
    Extension(world): Extension<World>,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<NewPortalRules>,
) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(set(&world, session, address, new).await?))
}
