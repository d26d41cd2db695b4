//! The calls about what administrators set.

use axum::{Extension, Json as Answer, Router, routing::get};

use super::{PortalRules, all};
use crate::world::World;
use base::error::Failure;

pub fn for_admins() -> Router {
    Router::new().route("/settings", get(rules))
}

async fn rules(Extension(world): Extension<World>) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(all(&world, &mut world.database.read().await?).await?))
}
