//! Removing a sandbox: its row first, then its data. A sandbox without a row does not exist.

use std::{sync::Arc, time::Duration};

use super::{
    Name, Record, SandboxRefusal, Sandboxes,
    known::{Known, OpenSandbox},
    records,
};
use base::error::Failure;
use lending::events::{Entry, EventKind, Trail};
use store::Connection;

/// Time for running calls to finish in a sandbox that is removed.
const GRACE: Duration = Duration::from_secs(2);

impl Sandboxes {
    /// Removes the sandbox with this name. Running calls have two seconds to finish.
    ///
    /// # Errors
    /// [`SandboxRefusal::SandboxNotFound`], [`SandboxRefusal::MainSandbox`], and errors of the databases.
    pub async fn remove(&self, name: &Name, trail: &Trail) -> Result<(), Failure> {
        if name.is_main() {
            return Err(SandboxRefusal::MainSandbox.into());
        }
        let found = records::find(&mut self.database.read().await?, name).await?;
        let record = found.ok_or_else(|| SandboxRefusal::SandboxNotFound(name.to_string()))?;
        if self.remove_record(&record, trail).await? {
            Ok(())
        } else {
            Err(SandboxRefusal::SandboxNotFound(name.to_string()).into())
        }
    }

    /// Removes the sandbox of `record`. Returns `false` if it was removed already.
    pub(super) async fn remove_record(&self, record: &Record, trail: &Trail) -> Result<bool, Failure> {
        let delete = async |connection: &mut Connection| Ok(records::delete(connection, &record.id).await?);
        let entry = Entry::of(EventKind::SandboxRemoved).about(record.name.as_str());
        let was_there = trail.write(self.database.begin().await?, [entry], delete).await?;
        self.drop_open(&self.meet(record.clone())).await;
        self.databases.delete(&record.id).await?;
        if was_there {
            tracing::info!(sandbox = record.name.as_str(), "sandbox.removed");
        }
        Ok(was_there)
    }

    /// Closes and forgets a sandbox that no longer has a row.
    pub(super) async fn drop_open(&self, known: &Arc<Known>) {
        known.set_removed();
        self.forget(known);
        known.in_use.close();
        if tokio::time::timeout(GRACE, known.in_use.wait()).await.is_err() {
            tracing::warn!(sandbox = known.record.name.as_str(), "removing a sandbox with calls in progress");
        }
        let open = known.open.write().await.take();
        if let Some(OpenSandbox { sandbox, .. }) = open {
            sandbox.close_alone().await;
        }
    }
}
