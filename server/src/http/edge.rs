//! The middleware around every call: request id, reading the body, logging, failure bodies and
//! security headers.

use std::{any::Any, convert::Infallible, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header},
    middleware::Next,
    response::IntoResponse,
};
use futures::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::{Instrument, Span};

use crate::http::shared_body::SharedBody;
use base::error::{Cause, Failure, FailureFormat, PROBLEM_JSON, failure_media_type};
use contract::API;
use settings::Settings;
use slices::archive;
use web::accept::{self, items};
use worlds::sandboxes::{InUse, Sandbox, not_found_page};

/// Maximum size of a request body, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;
const TOO_LARGE: Failure = Failure::BodyTooLarge("64 KiB");
/// Maximum number of bytes left of a body that are read and discarded, so that a client that is still sending receives
/// the answer.
const MAX_DISCARDED: usize = 1024 * 1024;
/// The same of a body that its handler reads: as much as the largest archive of a build.
const MAX_DISCARDED_OF_STREAM: usize = archive::MAX_RECEIVED;
/// Maximum size of a request's path, in bytes. Valid paths are far shorter.
const MAX_PATH_BYTES: usize = 1024;
/// Maximum size of a logged path, in bytes.
const MAX_LOGGED_PATH: usize = 256;
/// Timeout for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a call, which includes an upload. Normally every call takes far less.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// A call that takes longer is logged, even if it succeeds.
const SLOW_CALL: Duration = Duration::from_secs(1);

/// The only encoding of bodies that is read (RFC 9110).
const IDENTITY: &str = "identity";

/// The byte order mark, which some programs write before UTF-8. JSON has no such character (RFC 8259), and readers may
/// skip it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The paths of the calls with POST whose handlers read the body themselves, once the caller is authenticated: it may be
/// above [`BODY_LIMIT`].
const STREAMED: [&str; 3] = ["/console/api/sandboxes", "/console/api/slices", "/deploy/slices"];

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The configuration of the edge of a listener.
#[derive(Clone)]
pub struct Edge {
    /// The sandbox of requests that name none.
    pub main: Sandbox,
    /// Lets pages of other origins read answers, those that the edge refuses, too.
    pub cross_origin: Option<CorsLayer>,
}

/// Assigns the request id, reads the body, logs and counts the call, writes failure bodies, and sets
/// the headers that every response has. A single layer does all of it, because each layer clones
/// the layers inside it for every call.
pub async fn answer(
    State(Edge { main, cross_origin }): State<Edge>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let found = main.server.sandboxes.of_request(&main, &parts).await;
    let sandbox = found.as_ref().map_or(&main, |in_use| &in_use.sandbox).clone();
    sandbox.serve(&mut parts.extensions);
    let is_streamed = parts.method == Method::POST && STREAMED.contains(&parts.uri.path());
    let (body, unread) = Unread::of(&parts.headers, body, is_streamed);
    let mut request = Request::from_parts(parts, body);
    let request_id: Arc<str> = sandbox.server.randomness.id(sandbox.clock.now());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let problem = wants_problem(request.headers());
    let format = FailureFormat { request_id: Arc::clone(&request_id), problem };
    request.extensions_mut().insert(format.clone());
    let step = trace(&sandbox, &request, route.as_ref(), &request_id);
    let logged = step.in_scope(|| traces::logged(&request_id));
    let (traced, span) = (step.clone(), logged.clone());
    async move {
        let started = tokio::time::Instant::now();
        let respond = async |request: Request| match found {
            Ok(in_use) => call(&main, in_use, span, &format, is_streamed, request, next).await,
            Err(failure) => without_sandbox(failure, &sandbox, &format, request.headers()),
        };
        let mut response = across_origins(cross_origin.as_ref(), request, respond).await;
        let took = started.elapsed();
        write_failure(&mut response, &format);
        set_headers(response.headers_mut(), &request_id, &sandbox);
        let route = route.as_ref().map_or("none", MatchedPath::as_str);
        if sandbox.is_main() {
            sandbox.server.metrics.answered(&method, route, response.status(), took);
        }
        record(&traced, &method, route, response.status(), took);
        if let Some(unread) = unread {
            unread.finish(&mut response).await;
        }
        response
    }
    .instrument(step)
    .instrument(logged)
    .await
}

/// Answers a call to the sandbox that it uses.
async fn call(
    main: &Sandbox,
    in_use: InUse,
    logged: Span,
    format: &FailureFormat,
    is_streamed: bool,
    request: Request,
    next: Next,
) -> Response<Body> {
    let is_safe = request.method().is_safe();
    // Held until the call has ended: a sandbox is not closed while it is used.
    let held = in_use.clone();
    let format = format.clone();
    let call = async move {
        let answer = AssertUnwindSafe(receive(request, is_streamed, next)).catch_unwind().await;
        drop(held);
        log_cause(answer.unwrap_or_else(panicked), &format)
    };
    let answer = if is_safe {
        call.await
    } else {
        to_its_end(&in_use.sandbox, call.in_current_span().instrument(logged)).await
    };
    // The sandbox may have been removed while the call ran, which ends the call.
    let removed = if answer.status().is_server_error() {
        main.server.sandboxes.if_removed(&in_use).await
    } else {
        None
    };
    removed.map_or(answer, Failure::into_response)
}

/// Records an answer in its trace, and in the log. A path may hold a secret, also one that was typed by mistake.
fn record(step: &Span, method: &Method, route: &str, status: StatusCode, took: Duration) {
    step.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        step.record("otel.status_code", "ERROR");
    }
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let status = status.as_u16();
    if method.is_safe() && status < 400 && took < SLOW_CALL {
        // Metrics count these; a log line for each would halve the throughput.
        tracing::debug!(method = traces::method_label(method), route, status, ms, "answered");
    } else {
        tracing::info!(method = traces::method_label(method), route, status, ms, "answered");
    }
}

/// The paths of the calls that pages make by themselves.
const BY_PAGES: [&str; 2] = ["/slice-reports", "/spans"];

/// The trace of a call of the API, or of one that changes something. The files that pages load and the calls that they
/// make by themselves are not traced.
fn trace(sandbox: &Sandbox, request: &Request, route: Option<&MatchedPath>, request_id: &str) -> Span {
    let path = request.uri().path();
    let is_traced = path.starts_with(API) || !request.method().is_safe() && !BY_PAGES.contains(&path);
    match route {
        Some(route) if is_traced => {
            traces::call(&sandbox.traces, request.method(), route.as_str(), request.headers(), request_id)
        }
        _ => Span::none(),
    }
}

/// Answers `request` with the headers by which pages of other origins may read the answer.
async fn across_origins(
    layer: Option<&CorsLayer>,
    request: Request,
    respond: impl AsyncFnOnce(Request) -> Response<Body>,
) -> Response<Body> {
    let Some(layer) = layer else { return respond(request).await };
    let mut respond = Some(respond);
    // A preflight is answered by the layer.
    let answered = layer.layer(tower::service_fn(|request: Request| {
        let respond = respond.take();
        async move {
            Ok::<_, Infallible>(match respond {
                Some(respond) => respond(request).await,
                None => Failure::NotFound.into_response(),
            })
        }
    }));
    answered.oneshot(request).await.unwrap_or_else(|never| match never {})
}

/// Sets the headers that every response has.
fn set_headers(headers: &mut HeaderMap, request_id: &str, sandbox: &Sandbox) {
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    // The portal takes the time from this header: the sandbox's clock may have been set.
    if let Ok(date) = HeaderValue::from_str(&sandbox.clock.now().http_date()) {
        headers.insert(header::DATE, date);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("same-origin"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(
        "default-src 'none'; form-action 'none'; frame-ancestors 'none'",
    ));
    if sandbox.settings.behind_tls {
        headers.insert(
            header::STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000; includeSubDomains"),
        );
    }
}

/// Answers a call whose sandbox can't be found. Browsers get a page.
fn without_sandbox(
    failure: Failure,
    main: &Sandbox,
    format: &FailureFormat,
    headers: &HeaderMap,
) -> Response<Body> {
    let page = if accept::asks_for_page(headers) { not_found_page(main, &failure) } else { None };
    page.unwrap_or_else(|| log_cause(failure.into_response(), format))
}

/// Logs the cause of a 500, also when the caller is gone. The id of the call makes it a line of its own: what repeats is
/// logged once a minute.
fn log_cause(answer: Response<Body>, format: &FailureFormat) -> Response<Body> {
    if let Some(Cause(error)) = answer.extensions().get() {
        tracing::error!(request_id = &*format.request_id, error, "failed");
    }
    answer
}

/// The beginning of `path`, as it is logged and recorded.
pub fn shortened(path: &str) -> &str {
    &path[..path.floor_char_boundary(MAX_LOGGED_PATH)]
}

/// Writes the body of a failed response that has none yet.
pub fn write_failure(response: &mut Response<Body>, format: &FailureFormat) {
    let Some(failure) = response.extensions_mut().remove::<Arc<Failure>>() else { return };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, failure_media_type(format.problem));
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = failure.to_json(format).into();
}

/// The body of a request that may be answered before it is read.
struct Unread {
    body: SharedBody,
    limit: usize,
    /// `true` if the client waits to be told to send it.
    is_held_back: bool,
}

impl Unread {
    /// The body to read, and what may be left of it; `None` if there is none.
    fn of(headers: &HeaderMap, body: Body, is_streamed: bool) -> (Body, Option<Self>) {
        if body.is_end_stream() {
            return (body, None);
        }
        let body = SharedBody::new(body);
        let limit = if is_streamed { MAX_DISCARDED_OF_STREAM } else { MAX_DISCARDED };
        let is_held_back = headers.contains_key(header::EXPECT);
        (Body::new(body.clone()), Some(Self { body, limit, is_held_back }))
    }

    /// Reads what the call left unread: a proxy that can't send the rest has no answer for its client. If it can't be
    /// read, the answer says that the connection closes: otherwise a proxy sends the next request on it, which nobody
    /// answers.
    async fn finish(self, response: &mut Response<Body>) {
        let is_too_slow = response.status() == StatusCode::REQUEST_TIMEOUT;
        if !self.is_held_back && !is_too_slow && !self.body.has_ended() {
            _ = tokio::time::timeout(BODY_TIMEOUT, self.body.clone().discard(self.limit)).await;
        }
        if !self.body.has_ended() {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads the whole body before the call starts, so that no call holds resources while its client is
/// slow. Body and call each have a timeout.
async fn receive(request: Request, is_streamed: bool, next: Next) -> Response<Body> {
    if request.uri().path().len() > MAX_PATH_BYTES {
        return Failure::UriTooLong.into_response();
    }
    let (parts, body) = request.into_parts();
    let body = if is_streamed || body.is_end_stream() {
        body
    } else if items(&parts.headers, header::CONTENT_ENCODING).any(|encoding| encoding != IDENTITY) {
        let mut refused = Failure::EncodedBody.into_response();
        refused.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(IDENTITY));
        return refused;
    } else {
        match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
            Ok(Ok(bytes)) => Body::from(bytes),
            Ok(Err(failure)) => return failure.into_response(),
            Err(_) => return Failure::BodyTooSlow.into_response(),
        }
    };
    let call = next.run(Request::from_parts(parts, body));
    match tokio::time::timeout(CALL_TIMEOUT, call).await {
        Ok(response) => response,
        Err(_) => Failure::TookTooLong.into_response(),
    }
}

/// Reads a body up to [`BODY_LIMIT`]. What is left of a larger one is discarded after the answer ([`Unread::finish`]).
async fn read(body: Body) -> Result<Bytes, Failure> {
    // Not asked for if the client waits to be told to send it.
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(TOO_LARGE);
    }
    let read = Limited::new(body, BODY_LIMIT).collect().await.map_err(|error| {
        let broken = || Failure::MalformedJson("it could not be read completely".to_owned());
        if error.is::<LengthLimitError>() { TOO_LARGE } else { broken() }
    });
    let bytes = read?.to_bytes();
    Ok(if bytes.starts_with(BYTE_ORDER_MARK) { bytes.slice(BYTE_ORDER_MARK.len()..) } else { bytes })
}

/// Answers a method that a known path does not support. The router adds the `Allow` header.
pub async fn method_not_allowed(method: Method) -> Response<Body> {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    Failure::MethodNotAllowed.into_response()
}

/// Lets pages of the allowed origins call the API; `None` when no origin is allowed.
pub fn cross_origin(settings: &Settings) -> Option<CorsLayer> {
    if settings.allowed_origins.is_empty() {
        return None;
    }
    let request_headers = [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::IF_NONE_MATCH,
        HeaderName::from_static("idempotency-key"),
        HeaderName::from_static("last-event-id"),
        HeaderName::from_static("mkopo-sandbox"),
        HeaderName::from_static("traceparent"),
        HeaderName::from_static("tracestate"),
    ];
    let response_headers = [
        // The time that pages go by.
        header::DATE,
        header::ETAG,
        header::LINK,
        header::RETRY_AFTER,
        HeaderName::from_static("idempotent-replayed"),
        REQUEST_ID,
    ];
    let mut methods = vec![Method::GET, Method::POST];
    if settings.has_live_screens() {
        methods.extend([Method::PUT, Method::DELETE]);
    }
    let origins = settings.allowed_origins.iter().filter_map(|origin| origin.parse().ok());
    Some(
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods(methods)
            .allow_headers(request_headers)
            .expose_headers(response_headers)
            .max_age(Duration::from_hours(1)),
    )
}

/// Runs a call that changes data to its end, even if its client disconnects.
async fn to_its_end(
    sandbox: &Sandbox,
    call: impl Future<Output = Response<Body>> + Send + 'static,
) -> Response<Body> {
    match sandbox.tasks.finish(call).await {
        Ok(Some(answer)) => answer,
        // The server stopped first.
        Ok(None) => Failure::NotCommitted.into_response(),
        Err(panicked) => Failure::internal(panicked).into_response(),
    }
}

/// Turns a panic into an internal failure, which is logged and answered without details.
#[expect(clippy::needless_pass_by_value, reason = "`unwrap_or_else` passes it by value")]
fn panicked(panic: Box<dyn Any + Send>) -> Response<Body> {
    let what = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_default();
    Failure::Internal(what).into_response()
}

/// Returns `true` if the caller accepts problem+json, and prefers it at least as much as JSON.
fn wants_problem(headers: &HeaderMap) -> bool {
    let [problem, json] =
        [PROBLEM_JSON, "application/json"].map(|essence| accept::preference(headers, essence));
    problem > 0 && problem >= json
}
