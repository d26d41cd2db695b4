//! The spans of a trace, and the text by which it goes on in another process (W3C Trace Context).

use std::collections::HashMap;

use axum::http::{HeaderMap, Method};
use opentelemetry::{
    Context,
    propagation::TextMapPropagator,
    trace::{SpanContext, TraceContextExt, TraceId},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Span, field};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::{collector, kept::Kept};

/// Begins the trace of a call, or goes on with the caller's; a disabled span if it is not taken. Record
/// `http.response.status_code` once it is known.
pub fn call(kept: &Kept, method: &Method, route: &str, headers: &HeaderMap, request_id: &str) -> Span {
    if !collector::is_on() {
        return Span::none();
    }
    let parent = parent(headers);
    let remote = parent.span().span_context().clone();
    if !collector::takes(&remote, request_id) {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: "trace::root",
        parent: None,
        "call",
        otel.name = format!("{} {route}", known_method(method).unwrap_or("HTTP")),
        otel.kind = "server",
        otel.status_code = field::Empty,
        http.request.method = method_label(method),
        http.route = route,
        http.response.status_code = field::Empty,
        mkopo.request_id = request_id,
        mkopo.sandbox = kept.sandbox(),
    );
    if remote.is_valid() {
        // Fails if nobody collects traces.
        _ = span.set_parent(parent);
    }
    collector::keep(&span, kept);
    span
}

/// The method of a call, as OpenTelemetry names it: one that is not known may be any text of the caller.
pub fn method_label(method: &Method) -> &'static str {
    known_method(method).unwrap_or("_OTHER")
}

/// The name of a method of HTTP; `None` if it is none.
pub fn known_method(method: &Method) -> Option<&'static str> {
    Some(match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => return None,
    })
}

/// The span of a call in the log: its id, and that of the current trace. No step is a part of it, nor the other way
/// round, so a task of its own for a call needs both. It has the program's target, which filters of the log name.
pub fn logged(request_id: &str) -> Span {
    tracing::info_span!(
        target: "mkopo",
        parent: None,
        "request",
        id = %request_id,
        trace_id = current_id().map(field::display),
    )
}

/// A step of the current trace that may end after what it is a part of, which does not wait for it; a disabled span
/// outside of a trace.
pub fn outlasting(kept: &Kept, name: &str) -> Span {
    if current_id().is_none() {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: "trace::step",
        parent: None,
        "outlasting",
        otel.name = name,
        otel.status_code = field::Empty,
    );
    // Fails if nobody collects traces.
    _ = span.set_parent(Span::current().context());
    collector::keep(&span, kept);
    span
}

/// Begins a trace of what happens later because of an act, with a link to the trace of that act; a disabled span
/// if that was not taken.
pub fn later(kept: &Kept, name: &str, cause: Option<&str>) -> Span {
    let Some(cause) = cause.map(context_of).filter(SpanContext::is_valid) else { return Span::none() };
    let span = tracing::info_span!(
        target: "trace::root",
        parent: None,
        "later",
        otel.name = name,
        otel.status_code = field::Empty,
        mkopo.sandbox = kept.sandbox(),
    );
    span.add_link(cause);
    collector::keep(&span, kept);
    span
}

/// A statement of the database, as a step. Its text has no values: they are bound.
pub fn statement(system: &'static str, sql: &str) -> Span {
    tracing::info_span!(
        target: "trace::step",
        "statement",
        otel.name = sql.split_whitespace().next().unwrap_or_default(),
        otel.kind = "client",
        otel.status_code = field::Empty,
        db.system.name = system,
        db.query.text = sql,
    )
}

/// The current span, for work that another task does in its place; a disabled one where no traces are collected.
pub fn current() -> Span {
    if collector::is_on() { Span::current() } else { Span::none() }
}

/// The step in which work is done for several callers together: that of the first, to which the others link.
pub fn of_the_first<'s>(steps: impl IntoIterator<Item = &'s Span>) -> Span {
    let mut steps = steps.into_iter();
    let first = steps.next().map_or_else(Span::none, Span::clone);
    for other in steps {
        other.follows_from(&first);
    }
    first
}

/// The current span as the text of the header `traceparent`; `None` outside of a trace.
pub fn traceparent() -> Option<String> {
    let context = context()?;
    Some(format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8()))
}

/// The id of the current span's trace; `None` outside of a trace.
pub fn current_id() -> Option<TraceId> {
    context().map(|context| context.trace_id())
}

/// The id of the trace in the text of a header `traceparent`.
pub fn trace_id(traceparent: &str) -> Option<TraceId> {
    let context = context_of(traceparent);
    context.is_valid().then(|| context.trace_id())
}

fn context() -> Option<SpanContext> {
    if !collector::is_on() {
        return None;
    }
    let context = Span::current().context();
    let context = context.span().span_context().clone();
    context.is_valid().then_some(context)
}

fn context_of(traceparent: &str) -> SpanContext {
    let named = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &named);
    context.span().span_context().clone()
}

/// The trace that a caller goes on with; an empty context if it names none, or not as it should.
fn parent(headers: &HeaderMap) -> Context {
    // Several of them name no trace.
    let mut named = headers.get_all("traceparent").iter();
    let (Some(only), None) = (named.next(), named.next()) else { return Context::new() };
    if !is_traceparent(only.as_bytes()) {
        return Context::new();
    }
    let text = |name: &str| Some((name.to_owned(), headers.get(name)?.to_str().ok()?.to_owned()));
    let texts: HashMap<String, String> = ["traceparent", "tracestate"].into_iter().filter_map(text).collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &texts)
}

/// Returns whether `text` has the form of a `traceparent`, which the library's own parser does not check. Those of later
/// versions may have more fields.
fn is_traceparent(text: &[u8]) -> bool {
    let is_hex = |part: &[u8]| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let parts: Vec<&[u8]> = text.splitn(5, |byte| *byte == b'-').collect();
    let [version @ [_, _], trace_id, span_id, flags @ [_, _], more @ ..] = &parts[..] else { return false };
    (trace_id.len(), span_id.len()) == (32, 16)
        && [version, trace_id, span_id, flags].into_iter().all(|part| is_hex(part))
        && (more.is_empty() || *version != b"00")
}
