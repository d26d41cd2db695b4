//! Receives what people did on pages, as spans of traces.

#![expect(
    clippy::disallowed_methods,
    reason = "spans have the machine's time, like all others of their trace"
)]

use std::time::{Duration, SystemTime};

use axum::{Router, extract::Request, http::StatusCode, routing::post};
use serde::{Deserialize, Deserializer, de::Error};

use base::error::Failure;
use lending::auth::client_address::ClientAddress;
use slices::page_call::{self, MaxSize};
use traces::{PageSpan, SpanId, TraceId};
use worlds::sandboxes::Sandbox;

const MAX_SIZE: MaxSize = (8 * 1024, "8 KiB");

/// Maximum number of spans in a call.
const MAX_SPANS: usize = 20;

/// Maximum time since the start of a span, and of its duration, in ms.
const MAX_MS: u64 = 600_000;

/// Maximum length of a screen's path pattern.
const MAX_SCREEN: usize = 200;

/// Maximum number of digits together in it: an id or a phone number has more.
const MAX_DIGITS: usize = 2;

/// An act of a person, one of [`ACTS`].
type Act = &'static str;

const ACTS: [Act; 4] = ["sign in", "open a screen", "confirm a payout", "try again"];

/// The routes on the portal's listener.
pub fn routes() -> Router {
    Router::new().route("/spans", post(receive))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    spans: Vec<Reported>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reported {
    #[serde(deserialize_with = "trace_id")]
    trace_id: TraceId,
    #[serde(deserialize_with = "span_id")]
    span_id: SpanId,
    #[serde(deserialize_with = "act")]
    name: Act,
    screen: String,
    ago_ms: u64,
    ms: u64,
    failed: bool,
}

async fn receive(sandbox: Sandbox, address: ClientAddress, request: Request) -> Result<StatusCode, Failure> {
    let (limit, now) = (&sandbox.server.page_spans, sandbox.clock.unset_now());
    let Sent { spans } = page_call::read(limit, MAX_SIZE, &sandbox.settings, address, now, request).await?;
    if spans.is_empty() || spans.len() > MAX_SPANS {
        return Err(Failure::BadValue(format!("A call has 1 to {MAX_SPANS} spans")));
    }
    let now = SystemTime::now();
    let spans: Result<Vec<PageSpan>, Failure> = spans.into_iter().map(|span| span.check(now)).collect();
    for span in spans? {
        sandbox.traces.add_page(span);
    }
    Ok(StatusCode::NO_CONTENT)
}

impl Reported {
    fn check(self, now: SystemTime) -> Result<PageSpan, Failure> {
        let Self { trace_id, span_id, name, screen, ago_ms, ms, failed } = self;
        let invalid = |text: &str| Failure::InvalidRequest(text.to_owned());
        let is_pattern = screen.len() <= MAX_SCREEN
            && screen.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/:*-_.".contains(&byte))
            && screen.split(|digit: char| !digit.is_ascii_digit()).all(|number| number.len() <= MAX_DIGITS);
        if !is_pattern {
            return Err(invalid("`screen` is the path pattern of a screen"));
        }
        if ago_ms > MAX_MS || ms > MAX_MS {
            return Err(invalid("`ago_ms` and `ms` are 10 minutes at most"));
        }
        Ok(PageSpan {
            trace_id,
            span_id,
            name,
            screen,
            began: now - Duration::from_millis(ago_ms),
            took: Duration::from_millis(ms),
            failed,
        })
    }
}

fn act<'de, D: Deserializer<'de>>(name: D) -> Result<Act, D::Error> {
    let name = String::deserialize(name)?;
    ACTS.into_iter().find(|act| *act == name).ok_or_else(|| D::Error::unknown_variant(&name, &ACTS))
}

fn trace_id<'de, D: Deserializer<'de>>(id: D) -> Result<TraceId, D::Error> {
    let id = digits::<32, D>(id)?;
    let id = TraceId::from_hex(&id).ok().filter(|id| *id != TraceId::INVALID);
    id.ok_or_else(|| D::Error::custom("a trace's id is not only zeros"))
}

fn span_id<'de, D: Deserializer<'de>>(id: D) -> Result<SpanId, D::Error> {
    let id = digits::<16, D>(id)?;
    let id = SpanId::from_hex(&id).ok().filter(|id| *id != SpanId::INVALID);
    id.ok_or_else(|| D::Error::custom("a span's id is not only zeros"))
}

/// The text of an id, which has lower-case hexadecimal digits.
fn digits<'de, const COUNT: usize, D: Deserializer<'de>>(id: D) -> Result<String, D::Error> {
    let id = String::deserialize(id)?;
    let is_hex = id.len() == COUNT && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then_some(id).ok_or_else(|| D::Error::custom(format!("an id has {COUNT} hexadecimal digits")))
}
