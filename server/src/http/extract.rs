//! What handlers take from a request; every way of getting it wrong is a [`Failure`] of its own.

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request},
    http::{Uri, request::Parts},
};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use super::accept;
use crate::error::{Failure, FailureFormat};

/// All of `body`, which is in memory already on both sides of a call.
pub async fn whole(body: Body) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// Whether a text in this JSON holds NUL, which not every store can keep, and nobody means.
fn holds_nul(json: &[u8]) -> bool {
    const NUL: &[u8] = br"\u0000";
    let is_escaped = |at: usize| json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    json.windows(NUL.len()).enumerate().any(|(at, found)| found == NUL && !is_escaped(at))
}

/// Whether a text of this query holds NUL.
fn asks_for_nul(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.contains("%00"))
}

/// A JSON body, with every way of getting it wrong told apart.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !accept::is_of_type(request.headers(), "application/json") {
            return Err(Failure::UnsupportedMediaType);
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| Failure::Internal(rejection.body_text()))?;
        if holds_nul(&bytes) {
            return Err(Failure::InvalidRequest("a text holds the character NUL".to_owned()));
        }
        let body = serde_json::from_slice(&bytes).map_err(|error| {
            if error.is_data() {
                Failure::InvalidRequest(error.to_string())
            } else {
                Failure::MalformedJson(error.to_string())
            }
        })?;
        // A list of the values would be taken for the object that they belong to.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(Failure::InvalidRequest("it must be an object".to_owned()));
        }
        Ok(Self(body))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for FailureFormat {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let form = parts.extensions.get::<Self>().cloned();
        form.ok_or_else(|| Failure::Internal("a request that was not named".to_owned()))
    }
}

/// Parts of the path.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        // What can't be read names nothing that there is.
        path.map(|axum::extract::Path(path)| Self(path)).map_err(|_| Failure::NotFound)
    }
}

/// What stands behind the question mark.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if asks_for_nul(&parts.uri) {
            return Err(Failure::BadParameter("a text holds the character NUL".to_owned()));
        }
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query
            .map(|axum::extract::Query(query)| Self(query))
            .map_err(|rejection| Failure::BadParameter(rejection.body_text()))
    }
}

/// A JSON body that need not be there.
pub struct Optional<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Optional<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = Bytes::from_request(Request::new(body), state).await;
        let bytes = bytes.map_err(|_| Failure::BodyTooLarge)?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let Json(body) = Json::from_request(Request::from_parts(parts, Body::from(bytes)), state).await?;
        Ok(Self(body))
    }
}
