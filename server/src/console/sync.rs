//! Keeps the clock and the faults in memory in sync with the database, so that API calls do not have to
//! read them.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::{clock, faults};
use crate::{
    Sandbox,
    database::{Connection, versions::Versions},
    error::Failure,
};

/// Poll interval for changes made by other servers on the same data.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The version of the console's settings that this server has loaded.
#[derive(Debug)]
pub struct ConsoleSync {
    /// The copy of the data that it was loaded from; stored after the version.
    copy: AtomicU64,
    version: AtomicI64,
    /// Serializes reloads, so that an older state never replaces a newer one.
    reloading: Mutex<()>,
}

impl ConsoleSync {
    fn is_since(&self, versions: Versions) -> bool {
        let copy = self.copy.load(Ordering::Acquire);
        copy > versions.copy
            || copy == versions.copy && self.version.load(Ordering::Acquire) >= versions.console
    }
}

impl Default for ConsoleSync {
    fn default() -> Self {
        Self { copy: AtomicU64::default(), version: AtomicI64::new(-1), reloading: Mutex::default() }
    }
}

/// Reloads changes made by other servers, for background tasks; API calls check for changes themselves.
pub async fn poll(sandbox: Sandbox) {
    loop {
        let check = async { reload_if_older_than(&sandbox, sandbox.shared_read.versions().await?).await };
        if let Err(failure) = check.await {
            tracing::warn!(?failure, "console.not_kept_up");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Loads all changes made before this request, by any server, and attaches the current versions to the
/// request. Ignores an unavailable database: some calls do not need it.
pub async fn refresh(sandbox: &Sandbox, request: &mut Request) -> Result<(), Failure> {
    // They may have been read already, for this request.
    let read = match request.extensions().get::<Versions>() {
        Some(versions) => Ok(*versions),
        None => sandbox.shared_read.versions().await,
    };
    if let Ok(versions) = read {
        reload_if_older_than(sandbox, versions).await?;
        request.extensions_mut().insert(versions);
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

/// [`Sandbox::write_at_its_time`]: the work begins when the clock in memory is that of the data, or a newer one.
pub async fn write_at_its_time<T, F>(sandbox: &Sandbox, work: F) -> Result<T, Failure>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Clone + Send + 'static,
{
    loop {
        let (in_memory, work) = (sandbox.clone(), work.clone());
        let written = sandbox.database.write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let versions = Versions::read(connection).await?;
                let versions = Versions { copy: in_memory.shared_read.copy(), ..versions };
                if in_memory.console_sync.is_since(versions) {
                    work(connection).await.map(Some)
                } else {
                    Ok(None)
                }
            })
        });
        match written.await? {
            Some(done) => return Ok(done),
            None => reload(sandbox).await?,
        }
    }
}

/// [`Sandbox::keep_up_with`].
pub async fn reload_if_older_than(sandbox: &Sandbox, versions: Versions) -> Result<(), Failure> {
    if sandbox.console_sync.is_since(versions) {
        return Ok(());
    }
    let _guard = sandbox.console_sync.reloading.lock().await;
    if sandbox.console_sync.is_since(versions) { Ok(()) } else { load(sandbox).await }
}

/// Loads the clock and the faults from the database.
pub async fn reload(sandbox: &Sandbox) -> Result<(), Failure> {
    let _guard = sandbox.console_sync.reloading.lock().await;
    load(sandbox).await
}

async fn load(sandbox: &Sandbox) -> Result<(), Failure> {
    let copy = sandbox.shared_read.copy();
    let mut store = sandbox.database.read().await?.begin().await?;
    let version = Versions::read(&mut store).await?.console;
    let (clock, faults) = (clock::stored(&mut store).await?, faults::all(&mut store).await?);
    store.end().await?;
    sandbox.clock.set(clock);
    sandbox.faults.set(faults);
    sandbox.console_sync.version.store(version, Ordering::Release);
    sandbox.console_sync.copy.store(copy, Ordering::Release);
    Ok(())
}
