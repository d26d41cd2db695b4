//! Counts the spans that were not kept or not exported: of a full queue, a receiver that fails, a trace of too many spans.

use std::sync::atomic::{AtomicU64, Ordering};

static DROPPED: AtomicU64 = AtomicU64::new(0);

/// The number of spans that were dropped since the start.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

pub(crate) fn count_dropped(spans: u64) {
    DROPPED.fetch_add(spans, Ordering::Relaxed);
}
