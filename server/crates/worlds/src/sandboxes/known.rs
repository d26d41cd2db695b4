//! The state of a sandbox in a server's memory, of which little is left while the sandbox is closed.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, RwLock, Semaphore, watch};
use tokio_util::task::TaskTracker;

use super::{Kept, Record, Sandbox, records::Use};
use base::clock::UnixMillis;

/// Precision of the stored last use. For a sandbox that expires soon, it is its lifetime divided by
/// [`USE_PRECISION_PARTS`].
const USE_PRECISION: Duration = Duration::from_mins(1);
const USE_PRECISION_PARTS: u32 = 8;

/// If the server that has a sandbox open does not report for this long, the work in it becomes due, and any server
/// removes it once it has expired.
pub const TAKE_OVER: Duration = Duration::from_mins(10);

#[derive(Debug)]
pub struct Known {
    pub record: Record,
    state: Mutex<State>,
    /// Those who use the sandbox, which is not closed meanwhile.
    pub(super) in_use: TaskTracker,
    /// One permit, for the background work.
    work: Arc<Semaphore>,
    pub(super) open: RwLock<Option<OpenSandbox>>,
}

#[derive(Debug)]
struct State {
    last_used_at: UnixMillis,
    /// When it goes, whether it is used or not; `None` for never.
    ends_at: Option<UnixMillis>,
    /// When its use was stored last, and the number of calls stored then and received since.
    stored_at: UnixMillis,
    stored_calls: i64,
    new_calls: i64,
    work_at: UnixMillis,
    swept_at: UnixMillis,
    /// Once set, the sandbox is not opened again.
    is_removed: bool,
    kept: Option<Kept>,
}

#[derive(Debug)]
pub struct OpenSandbox {
    pub sandbox: Sandbox,
    /// Receives a notice of each commit.
    pub commits: Mutex<watch::Receiver<()>>,
}

impl Known {
    pub fn new(record: Record) -> Self {
        let state = State {
            last_used_at: record.last_used_at,
            ends_at: record.ends_at,
            stored_at: record.last_used_at,
            stored_calls: record.calls,
            new_calls: 0,
            work_at: UnixMillis(i64::MIN),
            swept_at: UnixMillis(0),
            is_removed: false,
            kept: None,
        };
        Self {
            record,
            state: Mutex::new(state),
            in_use: TaskTracker::new(),
            work: Arc::new(Semaphore::new(1)),
            open: RwLock::default(),
        }
    }

    pub fn count_call(&self, now: UnixMillis) {
        let mut state = self.state.lock();
        state.new_calls += 1;
        state.last_used_at = state.last_used_at.max(now);
    }

    pub fn last_used_at(&self) -> UnixMillis {
        self.state.lock().last_used_at
    }

    pub fn calls(&self) -> i64 {
        let state = self.state.lock();
        state.stored_calls + state.new_calls
    }

    /// When the sandbox expires if it is not used again.
    pub fn expires_at(&self) -> UnixMillis {
        let state = self.state.lock();
        let unused = state.last_used_at.plus(self.record.expires_in());
        state.ends_at.map_or(unused, |ends_at| ends_at.min(unused))
    }

    /// Records that its end was put off.
    pub fn keep_until(&self, ends_at: UnixMillis) {
        self.state.lock().ends_at = Some(ends_at);
    }

    pub fn has_use_to_store(&self, now: UnixMillis) -> bool {
        let state = self.state.lock();
        // Without calls, a server still reports that it has the sandbox open.
        let precision = if state.new_calls > 0 {
            USE_PRECISION.min(self.record.expires_in() / USE_PRECISION_PARTS)
        } else {
            TAKE_OVER / 2
        };
        now.since(state.stored_at) >= precision
    }

    /// Takes the use that is to be stored: the calls since the last time, and when background work is due.
    pub fn take_use(&self, now: UnixMillis, due_at: Option<UnixMillis>) -> Use {
        let mut state = self.state.lock();
        let new_calls = std::mem::take(&mut state.new_calls);
        state.stored_calls += new_calls;
        state.stored_at = now;
        Use { id: self.record.id.clone(), last_used_at: state.last_used_at, new_calls, due_at }
    }

    pub fn has_work(&self, now: UnixMillis) -> bool {
        self.state.lock().work_at <= now
    }

    pub fn work_at(&self, at: UnixMillis) {
        self.state.lock().work_at = at;
    }

    pub fn opened(&self) {
        self.work_at(UnixMillis(i64::MIN));
    }

    /// Returns `true` if old rows are to be deleted: at most once in each `interval`, while the sandbox is open.
    pub fn is_sweep_due(&self, now: UnixMillis, interval: Duration) -> bool {
        let mut state = self.state.lock();
        let is_due = now.since(state.swept_at) >= interval;
        if is_due {
            state.swept_at = now;
        }
        is_due
    }

    /// Begins background work, which runs until the permit is dropped, unless some runs already.
    pub fn begin_work(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.work).try_acquire_owned().ok()
    }

    pub fn is_working(&self) -> bool {
        self.work.available_permits() == 0
    }

    /// Keeps the sandbox from being opened again.
    pub fn set_removed(&self) {
        self.state.lock().is_removed = true;
    }

    pub fn is_removed(&self) -> bool {
        self.state.lock().is_removed
    }

    /// Takes the state that was kept when the sandbox was closed.
    pub fn take_kept(&self) -> Option<Kept> {
        self.state.lock().kept.take()
    }

    /// Keeps some state while the sandbox is closed.
    pub fn keep(&self, kept: Kept) {
        self.state.lock().kept = Some(kept);
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

#[cfg(test)]
mod tests {
    use super::{super::Name, *};

    /// A sandbox that expires after `expires_in` and had five calls, the last one at 0.
    fn known(expires_in: Duration) -> Known {
        Known::new(Record {
            id: "1".to_owned(),
            name: Name::parse("pr-12").unwrap(),
            token: String::new(),
            created_at: UnixMillis(0),
            last_used_at: UnixMillis(0),
            expires_in_ms: expires_in.as_millis().try_into().unwrap(),
            calls: 5,
            due_at: None,
            live_screens: None,
            link_id: None,
            ends_at: None,
            kept: false,
        })
    }

    fn at(seconds: i64) -> UnixMillis {
        UnixMillis(seconds * 1_000)
    }

    #[test]
    fn a_use_is_stored_a_minute_later_or_an_eighth_of_the_lifetime_and_without_calls_after_five_minutes() {
        for (expires_in, called, stored_at) in [
            (Duration::from_hours(24), true, 60),
            (Duration::from_secs(80), true, 10),
            (Duration::from_hours(24), false, 300),
        ] {
            let known = known(expires_in);
            if called {
                known.count_call(at(1));
            }
            assert!(!known.has_use_to_store(at(stored_at - 1)), "{stored_at}");
            assert!(known.has_use_to_store(at(stored_at)), "{stored_at}");
            known.take_use(at(stored_at), None);
            assert!(!known.has_use_to_store(at(stored_at + 1)), "{stored_at}");
        }
    }

    #[test]
    fn each_call_is_stored_once_and_counts_in_the_total() {
        let known = known(Duration::from_hours(24));
        known.count_call(at(1));
        known.count_call(at(2));
        let stored = known.take_use(at(3), None);
        assert_eq!((stored.new_calls, stored.last_used_at, known.calls()), (2, at(2), 7));
        assert_eq!((known.take_use(at(4), None).new_calls, known.calls()), (0, 7));
    }

    #[test]
    fn work_is_due_at_once_when_the_sandbox_is_opened_and_runs_once_at_a_time() {
        let known = known(Duration::from_hours(24));
        known.work_at(at(10));
        assert!(!known.has_work(at(9)));
        known.opened();
        assert!(known.has_work(at(9)));
        let working = known.begin_work();
        assert!(working.is_some() && known.is_working() && known.begin_work().is_none());
        drop(working);
        assert!(!known.is_working());
    }

    #[test]
    fn a_removed_sandbox_stays_removed() {
        let known = known(Duration::from_hours(24));
        assert!(!known.is_removed());
        known.set_removed();
        assert!(known.is_removed());
    }
}
