//! How the portal's calls and the provider's answers differed from the contract since the start.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    clock::UnixMillis,
    contract::{Difference, Kind, Side},
};

/// How many different differences are kept. A provider may have any number of unknown fields.
const MAX_KEPT: usize = 500;

/// The differences of one server.
#[derive(Debug, Default)]
pub struct Held {
    found: Mutex<BTreeMap<Key, Times>>,
    checked: AtomicU64,
    skipped: AtomicU64,
    not_kept: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    operation: String,
    side: Side,
    place: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
struct Times {
    count: u64,
    first: UnixMillis,
    last: UnixMillis,
    text: String,
    example: Value,
}

/// A difference, and how often it was found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The operation: its method and its path.
    pub operation: String,
    /// Who sent it.
    pub side: Side,
    /// Where it is.
    pub place: String,
    /// What differs.
    pub kind: Kind,
    /// What the contract says.
    pub text: String,
    /// How often it was found.
    pub count: u64,
    /// When it was found first.
    pub first: UnixMillis,
    /// When it was found last.
    pub last: UnixMillis,
    /// The first one, as a shape: `x` for each letter, `9` for each digit.
    pub example: Value,
}

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The provider's address; `None` if calls are not forwarded.
    pub provider: Option<String>,
    /// How many calls were checked since the start of this server.
    pub checked: u64,
    /// How many were not, because there were too many at once or the answer was too large.
    pub skipped: u64,
    /// How many more differences there were than are kept.
    pub not_kept: u64,
    /// What breaks the contract.
    pub violations: Vec<Found>,
    /// Fields that the contract does not have, which break nothing.
    pub unknown_fields: Vec<Found>,
}

impl Held {
    /// Adds what was found on one side of a call.
    pub fn add(&self, operation: &str, side: Side, at: UnixMillis, differences: Vec<Difference>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for difference in differences {
            let Difference { kind, place, text, example } = difference;
            let key = Key { operation: operation.to_owned(), side, place, kind };
            if let Some(times) = found.get_mut(&key) {
                times.count += 1;
                times.last = at;
            } else if found.len() < MAX_KEPT {
                found.insert(key, Times { count: 1, first: at, last: at, text, example });
            } else {
                self.not_kept.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts a call, checked or not.
    pub fn count(&self, is_checked: bool) {
        let counter = if is_checked { &self.checked } else { &self.skipped };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// How many calls were checked, and how many were not.
    pub fn counts(&self) -> (u64, u64) {
        (self.checked.load(Ordering::Relaxed), self.skipped.load(Ordering::Relaxed))
    }

    /// Everything that was found, of the provider at `provider`.
    pub fn report(&self, provider: Option<String>) -> Report {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = found.into_iter().map(|(key, times)| {
            let Key { operation, side, place, kind } = key;
            let Times { count, first, last, text, example } = times;
            Found { operation, side, place, kind, text, count, first, last, example }
        });
        let (checked, skipped) = self.counts();
        let (violations, unknown_fields): (Vec<_>, Vec<_>) =
            found.partition(|found| found.kind.is_violation());
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
