//! Extractors for handlers. Every rejection is a [`Failure`].

use std::{error::Error, fmt, marker::PhantomData};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request},
    http::{StatusCode, request::Parts},
};
use http_body_util::BodyExt;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_path_to_error::Segment;

use super::accept;
use base::{error::Failure, text::shown};

/// The largest integer that is interoperable in JSON (RFC 8259, section 6).
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// The content of `body`, which is in memory already before and after a call.
pub async fn whole(body: Body) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// The body limit of a handler that receives its body itself, in bytes and in words.
pub const LARGE_BODY: (usize, &str) = (16 * 1024 * 1024, "16 MiB");

/// The body, which is in memory already unless the handler receives it itself.
async fn received<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Failure> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Failure::BodyTooLarge(LARGE_BODY.1),
        _ => Failure::MalformedJson("it could not be read completely".to_owned()),
    })
}

/// Returns `true` if a string in this JSON contains NUL, which PostgreSQL can't store.
fn contains_nul(json: &[u8]) -> bool {
    const NUL: &[u8] = br"\u0000";
    let is_escaped = |at: usize| json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    json.windows(NUL.len()).enumerate().any(|(at, found)| found == NUL && !is_escaped(at))
}

/// A JSON body. Each kind of error has its own [`Failure`].
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !accept::is_of_type(request.headers(), "application/json") {
            return Err(Failure::UnsupportedMediaType);
        }
        let bytes = received(request, state).await?;
        if contains_nul(&bytes) {
            return Err(Failure::InvalidRequest("a string contains the character NUL".to_owned()));
        }
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let Object(body) = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let named =
                |part: &Segment| if let Segment::Map { key } = part { Some(key.clone()) } else { None };
            refused(error.inner(), error.path().iter().filter_map(named).next_back())
        })?;
        json.end().map_err(|error| refused(&error, None))?;
        Ok(Self(body))
    }
}

fn refused(error: &serde_json::Error, field: Option<String>) -> Failure {
    let text = without_values(&error.to_string());
    match field {
        _ if !error.is_data() => Failure::MalformedJson(text),
        None => Failure::InvalidRequest(text),
        Some(field) => {
            let field = shown(&field, 300);
            let text = if text.contains(&field) { text } else { format!("{field}: {text}") };
            Failure::InvalidField { field, text }
        }
    }
}

/// A JSON object, as a field of a body. Without this, serde accepts an array of an object's values in its place.
#[derive(Clone, Copy, Debug)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// The error message of serde about a body, without values: one may be a password in the wrong place, and
/// the message is logged and shown in the console.
pub fn without_values(text: &str) -> String {
    // The format of `serde::de::Unexpected`.
    const REPEATED: [(&str, char); 5] = [
        ("boolean `", '`'),
        ("integer `", '`'),
        ("floating point `", '`'),
        ("character `", '`'),
        ("string \"", '"'),
    ];
    // The name of an unknown field may be as long as the body.
    let mut text = shown(text, 300);
    for (kind, end) in REPEATED {
        while let Some(start) = text.find(kind) {
            let value = start + kind.len();
            let is_end =
                |(at, found): &(usize, char)| *found == end && !text[value..value + at].ends_with('\\');
            let length =
                text[value..].char_indices().find(is_end).map_or(text.len() - value, |(at, _)| at + 1);
            text.replace_range(start + kind.trim_end_matches([' ', '`', '"']).len()..value + length, "");
        }
    }
    text
}

pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        // A parameter that can't be parsed matches nothing.
        path.map(|axum::extract::Path(path)| Self(path)).map_err(|_| Failure::NotFound)
    }
}

pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(Failure::BadParameter("a string contains the character NUL".to_owned()));
        }
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query
            .map(|axum::extract::Query(query)| Self(query))
            // The reason alone: the sentence around it says that the request is invalid.
            .map_err(|rejection| {
                rejection.source().map_or_else(|| rejection.body_text(), ToString::to_string)
            })
            .map_err(Failure::BadParameter)
    }
}

/// An optional JSON body.
pub struct Optional<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for Optional<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = received(Request::from_parts(parts.clone(), body), state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let Json(body) = Json::from_request(Request::from_parts(parts, Body::from(bytes)), state).await?;
        Ok(Self(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_refused_body_repeats_no_value() {
        for (text, plain) in [
            (
                "invalid type: integer `481516`, expected a string at line 1 column 9",
                "invalid type: integer, expected a string at line 1 column 9",
            ),
            (r#"invalid type: string "s3\"cret", expected i64"#, "invalid type: string, expected i64"),
            ("invalid value: boolean `true`, expected x", "invalid value: boolean, expected x"),
            ("missing field `email` at line 1 column 2", "missing field `email` at line 1 column 2"),
        ] {
            assert_eq!(without_values(text), plain);
        }
    }
}
