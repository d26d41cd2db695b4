//! The log and the metrics.

// The metrics in Prometheus's format.
pub mod metrics;
// The log, which never delays or fails a call.
pub mod log;
