//! Limits the number of calls with reports from one network address.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;

use base::{clock::UnixMillis, error::Failure};
use lending::auth::AuthRefusal;

/// Usual maximum number of calls from one address in a [`WINDOW`].
const MAX_CALLS: u32 = 60;

const WINDOW: Duration = Duration::from_mins(1);

/// Maximum number of addresses that are counted. If there are more, all counts start at zero again.
const MAX_ADDRESSES: usize = 10_000;

/// Counts calls by address, in memory, so that rejecting a call costs almost nothing.
#[derive(Debug)]
pub struct Limit {
    most: u32,
    counted: Mutex<HashMap<String, Counted>>,
}

impl Default for Limit {
    fn default() -> Self {
        Self::of(MAX_CALLS)
    }
}

#[derive(Debug)]
struct Counted {
    since: UnixMillis,
    calls: u32,
}

impl Limit {
    /// A limit of `most` calls a minute.
    pub fn of(most: u32) -> Self {
        Self { most, counted: Mutex::default() }
    }

    pub fn count(&self, address: &str, now: UnixMillis) -> Result<(), Failure> {
        let mut addresses = self.counted.lock();
        if addresses.len() >= MAX_ADDRESSES && !addresses.contains_key(address) {
            addresses.clear();
        }
        let counted = addresses.entry(address.to_owned()).or_insert(Counted { since: now, calls: 0 });
        // A time before `since` means that the clock was moved back.
        if now < counted.since || now.since(counted.since) >= WINDOW {
            *counted = Counted { since: now, calls: 0 };
        }
        counted.calls += 1;
        if counted.calls > self.most {
            return Err(
                AuthRefusal::TooManyTries { wait: WINDOW.saturating_sub(now.since(counted.since)) }.into()
            );
        }
        Ok(())
    }
}
