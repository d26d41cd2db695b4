//! Calls that pages of the portal make by themselves, with `sendBeacon`: bounded in number and size, and refused from
//! elsewhere.

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::HeaderMap,
};
use serde::de::DeserializeOwned;

use crate::refusal::SliceRefusal;
pub use crate::waiting::Limit;
use base::{clock::UnixMillis, error::Failure};
use lending::auth::{client_address::ClientAddress, limits::network};
use settings::Settings;
use web::{
    accept,
    extract::{Json, whole},
};

/// The maximum size of a call, in bytes and in words.
pub type MaxSize = (usize, &'static str);

/// Counts the call, and reads its body.
pub async fn read<T: DeserializeOwned>(
    limit: &Limit,
    (max_size, in_words): MaxSize,
    settings: &Settings,
    ClientAddress(address): ClientAddress,
    now: UnixMillis,
    request: Request,
) -> Result<T, Failure> {
    limit.count(&network(address), now)?;
    if !is_of_portal(request.headers(), settings) {
        return Err(SliceRefusal::NotFromPortal.into());
    }
    let (parts, body) = request.into_parts();
    let body = whole(body).await;
    if body.len() > max_size {
        return Err(Failure::BodyTooLarge(in_words));
    }
    let Json(sent) = Json::from_request(Request::from_parts(parts, Body::from(body)), &()).await?;
    Ok(sent)
}

/// Returns `true` if the request comes from a page of the portal, according to the browser.
fn is_of_portal(headers: &HeaderMap, settings: &Settings) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    accept::is_from_own_origin(headers, settings.public_url.as_deref()).unwrap_or(false)
        && matches!(site, None | Some("same-origin"))
}
