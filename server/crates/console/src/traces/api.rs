//! The API of the traces.

use axum::{Json as Answer, Router, routing::get};
use serde::Deserialize;

use super::Trace;
use base::error::Failure;
use web::extract::Query;
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/traces", get(latest))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: Option<String>,
}

async fn latest(sandbox: Sandbox, Query(Asked { id }): Query<Asked>) -> Result<Answer<Vec<Trace>>, Failure> {
    super::latest(&sandbox, id.as_deref()).await.map(Answer)
}
