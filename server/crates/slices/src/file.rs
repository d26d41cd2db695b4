//! A file of a published build, as browsers get it.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};

use web::accept;

/// A file, uncompressed and compressed.
#[derive(Debug)]
pub struct File {
    pub media_type: &'static str,
    pub content: Bytes,
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
}

impl File {
    pub fn answer(&self, request_headers: &HeaderMap) -> Response {
        let (encoding, body) = match (&self.brotli, &self.gzip) {
            (Some(brotli), _) if accepts(request_headers, "br") => (Some("br"), brotli),
            (_, Some(gzip)) if accepts(request_headers, "gzip") => (Some("gzip"), gzip),
            _ => (None, &self.content),
        };
        let mut response = Body::from(body.clone()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    accept::items(headers, header::ACCEPT_ENCODING).any(|item| {
        let (name, thousandths) = accept::quality(item);
        name.eq_ignore_ascii_case(encoding) && thousandths > 0
    })
}
