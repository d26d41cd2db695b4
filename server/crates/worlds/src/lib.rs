//! Sandboxes, and their parts around the world of lending. The modules, from what others use to what uses others:

// Faults to inject into calls.
pub mod faults;
// The latest calls, kept in memory.
pub mod traffic;
// The metrics in Prometheus's format.
pub mod metrics;
// The deletion of old data.
pub mod retention;
// Many isolated instances in one server.
pub mod sandboxes;
