//! The latest calls of the API, with secrets masked.
//!
//! Calls are kept in memory, not in a table: otherwise every read would be a write, and they are not
//! needed after a restart. Each server shows its own calls.

pub(super) mod api;
mod body;
mod call;
mod fields;
mod filter;
mod har;
mod headers;
mod observed;
pub(super) mod page;
mod secrets;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use self::{call::Entry, filter::Filter, secrets::Secrets};
pub use self::{
    call::{Call, Outline},
    observed::Observed,
};
use crate::Sandbox;
use base::error::Failure;
use lending::demo::Beginning;

/// The number of calls to keep.
const CAPACITY: usize = 1000;
/// The number of sent codes to keep, so that they are masked wherever somebody types them.
const MAX_CODES: usize = 1000;

/// The latest calls of one server.
#[derive(Debug)]
pub struct Traffic(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Arc<Entry>>,
    /// The size of all entries, and its limit, however much callers send.
    bytes: usize,
    max_bytes: usize,
    counted: u64,
    codes: VecDeque<Arc<str>>,
    beginning: Option<Beginning>,
}

/// The kept data at one moment.
struct Snapshot {
    /// The calls, newest first.
    entries: Vec<Arc<Entry>>,
    codes: Vec<Arc<str>>,
    /// The start of the sandbox, if this server knows it.
    beginning: Option<Beginning>,
}

/// At most `limit` of the calls that `filter` matches, newest first.
///
/// # Errors
/// [`Failure::Internal`].
async fn latest(sandbox: &Sandbox, limit: usize, filter: Filter) -> Result<Vec<Call>, Failure> {
    let calls = move |snapshot: &Snapshot, secrets: &Secrets| {
        let matching = snapshot.entries.iter().filter(|entry| filter.matches(&entry.outline()));
        matching.take(limit).map(|entry| entry.call(secrets)).collect()
    };
    read(sandbox, calls).await
}

/// Reads the kept data in a thread of its own, because masking a thousand bodies would delay other calls.
async fn read<T: Send + 'static>(
    sandbox: &Sandbox,
    read: impl FnOnce(&Snapshot, &Secrets) -> T + Send + 'static,
) -> Result<T, Failure> {
    let sandbox = sandbox.clone();
    let done = tokio::task::spawn_blocking(move || {
        let snapshot = sandbox.traffic.snapshot();
        let secrets = Secrets::of(&snapshot, sandbox.console_token.exposed())?;
        Ok(read(&snapshot, &secrets))
    });
    done.await.map_err(|panicked| Failure::Internal(panicked.to_string()))?
}

impl Traffic {
    /// Keeps at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(Ring { max_bytes, ..Ring::default() }))
    }

    /// Keeps at most `max_bytes` from now on.
    pub fn bound(&self, max_bytes: usize) {
        let mut ring = self.ring();
        ring.max_bytes = max_bytes;
        while ring.take_excess().is_some() {}
        ring.entries.shrink_to_fit();
    }

    /// The outlines of all recorded calls, newest first.
    pub fn outlines(&self) -> Vec<Outline> {
        self.ring().entries.iter().rev().map(|entry| entry.outline()).collect()
    }

    /// Removes all recorded calls.
    pub fn clear(&self) {
        let mut ring = self.ring();
        ring.entries = VecDeque::new();
        ring.bytes = 0;
    }

    /// Forgets everything, because the sandbox starts over.
    pub fn begin_again(&self, beginning: Beginning) {
        let mut ring = self.ring();
        let Ring { counted, max_bytes, .. } = *ring;
        *ring = Ring { counted, max_bytes, beginning: Some(beginning), ..Ring::default() };
    }

    /// Records that a code was sent in a message.
    pub fn code_sent(&self, code: &str) {
        let codes = &mut self.ring().codes;
        if codes.len() == MAX_CODES {
            codes.pop_front();
        }
        codes.push_back(code.into());
    }

    fn snapshot(&self) -> Snapshot {
        let ring = self.ring();
        Snapshot {
            entries: ring.entries.iter().rev().cloned().collect(),
            codes: ring.codes.iter().cloned().collect(),
            beginning: ring.beginning,
        }
    }

    fn push(&self, mut entry: Entry) {
        let mut ring = self.ring();
        ring.counted += 1;
        entry.id = ring.counted;
        ring.bytes += entry.kept_bytes();
        ring.entries.push_back(Arc::new(entry));
        let mut oldest = ring.take_excess();
        drop(ring);
        // Entries are dropped without the lock, so that the others can be read.
        while oldest.is_some() {
            oldest = self.ring().take_excess();
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// Removes and returns the oldest entry, if a limit is exceeded.
    fn take_excess(&mut self) -> Option<Arc<Entry>> {
        if self.entries.len() <= CAPACITY && self.bytes <= self.max_bytes {
            return None;
        }
        let oldest = self.entries.pop_front()?;
        self.bytes -= oldest.kept_bytes();
        Some(oldest)
    }
}
