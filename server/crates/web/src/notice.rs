//! Pages of one sentence, for addresses at which there is no portal. The page brings its style with it, because nothing
//! else is served there; its policy names the style's hash.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("notice.css");

static STYLE_HASH: LazyLock<String> = LazyLock::new(|| BASE64_STANDARD.encode(Sha256::digest(STYLE)));

/// A page with `heading`, and `body`, which is HTML.
pub fn page(status: StatusCode, brand: &str, heading: &str, body: &str) -> Response {
    respond(status, brand, heading, body, "")
}

/// A page whose form is sent to the page's own address, and leads to one of `targets`, sources of a content security
/// policy.
pub fn form(status: StatusCode, brand: &str, heading: &str, body: &str, targets: &str) -> Response {
    let mut response = page(status, brand, heading, body);
    set_policy(response.headers_mut(), &format!("'self' {targets}"));
    response
}

/// A page that browsers load again after some seconds, and other callers should.
pub fn again(status: StatusCode, brand: &str, heading: &str, body: &str, seconds: u32) -> Response {
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">");
    let mut response = respond(status, brand, heading, body, &refresh);
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

fn respond(status: StatusCode, brand: &str, heading: &str, body: &str, head: &str) -> Response {
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">{head}<title>{heading} · {brand}</title>\
         <style>{STYLE}</style></head><body><header><span class=\"mark\"><svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
         <path d=\"M21 3 10 14M21 3l-7 18-4-7-7-4z\"/></svg></span>{brand}</header>\
         <main><h1>{heading}</h1>{body}</main></body></html>",
        brand = escaped(brand),
        heading = escaped(heading),
    );
    let mut response = (status, Html(page)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    set_policy(headers, "'none'");
    response
}

fn set_policy(headers: &mut HeaderMap, form_action: &str) {
    let hash = &*STYLE_HASH;
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action {form_action}; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// `text` as HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
