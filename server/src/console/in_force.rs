//! What the console set, in force in this server: the clock and the faults stand in the database, and
//! in memory besides, so that a call that they are not for costs nothing.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::sync::Mutex;

use super::{clock, faults};
use crate::{Sandbox, database::versions::Versions, error::Failure};

/// Poll interval for changes made by other servers on the same data.
const ROUND: Duration = Duration::from_millis(250);

/// Up to which version what the console set has been taken over by this server.
#[derive(Debug)]
pub struct InForce {
    version: AtomicI64,
    /// Held by the one who reads, so that nothing older takes the place of what is newer.
    reading: Mutex<()>,
}

impl Default for InForce {
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
pub async fn catch_up(sandbox: &Sandbox, request: &mut Request) -> Result<(), Failure> {
    if let Ok(versions) = sandbox.shared_read.versions().await {
        take_over_since(sandbox, versions.console).await?;
        request.extensions_mut().insert(versions);
    }
    Ok(())
}

/// Has a call of the console see what was set before it came, and what it sets hold in this server
/// before it is answered.
pub async fn around(State(sandbox): State<Sandbox>, mut request: Request, next: Next) -> Response {
    if let Err(failure) = catch_up(&sandbox, &mut request).await {
        return failure.into_response();
    }
    let may_set = !request.method().is_safe();
    let response = next.run(request).await;
    if may_set && let Err(failure) = take_over(&sandbox).await {
        // What it set stands in the database; the next call takes it over.
        tracing::warn!(?failure, "console.not_taken_over");
    }
    response
}

async fn take_over_since(sandbox: &Sandbox, version: i64) -> Result<(), Failure> {
    let is_known = || sandbox.in_force.version.load(Ordering::Acquire) >= version;
    if is_known() {
        return Ok(());
    }
    let _alone = sandbox.in_force.reading.lock().await;
    if is_known() { Ok(()) } else { read_and_set(sandbox).await }
}

/// Makes what stands in the database hold here.
pub async fn take_over(sandbox: &Sandbox) -> Result<(), Failure> {
    let _alone = sandbox.in_force.reading.lock().await;
    read_and_set(sandbox).await
}

async fn read_and_set(sandbox: &Sandbox) -> Result<(), Failure> {
    let mut store = sandbox.database.read().await?.begin().await?;
    let version = Versions::read(&mut store).await?.console;
    let (clock, faults) = (clock::stored(&mut store).await?, faults::all(&mut store).await?);
    store.end().await?;
    sandbox.clock.set(clock);
    sandbox.faults.set(faults);
    sandbox.in_force.version.store(version, Ordering::Release);
    Ok(())
}
