//! The differences of the portal's calls and the provider's answers from the contract, since the start.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use base::clock::UnixMillis;
use contract::{Difference, DifferenceKind, Side};

/// The maximum number of distinct differences kept. A provider may have any number of unknown fields.
const MAX_KEPT: usize = 500;

/// The differences of one server.
#[derive(Debug, Default)]
pub struct Held {
    found: Mutex<BTreeMap<Key, Found>>,
    checked: AtomicU64,
    skipped: AtomicU64,
    not_kept: AtomicU64,
}

/// The operation, the side, the place and the kind of a difference.
type Key = (String, Side, String, DifferenceKind);

#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The operation: its method and its path.
    pub operation: String,
    pub side: Side,
    pub place: String,
    pub kind: DifferenceKind,
    pub text: String,
    pub count: u64,
    pub first: UnixMillis,
    pub last: UnixMillis,
    /// The first one, as a shape: `x` for each letter, `9` for each digit.
    pub example: Value,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The provider's address; `None` if calls are not forwarded.
    pub provider: Option<String>,
    /// The number of calls checked since the start of this server.
    pub checked: u64,
    /// Calls that were not checked, or not completely: too many at once, or an answer too large, too slow to check or too
    /// different.
    pub skipped: u64,
    /// How often a further difference was found once 500 were kept.
    pub not_kept: u64,
    pub violations: Vec<Found>,
    /// Fields that are not in the contract, which are not violations.
    pub unknown_fields: Vec<Found>,
}

impl Held {
    /// Adds the differences of one side of a call.
    pub fn add(&self, operation: &str, side: Side, at: UnixMillis, differences: Vec<Difference>) {
        let mut found = self.found.lock();
        for difference in differences {
            let Difference { kind, place, text, example, count } = difference;
            let operation = operation.to_owned();
            let key = (operation.clone(), side, place.clone(), kind);
            if let Some(known) = found.get_mut(&key) {
                known.count += count;
                known.last = at;
            } else if found.len() < MAX_KEPT {
                let (first, last) = (at, at);
                found.insert(key, Found { operation, side, place, kind, text, count, first, last, example });
            } else {
                self.not_kept.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    /// Counts a call, checked or not.
    pub fn count(&self, is_checked: bool) {
        let counter = if is_checked { &self.checked } else { &self.skipped };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls checked, and of calls not checked.
    pub fn counts(&self) -> (u64, u64) {
        (self.checked.load(Ordering::Relaxed), self.skipped.load(Ordering::Relaxed))
    }

    pub fn report(&self, provider: Option<String>) -> Report {
        let found: Vec<Found> = self.found.lock().values().cloned().collect();
        let (checked, skipped) = self.counts();
        let (violations, unknown_fields) = found.into_iter().partition(|found| found.kind.is_violation());
        Report {
            provider,
            checked,
            skipped,
            not_kept: self.not_kept.load(Ordering::Relaxed),
            violations,
            unknown_fields,
        }
    }
}
