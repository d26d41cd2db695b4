//! A writing transaction, as its caller holds it.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use tokio::{
    runtime::Handle,
    sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit},
    time::Instant,
};
use tracing::Instrument;

use crate::{connection::Connection, writer::Writer};
use base::error::Failure;

/// A transaction that writes. It is rolled back if it is dropped before it is committed.
#[derive(Debug)]
pub struct Transaction {
    /// The writer, which nobody else can use meanwhile, and its connection. `None` at the end.
    held: Option<(OwnedMutexGuard<Writer>, Connection)>,
}

impl Transaction {
    /// Begins a transaction of `writer` when its turn comes. `places` are released then.
    pub(super) async fn begin(
        writer: &Arc<Mutex<Writer>>,
        is_alone: bool,
        places: Vec<OwnedSemaphorePermit>,
    ) -> Result<Self, Failure> {
        let asked = Instant::now();
        let waiting = async {
            let mut writer = Arc::clone(writer).lock_owned().await;
            let begin = async move {
                let connection = writer.begin(asked, is_alone).await?;
                Ok(Self { held: Some((writer, connection)) })
            };
            // Not cut off when the caller goes: the connection could not be used again.
            tokio::spawn(begin.in_current_span()).await.unwrap_or(Err(Failure::Busy))
        };
        let transaction = waiting.instrument(traces::step!("wait for the writer")).await;
        drop(places);
        transaction
    }

    /// Commits, and returns when the changes are on disk.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if nothing was written; [`Failure::NotCommitted`] if it is unknown whether it was.
    pub async fn commit(mut self) -> Result<(), Failure> {
        let Some((mut writer, connection)) = self.held.take() else { return Err(Failure::NotCommitted) };
        let commit = async move { writer.commit(connection).await };
        // Not cut off when the caller goes.
        let committed = tokio::spawn(commit.instrument(traces::step!("commit")));
        committed.await.unwrap_or(Err(Failure::NotCommitted))
    }

    /// Runs `work` and commits. If `work` fails, its changes are rolled back.
    pub async fn run<T>(
        mut self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = work(&mut self).await?;
        self.commit().await?;
        Ok(done)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Without a runtime, nobody writes any more, and the connection is dropped.
        if let Some((mut writer, connection)) = self.held.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move { writer.roll_back(connection, None).await });
        }
    }
}

impl Deref for Transaction {
    type Target = Connection;

    #[expect(clippy::expect_used, reason = "only its end gives the connection back")]
    fn deref(&self) -> &Connection {
        &self.held.as_ref().expect("a connection until the end").1
    }
}

impl DerefMut for Transaction {
    #[expect(clippy::expect_used, reason = "only its end gives the connection back")]
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.held.as_mut().expect("a connection until the end").1
    }
}
