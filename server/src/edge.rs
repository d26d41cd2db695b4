//! What every answer goes through: a request id, the log line, the failure's body, the headers
//! that keep browsers safe; and what every JSON body comes in by.

use std::any::Any;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request, State},
    http::{HeaderName, HeaderValue, Response, header, request::Parts},
    middleware::Next,
    response::IntoResponse,
};
use serde::de::DeserializeOwned;
use tracing::Instrument;

use crate::{
    Sandbox,
    error::{Failure, FailureBody, Form},
};

/// The largest body that is read, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PROBLEM_JSON: &str = "application/problem+json";

/// Names the request, logs it, writes a failure's body, and sets the headers every answer has.
pub async fn answer(State(sandbox): State<Sandbox>, mut request: Request, next: Next) -> Response<Body> {
    let request_id = sandbox.randomness.id(sandbox.clock.now());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let problem = wants_problem(&request);
    request.extensions_mut().insert(Form { request_id: request_id.clone(), problem });
    let span = tracing::info_span!("request", id = request_id);
    async move {
        let started = tokio::time::Instant::now();
        let mut response = next.run(request).await;
        if let Some(failure) = response.extensions_mut().remove::<FailureBody>() {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, failure_media_type(problem));
            headers.remove(header::CONTENT_LENGTH);
            *response.body_mut() = failure.to_json(&request_id, problem).into();
        }
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&request_id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        tracing::info!(
            %method,
            path,
            status = response.status().as_u16(),
            ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "answered"
        );
        response
    }
    .instrument(span)
    .await
}

/// The media type of a failure: ours, or RFC 9457's when `problem`.
pub fn failure_media_type(problem: bool) -> HeaderValue {
    HeaderValue::from_static(if problem { PROBLEM_JSON } else { "application/json" })
}

/// A panic is a failure like others: logged, answered without a word about it.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
pub fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response<Body> {
    let what = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_default();
    Failure::Internal(what).into_response()
}

fn wants_problem(request: &Request) -> bool {
    let accepts = request.headers().get_all(header::ACCEPT);
    accepts.iter().filter_map(|accept| accept.to_str().ok()).any(|accept| accept.contains(PROBLEM_JSON))
}

/// A JSON body, with every way of getting it wrong told apart.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.and_then(|value| value.split(';').next()).map(str::trim);
        if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
            return Err(Failure::UnsupportedMediaType);
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
                Failure::BodyTooLarge
            } else {
                Failure::MalformedJson("it could not be read to its end".to_owned())
            }
        })?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            if error.is_data() {
                Failure::InvalidRequest(error.to_string())
            } else {
                Failure::MalformedJson(error.to_string())
            }
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Form {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let form = parts.extensions.get::<Self>().cloned();
        form.ok_or_else(|| Failure::Internal("a request that was not named".to_owned()))
    }
}
