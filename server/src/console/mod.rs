//! The operator's console: what QA and demos need to see and to set, behind a token of its own.

pub mod api;
pub mod clock;
pub mod data;
pub mod door;
pub mod faults;
pub mod loans;
mod pages;
pub mod staff;
pub mod traffic;

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use tokio::sync::Mutex;

use crate::{Sandbox, error::Failure, versions::Versions};

/// Where the calls are that faults can be given, and that traffic tells of. The console is not
/// among them: it always works.
const API: &str = "/api/v1";

/// How often is looked for what another server on the same data has set.
const ROUND: Duration = Duration::from_millis(250);

/// Everything under `/console`. Nothing of it is open but what the pages look like: what has no
/// door of its own is closed too.
pub fn routes(sandbox: &Sandbox) -> Router<Sandbox> {
    let calls = api::routes()
        .method_not_allowed_fallback(async || Failure::MethodNotAllowed)
        .layer(middleware::from_fn_with_state(sandbox.clone(), catch_up_first))
        .layer(middleware::from_fn_with_state(sandbox.clone(), door::require_token));
    let inside = pages::routes(sandbox).nest("/api", calls);
    Router::new().nest("/console", inside).route("/console/", pages::beside(sandbox))
}

/// All of `body`; those of the API are in memory already, on both sides of a call.
async fn whole(body: Body) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// Up to which version what the console set has been taken over by this server.
#[derive(Debug)]
pub struct TakenOver {
    version: AtomicI64,
    /// Held by the one who reads, so that nothing older takes the place of what is newer.
    reading: Mutex<()>,
}

impl Default for TakenOver {
    fn default() -> Self {
        Self { version: AtomicI64::new(-1), reading: Mutex::default() }
    }
}

/// Keeps up with what other servers on the same data set, for as long as it is polled: calls see
/// it by themselves, what runs beside them does by this.
pub async fn keep_up(sandbox: Sandbox) {
    loop {
        let kept_up =
            async { take_over_since(&sandbox, sandbox.shared_read.versions().await?.console).await };
        if let Err(failure) = kept_up.await {
            tracing::warn!(?failure, "console.not_kept_up");
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// Has a call see what was set before it came, on whatever server, and gives it the versions of
/// the store at that moment. Without the store it goes on without: some calls need none.
async fn catch_up(sandbox: &Sandbox, request: &mut Request) -> Result<(), Failure> {
    if let Ok(versions) = sandbox.shared_read.versions().await {
        take_over_since(sandbox, versions.console).await?;
        request.extensions_mut().insert(versions);
    }
    Ok(())
}

async fn catch_up_first(State(sandbox): State<Sandbox>, mut request: Request, next: Next) -> Response {
    match catch_up(&sandbox, &mut request).await {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    }
}

async fn take_over_since(sandbox: &Sandbox, version: i64) -> Result<(), Failure> {
    let is_known = || sandbox.taken_over.version.load(Ordering::Acquire) >= version;
    if is_known() {
        return Ok(());
    }
    let _alone = sandbox.taken_over.reading.lock().await;
    if is_known() { Ok(()) } else { read_and_set(sandbox).await }
}

/// Makes what stands in the database hold here.
pub async fn take_over(sandbox: &Sandbox) -> Result<(), Failure> {
    let _alone = sandbox.taken_over.reading.lock().await;
    read_and_set(sandbox).await
}

async fn read_and_set(sandbox: &Sandbox) -> Result<(), Failure> {
    let mut moment = sandbox.database.read().await?.hold_still().await?;
    let version = Versions::read(&mut moment).await?.console;
    let (clock, faults) = (clock::stored(&mut moment).await?, faults::all(&mut moment).await?);
    moment.end().await?;
    sandbox.clock.set(clock);
    sandbox.faults.set(faults);
    sandbox.taken_over.version.store(version, Ordering::Release);
    Ok(())
}
