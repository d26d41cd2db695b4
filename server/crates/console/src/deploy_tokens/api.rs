//! The API of the deploy tokens.

use axum::{
    Json as Answer, Router,
    http::StatusCode,
    routing::{delete, get},
};
use serde::Deserialize;

use base::error::Failure;
use lending::events::Trail;
use slices::deploy::{self, AddedToken, DeployToken, NewToken};
use web::extract::{Json, Path};
use worlds::sandboxes::Sandbox;

/// Routes, relative to the console's API, which makes sure that only the operator calls them.
pub fn routes() -> Router {
    Router::new()
        .route("/deploy-tokens", get(list).post(add))
        .route("/deploy-tokens/{slice}/{name}", delete(revoke))
}

async fn list(sandbox: Sandbox) -> Result<Answer<Vec<DeployToken>>, Failure> {
    deploy::list(&mut sandbox.server.database.read().await?).await.map(Answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenBody {
    slice: String,
    name: Option<String>,
    expires_in: Option<String>,
}

async fn add(
    sandbox: Sandbox,
    trail: Trail,
    Json(TokenBody { slice, name, expires_in }): Json<TokenBody>,
) -> Result<(StatusCode, Answer<AddedToken>), Failure> {
    let new = NewToken::parse(&slice, name.as_deref(), expires_in.as_deref())?;
    let now = sandbox.clock.unset_now();
    let added = deploy::add(&sandbox.server.database, &sandbox.server.randomness, new, now, &trail).await?;
    Ok((StatusCode::CREATED, Answer(added)))
}

async fn revoke(
    sandbox: Sandbox,
    trail: Trail,
    Path((slice, name)): Path<(String, String)>,
) -> Result<StatusCode, Failure> {
    deploy::revoke(&sandbox.server.database, slice, name, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
