//! The API of the audit trail.

use axum::{Json as Answer, Router, routing::get};

use super::filter::GivenFilter;
use base::error::Failure;
use lending::events::{self, Event};
use web::extract::Query;
use worlds::sandboxes::Sandbox;

const DEFAULT_LIMIT: u32 = 100;

pub fn routes() -> Router {
    Router::new().route("/events", get(search_events))
}

async fn search_events(
    sandbox: Sandbox,
    Query(filter): Query<GivenFilter>,
) -> Result<Answer<Vec<Event>>, Failure> {
    let filter = filter.checked(DEFAULT_LIMIT, &sandbox.auth.fingerprints).map_err(|wrong| wrong.failure)?;
    events::search(&mut sandbox.database.read().await?, &filter).await.map(Answer)
}
