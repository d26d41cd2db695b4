//! What was done less than a minute ago, and is not done again.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// The time for which the same cause is not new.
const INTERVAL: Duration = Duration::from_mins(1);

/// The number of causes that are remembered: more than there are in a minute, unless each is another one.
const MAX_REMEMBERED: usize = 1000;

/// The causes of the last minute.
#[derive(Default)]
pub struct Repeats(Mutex<HashMap<u64, Instant>>);

impl Repeats {
    /// Returns whether the `cause` is not one of the minute before `now`, and remembers it.
    pub fn is_new(&self, cause: u64, now: Instant) -> bool {
        let mut last = self.0.lock();
        let is_recent = |at: &Instant| now.duration_since(*at) < INTERVAL;
        if last.get(&cause).is_some_and(is_recent) {
            return false;
        }
        if last.len() >= MAX_REMEMBERED {
            last.retain(|_, at| is_recent(at));
        }
        if last.len() < MAX_REMEMBERED {
            last.insert(cause, now);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cause_is_new_once_a_minute_and_another_one_at_once() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        let new = [(1, 0), (1, 59), (2, 59), (1, 60), (1, 61)];
        let new = new.map(|(cause, at)| repeats.is_new(cause, after(at)));
        assert_eq!(new, [true, false, true, true, false]);
    }

    #[test]
    fn more_causes_than_are_remembered_are_new() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let causes = 0..2 * MAX_REMEMBERED as u64;
        assert!(causes.into_iter().all(|cause| repeats.is_new(cause, now)));
    }
}
