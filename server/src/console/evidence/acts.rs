//! Records what is done on the console among the calls of the portal.

use axum::{body::Bytes, extract::Request, middleware::Next, response::Response};
use serde_json::{Map, Value, json};

use crate::{
    Sandbox,
    console::{
        traffic::{Observed, What},
        view::visit::SignedIn,
    },
    error::FailureFormat,
    http::edge,
};

/// What is the deployment's and not the sandbox's, relative to the console's API.
const OTHER_CALLS: [&str; 4] = ["/sandboxes", "/slices", "/deploy-tokens", "/traffic"];

/// The pages of it, relative to the console.
const OTHER_PAGES: [&str; 3] = ["/sandboxes", "/slices", "/traffic"];

/// Records a call of the console's API that changes something.
pub async fn record_call(sandbox: Sandbox, format: FailureFormat, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if request.method().is_safe() || OTHER_CALLS.iter().any(|other| path.starts_with(other)) {
        return next.run(request).await;
    }
    let (observed, request) = Observed::begin_what(&sandbox, What::Act, request).await;
    let mut response = next.run(request).await;
    edge::write_failure(&mut response, &format);
    observed.end(format.request_id, response).await
}

/// Records a form.
pub async fn record_form(sandbox: Sandbox, format: FailureFormat, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let sent = request.extensions().get::<SignedIn>().map(|signed_in| &signed_in.sent);
    let (Some(sent), false, false) =
        (sent, request.method().is_safe(), OTHER_PAGES.iter().any(|other| path.starts_with(other)))
    else {
        return next.run(request).await;
    };
    let fields = sent.all().filter(|(name, _)| *name != "csrf");
    let fields: Map<String, Value> = fields.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let body = Bytes::from(Value::Object(fields).to_string());
    let (observed, request) = Observed::begin_what(&sandbox, What::Form, request).await;
    let response = next.run(request).await;
    observed.with_body(&body).end(format.request_id, response).await
}
