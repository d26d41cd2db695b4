//! Work that is written together with whatever a task writes first.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::future::BoxFuture;

use super::Connection;
use crate::error::Failure;

tokio::task_local! {
    static CURRENT: Companion;
}

type Work = dyn for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<(), Failure>> + Send + Sync;

/// Work for the first transaction of a task that is committed. If it fails, that transaction is rolled back.
#[derive(Clone)]
pub struct Companion {
    work: Arc<Work>,
    is_written: Arc<AtomicBool>,
}

impl Companion {
    /// A companion that does `work`, once for each attempt to write.
    pub fn new<F>(work: F) -> Self
    where
        F: for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<(), Failure>> + Send + Sync + 'static,
    {
        Self { work: Arc::new(work), is_written: Arc::default() }
    }

    /// Runs `future` with this companion.
    pub async fn accompany<T>(&self, future: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), future).await
    }

    /// Whether its work is committed.
    pub fn is_written(&self) -> bool {
        self.is_written.load(Ordering::Acquire)
    }

    /// The companion of the current task that is not written yet, if there is one.
    pub(super) fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok().filter(|companion| !companion.is_written())
    }

    pub(super) async fn write(&self, connection: &mut Connection) -> Result<(), Failure> {
        (self.work)(connection).await
    }

    pub(super) fn set_written(&self) {
        self.is_written.store(true, Ordering::Release);
    }
}
