//! Traces: what a call did, step by step, from a person's act on a page to each statement of the database.
//!
//! A step is a span of `tracing` with one of two targets, which the log leaves out: `trace::root` begins a trace here,
//! `trace::step` is a part of one, and is nothing where no trace is. No span holds a value of the data: only routes,
//! statuses, names of steps, and statements without their values.
//!
//! Without an endpoint, each sandbox keeps its latest traces in memory ([`Kept`]); with one, they are exported.

// The names by which spans are known.
mod target;
// The variables of OpenTelemetry.
mod variable;
// The spans that were not kept or not exported.
mod dropped;
// The latest traces of a sandbox.
mod kept;
// The exporter, and its bound.
#[cfg(feature = "otlp")]
mod export;
// Where the spans of this process go, and which traces are taken.
mod collector;
// The spans themselves, and how a trace goes on elsewhere.
mod span;

pub use collector::{State, end, layer, state};
pub use dropped::dropped;
pub use kept::{Kept, KeptSpan, KeptTrace, PageSpan};
pub use opentelemetry::trace::{SpanId, TraceId};
pub use span::{
    call, current, current_id, known_method, later, logged, method_label, of_the_first, outlasting,
    statement, trace_id, traceparent,
};
pub use target::is_of_trace;
