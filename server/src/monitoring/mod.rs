//! Health checks and metrics.

// Health, readiness and metrics for operators.
pub mod health;
// The metrics of a sandbox.
pub mod metrics;
// The log, which never holds up or breaks a call.
pub mod log;
