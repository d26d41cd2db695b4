//! The tasks of one sandbox that run independently of its calls, and how they stop.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts tasks, so that a shutdown can wait for them and cancel them.
#[derive(Debug, Default)]
pub struct Tasks {
    awaited: TaskTracker,
    background: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Runs a task that a caller waits for, and finishes it even if the caller disconnects. A
    /// shutdown waits for it. The handle returns `None` if the shutdown timed out.
    pub fn finish<F>(&self, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.awaited.spawn(self.stop.clone().run_until_cancelled_owned(task))
    }

    /// Runs a task in the background. A shutdown cancels it.
    pub fn spawn_background<F>(&self, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.background.spawn(self.stop.clone().run_until_cancelled_owned(task))
    }

    /// Waits up to `timeout` for the tasks that callers wait for, then cancels all tasks.
    pub async fn end(&self, timeout: Duration) {
        self.awaited.close();
        self.background.close();
        if tokio::time::timeout(timeout, self.awaited.wait()).await.is_err() {
            tracing::warn!(left = self.awaited.len(), "shutting down before all tasks have finished");
        }
        self.stop.cancel();
        self.awaited.wait().await;
        self.background.wait().await;
    }
}
