//! HTTP plumbing between the network and the handlers.

// The middleware of the portal's API.
pub mod api_call;
// Connections, with their limits and timeouts.
pub mod connections;
// The middleware around every call.
pub mod edge;
// Faults in calls.
mod inject;
// The list of slices that a page loads.
mod live_slices;
// Calls in progress, for Traffic.
mod observed;
mod open_connections;
// Acts of people on pages, as spans of traces.
pub mod page_spans;
// The files of the built shell and its slices.
pub mod portal;
// The contract, as JSON and as a reference page.
pub mod reference;
// The body of an upload.
mod shared_body;
