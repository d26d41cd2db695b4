//! The targets of spans, by which the log leaves them out.

use tracing::Metadata;

/// The target of spans that begin a trace in this process.
pub(crate) const ROOT: &str = "trace::root";

/// The target of spans within a trace.
const STEP: &str = "trace::step";

/// Returns whether a span is one of a trace.
pub fn is_of_trace(metadata: &Metadata<'_>) -> bool {
    matches!(metadata.target(), ROOT | STEP)
}

/// A step of the current trace, as a span; disabled outside of a trace.
#[macro_export]
macro_rules! step {
    ($($span:tt)+) => { tracing::info_span!(target: "trace::step", $($span)+) };
}
