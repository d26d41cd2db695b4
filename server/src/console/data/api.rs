//! The API to reset the data and to manage snapshots.

use axum::{
    Json as Answer, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::Value;

use super::snapshots::{self, Name, Snapshot};
use crate::{
    Sandbox,
    demo::{self, World},
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
    seed: Option<Value>,
}

impl Reset {
    fn world(&self) -> Result<World, Failure> {
        let seed = self.seed.as_ref().filter(|seed| !seed.is_null());
        let Some(seed) = seed else { return Ok(World::Seeded(demo::FIRST_SEED)) };
        let number = seed.as_u64().and_then(|number| u32::try_from(number).ok());
        match number {
            Some(number) => Ok(World::Seeded(number.into())),
            None if *seed == "empty" => Ok(World::Empty),
            None => {
                let text = "seed must be a whole number from 0 to 4294967295, or `empty`".to_owned();
                Err(Failure::BadField { field: "seed", text })
            }
        }
    }
}

async fn reset(
    State(sandbox): State<Sandbox>,
    Optional(reset): Optional<Reset>,
) -> Result<StatusCode, Failure> {
    super::reset(&sandbox, reset.world()?).await?;
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
