//! Parts of HTTP that the APIs share.

// Parsers for request headers.
pub mod accept;
// Extractors for handlers.
pub mod extract;
// Pages of one sentence.
pub mod notice;
// Response bodies that are sent many times.
pub mod ready_body;

/// An extension of a response that is sent until its client disconnects. Its connection does not count
/// towards the limits, and is not reused.
#[derive(Clone, Copy, Debug)]
pub struct Endless;
