//! The latest traces of a sandbox, in memory.

use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use parking_lot::Mutex;

const MAX_TRACES: usize = 200;

/// The maximum number of spans in a trace.
const MAX_SPANS: usize = 256;

/// The memory that a span takes besides its texts, in bytes; rounded up.
const SPAN_BYTES: usize = 256;

/// The latest traces of a sandbox. Clones share them.
#[derive(Clone, Debug)]
pub struct Kept(Arc<State>);

#[derive(Debug)]
struct State {
    sandbox: String,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    /// The oldest first.
    traces: VecDeque<Arc<KeptTrace>>,
    bytes: usize,
    max_bytes: usize,
}

/// A trace, as far as it took place here.
#[derive(Clone, Debug)]
pub struct KeptTrace {
    pub trace_id: TraceId,
    /// Its spans, in the order in which they ended.
    pub spans: Vec<KeptSpan>,
    bytes: usize,
}

#[derive(Clone, Debug)]
pub struct KeptSpan {
    pub span_id: SpanId,
    /// The span that it is a part of; all zeros if there is none.
    pub parent_id: SpanId,
    /// An act of a person, a route, a step or the first word of a statement.
    pub name: Cow<'static, str>,
    /// When it began, by the machine's clock.
    pub began: SystemTime,
    pub took: Duration,
    pub failed: bool,
    pub attributes: Vec<KeyValue>,
    /// Other traces that belong to it.
    pub links: Vec<TraceId>,
}

/// An act of a person on a page, as the page reports it.
#[derive(Clone, Debug)]
pub struct PageSpan {
    pub trace_id: TraceId,
    /// The span that the page's calls named as their parent.
    pub span_id: SpanId,
    pub name: &'static str,
    /// The pattern of the screen's path.
    pub screen: String,
    pub began: SystemTime,
    pub took: Duration,
    pub failed: bool,
}

impl PageSpan {
    /// The span among those of other processes.
    pub(crate) fn data(self) -> SpanData {
        let Self { trace_id, span_id, name, screen, began, took, failed } = self;
        let (flags, state) = (TraceFlags::SAMPLED, TraceState::default());
        SpanData {
            span_context: SpanContext::new(trace_id, span_id, flags, true, state),
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Client,
            name: name.into(),
            start_time: began,
            end_time: began + took,
            attributes: vec![KeyValue::new("mkopo.screen", screen)],
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if failed { Status::error("") } else { Status::Unset },
            instrumentation_scope: InstrumentationScope::builder("mkopo.page").build(),
        }
    }
}

impl Kept {
    /// Keeps traces of the sandbox of this name, at most `max_bytes`.
    pub fn new(sandbox: &str, max_bytes: usize) -> Self {
        let ring = Mutex::new(Ring { max_bytes, ..Ring::default() });
        Self(Arc::new(State { sandbox: sandbox.to_owned(), ring }))
    }

    pub fn sandbox(&self) -> &str {
        &self.0.sandbox
    }

    /// Keeps at most `max_bytes` from now on.
    pub fn bound(&self, max_bytes: usize) {
        let mut ring = self.0.ring.lock();
        ring.max_bytes = max_bytes;
        ring.take_excess();
        ring.traces.shrink_to_fit();
    }

    /// All traces, newest first.
    pub fn all(&self) -> Vec<Arc<KeptTrace>> {
        self.0.ring.lock().traces.iter().rev().cloned().collect()
    }

    /// Adds a span. Returns whether there was room for it.
    pub(crate) fn add(&self, data: SpanData) -> bool {
        let trace_id = data.span_context.trace_id();
        self.0.ring.lock().add(trace_id, KeptSpan::of(data))
    }

    /// Adds the span of a page to the trace that its calls went on with, if that is here. Returns whether there was room.
    pub(crate) fn add_of_page(&self, data: SpanData) -> bool {
        let (trace_id, mut span) = (data.span_context.trace_id(), KeptSpan::of(data));
        let mut ring = self.0.ring.lock();
        let Some(trace) = ring.traces.iter().find(|trace| trace.trace_id == trace_id) else { return true };
        // The page's report took as long on its way as it seems to have begun too late.
        let calls = trace.spans.iter().filter(|call| call.parent_id == span.span_id);
        span.began = calls.map(|call| call.began).chain([span.began]).min().unwrap_or(span.began);
        ring.add(trace_id, span)
    }
}

impl Ring {
    fn add(&mut self, trace_id: TraceId, span: KeptSpan) -> bool {
        let bytes = span.bytes();
        // Most spans belong to one of the latest traces.
        let found = self.traces.iter_mut().rev().find(|trace| trace.trace_id == trace_id);
        match found {
            Some(trace) if trace.spans.len() >= MAX_SPANS => return false,
            Some(trace) => {
                // Copied only while somebody reads it.
                let trace = Arc::make_mut(trace);
                trace.bytes += bytes;
                trace.spans.push(span);
            }
            None => self.traces.push_back(Arc::new(KeptTrace { trace_id, spans: vec![span], bytes })),
        }
        self.bytes += bytes;
        self.take_excess();
        true
    }

    fn take_excess(&mut self) {
        while self.traces.len() > MAX_TRACES || self.bytes > self.max_bytes {
            let Some(oldest) = self.traces.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
    }
}

impl KeptTrace {
    /// The span that everything else of it is a part of: the first one whose parent is not here.
    pub fn root(&self) -> Option<&KeptSpan> {
        let here: HashSet<SpanId> = self.spans.iter().map(|span| span.span_id).collect();
        self.spans.iter().filter(|span| !here.contains(&span.parent_id)).min_by_key(|span| span.began)
    }

    /// Its duration, from the beginning of `root`.
    pub fn took(&self, root: &KeptSpan) -> Duration {
        let ends = self.spans.iter().map(|span| span.after(root) + span.took);
        ends.max().unwrap_or_default()
    }

    /// Other traces that caused it, or in which statements for it ran.
    pub fn links(&self) -> impl Iterator<Item = TraceId> {
        self.spans.iter().flat_map(|span| &span.links).copied().filter(|link| *link != self.trace_id)
    }

    /// Returns whether one of its calls had this id.
    pub fn is_of_request(&self, request_id: &str) -> bool {
        self.spans.iter().any(|span| span.attribute("mkopo.request_id").as_deref() == Some(request_id))
    }
}

impl KeptSpan {
    fn of(data: SpanData) -> Self {
        Self {
            span_id: data.span_context.span_id(),
            parent_id: data.parent_span_id,
            name: data.name,
            began: data.start_time,
            took: data.end_time.duration_since(data.start_time).unwrap_or_default(),
            failed: matches!(data.status, Status::Error { .. }),
            links: data.links.iter().map(|link| link.span_context.trace_id()).collect(),
            attributes: data.attributes,
        }
    }

    /// The time from the beginning of `other` to its own beginning.
    pub fn after(&self, other: &Self) -> Duration {
        self.began.duration_since(other.began).unwrap_or_default()
    }

    pub fn attribute(&self, key: &str) -> Option<Cow<'_, str>> {
        Some(self.attributes.iter().find(|known| known.key.as_str() == key)?.value.as_str())
    }

    fn bytes(&self) -> usize {
        let texts = self.attributes.iter().map(|known| known.value.as_str().len() + size_of::<KeyValue>());
        SPAN_BYTES + self.name.len() + texts.sum::<usize>()
    }
}
