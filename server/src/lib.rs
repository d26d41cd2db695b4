//! The backend of the Mkopo portal. The modules, from what others use to what uses others:

// Faults to inject into calls.
pub mod faults;
// The latest calls, kept in memory.
pub mod traffic;
// The log and the metrics.
pub mod monitoring;
// The deletion of old data.
pub mod retention;
// Many isolated instances in one server.
pub mod sandboxes;

// HTTP plumbing between the network and the handlers.
pub mod http;
// Health, readiness and the page of metrics.
pub mod health;
// The operator's console: codes, faults, time and data, for QA and demos.
pub mod console;
// Which calls are served where, and who may make them.
mod router;
// The `mkopo` commands and their arguments.
pub mod commands;

pub use router::{console_router, portal_router};
pub use sandboxes::{Sandbox, Server};
