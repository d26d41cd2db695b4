//! HTTP plumbing between the network and the handlers.

// The charset of text files.
mod charset;
// Connections, with their limits and timeouts.
pub mod connections;
// The middleware around every call.
pub mod edge;
// The list of slices that a page loads.
mod live_slices;
mod open_connections;
// Acts of people on pages, as spans of traces.
pub mod page_spans;
// The files of the built shell and its slices.
pub mod portal;
// The contract, as JSON and as a reference page.
pub mod reference;
// The body of an upload.
mod shared_body;
