//! Keeps the clock and the faults in memory in sync with the database, so that API calls do not have to
//! read them.

use std::time::Duration;

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Sandbox;
use crate::faults;
use base::error::Failure;
use lending::world::stored_clock;
use store::version::Version;

/// Poll interval for changes made by other servers on the same data.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Reloads changes made by other servers, for background tasks; API calls check for changes themselves.
pub async fn poll(sandbox: Sandbox) {
    loop {
        let check = async { sandbox.keep_up_with(sandbox.shared_read.version().await?).await };
        if let Err(failure) = check.await {
            tracing::warn!(?failure, "console.not_kept_up");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Loads all changes made before this request, by any server, and attaches the current version to the
/// request. Ignores an unavailable database: some calls do not need it.
pub async fn refresh(sandbox: &Sandbox, request: &mut Request) -> Result<(), Failure> {
    if let Ok(version) = sandbox.shared_read.version().await {
        sandbox.keep_up_with(version).await?;
        request.extensions_mut().insert(version);
    }
    Ok(())
}

/// Loads earlier changes before a console request, and the request's own changes before the response is
/// sent.
pub async fn keep_in_sync(sandbox: Sandbox, mut request: Request, next: Next) -> Response {
    if let Err(failure) = refresh(&sandbox, &mut request).await {
        return failure.into_response();
    }
    let may_change = !request.method().is_safe();
    let response = next.run(request).await;
    if may_change && let Err(failure) = reload(&sandbox).await {
        // The change is in the database; the next request loads it.
        tracing::warn!(?failure, "console.not_taken_over");
    }
    response
}

impl Sandbox {
    /// Loads the clock and the faults if those in memory are older than `version`.
    pub async fn keep_up_with(&self, version: Version) -> Result<(), Failure> {
        let is_current = || *self.loaded_at.lock() >= version;
        if is_current() {
            return Ok(());
        }
        let _guard = self.world.loading_clock.lock().await;
        if !is_current() {
            load(self).await?;
            *self.loaded_at.lock() = version;
        }
        Ok(())
    }
}

/// Loads the clock and the faults from the database.
pub async fn reload(sandbox: &Sandbox) -> Result<(), Failure> {
    let _guard = sandbox.world.loading_clock.lock().await;
    load(sandbox).await
}

async fn load(sandbox: &Sandbox) -> Result<(), Failure> {
    let mut reader = sandbox.database.read().await?;
    let (clock, faults) = (stored_clock(&mut reader).await?, faults::all(&mut reader).await?);
    drop(reader);
    sandbox.clock.set(clock);
    sandbox.faults.set(faults);
    Ok(())
}
