//! Health checks and metrics.

// Health, readiness and metrics for operators.
pub mod health;
// The metrics in Prometheus's format.
pub mod metrics;
// The log, which never delays or fails a call.
pub mod log;
