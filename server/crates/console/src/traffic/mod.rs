//! The latest calls of a sandbox: their API and their page.

pub(super) mod api;
mod filter;
mod har;
pub(super) mod page;

use base::error::Failure;
use lending::events::{Entry, EventKind, Trail};
use worlds::{
    sandboxes::{ConsoleToken, Sandbox},
    traffic::{Call, Snapshot, call, secrets::Secrets},
};

/// At most `limit` of the calls that meet the condition `is_shown`, newest first.
async fn latest(
    sandbox: &Sandbox,
    limit: usize,
    is_shown: impl Fn(&call::Entry) -> bool + Send + 'static,
) -> Result<Vec<Call>, Failure> {
    let calls = move |snapshot: &Snapshot, secrets: &Secrets| {
        let shown = snapshot.entries.iter().filter(|entry| is_shown(entry));
        shown.take(limit).map(|entry| entry.call(secrets)).collect()
    };
    read(sandbox, calls).await
}

/// Forgets all calls.
///
/// # Errors
/// If the event can't be written; then the calls stay.
async fn clear(sandbox: &Sandbox, trail: &Trail) -> Result<(), Failure> {
    trail.write_alone(sandbox.database.begin().await?, Entry::of(EventKind::TrafficCleared)).await?;
    sandbox.traffic.clear();
    Ok(())
}

/// Reads the kept data in a thread of its own, because masking a thousand bodies would delay other calls.
async fn read<T: Send + 'static>(
    sandbox: &Sandbox,
    read: impl FnOnce(&Snapshot, &Secrets) -> T + Send + 'static,
) -> Result<T, Failure> {
    let sandbox = sandbox.clone();
    let done = tokio::task::spawn_blocking(move || {
        let snapshot = sandbox.traffic.snapshot();
        let secrets = Secrets::of(
            &snapshot,
            &[&sandbox.console_token, &sandbox.server.operator_token].map(ConsoleToken::exposed),
        )?;
        Ok(read(&snapshot, &secrets))
    });
    done.await.map_err(Failure::internal)?
}
