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
    /// Removes the sandbox with this name, for a call to the sandbox `from`. Running calls have two seconds to finish.
    pub async fn remove(&self, name: &Name, from: &Name, trail: &Trail) -> Result<(), Failure> {
        if name.is_main() {
            return Err(SandboxRefusal::MainSandbox.into());
        }
        let record = self.record(name).await?;
        if name == from {
            // This call runs in the sandbox, and could not wait for its own end.
            self.delete_row(&record, trail).await
        } else {
            self.remove_record(&record, trail).await
        }
    }

    pub(super) async fn remove_record(&self, record: &Record, trail: &Trail) -> Result<(), Failure> {
        self.delete_row(record, trail).await?;
        self.delete_data(&self.meet(record.clone())).await
    }

    async fn delete_row(&self, record: &Record, trail: &Trail) -> Result<(), Failure> {
        let name = record.name.as_str();
        let delete = async |connection: &mut Connection| {
            let was_there = records::delete(connection, &record.id).await?;
            if was_there { Ok(()) } else { Err(SandboxRefusal::SandboxNotFound(name.to_owned()).into()) }
        };
        let entry = Entry::of(EventKind::SandboxRemoved).about(name);
        trail.write(self.database.begin().await?, [entry], delete).await?;
        tracing::info!(sandbox = name, "sandbox.removed");
        Ok(())
    }

    /// Closes and forgets a sandbox that no longer has a row, and deletes its data if this server has it.
    pub(super) async fn delete_data(&self, known: &Arc<Known>) -> Result<(), Failure> {
        self.drop_open(known).await;
        self.databases.delete(&known.record.id).await
    }

    async fn drop_open(&self, known: &Arc<Known>) {
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
