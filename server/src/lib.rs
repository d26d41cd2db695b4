//! The backend of the Mkopo portal. The modules, from what others use to what uses others:

// The log, which never delays or fails a call.
pub mod log;
// HTTP plumbing between the network and the handlers.
pub mod http;
// Health, readiness and the page of metrics.
pub mod health;
// Which calls are served where, and who may make them.
mod router;
// The `mkopo` commands and their arguments.
pub mod commands;

pub use router::routers;
pub use worlds::sandboxes::{Sandbox, Server};
