//! Pages of one sentence, for addresses at which there is no portal. They have no style sheet, because nothing else may
//! be served there.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

/// A page with `heading`, and `body`, which is HTML.
pub fn page(status: StatusCode, brand: &str, heading: &str, body: &str) -> Response {
    respond(status, brand, heading, body, "")
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
         <meta name=\"color-scheme\" content=\"light dark\">{head}<title>{heading} · {brand}</title></head>\
         <body><main><h1>{heading}</h1>{body}</main></body></html>",
        brand = escaped(brand),
        heading = escaped(heading),
    );
    let mut response = (status, Html(page)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `text` as HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
