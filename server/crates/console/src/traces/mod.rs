//! The latest traces of calls, which only this server has in memory.

pub mod api;
pub mod page;

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde::Serialize;

use crate::view::page::Page;
use base::{clock::UnixMillis, error::Failure, ids::PayoutId};
use store::{Connection, query_scalar};
use traces::{KeptSpan, KeptTrace, SpanId, TraceId};
use worlds::sandboxes::Sandbox;

#[derive(Clone, Debug, Serialize)]
pub struct Outline {
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// The name of the span that it began with.
    pub name: String,
    /// When it began, by the machine's clock.
    pub at: UnixMillis,
    /// Its duration, in µs.
    pub us: u64,
    /// `true` if the span that it began with failed.
    pub failed: bool,
    /// The number of its spans.
    #[serde(skip)]
    pub steps: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    #[serde(flatten)]
    pub outline: Outline,
    pub request_ids: Vec<String>,
    /// Other traces that caused it, or in which statements for it ran.
    pub links: BTreeSet<String>,
    /// Its spans, each before its parts.
    pub spans: Vec<Span>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Span {
    /// Its id, in hexadecimal digits.
    pub id: String,
    /// The id of the span that it is a part of, if that is here.
    pub parent_id: Option<String>,
    /// The number of spans that it is a part of.
    pub depth: usize,
    /// An act of a person, a route, a step or the first word of a statement.
    pub name: String,
    /// When it began, in µs after the trace.
    pub at_us: u64,
    /// Its duration, in µs.
    pub us: u64,
    pub failed: bool,
    /// Its attributes. Their names are those of the OpenTelemetry conventions, where there is one.
    pub attributes: BTreeMap<String, String>,
}

const OF_PAYOUT: &str = "SELECT traceparent FROM payout WHERE payout_id = $1";

/// The latest traces in outline, newest first.
pub fn outlines(sandbox: &Sandbox) -> Vec<Outline> {
    sandbox.traces.all().iter().filter_map(|kept| Some(Outline::of(kept, kept.root()?))).collect()
}

/// The latest traces, newest first; with an `id` of a trace, a request or a payout, its trace and those that are linked to
/// it.
pub async fn latest(sandbox: &Sandbox, id: Option<&str>) -> Result<Vec<Trace>, Failure> {
    let kept = sandbox.traces.all();
    let Some(id) = id else { return Ok(kept.iter().filter_map(|trace| Trace::of(trace)).collect()) };
    let of_payout = trace_of_payout(&mut sandbox.database.read().await?, id).await?;
    // The trace itself may be on another server: what it caused here is shown all the same.
    let mut asked: Vec<TraceId> = of_payout.into_iter().chain(TraceId::from_hex(id).ok()).collect();
    asked.extend(kept.iter().filter(|trace| trace.is_of_request(id)).map(|trace| trace.trace_id));
    let is_asked = |trace: &&Arc<KeptTrace>| asked.contains(&trace.trace_id);
    let caused: Vec<TraceId> = kept.iter().filter(is_asked).flat_map(|trace| trace.links()).collect();
    let is_linked = |trace: &&Arc<KeptTrace>| {
        !is_asked(trace)
            && (caused.contains(&trace.trace_id) || trace.links().any(|link| asked.contains(&link)))
    };
    // What happened later comes after what caused it.
    let linked = kept.iter().filter(is_linked).rev();
    Ok(kept.iter().filter(is_asked).chain(linked).filter_map(|trace| Trace::of(trace)).collect())
}

async fn trace_of_payout(connection: &mut Connection, id: &str) -> Result<Option<TraceId>, Failure> {
    if !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(None);
    }
    let traceparent: Option<Option<String>> =
        query_scalar(OF_PAYOUT).bind(PayoutId::from(id)).fetch_optional(connection).await?;
    Ok(traceparent.flatten().and_then(|span| traces::trace_id(&span)))
}

/// The address at which the trace with this id, or of what has this id, is shown.
pub fn address(id: &str) -> String {
    format!("{}?id={id}", Page::Traces.address())
}

impl Outline {
    fn of(kept: &KeptTrace, root: &KeptSpan) -> Self {
        Self {
            id: kept.trace_id.to_string(),
            name: root.name.to_string(),
            at: UnixMillis(0).plus(root.began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            us: micros(kept.took(root)),
            failed: root.failed,
            steps: kept.spans.len(),
        }
    }
}

impl Trace {
    /// `None` if each of its spans is a part of another.
    fn of(kept: &KeptTrace) -> Option<Self> {
        let root = kept.root()?;
        let request_ids = kept.spans.iter().filter_map(|span| span.attribute("mkopo.request_id"));
        Some(Self {
            outline: Outline::of(kept, root),
            request_ids: request_ids.map(Cow::into_owned).collect(),
            links: kept.links().map(|link| link.to_string()).collect(),
            spans: in_order(kept, root),
        })
    }
}

/// The spans of a trace, each before its parts, and these in the order in which they began.
fn in_order(kept: &KeptTrace, root: &KeptSpan) -> Vec<Span> {
    let here: HashSet<SpanId> = kept.spans.iter().map(|span| span.span_id).collect();
    let parent_of = |span: &KeptSpan| Some(span.parent_id).filter(|parent_id| here.contains(parent_id));
    let mut parts: HashMap<Option<SpanId>, Vec<&KeptSpan>> = HashMap::new();
    for span in &kept.spans {
        parts.entry(parent_of(span)).or_default().push(span);
    }
    let mut parts_of = |parent: Option<SpanId>, depth: usize| {
        let mut parts = parts.remove(&parent).unwrap_or_default();
        // The last one is taken first.
        parts.sort_by_key(|span| Reverse(span.began));
        parts.into_iter().map(move |span| (depth, span))
    };
    let mut next: Vec<(usize, &KeptSpan)> = parts_of(None, 0).collect();
    let mut spans = Vec::new();
    while let Some((depth, span)) = next.pop() {
        next.extend(parts_of(Some(span.span_id), depth + 1));
        spans.push(Span {
            id: span.span_id.to_string(),
            parent_id: parent_of(span).map(|parent_id| parent_id.to_string()),
            depth,
            name: span.name.to_string(),
            at_us: micros(span.after(root)),
            us: micros(span.took),
            failed: span.failed,
            attributes: attributes(span),
        });
    }
    spans
}

fn attributes(span: &KeptSpan) -> BTreeMap<String, String> {
    let text = |value: &str| value.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned();
    span.attributes.iter().map(|known| (known.key.to_string(), text(&known.value.as_str()))).collect()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
