//! The calls about what administrators set.

use axum::{Json as Answer, Router, routing::get};

use super::{PortalRules, all};
use crate::{Sandbox, error::Failure};

/// The calls for administrators.
pub fn for_admins() -> Router {
    Router::new().route("/settings", get(rules))
}

async fn rules(sandbox: Sandbox) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(all(&sandbox, &mut *sandbox.database.read().await?).await?))
}
