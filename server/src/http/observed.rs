//! A call in progress, to be recorded with its response.

use std::sync::Arc;

use axum::{extract::Request, http::Method, response::Response};

use super::inject::Hit;
use crate::http::{connections::Cut, edge};
use base::clock::UnixMillis;
use lending::auth::session::Session;
use worlds::{
    faults::FaultKind,
    sandboxes::Sandbox,
    traffic::{body::KeptBody, call::Entry, headers::Headers},
};

/// A call that is not answered yet.
#[derive(Debug)]
pub struct Observed {
    sandbox: Sandbox,
    at: UnixMillis,
    started: tokio::time::Instant,
    method: Method,
    path: Box<str>,
    query: Option<Box<str>>,
    headers: Headers,
    body: KeptBody,
}

impl Observed {
    /// Starts to observe a request. Returns the request with its body buffered.
    pub async fn begin(sandbox: &Sandbox, request: Request) -> (Self, Request) {
        let at = sandbox.clock.now();
        let method = request.method().clone();
        // Copied, because the original address keeps the whole head in memory.
        let path = edge::shortened(request.uri().path()).into();
        let query = request.uri().query().map(Into::into);
        let headers = Headers::of_request(request.headers());
        let started = tokio::time::Instant::now();
        let (body, request) = KeptBody::of_request(request).await;
        (Self { sandbox: sandbox.clone(), at, started, method, path, query, headers, body }, request)
    }

    /// Records the call with its response, and returns the response.
    pub async fn end(self, request_id: Arc<str>, response: Response) -> Response {
        let is_cut = response.extensions().get::<Cut>().is_some();
        let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
        let session = response.extensions().get::<Arc<Session>>().cloned();
        let response_headers = Headers::of_response(response.headers());
        let (response_body, response) = if is_cut || fault == Some(FaultKind::Truncate) {
            (KeptBody::None, response)
        } else {
            KeptBody::of_response(response).await
        };
        self.sandbox.traffic.push(Entry {
            id: 0,
            at: self.at,
            method: self.method,
            path: self.path,
            query: self.query,
            request_headers: self.headers,
            request_body: self.body,
            status: (!is_cut).then(|| response.status()),
            response_headers,
            response_body,
            took: self.started.elapsed(),
            request_id,
            session,
            fault,
        });
        response
    }
}
