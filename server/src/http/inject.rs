//! Injects the matching faults into a call.

use std::time::Duration;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use tracing::{Instrument, Span};

use crate::http::{
    connections::{Cut, Reused},
    edge,
};
use base::error::{Failure, FailureFormat};
use console::ConsoleRefusal;
use web::{Endless, extract::whole};
use worlds::{
    faults::{Fault, FaultKind, FaultPhase, draw},
    sandboxes::Sandbox,
};

/// The time to send half a response before the connection is closed.
const FLUSH_DELAY: Duration = Duration::from_millis(50);

/// The fault that hit a call, as an extension of the response.
#[derive(Clone, Copy, Debug)]
pub struct Hit(pub FaultKind);

/// Answers a call, with the faults that hit it.
pub async fn inject<F: Future<Output = Response>>(
    sandbox: &Sandbox,
    format: &FailureFormat,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let active = active(sandbox, &request);
    if active.is_empty() || request.method() == Method::OPTIONS {
        return answer(request).await;
    }
    let call = call_of_page(&request);
    let hit = match draw(&sandbox.world, active).await {
        Ok(hit) => hit,
        Err(failure) => return failure.into_response(),
    };
    let Some(last) = hit.last().cloned() else { return answer(request).await };
    if last.kind.changes_body() {
        // Its text is changed, so it must not be compressed.
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    wait(sandbox, &hit, FaultPhase::Before).await;
    let mut response = if last.kind != FaultKind::Latency && last.phase == FaultPhase::Before {
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    } else {
        answer(request).await
    };
    wait(sandbox, &hit, FaultPhase::After).await;
    edge::write_failure(&mut response, format);
    let step = if last.kind == FaultKind::Latency {
        Span::none()
    } else {
        traces::step!("fault", fault.kind = ?last.kind)
    };
    let mut response = apply(&last, response).instrument(step).await;
    response.extensions_mut().insert(Hit(last.kind));
    if let Some(call) = call.filter(|_| response.extensions().get::<Cut>().is_some()) {
        sandbox.faults.remember_cut(call);
    }
    response
}

/// The faults that may hit a call: none if it is one of those that are spared.
fn active(sandbox: &Sandbox, request: &Request) -> Vec<Fault> {
    let (method, path) = (request.method(), request.uri().path());
    let is_spared = sandbox.provider.as_ref().is_some_and(|provider| provider.is_spared(method, path));
    if is_spared { Vec::new() } else { sandbox.faults.matching(method, path) }
}

/// Closes the connection of a call that a fault might cut or has just cut, if its browser would repeat it by itself:
/// browsers do so, unseen, when a connection that they have kept closes without an answer. That of a call that is cut
/// has answered before, so that the call is sent again on a new connection and meets the fault; or it was new and had
/// waited in the browser, so that the call that comes again is cut again.
pub fn to_be_repeated(sandbox: &Sandbox, request: &Request) -> Option<Response> {
    let active = active(sandbox, request);
    if active.is_empty() || !is_by_browser(request.headers()) {
        return None;
    }
    let was_cut = call_of_page(request).is_some_and(|call| sandbox.faults.was_cut(&call));
    let is_kept = request.extensions().get::<Reused>().is_some();
    let may_cut =
        |fault: &Fault| fault.kind.cuts_connection() && fault.times.is_none_or(|times| fault.hits < times);
    (was_cut || is_kept && active.iter().any(may_cut)).then(|| {
        let mut response = StatusCode::SERVICE_UNAVAILABLE.into_response();
        response.extensions_mut().insert(Cut::Closed);
        response
    })
}

/// Browsers state the site of a request, except to a host name without TLS; all call themselves Mozilla. Node states
/// the mode of a request, as browsers do, but neither of these, and repeats nothing.
fn is_by_browser(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes);
    headers.contains_key("sec-fetch-site") || agent.is_some_and(|agent| agent.starts_with(b"Mozilla/"))
}

/// A call of a page with the act that it belongs to, such as one click. A browser repeats both.
fn call_of_page(request: &Request) -> Option<String> {
    let act = request.headers().get("traceparent")?.to_str().ok()?;
    is_by_browser(request.headers()).then(|| format!("{} {} {act}", request.method(), request.uri().path()))
}

async fn wait(sandbox: &Sandbox, hit: &[Fault], phase: FaultPhase) {
    for fault in hit.iter().filter(|fault| fault.kind == FaultKind::Latency && fault.phase == phase) {
        let ms = fault.ms.unwrap_or_default().unsigned_abs();
        let step = traces::step!("fault", fault.kind = ?fault.kind);
        sandbox.clock.sleep(Duration::from_millis(ms)).instrument(step).await;
    }
}

/// Applies `fault` to the response.
async fn apply(fault: &Fault, mut response: Response) -> Response {
    let cut = match fault.kind {
        // Its body never ends.
        _ if fault.kind.changes_body() && response.extensions().get::<Endless>().is_some() => Cut::Closed,
        FaultKind::Drop => Cut::Closed,
        FaultKind::Reset => Cut::Reset,
        FaultKind::Latency => return response,
        FaultKind::Status => {
            let status =
                fault.status.and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
            let status = status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            return Failure::from(ConsoleRefusal::Injected(status)).into_response();
        }
        FaultKind::Truncate => return truncate(response).await,
        FaultKind::Malformed => return corrupt(response).await,
    };
    response.extensions_mut().insert(cut);
    response
}

/// Declares the full content length, sends half of the body, and closes the connection.
async fn truncate(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = whole(body).await;
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let half = bytes.slice(..bytes.len() / 2);
    let cut = async {
        // The server flushes its buffer while the stream is pending.
        tokio::time::sleep(FLUSH_DELAY).await;
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted))
    };
    Response::from_parts(parts, Body::from_stream(stream::iter([Ok(half)]).chain(stream::once(cut))))
}

/// Replaces the last byte of the body: valid HTTP, but invalid JSON. Does nothing to an empty body.
async fn corrupt(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let mut bytes = whole(body).await.to_vec();
    if bytes.pop().is_some() {
        bytes.push(b',');
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::ETAG);
    Response::from_parts(parts, Body::from(bytes))
}
