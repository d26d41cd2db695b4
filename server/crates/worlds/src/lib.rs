//! What a sandbox is made of around the world of lending, and how sandboxes are made and removed. The modules, from
//! what others use to what uses others:

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
