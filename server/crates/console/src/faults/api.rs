//! The API of the faults.

use axum::{
    Json as Answer, Router,
    http::StatusCode,
    routing::{delete, get},
};

use base::error::Failure;
use lending::events::Trail;
use web::extract::{Json, Path};
use worlds::{
    faults::{self, Fault, NewFault},
    sandboxes::Sandbox,
};

pub fn routes() -> Router {
    Router::new()
        .route("/faults", get(list_faults).post(add_fault).delete(remove_faults))
        .route("/faults/{id}", delete(remove_fault))
}

async fn list_faults(sandbox: Sandbox) -> Result<Answer<Vec<Fault>>, Failure> {
    faults::all(&mut sandbox.database.read().await?).await.map(Answer)
}

async fn add_fault(
    sandbox: Sandbox,
    trail: Trail,
    Json(fault): Json<NewFault>,
) -> Result<(StatusCode, Answer<Fault>), Failure> {
    Ok((StatusCode::CREATED, Answer(faults::add(&sandbox.world, fault, &trail).await?)))
}

async fn remove_faults(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    faults::remove(&sandbox.world, None, &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_fault(sandbox: Sandbox, trail: Trail, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    faults::remove(&sandbox.world, Some(id), &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
