//! The operator's console: what QA and demos need to see and to set, behind a token of its own.

pub mod api;
pub mod clock;
pub mod data;
pub mod door;
pub mod faults;
pub mod loans;
pub mod staff;
pub mod traffic;

use std::time::Duration;

use axum::{
    Router,
    body::{Body, Bytes},
    middleware,
    routing::any,
};
use http_body_util::BodyExt;

use crate::{Sandbox, error::Failure};

/// Where the calls are that faults can be given, and that traffic tells of. The console is not
/// among them: it always works.
const API: &str = "/api/v1";

/// How often is looked for what another server on the same data has set.
const ROUND: Duration = Duration::from_millis(250);

/// Everything under `/console`. Nothing of it is open: what has no door of its own is closed too.
pub fn routes(sandbox: &Sandbox) -> Router<Sandbox> {
    let door = || middleware::from_fn_with_state(sandbox.clone(), door::require_token);
    let inside = Router::new()
        .nest("/api", api::routes())
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(door());
    // The router takes this path for one beside the console.
    let beside = any(async || Failure::NotFound).layer(door());
    Router::new().nest("/console", inside).route("/console/", beside)
}

/// All of `body`; those of the API are in memory already, on both sides of a call.
async fn whole(body: Body) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

const VERSION: &str = "SELECT value FROM version WHERE name = 'console'";

/// Keeps up with what other servers on the same data set, for as long as it is polled.
pub async fn keep_up(sandbox: Sandbox) {
    let mut known = None;
    loop {
        match seen(&sandbox, known).await {
            Ok(version) => known = Some(version),
            Err(failure) => tracing::warn!(?failure, "console.not_kept_up"),
        }
        tokio::time::sleep(ROUND).await;
    }
}

async fn seen(sandbox: &Sandbox, known: Option<i64>) -> Result<i64, Failure> {
    let version: i64 = sqlx::query_scalar(VERSION).fetch_one(&mut *sandbox.database.read().await?).await?;
    if known != Some(version) {
        take_over(sandbox).await?;
    }
    Ok(version)
}

/// Makes what stands in the database hold here.
pub async fn take_over(sandbox: &Sandbox) -> Result<(), Failure> {
    let mut reader = sandbox.database.read().await?;
    sandbox.clock.set(clock::stored(&mut reader).await?);
    sandbox.faults.set(faults::all(&mut reader).await?);
    Ok(())
}
