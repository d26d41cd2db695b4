//! What the benchmarks have in common.

pub mod client;
pub mod figures;
pub mod processes;

use std::time::Duration;

pub const PENDING: &str = "/api/v1/disbursements/pending";

pub fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

/// The 99th percentile, in milliseconds.
pub fn p99(took: &mut [Duration]) -> f64 {
    took.sort_unstable();
    millis(took[took.len() * 99 / 100])
}
