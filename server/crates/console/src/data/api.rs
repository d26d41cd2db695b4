//! The API to reset the data and to manage snapshots.

use axum::{
    Json as Answer, Router,
    http::StatusCode,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Start,
    snapshots::{self, Name, Snapshot},
};
use base::{clock::UnixMillis, error::Failure};
use lending::{
    demo::{self, DemoData},
    events::Trail,
};
use web::extract::{Optional, Path};
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new()
        .route("/data/reset", post(reset))
        .route("/data/snapshots", get(list_snapshots))
        .route("/data/snapshots/{name}", post(save_snapshot).put(restore_snapshot).delete(remove_snapshot))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    seed: Option<Value>,
    now: Option<String>,
    frozen: Option<bool>,
}

async fn reset(
    sandbox: Sandbox,
    trail: Trail,
    Optional(reset): Optional<Reset>,
) -> Result<StatusCode, Failure> {
    let start = Start {
        world: DemoData::of_json(reset.seed.as_ref())?.unwrap_or(DemoData::Seeded(demo::FIRST_SEED)),
        now: reset.now.as_deref().map(UnixMillis::settable).transpose()?,
        is_frozen: reset.frozen.unwrap_or(false),
    };
    super::reset(&sandbox, start, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_snapshots(sandbox: Sandbox) -> Result<Answer<Vec<Snapshot>>, Failure> {
    snapshots::all(&mut sandbox.database.read().await?).await.map(Answer)
}

async fn save_snapshot(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
) -> Result<(StatusCode, Answer<Snapshot>), Failure> {
    Ok((StatusCode::CREATED, Answer(snapshots::save(&sandbox, Name::parse(&name)?, &trail).await?)))
}

async fn restore_snapshot(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::restore(&sandbox, Name::parse(&name)?, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_snapshot(
    sandbox: Sandbox,
    trail: Trail,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::remove(&sandbox, Name::parse(&name)?, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
