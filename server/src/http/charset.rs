//! The charset of text: without one, an old browser may guess another than UTF-8.

use axum::http::{HeaderMap, HeaderValue, header};

/// Adds the charset to the media type of a file, if it is a text without one.
pub fn add(headers: &mut HeaderMap) {
    let Some(media_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return;
    };
    let is_text = media_type.starts_with("text/")
        || ["application/javascript", "application/json", "image/svg+xml"].contains(&media_type);
    if !is_text || media_type.contains("charset=") {
        return;
    }
    if let Ok(with_charset) = HeaderValue::from_str(&format!("{media_type}; charset=utf-8")) {
        headers.insert(header::CONTENT_TYPE, with_charset);
    }
}
