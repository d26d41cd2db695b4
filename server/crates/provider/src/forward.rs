//! Forwards a call to the provider, in place of the handlers of this service.

use std::{net::IpAddr, sync::Arc};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{FromRequestParts, OriginalUri, Request},
    http::{Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use http_body_util::Full;
use percent_encoding::percent_decode_str;
use tokio::time::Instant;
use tracing::{Instrument, field};

use super::{Provider, ProviderRefusal, answer_body::AnswerBody, headers};
use base::error::{Failure, FailureFormat};
use contract::{CONTRACT_PATH, Operation};
use lending::{auth::client_address::ClientAddress, world::World};
use web::{accept, extract::whole};

/// Forwards every call of the contract to the provider, if there is one. Without one, and for the contract
/// itself, returns this service's own `answer`.
pub async fn unless_own<F: Future<Output = Response>>(
    provider: Option<&Arc<Provider>>,
    world: &World,
    format: &FailureFormat,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let Some(provider) = provider else { return answer(request).await };
    if request.uri().path() == CONTRACT_PATH || request.method() == Method::OPTIONS {
        return answer(request).await;
    }
    let (mut parts, body) = request.into_parts();
    // A stream never ends, and pages work without it.
    if parts.uri.path() == "/events" || !is_of_contract(&parts) {
        return Failure::NotFound.into_response();
    }
    let client = match ClientAddress::from_request_parts(&mut parts, &()).await {
        Ok(ClientAddress(client)) => client,
        Err(failure) => return failure.into_response(),
    };
    let is_read = parts.method.is_safe();
    let call = Arc::clone(provider).call(parts, whole(body).await, client, Arc::clone(&format.request_id));
    // Boxed, to keep the future of calls that are answered here small.
    let call = call.boxed();
    let answer = if is_read {
        call.await
    } else {
        // A caller that disconnects does not cut a payout off.
        match world.tasks.finish(call.in_current_span().instrument(traces::logged(&format.request_id))).await
        {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(Failure::NotCommitted),
            Err(error) => Err(Failure::internal(error)),
        }
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

impl Provider {
    async fn call(
        self: Arc<Self>,
        parts: Parts,
        body: Bytes,
        client: IpAddr,
        request_id: Arc<str>,
    ) -> Result<Response, Failure> {
        let until = Instant::now() + self.timeout;
        let place = tokio::time::timeout_at(until, Arc::clone(&self.calls).acquire_owned()).await;
        // The semaphore is never closed, so an error is a timeout.
        let Ok(Ok(place)) = place else { return Err(Failure::Busy) };
        let (method, uri) = (parts.method.clone(), original(&parts).clone());
        let mut observation = self.observer.begin(&method, &uri, &parts.headers, &body);
        let answer = self.send(until, || self.request(parts, body, &uri, client, &request_id)).await?;
        let (parts, received) = answer.into_parts();
        if let Some(observation) = &mut observation {
            observation.answered(parts.status, &parts.headers);
        }
        let patience = until.saturating_duration_since(Instant::now());
        let mut length = received.size_hint().exact();
        let mut body = AnswerBody::new(received, self.body_limit, patience, observation, place);
        if length.is_none() && !parts.headers.contains_key(header::CONTENT_TYPE) {
            // It may be empty, and its end is known only when it was received.
            length = self.ahead_of(&mut body).await?.map(|whole| whole.len() as u64);
        }
        let rebuilt = self
            .check_head(&parts, length)
            .and_then(|()| headers::of_answer(parts.status, &parts.headers, uri.path(), self.behind_tls));
        let rebuilt = match rebuilt {
            Ok(headers) => headers,
            Err(fault) => {
                tracing::warn!(provider = %self.url, status = parts.status.as_u16(), reason = fault, "provider.refused");
                // The body does not matter, because the answer is refused anyway.
                body.end_observation();
                // A provider may not know the calls of live screens, and say so as it does of any path.
                let may_lack = |operation: Operation| operation.is_for_live_screens();
                if parts.status == StatusCode::NOT_FOUND
                    && Operation::of(&method, uri.path()).is_some_and(may_lack)
                {
                    return Err(Failure::NotFound);
                }
                return Err(ProviderRefusal::ProviderAnswer(fault).into());
            }
        };
        let body = match self.ahead_of(&mut body).await? {
            Some(whole) => Body::from(whole),
            None => Body::new(body),
        };
        let mut answer = Response::new(body);
        *answer.status_mut() = parts.status;
        *answer.headers_mut() = rebuilt;
        Ok(answer)
    }

    async fn ahead_of(&self, body: &mut AnswerBody) -> Result<Option<Bytes>, Failure> {
        let ahead = body.read_ahead().await;
        if let Err(cut_off) = &ahead {
            tracing::warn!(provider = %self.url, reason = %cut_off, "provider.cut_off");
        }
        Ok(ahead?)
    }

    /// Sends a request, as a step of the trace that goes on at the provider.
    async fn send(
        &self,
        until: Instant,
        request: impl FnOnce() -> Result<hyper::Request<Full<Bytes>>, Failure>,
    ) -> Result<hyper::Response<hyper::body::Incoming>, Failure> {
        let step = traces::step!(
            "forward",
            otel.kind = "client",
            otel.status_code = field::Empty,
            http.request.method = field::Empty,
            http.response.status_code = field::Empty,
        );
        let request = step.in_scope(request)?;
        step.record("http.request.method", traces::method_label(request.method()));
        let sending = self.client.send(request).instrument(step.clone());
        let answer = tokio::time::timeout_at(until, sending).await;
        let status = answer.as_ref().ok().and_then(|answer| Some(answer.as_ref().ok()?.status()));
        if let Some(status) = status {
            step.record("http.response.status_code", i64::from(status.as_u16()));
        }
        // For a client, also the failures that are its own.
        if status.is_none_or(|status| status.is_client_error() || status.is_server_error()) {
            step.record("otel.status_code", "ERROR");
        }
        match answer {
            Err(_) => {
                tracing::warn!(provider = %self.url, "provider.slow");
                Err(ProviderRefusal::ProviderSlow.into())
            }
            Ok(Err(error)) => {
                let reason =
                    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                tracing::warn!(provider = %self.url, reason, "provider.failed");
                Err(if error.is_connect() {
                    ProviderRefusal::ProviderAway.into()
                } else {
                    ProviderRefusal::ProviderBroke.into()
                })
            }
            Ok(Ok(answer)) => Ok(answer),
        }
    }

    fn request(
        &self,
        parts: Parts,
        body: Bytes,
        uri: &Uri,
        client: IpAddr,
        request_id: &str,
    ) -> Result<hyper::Request<Full<Bytes>>, Failure> {
        let uri: Uri = uri
            .path_and_query()
            .and_then(|path| self.url.of_call(path))
            .ok_or_else(|| Failure::BadParameter("the address can't be forwarded".to_owned()))?;
        let mut request = hyper::Request::new(Full::new(body));
        *request.method_mut() = parts.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers::of_request(&parts.headers, request_id, client, self.behind_tls);
        Ok(request)
    }

    /// Checks that an answer can be passed on.
    fn check_head(&self, parts: &hyper::http::response::Parts, length: Option<u64>) -> Result<(), String> {
        let status = parts.status;
        if status.is_informational() || status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            return Err(format!("its status is {}", status.as_u16()));
        }
        if length.is_some_and(|length| length > self.body_limit) {
            return Err(format!("it is larger than {} bytes", self.body_limit));
        }
        let has_body =
            length != Some(0) && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let fault = match parts.headers.get_all(header::CONTENT_TYPE).iter().count() {
            _ if !has_body => return Ok(()),
            0 => "it does not say that it is JSON",
            1 if accept::is_json(&parts.headers) => return Ok(()),
            1 => "it is not JSON",
            _ => "it has more than one content type",
        };
        Err(fault.to_owned())
    }
}

/// Returns the full URI of a call: the one in `parts` is relative to the path where the calls are mounted.
fn original(parts: &Parts) -> &Uri {
    parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri)
}

/// Returns whether a call is one of the contract, with a path that no server reads as another: its parts have no
/// separators, and none leads to a folder above.
fn is_of_contract(parts: &Parts) -> bool {
    let path = original(parts).path();
    let is_plain = |part: &str| {
        percent_decode_str(part).decode_utf8().is_ok_and(|part| {
            !matches!(&*part, "" | "." | "..")
                && !part.contains(['/', '\\', ';', '%', '?', '#'])
                && !part.contains(char::is_control)
        })
    };
    path.split('/').skip(1).all(is_plain) && Operation::of(&parts.method, path).is_some()
}
