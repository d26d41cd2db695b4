//! The page that browsers get for a sandbox that does not exist.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

use super::{Addresses, Name};
use settings::Settings;

/// The page, with status 404. It has no style sheet, because a sandbox that does not exist serves no files.
pub fn page(settings: &Settings, addresses: &Addresses, sentence: &str) -> Response {
    let address = addresses.portal(&Name::main());
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>Sandbox not found · {brand}</title></head>\
         <body><main><h1>Sandbox not found</h1><p>{sentence} It may have expired, or been removed.</p>\
         <p><a href=\"{address}\">Go to {brand}</a></p></main></body></html>",
        brand = escaped(&settings.brand),
        sentence = escaped(sentence),
        address = escaped(&address),
    );
    let mut response = (StatusCode::NOT_FOUND, Html(page)).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
