//! The state of a sandbox in a server's memory, of which little is left while the sandbox is closed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::{RwLock, watch};

use super::{Kept, Sandbox};
use super::{Record, records::Use};
use base::clock::UnixMillis;

/// Precision of the stored last use. For a sandbox that expires soon, it is its lifetime divided by
/// [`USE_PRECISION_PARTS`].
const USE_PRECISION: Duration = Duration::from_mins(1);
const USE_PRECISION_PARTS: u32 = 8;

/// If the server that has a sandbox open does not report for this long, the work in it becomes due.
const TAKE_OVER: Duration = Duration::from_mins(10);

/// A sandbox that this server knows.
#[derive(Debug)]
pub struct Known {
    pub record: Record,
    last_used_at: AtomicI64,
    /// When it goes, whether it is used or not, in ms; the largest number for never.
    ends_at: AtomicI64,
    /// `true` if its end can be put off.
    may_keep: AtomicBool,
    /// When its use was stored last, in ms, and the number of calls stored then and received since.
    stored_at: AtomicI64,
    stored_calls: AtomicI64,
    new_calls: AtomicI64,
    /// The number of callers that hold it.
    running: AtomicUsize,
    /// When its background work is due, in ms.
    work_at: AtomicI64,
    is_working: AtomicBool,
    /// When old rows were last deleted, or the sandbox was opened, in ms.
    swept_at: AtomicI64,
    /// Once set, the sandbox is not opened again.
    is_removed: AtomicBool,
    pub(super) open: RwLock<Option<OpenSandbox>>,
    pub(super) kept: Mutex<Option<Kept>>,
}

/// A sandbox that is open.
#[derive(Debug)]
pub struct OpenSandbox {
    pub sandbox: Sandbox,
    /// Receives a notice of each commit.
    pub commits: Mutex<watch::Receiver<()>>,
}

impl Known {
    pub fn new(record: Record) -> Self {
        Self {
            last_used_at: AtomicI64::new(record.last_used_at.0),
            ends_at: AtomicI64::new(record.ends_at().map_or(i64::MAX, |at| at.0)),
            may_keep: AtomicBool::new(record.may_keep()),
            stored_at: AtomicI64::new(record.last_used_at.0),
            stored_calls: AtomicI64::new(record.calls),
            new_calls: AtomicI64::default(),
            running: AtomicUsize::default(),
            work_at: AtomicI64::new(i64::MIN),
            is_working: AtomicBool::default(),
            swept_at: AtomicI64::default(),
            is_removed: AtomicBool::default(),
            open: RwLock::default(),
            kept: Mutex::default(),
            record,
        }
    }

    /// Keeps the sandbox from being closed until [`Known::release`].
    pub fn hold(&self) {
        self.running.fetch_add(1, Ordering::AcqRel);
    }

    /// Allows the sandbox to be closed again.
    pub fn release(&self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
    }

    /// Counts a call.
    pub fn count_call(&self, now: UnixMillis) {
        self.new_calls.fetch_add(1, Ordering::Relaxed);
        self.last_used_at.fetch_max(now.0, Ordering::AcqRel);
    }

    /// The number of callers that hold the sandbox.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// When it was last used.
    pub fn last_used_at(&self) -> UnixMillis {
        UnixMillis(self.last_used_at.load(Ordering::Acquire))
    }

    /// The number of calls to the sandbox.
    pub fn calls(&self) -> i64 {
        self.stored_calls.load(Ordering::Relaxed) + self.new_calls.load(Ordering::Relaxed)
    }

    /// When the sandbox expires if it is not used again.
    pub fn expires_at(&self) -> UnixMillis {
        let unused = self.last_used_at().plus(self.record.expires_in());
        self.ends_at().map_or(unused, |ends_at| ends_at.min(unused))
    }

    /// When it goes, whether it is used or not.
    pub fn ends_at(&self) -> Option<UnixMillis> {
        let ends_at = self.ends_at.load(Ordering::Acquire);
        (ends_at < i64::MAX).then_some(UnixMillis(ends_at))
    }

    /// Returns whether its end can be put off.
    pub fn may_keep(&self) -> bool {
        self.may_keep.load(Ordering::Acquire)
    }

    /// Records that its end was put off.
    pub fn keep_until(&self, ends_at: UnixMillis) {
        self.ends_at.store(ends_at.0, Ordering::Release);
        self.may_keep.store(false, Ordering::Release);
    }

    /// Returns `true` if the use of the sandbox is to be stored.
    pub fn has_use_to_store(&self, now: UnixMillis) -> bool {
        let precision = USE_PRECISION.min(self.record.expires_in() / USE_PRECISION_PARTS);
        let is_used = self.new_calls.load(Ordering::Relaxed) > 0;
        // Without calls, a server still reports that it has the sandbox open.
        let precision = if is_used { precision } else { TAKE_OVER / 2 };
        now.since(UnixMillis(self.stored_at.load(Ordering::Acquire))) >= precision
    }

    /// Takes the use that is to be stored: the calls since the last time, and when work is due.
    pub fn take_use(&self, now: UnixMillis, due_at: Due) -> Use {
        let new_calls = self.new_calls.swap(0, Ordering::AcqRel);
        self.stored_calls.fetch_add(new_calls, Ordering::AcqRel);
        self.stored_at.store(now.0, Ordering::Release);
        let due_at = match due_at {
            Due::Nothing => None,
            Due::At(at) => Some(at),
            Due::WhileOpen => Some(now.plus(TAKE_OVER)),
        };
        Use { id: self.record.id.clone(), last_used_at: self.last_used_at(), new_calls, due_at }
    }

    /// Returns `true` if background work is due.
    pub fn has_work(&self, now: UnixMillis) -> bool {
        self.work_at.load(Ordering::Acquire) <= now.0
    }

    /// Sets when background work is due.
    pub fn work_at(&self, at: UnixMillis) {
        self.work_at.store(at.0, Ordering::Release);
    }

    /// Records that the sandbox was opened.
    pub fn opened(&self, now: UnixMillis) {
        self.work_at(UnixMillis(i64::MIN));
        self.swept_at.store(now.0, Ordering::Release);
    }

    /// Returns `true` if old rows are to be deleted: once in each `interval` while the sandbox is open.
    pub fn is_sweep_due(&self, now: UnixMillis, interval: Duration) -> bool {
        let is_due = now.since(UnixMillis(self.swept_at.load(Ordering::Acquire))) >= interval;
        if is_due {
            self.swept_at.store(now.0, Ordering::Release);
        }
        is_due
    }

    /// Begins background work, unless it runs already.
    pub fn begin_work(self: &Arc<Self>) -> Option<Working> {
        let was_working = self.is_working.swap(true, Ordering::AcqRel);
        (!was_working).then(|| Working(Arc::clone(self)))
    }

    /// Returns `true` while background work runs.
    pub fn is_working(&self) -> bool {
        self.is_working.load(Ordering::Acquire)
    }

    /// Keeps the sandbox from being opened again.
    pub fn set_removed(&self) {
        self.is_removed.store(true, Ordering::Release);
    }

    /// Returns `true` if the sandbox must not be opened again.
    pub fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Acquire)
    }

    /// Takes the state that was kept when the sandbox was closed.
    pub fn take_kept(&self) -> Option<Kept> {
        self.kept.lock().take()
    }

    /// Keeps some state while the sandbox is closed.
    pub fn keep(&self, kept: Kept) {
        *self.kept.lock() = Some(kept);
    }
}

/// When background work is due in a sandbox.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    Nothing,
    At(UnixMillis),
    /// This server does the work, as long as it runs.
    WhileOpen,
}

/// A guard for the duration of the background work.
#[derive(Debug)]
pub struct Working(Arc<Known>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.is_working.store(false, Ordering::Release);
    }
}

impl OpenSandbox {
    /// Returns `true` if there were commits since the last call.
    pub fn has_changed(&self) -> bool {
        let mut commits = self.commits.lock();
        let has_changed = commits.has_changed().unwrap_or(false);
        if has_changed {
            commits.mark_unchanged();
        }
        has_changed
    }
}
