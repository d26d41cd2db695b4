//! The open connections, counted by address, and closed when idle to make room for new ones.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use tokio_util::sync::CancellationToken;

/// The open connections of one listener. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenConnections {
    open: Arc<Mutex<HashMap<u64, Arc<OpenConnection>>>>,
    registered: Arc<AtomicU64>,
}

/// An open connection; dropping the handle removes it.
#[derive(Debug)]
pub(super) struct Handle {
    id: u64,
    open: Arc<OpenConnection>,
    all: OpenConnections,
    /// The permit of a connection that counts towards the limit of all.
    slot: Mutex<Option<OwnedSemaphorePermit>>,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    calls: AtomicU32,
    /// `true` if its response never ends; the connection does not count towards the limit then.
    is_endless: AtomicBool,
    /// When something was last sent or received.
    active_at: Mutex<Instant>,
    close: CancellationToken,
}

impl OpenConnections {
    /// Registers a connection from `address`. If the `limit` is reached, the connection from there that has
    /// been idle the longest is closed; `None` if none is idle.
    pub(super) fn register(&self, address: IpAddr, limit: Option<usize>) -> Option<Handle> {
        let mut all = self.open.lock();
        if let Some(limit) = limit {
            let counts = |open: &&Arc<OpenConnection>| {
                open.address == address
                    && !open.close.is_cancelled()
                    && !open.is_endless.load(Ordering::Relaxed)
            };
            let same = || all.values().filter(counts);
            if same().count() >= limit {
                longest_idle(same())?.close.cancel();
            }
        }
        let open = Arc::new(OpenConnection {
            address,
            // A connection that waits for its turn is not idle.
            calls: AtomicU32::new(1),
            is_endless: AtomicBool::new(false),
            active_at: Mutex::new(Instant::now()),
            close: CancellationToken::new(),
        });
        let id = self.registered.fetch_add(1, Ordering::Relaxed);
        all.insert(id, Arc::clone(&open));
        Some(Handle { id, open, all: self.clone(), slot: Mutex::default() })
    }

    /// Closes the connection that has been idle the longest, if one is idle.
    pub(super) fn close_longest_idle(&self) {
        let all = self.open.lock();
        if let Some(open) = longest_idle(all.values().filter(|open| !open.close.is_cancelled())) {
            open.close.cancel();
        }
    }
}

fn longest_idle<'a>(open: impl Iterator<Item = &'a Arc<OpenConnection>>) -> Option<&'a Arc<OpenConnection>> {
    open.filter(|open| open.calls.load(Ordering::Relaxed) == 0).min_by_key(|open| *open.active_at.lock())
}

impl Handle {
    pub(super) fn touch(&self) {
        *self.open.active_at.lock() = Instant::now();
    }

    /// Records that the connection is served from now on, in its `slot`.
    pub(super) fn accepted(&self, slot: Option<OwnedSemaphorePermit>) {
        *self.slot.lock() = slot;
        self.call_ends();
    }

    pub(super) fn call_begins(&self) {
        self.open.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a call ends; its response may still be on the way.
    pub(super) fn call_ends(&self) {
        self.touch();
        self.open.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records that the response to the current call never ends. Another connection gets the slot.
    pub(super) fn becomes_endless(&self) {
        self.open.is_endless.store(true, Ordering::Relaxed);
        self.slot.lock().take();
    }

    /// Completes when the connection is to be closed.
    pub(super) async fn closed(&self) {
        self.open.close.cancelled().await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.all.open.lock().remove(&self.id);
    }
}
