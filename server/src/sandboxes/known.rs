//! What a server keeps of a sandbox: little while it is closed.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{RwLock, watch};

use super::{Record, records::Use};
use crate::{Kept, Sandbox, clock::UnixMillis};

/// How exactly the last use is stored at most, and, for a sandbox that expires soon, as a part of that
/// time.
const USE_PRECISION: Duration = Duration::from_mins(1);
const USE_PRECISION_PARTS: u32 = 8;

/// How long after it last heard of a server that has a sandbox open another one does its work.
const TAKE_OVER: Duration = Duration::from_mins(10);

/// A sandbox that this server has met.
#[derive(Debug)]
pub struct Known {
    pub record: Record,
    last_used_at: AtomicI64,
    /// When its use was stored last, and the calls that were and that were not.
    stored_at: AtomicI64,
    stored_calls: AtomicI64,
    new_calls: AtomicI64,
    /// The calls that run now.
    running: AtomicUsize,
    /// When its background work is due, in ms.
    work_at: AtomicI64,
    is_working: AtomicBool,
    /// When old rows were deleted last, or it was opened, in ms.
    swept_at: AtomicI64,
    /// Once set, it is not opened any more.
    is_removed: AtomicBool,
    pub(super) open: RwLock<Option<Open>>,
    pub(super) kept: Mutex<Option<Kept>>,
}

/// A sandbox that is open.
#[derive(Debug)]
pub struct Open {
    pub sandbox: Sandbox,
    /// Tells of its commits.
    pub commits: Mutex<watch::Receiver<()>>,
}

impl Known {
    pub fn new(record: Record) -> Self {
        Self {
            last_used_at: AtomicI64::new(record.last_used_at.0),
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

    /// Keeps it from being closed until [`Known::release`].
    pub fn hold(&self) {
        self.running.fetch_add(1, Ordering::AcqRel);
    }

    /// Lets it be closed again.
    pub fn release(&self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
    }

    /// Counts a call.
    pub fn count_call(&self, now: UnixMillis) {
        self.new_calls.fetch_add(1, Ordering::Relaxed);
        self.last_used_at.fetch_max(now.0, Ordering::AcqRel);
    }

    /// How many hold it.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// When it was last used.
    pub fn last_used_at(&self) -> UnixMillis {
        UnixMillis(self.last_used_at.load(Ordering::Acquire))
    }

    /// How many calls it had.
    pub fn calls(&self) -> i64 {
        self.stored_calls.load(Ordering::Relaxed) + self.new_calls.load(Ordering::Relaxed)
    }

    /// When it expires if it is not used any more.
    pub fn expires_at(&self) -> UnixMillis {
        self.last_used_at().plus(self.record.expires_in())
    }

    /// Whether its use should be stored.
    pub fn has_use_to_store(&self, now: UnixMillis) -> bool {
        let precision = USE_PRECISION.min(self.record.expires_in() / USE_PRECISION_PARTS);
        let is_used = self.new_calls.load(Ordering::Relaxed) > 0;
        // An open one also says in time that it still is.
        let precision = if is_used { precision } else { TAKE_OVER / 2 };
        now.since(UnixMillis(self.stored_at.load(Ordering::Acquire))) >= precision
    }

    /// Its use since this was called last, to be stored. While it is open, `due_at` is `None`.
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

    /// Whether its background work is due.
    pub fn has_work(&self, now: UnixMillis) -> bool {
        self.work_at.load(Ordering::Acquire) <= now.0
    }

    /// Sets when its background work is due.
    pub fn work_at(&self, at: UnixMillis) {
        self.work_at.store(at.0, Ordering::Release);
    }

    /// Notes that it was opened.
    pub fn opened(&self, now: UnixMillis) {
        self.work_at(UnixMillis(i64::MIN));
        self.swept_at.store(now.0, Ordering::Release);
    }

    /// Whether old rows are to be deleted, as they are at this interval while it is open.
    pub fn is_sweep_due(&self, now: UnixMillis, interval: Duration) -> bool {
        let is_due = now.since(UnixMillis(self.swept_at.load(Ordering::Acquire))) >= interval;
        if is_due {
            self.swept_at.store(now.0, Ordering::Release);
        }
        is_due
    }

    /// Begins its background work, unless it runs already.
    pub fn begin_work(self: &Arc<Self>) -> Option<Working> {
        let was_working = self.is_working.swap(true, Ordering::AcqRel);
        (!was_working).then(|| Working(Arc::clone(self)))
    }

    /// Whether its background work runs.
    pub fn is_working(&self) -> bool {
        self.is_working.load(Ordering::Acquire)
    }

    /// Keeps it from being opened again.
    pub fn set_removed(&self) {
        self.is_removed.store(true, Ordering::Release);
    }

    /// Whether it is not opened any more.
    pub fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Acquire)
    }

    /// What was kept of it when it was closed.
    pub fn take_kept(&self) -> Option<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps something of it while it is closed.
    pub fn keep(&self, kept: Kept) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }
}

/// When something is to be done in a sandbox without a call.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    Nothing,
    At(UnixMillis),
    /// This server does it, as long as it runs.
    WhileOpen,
}

/// Ends with the background work.
#[derive(Debug)]
pub struct Working(Arc<Known>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.is_working.store(false, Ordering::Release);
    }
}

impl Open {
    /// Whether there were commits since this was asked last.
    pub fn has_changed(&self) -> bool {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let has_changed = commits.has_changed().unwrap_or(false);
        if has_changed {
            commits.mark_unchanged();
        }
        has_changed
    }
}
