//! What every answer goes through: a request id, the log line, the failure's body, the headers
//! that keep browsers safe; and what every JSON body comes in by.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header},
    middleware::Next,
    response::IntoResponse,
};
use futures::FutureExt;
use http_body_util::BodyExt;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::Instrument;

use super::accept::{listed, quality};
use crate::{
    Sandbox,
    error::{Failure, FailureBody, FailureFormat},
    settings::Settings,
};

/// The largest body that is taken, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;
/// How much of a larger one is passed over, so that its client, still sending, hears why.
const READ_AT_MOST: usize = 1024 * 1024;
/// How long a body may take to come.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// How long a call may take. All of ours answer well before; this is for the unforeseen.
const CALL_PATIENCE: Duration = Duration::from_secs(30);
/// A call that takes longer is told in the log, however well it ends.
const SLOW: Duration = Duration::from_secs(1);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PROBLEM_JSON: &str = "application/problem+json";

/// Which requests bring a body that is larger than others may be, and is read by its call, once it
/// is known who sends it.
pub type StreamsBody = fn(&Method, &str) -> bool;

/// Names the request, takes its body in, logs and counts it, writes a failure's body, and sets the
/// headers every answer has. One layer for all of these: each layer copies those inside it for
/// every call.
pub async fn answer(
    State((sandbox, streams_body)): State<(Sandbox, StreamsBody)>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let request_id: Arc<str> = sandbox.randomness.id(sandbox.clock.now()).into();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let problem = wants_problem(request.headers());
    let form = FailureFormat { request_id: Arc::clone(&request_id), problem };
    request.extensions_mut().insert(form.clone());
    let span = tracing::info_span!("request", id = &*request_id);
    async move {
        let started = tokio::time::Instant::now();
        let call = AssertUnwindSafe(receive(request, streams_body, next)).catch_unwind();
        let mut response = call.await.unwrap_or_else(panicked);
        let took = started.elapsed();
        write_failure(&mut response, &form);
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&request_id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        if sandbox.settings.behind_tls {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
        }
        let route = route.as_ref().map_or("none", MatchedPath::as_str);
        sandbox.metrics.answered(&method, route, response.status(), took);
        let status = response.status().as_u16();
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if method.is_safe() && status < 400 && took < SLOW {
            // Metrics count these; a line for each would take half of all throughput.
            tracing::debug!(%method, path, status, ms, "answered");
        } else {
            tracing::info!(%method, path, status, ms, "answered");
        }
        response
    }
    .instrument(span)
    .await
}

/// Writes the body of an answer that is a failure and has none yet.
pub fn write_failure(response: &mut Response<Body>, form: &FailureFormat) {
    let Some(failure) = response.extensions_mut().remove::<FailureBody>() else { return };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, failure_media_type(form.problem));
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = failure.to_json(&form.request_id, form.problem).into();
}

/// The media type of a failure: ours, or RFC 9457's when `problem`.
pub fn failure_media_type(problem: bool) -> HeaderValue {
    HeaderValue::from_static(if problem { PROBLEM_JSON } else { "application/json" })
}

/// Reads the body before anything is done about the call, so that no call holds anything while its
/// client is slow; and gives up what takes too long.
async fn receive(request: Request, streams_body: StreamsBody, next: Next) -> Response<Body> {
    let is_streamed = streams_body(request.method(), request.uri().path());
    let (parts, body) = request.into_parts();
    let body = if body.is_end_stream() || is_streamed {
        body
    } else {
        match tokio::time::timeout(BODY_PATIENCE, read(&parts.headers, body)).await {
            Ok(Ok(bytes)) => Body::from(bytes),
            Ok(Err(failure)) => return failure.into_response(),
            Err(_) => return Failure::BodyTooSlow.into_response(),
        }
    };
    let call = next.run(Request::from_parts(parts, body));
    match tokio::time::timeout(CALL_PATIENCE, call).await {
        Ok(response) => response,
        Err(_) => Failure::TookTooLong.into_response(),
    }
}

async fn read(headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > READ_AT_MOST as u64)
        || headers.contains_key(header::EXPECT) && announced.is_some_and(|length| length > BODY_LIMIT as u64)
    {
        return Err(Failure::BodyTooLarge);
    }
    let mut bytes = Vec::new();
    let mut passed_over = 0;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Failure::MalformedJson("it could not be read to its end".to_owned()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() <= BODY_LIMIT && passed_over == 0 {
            bytes.extend_from_slice(&data);
        } else {
            passed_over += data.len();
            if passed_over > READ_AT_MOST {
                break;
            }
        }
    }
    if passed_over > 0 { Err(Failure::BodyTooLarge) } else { Ok(bytes.into()) }
}

/// A known path does not take the method; which ones it does, the router adds.
pub async fn other_method(method: Method) -> Response<Body> {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    Failure::MethodNotAllowed.into_response()
}

/// Lets the pages of the allowed origins read answers; none are by default.
pub fn cross_origin(settings: &Settings) -> Option<CorsLayer> {
    if settings.allowed_origins.is_empty() {
        return None;
    }
    let sent = [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::IF_NONE_MATCH,
        HeaderName::from_static("idempotency-key"),
    ];
    let read = [
        header::ETAG,
        header::LINK,
        header::RETRY_AFTER,
        HeaderName::from_static("idempotent-replayed"),
        REQUEST_ID,
    ];
    Some(
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(settings.allowed_origins.iter().cloned()))
            .allow_methods([Method::GET, Method::POST])
            .allow_headers(sent)
            .expose_headers(read)
            .max_age(Duration::from_hours(1)),
    )
}

/// A panic is a failure like others: logged, answered without a word about it.
#[expect(clippy::needless_pass_by_value, reason = "a panic is handed over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response<Body> {
    let what = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_default();
    Failure::Internal(what).into_response()
}

/// Whether the caller names problem+json, and likes it no less than JSON.
fn wants_problem(accepts: &HeaderMap) -> bool {
    let (mut problem, mut json) = (0, 0);
    for item in listed(accepts, header::ACCEPT) {
        match quality(item) {
            (name, quality) if name.eq_ignore_ascii_case(PROBLEM_JSON) => problem = quality,
            (name, quality) if name.eq_ignore_ascii_case("application/json") => json = quality,
            _ => {}
        }
    }
    problem > 0 && problem >= json
}
