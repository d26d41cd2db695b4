//! Traces: what a call did, step by step, from a person's act on a page to each statement of the database.
//!
//! A step is a span of `tracing` with one of two targets, which the log leaves out: [`ROOT`] begins a trace here,
//! [`STEP`] is a part of one, and is nothing where no trace is. No span holds a value of the data: only routes,
//! statuses, names of steps, and statements without their values.
//!
//! Without an endpoint, each sandbox keeps its latest traces in memory ([`Kept`]); with one, they are exported.

// Where the spans of this process go, and which traces are taken.
mod collector;
// The exporter, and its bound.
#[cfg(feature = "otlp")]
mod export;
// The latest traces of a sandbox.
mod kept;
// The spans themselves, and how a trace goes on elsewhere.
mod span;

pub use collector::{State, dropped, end, layer, state};
pub use kept::{Kept, KeptSpan, KeptTrace, PageSpan};
pub use opentelemetry::trace::{SpanId, TraceId};
pub use span::{call, later, statement, trace_id, traceparent};

/// The target of spans that begin a trace in this process.
pub const ROOT: &str = "trace::root";

/// The target of spans within a trace.
pub const STEP: &str = "trace::step";

/// A step of the current trace, as a span; disabled outside of a trace.
#[macro_export]
macro_rules! step {
    ($($span:tt)+) => { tracing::info_span!(target: "trace::step", $($span)+) };
}
