//! What stands between the network and the handlers: connections, what every request and answer goes
//! through, what handlers take in, bodies that are sent again and again, and the portal's files.

// Headers, read.
pub mod accept;
// Connections: how many, and how long for each.
pub mod connections;
// What every request and every answer goes through.
pub mod edge;
// What handlers take from a request.
pub mod extract;
// The built shell and its slices, as files.
pub mod portal;
// Bodies that are sent again and again.
pub mod ready_body;
// The contract, for programs and as a page.
pub mod reference;

/// Where the contract's calls are.
pub const API: &str = "/api/v1";
