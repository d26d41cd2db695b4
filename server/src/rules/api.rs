//! The calls about what administrators set.

use axum::{Json as Answer, Router, routing::get};

use super::{NewPortalRules, PortalRules, all, set};
use crate::{
    Sandbox,
    auth::{client_address::ClientAddress, session::Session},
    error::Failure,
    http::extract::Json,
};

/// The calls for administrators.
pub fn for_admins() -> Router {
    Router::new().route("/settings", get(rules).put(put_rules))
}

async fn rules(sandbox: Sandbox) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(all(&sandbox, &mut *sandbox.database.read().await?).await?))
}

async fn put_rules(
    sandbox: Sandbox,
    ClientAddress(address): ClientAddress,
    session: Session,
    Json(new): Json<NewPortalRules>,
) -> Result<Answer<PortalRules>, Failure> {
    Ok(Answer(set(&sandbox, session, address, new).await?))
}
