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
        let check = async { sandbox.keep_up_with(sandbox.shared_read.versions().await?).await };
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
        sandbox.keep_up_with(versions).await?;
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

impl Sandbox {
    /// Loads the clock and the faults if those in memory are older than `versions`.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn keep_up_with(&self, versions: Versions) -> Result<(), Failure> {
        if self.console_sync.is_since(versions) {
            return Ok(());
        }
        let _guard = self.console_sync.reloading.lock().await;
        if self.console_sync.is_since(versions) { Ok(()) } else { load(self).await }
    }

    /// Runs `work` in one transaction, after loading the clock if the one in memory is older than the data: for
    /// background work that depends on the time. A reset or a restore, by any server, may have replaced the data,
    /// and what is pending there must not settle by the clock of the old data.
    ///
    /// # Errors
    /// As [`Database::write_in_turn`](crate::database::Database::write_in_turn).
    pub async fn write_with_current_clock<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, Failure>> + Clone + Send + 'static,
    {
        loop {
            let (this, work) = (self.clone(), work.clone());
            let written = self.database.write_in_turn(move |connection: &mut Connection| {
                Box::pin(async move {
                    let versions = Versions::read(connection).await?;
                    let versions = Versions { copy: this.shared_read.copy(), ..versions };
                    if this.console_sync.is_since(versions) {
                        work(connection).await.map(Some)
                    } else {
                        Ok(None)
                    }
                })
            });
            match written.await? {
                Some(done) => return Ok(done),
                None => reload(self).await?,
            }
        }
    }
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
