//! The latest calls of the API, with what must not be read masked.
//!
//! In this process's memory, not in a table: every read would be a write otherwise, and what was
//! called is of no use after a restart. Each server shows its own calls.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{Method, header},
    middleware::Next,
    response::Response,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    API,
    faults::{
        Kind,
        inject::{Cut, Hit},
    },
    whole,
};
use crate::{Sandbox, auth::session::Session, clock::UnixMillis, edge, error::Form, phone::Msisdn};

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

#[derive(Debug)]
struct Entry {
    call: Call,
    /// What a GET was answered: made readable when somebody reads it.
    raw: Option<Bytes>,
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
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.entries
            .iter()
            .rev()
            .map(|entry| {
                let mut call = entry.call.clone();
                if let Some(raw) = &entry.raw {
                    call.response_body = readable(raw);
                }
                call
            })
            .collect()
    }

    /// Forgets them.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clear();
    }

    fn keep(&self, mut entry: Entry) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.counted += 1;
        entry.call.id = ring.counted;
        if ring.entries.len() == KEPT {
            ring.entries.pop_front();
        }
        ring.entries.push_back(entry);
    }
}

/// Keeps a call and its answer.
pub async fn record(State(sandbox): State<Sandbox>, form: Form, request: Request, next: Next) -> Response {
    let at = sandbox.clock.now();
    let started = tokio::time::Instant::now();
    let method = request.method().clone();
    let path = format!("{API}{}", request.uri().path());
    let (request, sent) = opened(request).await;
    let mut response = next.run(request).await;
    edge::write_failure(&mut response, &form);
    let cut = response.extensions().get::<Cut>().is_some();
    let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
    let user =
        response.extensions().get::<std::sync::Arc<Session>>().map(|session| session.staff.email.to_string());
    let is_whole =
        !cut && fault != Some(Kind::Truncate) && !response.headers().contains_key(header::CONTENT_ENCODING);
    let (response, answered) = if is_whole { read(response).await } else { (response, Bytes::new()) };
    let is_get = method == Method::GET;
    sandbox.traffic.keep(Entry {
        call: Call {
            id: 0,
            at,
            method: method.to_string(),
            path,
            status: (!cut).then(|| response.status().as_u16()),
            ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            request_id: form.request_id,
            user,
            request_body: readable(&sent),
            response_body: if is_get { large(&answered) } else { readable(&answered) },
            fault,
        },
        raw: (is_get && (1..=BODY_AT_MOST).contains(&answered.len())).then_some(answered),
    });
    response
}

async fn opened(request: Request) -> (Request, Bytes) {
    if request.body().is_end_stream() {
        return (request, Bytes::new());
    }
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await;
    (Request::from_parts(parts, Body::from(bytes.clone())), bytes)
}

async fn read(response: Response) -> (Response, Bytes) {
    if response.body().is_end_stream() {
        return (response, Bytes::new());
    }
    let (parts, body) = response.into_parts();
    let bytes = whole(body).await;
    (Response::from_parts(parts, Body::from(bytes.clone())), bytes)
}

fn large(bytes: &Bytes) -> Value {
    if bytes.len() > BODY_AT_MOST { json!(format!("[{} bytes]", bytes.len())) } else { Value::Null }
}

/// The body as JSON with secrets and phones masked.
fn readable(bytes: &Bytes) -> Value {
    if bytes.is_empty() || bytes.len() > BODY_AT_MOST {
        return large(bytes);
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
