//! What runs beside the calls of one sandbox, and how it ends.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts what runs beside calls, so that a stop can wait for it and end it.
#[derive(Debug, Default)]
pub struct Tasks {
    under_way: TaskTracker,
    beside: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Runs what somebody waits for, and finishes it though they hang up. A stop waits for it.
    /// The handle gives `None` when a stop did not wait long enough.
    pub fn finish<F>(&self, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.under_way.spawn(self.stop.clone().run_until_cancelled_owned(task))
    }

    /// Runs what nobody need wait for: a stop ends it where it is.
    pub fn beside<F>(&self, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.beside.spawn(self.stop.clone().run_until_cancelled_owned(task))
    }

    /// Waits as long as `patience` for what somebody waits for, then ends everything.
    pub async fn end(&self, patience: Duration) {
        self.under_way.close();
        self.beside.close();
        if tokio::time::timeout(patience, self.under_way.wait()).await.is_err() {
            tracing::warn!(left = self.under_way.len(), "stopping before all is done");
        }
        self.stop.cancel();
        self.under_way.wait().await;
        self.beside.wait().await;
    }
}
