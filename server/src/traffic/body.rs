//! The body of a request or a response, as it is kept.

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::header,
    response::Response,
};
use serde_json::{Value, json};

use super::secrets::Secrets;
use web::extract::whole;

/// The largest body to keep. For larger ones, only the size is kept.
const MAX_BYTES: usize = 8 * 1024;

/// The largest number of values to show. In memory a value takes many times its size in a body.
const MAX_VALUES: usize = 500;

/// A body as it was received or sent. It is parsed and masked only when someone reads it.
#[derive(Clone, Debug)]
pub enum KeptBody {
    None,
    Whole(Bytes),
    /// A large or compressed body, of this size in bytes.
    SizeOnly(u64),
}

impl KeptBody {
    fn of(bytes: &Bytes) -> Self {
        match bytes.len() {
            0 => Self::None,
            length if length <= MAX_BYTES => Self::Whole(bytes.clone()),
            length => Self::SizeOnly(length as u64),
        }
    }

    /// The body of `request`, which is returned with its body in memory.
    pub async fn of_request(request: Request) -> (Self, Request) {
        if request.body().is_end_stream() {
            return (Self::None, request);
        }
        let (parts, body) = request.into_parts();
        let bytes = whole(body).await;
        (Self::of(&bytes), Request::from_parts(parts, Body::from(bytes)))
    }

    /// The body of `response`. A body without a known size is not kept, but passed on as it arrives.
    pub async fn of_response(response: Response) -> (Self, Response) {
        let is_compressed = response.headers().contains_key(header::CONTENT_ENCODING);
        match response.body().size_hint().exact() {
            Some(0) | None => return (Self::None, response),
            Some(length) if is_compressed || length > MAX_BYTES as u64 => {
                return (Self::SizeOnly(length), response);
            }
            Some(_) => {}
        }
        let (parts, body) = response.into_parts();
        let bytes = whole(body).await;
        (Self::of(&bytes), Response::from_parts(parts, Body::from(bytes)))
    }

    /// The size of the body in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Whole(bytes) => bytes.len() as u64,
            Self::SizeOnly(size) => *size,
        }
    }

    /// The memory that it takes, in bytes.
    pub fn kept_bytes(&self) -> usize {
        if let Self::Whole(bytes) = self { bytes.len() } else { 0 }
    }

    /// The body as a JSON object or array.
    pub fn json(&self) -> Option<Value> {
        let Self::Whole(bytes) = self else { return None };
        serde_json::from_slice(bytes).ok().filter(|body: &Value| body.is_object() || body.is_array())
    }

    /// The fields of the contract, with secrets and phone numbers masked. For any other body, a text
    /// about it; null for none.
    pub fn shown(&self, secrets: &Secrets) -> Value {
        let size = self.size();
        match self {
            Self::None => Value::Null,
            Self::SizeOnly(_) => json!(format!("[{size} bytes]")),
            Self::Whole(bytes) => match self.json() {
                Some(body) => {
                    let body = secrets.masked_body(body);
                    if values_in(&body) <= MAX_VALUES {
                        body
                    } else {
                        json!(format!("[{size} bytes, too many values]"))
                    }
                }
                None if serde_json::from_slice::<Value>(bytes).is_ok() => {
                    json!(format!("[{size} bytes, not an object]"))
                }
                None => json!(format!("[{size} bytes, not JSON]")),
            },
        }
    }
}

/// The number of values in `body`.
fn values_in(body: &Value) -> usize {
    1 + match body {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(fields) => fields.values().map(values_in).sum(),
        _ => 0,
    }
}
