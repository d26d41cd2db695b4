//! HTTP plumbing between the network and the handlers.

// Parsers for request headers.
pub mod accept;
// The charset of text files.
mod charset;
// Connections, with their limits and timeouts.
pub mod connections;
// The middleware around every call.
pub mod edge;
mod open_connections;
// Extractors for handlers.
pub mod extract;
// The files of the built shell and its slices.
pub mod portal;
// Response bodies that are sent many times.
pub mod ready_body;
// The contract, as JSON and as a reference page.
pub mod reference;

/// The path that the contract's calls are mounted at.
pub const API: &str = "/api/v1";
