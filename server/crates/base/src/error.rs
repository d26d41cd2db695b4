//! Failures: those of every folder, with status and body, and the trait of the refusals that each folder names itself.

use std::{any::Any, fmt::Display, sync::Arc, time::Duration};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::value::RawValue;

/// A refusal by a folder above: it knows its status, its code, its sentence and what it is about. Each folder has an
/// enum of its own, in `refusal.rs`.
pub trait Refused: std::error::Error + Any + Send + Sync {
    /// The status and code, as listed in the contract.
    fn status_and_code(&self) -> (StatusCode, &'static str);

    /// The field of the request that the refusal is about, if any.
    fn field(&self) -> Option<&'static str> {
        None
    }

    /// The time after which a repeat may succeed, if waiting helps.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// Mobile money's result code, if it refused.
    fn result_code(&self) -> Option<&str> {
        None
    }

    /// The record of the payout that the refusal is about, if any.
    fn record(&self) -> Option<&RawValue> {
        None
    }
}

impl<R: Refused> From<R> for Failure {
    fn from(refusal: R) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// A failed call. The text is for people; the code of [`Failure::status_and_code`] is for programs.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A refusal by one of the folders above.
    #[error("{0}")]
    Refused(Box<dyn Refused>),
    /// The disk is full.
    #[error("There is no room on the server's disk. Nothing was made.")]
    NoRoom,
    /// The body is not JSON.
    #[error("The body is not valid JSON: {0}.")]
    MalformedJson(String),
    /// The JSON does not have the fields of this call.
    #[error("The request body is invalid: {0}.")]
    InvalidRequest(String),
    /// A field of the body has the wrong type.
    #[error("The request body is invalid: {text}.")]
    InvalidField { field: String, text: String },
    /// A value is not valid for this call; the text says which values are.
    #[error("{0}.")]
    BadValue(String),
    /// A field's value is not valid for this call; the text says which values are.
    #[error("{text}.")]
    BadField { field: &'static str, text: String },
    /// The body has the wrong media type.
    #[error("The body must be sent as application/json.")]
    UnsupportedMediaType,
    /// The body is compressed.
    #[error("The body must be sent as it is, without a Content-Encoding.")]
    EncodedBody,
    /// The body exceeds the limit.
    #[error("The body is larger than {0}.")]
    BodyTooLarge(&'static str),
    /// The body arrived too slowly.
    #[error("The body was not received within 10 seconds.")]
    BodyTooSlow,
    /// A part of the path or the query is invalid.
    #[error("The request is invalid: {0}.")]
    BadParameter(String),
    /// The URI is longer than 1 KiB.
    #[error("The address is longer than 1 KiB.")]
    UriTooLong,
    /// The path is unknown.
    #[error("There is nothing at this path.")]
    NotFound,
    /// The path exists, but not with this method.
    #[error("This path does not support this method.")]
    MethodNotAllowed,
    /// The call timed out.
    #[error("This took too long and was cancelled. It may still have been done.")]
    TookTooLong,
    /// The write queue is full, or the database does not answer in time.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Busy,
    /// The database is unavailable, for this reason: it is for operators, and not in the answer.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Unavailable(Arc<str>),
    /// A sum of amounts does not fit into 64 bits.
    #[error(
        "The amounts add up to more than 9,223,372,036,854,775,807, the largest number that can be shown."
    )]
    SumTooLarge,
    /// PostgreSQL undid the write because of another one: a deadlock, or a failed serialization.
    #[error("The service is busy. Nothing was done; try again in a moment.")]
    Conflict,
    /// The database failed, and it is unknown whether the transaction was committed.
    #[error(
        "Something went wrong on our side, and it is unknown whether this was done. Ask again to find out."
    )]
    NotCommitted,
    /// The database rejected a statement.
    #[error("Something went wrong on our side.")]
    Storage(#[source] sqlx::Error),
    /// A bug.
    #[error("Something went wrong on our side.")]
    Internal(String),
}

impl Failure {
    pub fn status_and_code(&self) -> (StatusCode, &'static str) {
        use Failure as F;
        match self {
            F::Refused(refusal) => refusal.status_and_code(),
            F::NoRoom => (StatusCode::INSUFFICIENT_STORAGE, "no_room"),
            F::MalformedJson(_) => (StatusCode::BAD_REQUEST, "malformed_json"),
            F::InvalidRequest(_) | F::InvalidField { .. } | F::BadValue(_) | F::BadField { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request")
            }
            F::SumTooLarge => (StatusCode::UNPROCESSABLE_ENTITY, "sum_too_large"),
            F::UnsupportedMediaType | F::EncodedBody => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            F::BodyTooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            F::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "body_too_slow"),
            F::BadParameter(_) => (StatusCode::BAD_REQUEST, "bad_parameter"),
            F::UriTooLong => (StatusCode::URI_TOO_LONG, "uri_too_long"),
            F::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            F::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            F::TookTooLong => (StatusCode::SERVICE_UNAVAILABLE, "took_too_long"),
            F::Busy | F::Unavailable(_) | F::Conflict => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            F::NotCommitted => (StatusCode::SERVICE_UNAVAILABLE, "not_known"),
            F::Storage(_) | F::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// The refusal of a field's value. The text says which values are valid, as a sentence without its full stop.
    pub fn bad_field(field: &'static str, text: impl Into<String>) -> Self {
        Self::BadField { field, text: text.into() }
    }

    pub fn internal(error: impl Display) -> Self {
        Self::Internal(error.to_string())
    }

    pub fn refusal<R: Refused>(&self) -> Option<&R> {
        match self {
            Self::Refused(refusal) => (&**refusal as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadField { field, .. } => Some(field),
            Self::Refused(refusal) => refusal.field(),
            _ => None,
        }
    }

    /// Returns whether the database rejected a row because its key already exists.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Storage(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy | Self::Unavailable(_) | Self::Conflict | Self::NotCommitted | Self::TookTooLong => {
                Some(1)
            }
            Self::Refused(refusal) => refusal.retry_after().map(whole_seconds),
            _ => None,
        }
    }

    pub fn to_json(&self, format: &FailureFormat) -> Vec<u8> {
        #[derive(Serialize)]
        struct Problem<'a> {
            r#type: &'static str,
            title: &'static str,
            status: u16,
            detail: &'a str,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            #[serde(flatten)]
            problem: Option<Problem<'a>>,
            error: &'a str,
            message: &'a str,
            code: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'a str>,
            request_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            result_code: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            record: Option<&'a RawValue>,
        }
        let (status, code) = self.status_and_code();
        let text = self.to_string();
        let problem = format.problem.then(|| Problem {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: &text,
        });
        let (result_code, record) = match self {
            Self::Refused(refusal) => (refusal.result_code(), refusal.record()),
            _ => (None, None),
        };
        serde_json::to_vec(&Body {
            problem,
            error: &text,
            message: &text,
            code,
            field: if let Self::InvalidField { field, .. } = self { Some(field) } else { self.field() },
            request_id: &format.request_id,
            result_code,
            record,
        })
        .unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub struct FailureFormat {
    pub request_id: Arc<str>,
    /// `true` for the format of RFC 9457.
    pub problem: bool,
}

/// Handlers can extract a `$type`, which a middleware puts into the request's extensions; `$missing` is the failure
/// without it.
#[macro_export]
macro_rules! from_extensions {
    ($type:ty, $missing:expr) => {
        impl<S: Send + Sync> axum::extract::FromRequestParts<S> for $type {
            type Rejection = $crate::error::Failure;

            async fn from_request_parts(
                parts: &mut axum::http::request::Parts,
                _: &S,
            ) -> Result<Self, Self::Rejection> {
                parts.extensions.get::<Self>().cloned().ok_or_else(|| $missing)
            }
        }
    };
}

from_extensions!(FailureFormat, Failure::internal("the request has no id"));

/// Returns `wait` in seconds, rounded up so that a retry is not too early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1)
}

/// `wait` in words, such as `2 minutes`.
pub fn in_words(wait: Duration) -> String {
    match whole_seconds(wait) {
        1 => "1 second".to_owned(),
        seconds @ ..=90 => format!("{seconds} seconds"),
        seconds @ ..=7200 => format!("{} minutes", seconds.div_ceil(60)),
        seconds => format!("{} hours", seconds.div_ceil(3600)),
    }
}

/// The cause of a 500, as an extension of the response. It is not sent: the log has it, and tests show it.
#[derive(Clone, Debug)]
pub struct Cause(pub String);

/// An answer without a body, and the failure as its extension: the edge of the program writes the body in the requested
/// format.
impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        tracing::debug!(code, "refused");
        let retry_after = self.retry_after_seconds();
        let mut response = status.into_response();
        if matches!(self, Self::Storage(_) | Self::Internal(_)) {
            response.extensions_mut().insert(Cause(format!("{self:?}")));
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

pub const PROBLEM_JSON: &str = "application/problem+json";

/// The media type of a failure: JSON, or problem+json (RFC 9457) if `problem`.
pub fn failure_media_type(problem: bool) -> HeaderValue {
    HeaderValue::from_static(if problem { PROBLEM_JSON } else { "application/json" })
}
