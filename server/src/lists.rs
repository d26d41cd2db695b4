//! The two lists as bodies: encoded, named by an `ETag`, and not sent to who has them.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::Failure;

/// Answers `rows`, or 304 when the caller has them already.
pub fn answer<T: Serialize>(asked: &HeaderMap, rows: &[T]) -> Result<Response, Failure> {
    let body = serde_json::to_vec(rows).map_err(|error| Failure::Internal(error.to_string()))?;
    let mut digest = [0; 16];
    digest.copy_from_slice(&Sha256::digest(&body)[..16]);
    let etag = HeaderValue::from_str(&format!("\"{:032x}\"", u128::from_be_bytes(digest)))
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let has_it = asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|known| matches!(known.trim().trim_start_matches("W/"), known if known == "*" || known.as_bytes() == etag.as_bytes()));
    let headers =
        [(header::ETAG, etag), (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))];
    if has_it {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((headers, json, Body::from(body)).into_response())
}
