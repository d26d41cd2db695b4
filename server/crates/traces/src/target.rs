//! The targets of spans, by which the log leaves them out.

/// The target of spans that begin a trace in this process.
pub const ROOT: &str = "trace::root";

/// The target of spans within a trace.
pub const STEP: &str = "trace::step";

/// A step of the current trace, as a span; disabled outside of a trace.
#[macro_export]
macro_rules! step {
    ($($span:tt)+) => { tracing::info_span!(target: "trace::step", $($span)+) };
}
