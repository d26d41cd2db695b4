//! The API to reset the data and to manage snapshots.

use axum::{
    Json as Answer, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use serde::Deserialize;

use super::snapshots::{self, Name, Snapshot};
use crate::{
    Sandbox, demo,
    error::Failure,
    http::extract::{Optional, Path},
};

/// Routes, relative to the console's API.
pub fn routes() -> Router<Sandbox> {
    Router::new()
        .route("/data/reset", post(reset))
        .route("/data/snapshots", get(list_snapshots))
        .route("/data/snapshots/{name}", post(save_snapshot).put(restore_snapshot).delete(remove_snapshot))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    seed: Option<u32>,
}

async fn reset(
    State(sandbox): State<Sandbox>,
    Optional(Reset { seed }): Optional<Reset>,
) -> Result<StatusCode, Failure> {
    super::reset(&sandbox, seed.map_or(demo::FIRST_SEED, u64::from)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_snapshots(State(sandbox): State<Sandbox>) -> Result<Answer<Vec<Snapshot>>, Failure> {
    snapshots::all(&mut *sandbox.database.read().await?).await.map(Answer)
}

async fn save_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Answer<Snapshot>), Failure> {
    Ok((StatusCode::CREATED, Answer(snapshots::save(&sandbox, Name::parse(&name)?).await?)))
}

async fn restore_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::restore(&sandbox, Name::parse(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_snapshot(
    State(sandbox): State<Sandbox>,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    snapshots::remove(&sandbox, Name::parse(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
