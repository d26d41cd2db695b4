//! The latest calls of the API, with what must not be read masked.
//!
//! In this process's memory, not in a table: every read would be a write otherwise, and what was
//! called is of no use after a restart. Each server shows its own calls.

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

/// How many calls are kept.
const KEPT: usize = 1000;
/// The largest body that is kept, in bytes; of larger ones only how large they were.
const BODY_AT_MOST: usize = 8 * 1024;
/// Fields whose text nobody may read here.
const SECRET: [&str; 4] = ["password", "new_password", "otp", "token"];

/// One call.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// Counts the calls.
    pub id: u64,
    /// When it came.
    pub at: UnixMillis,
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// What it was answered; none when it was not.
    pub status: Option<u16>,
    /// How long it took.
    pub ms: u64,
    /// Names it in the log.
    pub request_id: String,
    /// The e-mail address of who made it, when they were signed in.
    pub user: Option<String>,
    /// What was sent.
    pub request_body: Value,
    /// What was answered.
    pub response_body: Value,
    /// The fault that it was given.
    pub fault: Option<Kind>,
}

/// A call as it is kept: what a [`Call`] is made of when somebody reads it.
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
    sent: Value,
    answered: Answered,
    fault: Option<Kind>,
}

/// A call's answer.
#[derive(Debug)]
enum Answered {
    /// What a GET was answered.
    Raw(Bytes),
    /// What was left of one that is too large to keep, or that may hold a secret.
    Readable(Value),
}

/// A call without its bodies, which take long to be made readable.
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
            request_body: self.sent.clone(),
            response_body: match &self.answered {
                Answered::Raw(bytes) => readable(bytes),
                Answered::Readable(value) => value.clone(),
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
    /// The latest calls, the newest first.
    pub fn latest(&self) -> Vec<Call> {
        self.latest_of(KEPT, |_| true)
    }

    /// The latest calls that are wanted, the newest first, `at_most` so many.
    pub fn latest_of(&self, at_most: usize, is_wanted: impl Fn(&Outline) -> bool) -> Vec<Call> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = ring.entries.iter().rev().filter(|entry| is_wanted(&entry.outline()));
        wanted.take(at_most).map(Entry::call).collect()
    }

    /// Every call in outline, the newest first.
    pub fn outlines(&self) -> Vec<Outline> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.entries.iter().rev().map(Entry::outline).collect()
    }

    /// Forgets them.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clear();
    }

    fn keep(&self, mut entry: Entry) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.counted += 1;
        entry.id = ring.counted;
        let oldest = if ring.entries.len() == KEPT { ring.entries.pop_front() } else { None };
        ring.entries.push_back(entry);
        drop(ring);
        drop(oldest);
    }
}

/// A call that is under way, to be kept with its answer.
#[derive(Debug)]
pub struct Observed {
    at: UnixMillis,
    started: tokio::time::Instant,
    method: Method,
    uri: Uri,
    sent: Bytes,
}

impl Observed {
    /// A call that comes in at `at`; with the request, whose body was read.
    pub async fn begin(request: Request, at: UnixMillis) -> (Self, Request) {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let started = tokio::time::Instant::now();
        let (request, sent) = opened(request).await;
        (Self { at, started, method, uri, sent }, request)
    }

    /// Keeps it and its answer, which is passed on.
    pub async fn end(self, traffic: &Traffic, request_id: Arc<str>, response: Response) -> Response {
        let cut = response.extensions().get::<Cut>().is_some();
        let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
        let session = response.extensions().get::<Arc<Session>>().cloned();
        let is_whole = !cut
            && fault != Some(Kind::Truncate)
            && !response.headers().contains_key(header::CONTENT_ENCODING);
        let (response, answered) = if is_whole {
            read(response, &self.method).await
        } else {
            (response, Answered::Readable(Value::Null))
        };
        traffic.keep(Entry {
            id: 0,
            at: self.at,
            method: self.method,
            uri: self.uri,
            status: (!cut).then(|| response.status()),
            took: self.started.elapsed(),
            request_id,
            session,
            sent: readable(&self.sent),
            answered,
            fault,
        });
        response
    }
}

async fn opened(request: Request) -> (Request, Bytes) {
    if request.body().is_end_stream() {
        return (request, Bytes::new());
    }
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await;
    (Request::from_parts(parts, Body::from(bytes.clone())), bytes)
}

async fn read(response: Response, method: &Method) -> (Response, Answered) {
    match response.body().size_hint().exact() {
        Some(0) => return (response, Answered::Readable(Value::Null)),
        Some(length) if length > BODY_AT_MOST as u64 => return (response, Answered::Readable(large(length))),
        _ => {}
    }
    let (parts, body) = response.into_parts();
    let bytes = whole(body).await;
    let answered = if method == Method::GET {
        Answered::Raw(bytes.clone())
    } else {
        Answered::Readable(readable(&bytes))
    };
    (Response::from_parts(parts, Body::from(bytes)), answered)
}

fn large(length: u64) -> Value {
    json!(format!("[{length} bytes]"))
}

/// The body as JSON with secrets and phones masked.
fn readable(bytes: &Bytes) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    if bytes.len() > BODY_AT_MOST {
        return large(bytes.len() as u64);
    }
    match serde_json::from_slice(bytes) {
        Ok(body) => masked(body),
        Err(_) => json!(format!("[{} bytes that are no JSON]", bytes.len())),
    }
}

fn masked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(with_masked_phones(&text)),
        Value::Array(items) => items.into_iter().map(masked).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = if SECRET.contains(&name.as_str()) { json!("•••") } else { masked(value) };
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
    fn whole_phone_numbers_are_masked_wherever_they_stand() {
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
