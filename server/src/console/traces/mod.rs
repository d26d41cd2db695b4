//! The latest traces of calls, which only this server has in memory.

pub mod api;
pub mod page;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime},
};

use serde::{Serialize, Serializer};

use crate::{console::view::page::Page, sandboxes::Sandbox};
use base::{clock::UnixMillis, error::Failure, ids::PayoutId};
use store::{Connection, query_scalar};
use traces::{KeptSpan, KeptTrace, SpanId, TraceId};

/// An id, which is text on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id<T>(T);

impl<T: fmt::Display> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A trace, as it is shown.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// Its id.
    pub id: Id<TraceId>,
    /// What it began with.
    pub name: String,
    /// When it began, by the machine's clock.
    pub at: UnixMillis,
    /// How long it took, in µs.
    pub us: u64,
    /// Whether what it began with failed.
    pub failed: bool,
    /// The ids of its requests.
    pub request_ids: Vec<String>,
    /// Other traces that caused it, or in which statements for it ran.
    pub links: Vec<Id<TraceId>>,
    /// Its spans, each before its parts.
    pub spans: Vec<Span>,
}

/// A span of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Span {
    /// Its id.
    pub id: Id<SpanId>,
    /// The id of the span that it is a part of, if that is here.
    pub parent_id: Option<Id<SpanId>>,
    /// How many spans it is a part of.
    pub depth: usize,
    /// What was done.
    pub name: String,
    /// When it began, in µs after the trace.
    pub at_us: u64,
    /// How long it took, in µs.
    pub us: u64,
    /// Whether it failed.
    pub failed: bool,
    /// What else is known of it, by the names of the OpenTelemetry conventions where there is one.
    pub attributes: BTreeMap<String, String>,
}

const OF_PAYOUT: &str = "SELECT traceparent FROM payout WHERE payout_id = $1";

/// The latest traces, newest first; with an `id` of a trace, a request or a payout, its trace and those that are linked to
/// it.
///
/// # Errors
/// If the database fails.
pub async fn latest(sandbox: &Sandbox, id: Option<&str>) -> Result<Vec<Trace>, Failure> {
    let kept = sandbox.traces.all();
    let Some(id) = id else { return Ok(kept.iter().map(Trace::of).collect()) };
    let of_payout = trace_of_payout(&mut *sandbox.database.read().await?, id).await?;
    // The trace itself may be on another server: what it caused here is shown all the same.
    let mut asked: Vec<TraceId> = of_payout.into_iter().chain(TraceId::from_hex(id).ok()).collect();
    asked.extend(kept.iter().filter(|trace| trace.is_of_request(id)).map(|trace| trace.trace_id));
    let is_asked = |trace: &&KeptTrace| asked.contains(&trace.trace_id);
    let caused: Vec<TraceId> = kept.iter().filter(is_asked).flat_map(KeptTrace::links).collect();
    let is_linked = |trace: &&KeptTrace| {
        !is_asked(trace)
            && (caused.contains(&trace.trace_id) || trace.links().any(|link| asked.contains(&link)))
    };
    // What happened later comes after what caused it.
    let linked = kept.iter().filter(is_linked).rev();
    Ok(kept.iter().filter(is_asked).chain(linked).map(Trace::of).collect())
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

impl Trace {
    fn of(kept: &KeptTrace) -> Self {
        let root = kept.root();
        let began = root.map_or(SystemTime::UNIX_EPOCH, |root| root.began);
        let ends = kept.spans.iter().map(|span| after(began, span) + span.took);
        let request_ids = kept.spans.iter().filter_map(|span| span.attribute("mkopo.request_id"));
        let links: BTreeMap<[u8; 16], Id<TraceId>> =
            kept.links().map(|link| (link.to_bytes(), Id(link))).collect();
        Self {
            id: Id(kept.trace_id),
            name: root.map(|root| root.name.to_string()).unwrap_or_default(),
            at: UnixMillis(millis(began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())),
            us: micros(ends.max().unwrap_or_default()),
            failed: root.is_some_and(|root| root.failed),
            request_ids: request_ids.map(std::borrow::Cow::into_owned).collect(),
            links: links.into_values().collect(),
            spans: in_order(kept, began),
        }
    }
}

/// The spans of a trace, each before its parts, and these in the order in which they began.
fn in_order(kept: &KeptTrace, began: SystemTime) -> Vec<Span> {
    let is_here = |span: &KeptSpan| kept.spans.iter().any(|other| other.span_id == span.parent_id);
    let parts_of = |parent: Option<&KeptSpan>| {
        let is_part = |span: &&KeptSpan| match parent {
            Some(parent) => span.parent_id == parent.span_id,
            None => !is_here(span),
        };
        let mut parts: Vec<&KeptSpan> = kept.spans.iter().filter(is_part).collect();
        // The last one is taken first.
        parts.sort_by_key(|span| std::cmp::Reverse(span.began));
        parts
    };
    let mut next: Vec<(usize, &KeptSpan)> = parts_of(None).into_iter().map(|span| (0, span)).collect();
    let mut spans = Vec::new();
    while let Some((depth, span)) = next.pop() {
        // A page could name itself as its parent.
        if spans.len() < kept.spans.len() {
            next.extend(parts_of(Some(span)).into_iter().map(|part| (depth + 1, part)));
            spans.push(Span {
                id: Id(span.span_id),
                parent_id: is_here(span).then_some(Id(span.parent_id)),
                depth,
                name: span.name.to_string(),
                at_us: micros(after(began, span)),
                us: micros(span.took),
                failed: span.failed,
                attributes: attributes(span),
            });
        }
    }
    spans
}

fn attributes(span: &KeptSpan) -> BTreeMap<String, String> {
    let text = |value: &str| value.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned();
    span.attributes.iter().map(|known| (known.key.to_string(), text(&known.value.as_str()))).collect()
}

fn after(began: SystemTime, span: &KeptSpan) -> Duration {
    span.began.duration_since(began).unwrap_or_default()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
