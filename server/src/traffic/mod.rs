//! The latest calls of the API, with secrets masked.
//!
//! Calls are kept in memory, not in a table: otherwise every read would be a write, and they are not
//! needed after a restart. Each server shows its own calls.

pub(crate) mod body;
pub(crate) mod call;
mod fields;
pub(crate) mod headers;
pub(crate) mod secrets;

use std::{collections::VecDeque, sync::Arc};

use parking_lot::{Mutex, MutexGuard};

use self::call::Entry;
pub use self::call::{Call, Outline};
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
pub(crate) struct Snapshot {
    /// The calls, newest first.
    pub entries: Vec<Arc<Entry>>,
    /// The codes that were sent.
    pub codes: Vec<Arc<str>>,
    /// The start of the sandbox, if this server knows it.
    pub beginning: Option<Beginning>,
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

    /// Returns the kept data as it is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let ring = self.ring();
        Snapshot {
            entries: ring.entries.iter().rev().cloned().collect(),
            codes: ring.codes.iter().cloned().collect(),
            beginning: ring.beginning,
        }
    }

    /// Keeps a call, in place of the oldest ones if there is no room.
    pub(crate) fn push(&self, mut entry: Entry) {
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
        self.0.lock()
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
