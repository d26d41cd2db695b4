//! The latest calls of the API, with secrets masked.
//!
//! They are in memory, not in a table: otherwise every read would be a write, and they are not needed
//! after a restart. Each server shows its own calls.

pub(super) mod api;
pub(super) mod page;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{Method, StatusCode, Uri, header},
    response::Response,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::faults::{Kind, inject::Hit};
use crate::{
    auth::session::Session,
    clock::UnixMillis,
    http::{API, connections::Cut, extract::whole},
    phone::Msisdn,
};

/// The number of calls to keep.
const CAPACITY: usize = 1000;
/// The largest body to keep. For larger ones, only the size is kept.
const MAX_BODY_BYTES: usize = 8 * 1024;
/// The fields to mask.
const SECRET_FIELDS: [&str; 4] = ["password", "new_password", "otp", "token"];

/// One call.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The number of the call on this server.
    pub id: u64,
    /// When it arrived.
    pub at: UnixMillis,
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The status of the response; `None` if there was no response.
    pub status: Option<u16>,
    /// The duration in ms.
    pub ms: u64,
    /// The request id, as in the log.
    pub request_id: String,
    /// The e-mail address of the user, if signed in.
    pub user: Option<String>,
    /// The body of the request.
    pub request_body: Value,
    /// The body of the response.
    pub response_body: Value,
    /// The fault that hit it.
    pub fault: Option<Kind>,
}

/// A call as it is stored. It is converted to a [`Call`] only when someone reads it.
#[derive(Debug)]
struct Entry {
    id: u64,
    at: UnixMillis,
    method: Method,
    uri: Uri,
    status: Option<StatusCode>,
    took: Duration,
    request_id: Arc<str>,
    session: Option<Arc<Session>>,
    request_body: Value,
    response_body: ResponseBody,
    fault: Option<Kind>,
}

/// The body of a response.
#[derive(Debug)]
enum ResponseBody {
    /// The response to a GET, which is masked only when someone reads it.
    Raw(Bytes),
    /// A masked body, or the size of a large one.
    Readable(Value),
}

/// A call without its bodies, which are expensive to mask.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of a call")]
pub struct Outline {
    pub at: UnixMillis,
    pub method: Method,
    pub path: String,
    pub status: Option<u16>,
    pub ms: u64,
    pub user: Option<String>,
    pub fault: Option<Kind>,
}

impl Entry {
    fn outline(&self) -> Outline {
        Outline {
            at: self.at,
            method: self.method.clone(),
            path: format!("{API}{}", self.uri.path()),
            status: self.status.map(|status| status.as_u16()),
            ms: u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            user: self.session.as_ref().map(|session| session.staff.email.to_string()),
            fault: self.fault,
        }
    }

    fn call(&self) -> Call {
        let Outline { at, method, path, status, ms, user, fault } = self.outline();
        Call {
            id: self.id,
            at,
            method: method.to_string(),
            path,
            status,
            ms,
            request_id: self.request_id.to_string(),
            user,
            request_body: self.request_body.clone(),
            response_body: match &self.response_body {
                ResponseBody::Raw(bytes) => readable(bytes),
                ResponseBody::Readable(value) => value.clone(),
            },
            fault,
        }
    }
}

/// The latest calls of one server.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Entry>,
    counted: u64,
}

impl Traffic {
    /// All recorded calls, newest first.
    pub fn latest(&self) -> Vec<Call> {
        self.latest_of(CAPACITY, |_| true)
    }

    /// At most `limit` of the matching calls, newest first.
    pub fn latest_of(&self, limit: usize, is_match: impl Fn(&Outline) -> bool) -> Vec<Call> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matching = ring.entries.iter().rev().filter(|entry| is_match(&entry.outline()));
        matching.take(limit).map(Entry::call).collect()
    }

    /// The outlines of all recorded calls, newest first.
    pub fn outlines(&self) -> Vec<Outline> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.entries.iter().rev().map(Entry::outline).collect()
    }

    /// Removes all recorded calls.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clear();
    }

    fn push(&self, mut entry: Entry) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.counted += 1;
        entry.id = ring.counted;
        let oldest = if ring.entries.len() == CAPACITY { ring.entries.pop_front() } else { None };
        ring.entries.push_back(entry);
        drop(ring);
        drop(oldest);
    }
}

/// A call in progress, to be recorded with its response.
#[derive(Debug)]
pub struct Observed {
    at: UnixMillis,
    started: tokio::time::Instant,
    method: Method,
    uri: Uri,
    request_body: Bytes,
}

impl Observed {
    /// Starts to observe a request that arrived at `at`. Returns the request with its body buffered.
    pub async fn begin(request: Request, at: UnixMillis) -> (Self, Request) {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let started = tokio::time::Instant::now();
        let (request, request_body) = read_request(request).await;
        (Self { at, started, method, uri, request_body }, request)
    }

    /// Records the call with its response, and returns the response.
    pub async fn end(self, traffic: &Traffic, request_id: Arc<str>, response: Response) -> Response {
        let is_cut = response.extensions().get::<Cut>().is_some();
        let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
        let session = response.extensions().get::<Arc<Session>>().cloned();
        let is_complete = !is_cut
            && fault != Some(Kind::Truncate)
            && !response.headers().contains_key(header::CONTENT_ENCODING);
        let (response, response_body) = if is_complete {
            read_response(response, &self.method).await
        } else {
            (response, ResponseBody::Readable(Value::Null))
        };
        traffic.push(Entry {
            id: 0,
            at: self.at,
            method: self.method,
            uri: self.uri,
            status: (!is_cut).then(|| response.status()),
            took: self.started.elapsed(),
            request_id,
            session,
            request_body: readable(&self.request_body),
            response_body,
            fault,
        });
        response
    }
}

async fn read_request(request: Request) -> (Request, Bytes) {
    if request.body().is_end_stream() {
        return (request, Bytes::new());
    }
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await;
    (Request::from_parts(parts, Body::from(bytes.clone())), bytes)
}

async fn read_response(response: Response, method: &Method) -> (Response, ResponseBody) {
    match response.body().size_hint().exact() {
        Some(0) => return (response, ResponseBody::Readable(Value::Null)),
        Some(length) if length > MAX_BODY_BYTES as u64 => {
            return (response, ResponseBody::Readable(size_only(length)));
        }
        _ => {}
    }
    let (parts, body) = response.into_parts();
    let bytes = whole(body).await;
    let response_body = if method == Method::GET {
        ResponseBody::Raw(bytes.clone())
    } else {
        ResponseBody::Readable(readable(&bytes))
    };
    (Response::from_parts(parts, Body::from(bytes)), response_body)
}

fn size_only(length: u64) -> Value {
    json!(format!("[{length} bytes]"))
}

/// The body as JSON, with secrets and phone numbers masked.
fn readable(bytes: &Bytes) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    if bytes.len() > MAX_BODY_BYTES {
        return size_only(bytes.len() as u64);
    }
    match serde_json::from_slice(bytes) {
        Ok(body) => masked(body),
        Err(_) => json!(format!("[{} bytes, not JSON]", bytes.len())),
    }
}

fn masked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(with_masked_phones(&text)),
        Value::Array(items) => items.into_iter().map(masked).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value =
                    if SECRET_FIELDS.contains(&name.as_str()) { json!("•••") } else { masked(value) };
                (name, value)
            })
            .collect(),
        other => other,
    }
}

fn with_masked_phones(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '+' || c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let digits = from[1..].find(|c: char| !c.is_ascii_digit()).map_or(from.len(), |end| end + 1);
        let (number, after) = from.split_at(digits);
        masked.push_str(before);
        match Msisdn::parse(number) {
            Some(phone) => masked.push_str(&phone.masked()),
            None => masked.push_str(number),
        }
        rest = after;
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_phone_numbers_are_masked_anywhere_in_a_text() {
        let text = "sent to 0712345678 and +254712345678, not 25000 or 28461937";
        assert_eq!(
            with_masked_phones(text),
            "sent to +25471•••••78 and +25471•••••78, not 25000 or 28461937"
        );
    }

    #[test]
    fn secrets_are_masked_at_any_depth() {
        let body =
            Bytes::from(r#"{"user":{"token":"abc","otp":481516},"pass\u0077ord":["x"],"name":"Juma"}"#);
        assert_eq!(
            readable(&body),
            json!({"user": {"token": "•••", "otp": "•••"}, "password": "•••", "name": "Juma"})
        );
    }
}
