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
                    let values = values_in(&body);
                    if values <= MAX_VALUES && secrets.has_room_for(values) {
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

fn values_in(body: &Value) -> usize {
    1 + match body {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(fields) => fields.values().map(values_in).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Snapshot, secrets::MASK};

    fn secrets() -> Secrets {
        let nothing = Snapshot { entries: Vec::new(), codes: Vec::new(), beginning: None };
        Secrets::of(&nothing, &["console-token-of-a-test"]).unwrap()
    }

    /// The size of a body as it is kept, the memory that it takes, and the value that is shown of it.
    fn kept(body: impl Into<Bytes>) -> (u64, usize, Value) {
        let kept = KeptBody::of(&body.into());
        (kept.size(), kept.kept_bytes(), kept.shown(&secrets()))
    }

    #[test]
    fn a_body_of_at_most_8_kib_is_kept_whole() {
        let of_size = |size: usize| format!("{}1", " ".repeat(size - 1));
        assert_eq!(kept(""), (0, 0, Value::Null));
        assert_eq!(kept(of_size(MAX_BYTES)), (8192, MAX_BYTES, json!("[8192 bytes, not an object]")));
        assert_eq!(kept(of_size(MAX_BYTES + 1)), (8193, 0, json!("[8193 bytes]")));
    }

    #[test]
    fn a_body_that_is_no_object_is_described() {
        assert_eq!(kept("{").2, json!("[1 bytes, not JSON]"));
        assert_eq!(kept("7").2, json!("[1 bytes, not an object]"));
        assert_eq!(kept(r#"{"amount":7}"#).2, json!({"amount": 7}));
        assert_eq!(kept("[7]").2, json!([MASK]));
    }

    /// In memory, a thousand bodies of 8 KiB with more of them took 858 MB.
    #[test]
    fn at_most_500_values_are_shown() {
        // The object and the list are values, too.
        let of_values = |count: usize| json!({"notifications": vec![json!({}); count - 2]});
        let most = of_values(MAX_VALUES);
        assert_eq!(kept(most.to_string()).2, most);
        let size = of_values(MAX_VALUES + 1).to_string().len();
        let shown = kept(of_values(MAX_VALUES + 1).to_string()).2;
        assert_eq!(shown, json!(format!("[{size} bytes, too many values]")));
        let masked = json!({"password": vec![json!({}); MAX_VALUES]});
        assert_eq!(kept(masked.to_string()).2, json!({"password": MASK}));
    }

    #[tokio::test]
    async fn of_a_compressed_large_or_endless_answer_no_body_is_kept() {
        let answer = |body: Body, is_compressed: bool| {
            let mut answer = Response::new(body);
            if is_compressed {
                answer.headers_mut().insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
            }
            answer
        };
        let of = async |answer: Response| KeptBody::of_response(answer).await.0;
        let (most, more) = ("x".repeat(MAX_BYTES), "x".repeat(MAX_BYTES + 1));
        assert!(
            matches!(of(answer(most.clone().into(), false)).await, KeptBody::Whole(bytes) if bytes == most)
        );
        assert!(matches!(of(answer(more.into(), false)).await, KeptBody::SizeOnly(8193)));
        assert!(matches!(of(answer("{}".into(), true)).await, KeptBody::SizeOnly(2)));
        assert!(matches!(of(answer(Body::empty(), true)).await, KeptBody::None));
        let endless = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        assert!(matches!(of(answer(endless, false)).await, KeptBody::None));
    }
}
