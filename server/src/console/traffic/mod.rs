//! The latest calls of the API, with secrets masked.
//!
//! They are in memory, not in a table: otherwise every read would be a write, and they are not needed
//! after a restart. Each server shows its own calls.

pub(super) mod api;
mod filter;
pub(super) mod page;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{Method, StatusCode, header},
    response::Response,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::faults::{Kind, inject::Hit};
use crate::{
    auth::session::Session,
    clock::UnixMillis,
    http::{API, connections::Cut, edge, extract::whole},
    phone::Msisdn,
};

/// The number of calls to keep.
const CAPACITY: usize = 1000;
/// What a call takes besides its path and bodies, in bytes; rounded up.
const ENTRY_BYTES: usize = 512;
/// The largest body to keep. For larger ones, only the size is kept.
const MAX_BODY_BYTES: usize = 8 * 1024;
/// The fields of the contract that are shown masked.
const SECRET_FIELDS: [&str; 4] = ["new_password", "otp", "password", "token"];
/// The fields of the contract that are shown, in alphabetical order. Others are not: a caller may have
/// put a secret under any name.
const SHOWN_FIELDS: [&str; 59] = [
    "account_number",
    "account_status",
    "agent_id",
    "amount",
    "approved_at",
    "approver_email",
    "approver_id",
    "approver_name",
    "code",
    "created_at",
    "credit_score",
    "customer_account_id",
    "customer_first_name",
    "customer_gender",
    "customer_id",
    "customer_id_number",
    "customer_last_name",
    "customer_nickname",
    "customer_phone_number",
    "customer_status",
    "detail",
    "disbursed_at",
    "disbursed_by",
    "disbursement_status",
    "email",
    "error",
    "error_message",
    "id",
    "interest_rate",
    "loan_created_at",
    "loan_id",
    "loan_status",
    "loan_updated_at",
    "message",
    "mpesa_ref",
    "name",
    "notes",
    "phone",
    "phone_number",
    "processed_at",
    "purpose",
    "record",
    "remaining_balance",
    "request_id",
    "result_code",
    "risk_level",
    "role",
    "status",
    "term",
    "title",
    "total_loan_amount",
    "transaction_id",
    "type",
    "user",
    "user_email",
    "user_first_name",
    "user_id",
    "user_last_name",
    "username",
];

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
    path: Box<str>,
    status: Option<StatusCode>,
    took: Duration,
    request_id: Arc<str>,
    session: Option<Arc<Session>>,
    request_body: KeptBody,
    response_body: KeptBody,
    fault: Option<Kind>,
}

/// A body as it came; it is parsed and masked only when someone reads it.
#[derive(Debug)]
enum KeptBody {
    None,
    Raw(Bytes),
    /// A large one, of so many bytes.
    SizeOnly(u64),
}

impl KeptBody {
    fn of(bytes: &Bytes) -> Self {
        match bytes.len() {
            0 => Self::None,
            1..=MAX_BODY_BYTES => Self::Raw(bytes.clone()),
            length => Self::SizeOnly(length as u64),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Raw(bytes) => bytes.len(),
            Self::None | Self::SizeOnly(_) => 0,
        }
    }

    fn readable(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Raw(bytes) => readable(bytes),
            Self::SizeOnly(length) => json!(format!("[{length} bytes]")),
        }
    }
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
            path: format!("{API}{}", self.path),
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
            request_body: self.request_body.readable(),
            response_body: self.response_body.readable(),
            fault,
        }
    }

    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.path.len() + self.request_body.bytes() + self.response_body.bytes()
    }
}

/// The latest calls of one server.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// Of all entries, whatever callers send, and how many there may be.
    bytes: usize,
    max_bytes: usize,
    counted: u64,
}

impl Traffic {
    /// Keeps at most `max_bytes`.
    pub fn bounded(max_bytes: usize) -> Self {
        Self(Mutex::new(Ring { max_bytes, ..Ring::default() }))
    }

    /// Keeps at most `max_bytes` from now on.
    pub fn bound(&self, max_bytes: usize) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.max_bytes = max_bytes;
        ring.take_excess();
        ring.entries.shrink_to_fit();
    }

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
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *ring = Ring { counted: ring.counted, max_bytes: ring.max_bytes, ..Ring::default() };
    }

    fn push(&self, mut entry: Entry) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.counted += 1;
        entry.id = ring.counted;
        ring.bytes += entry.bytes();
        ring.entries.push_back(entry);
        let oldest = ring.take_excess();
        drop(ring);
        drop(oldest);
    }
}

impl Ring {
    fn take_excess(&mut self) -> Vec<Entry> {
        let mut oldest = Vec::new();
        while self.entries.len() > CAPACITY || self.bytes > self.max_bytes {
            let Some(entry) = self.entries.pop_front() else { break };
            self.bytes -= entry.bytes();
            oldest.push(entry);
        }
        oldest
    }
}

/// A call in progress, to be recorded with its response.
#[derive(Debug)]
pub struct Observed {
    at: UnixMillis,
    started: tokio::time::Instant,
    method: Method,
    path: Box<str>,
    request_body: KeptBody,
}

impl Observed {
    /// Starts to observe a request that arrived at `at`. Returns the request with its body buffered.
    pub async fn begin(request: Request, at: UnixMillis) -> (Self, Request) {
        let method = request.method().clone();
        // A copy: the address that came shares its memory with the whole head.
        let path = edge::shortened(request.uri().path()).into();
        let started = tokio::time::Instant::now();
        let (request, request_body) = read_request(request).await;
        (Self { at, started, method, path, request_body }, request)
    }

    /// Records the call with its response, and returns the response.
    pub async fn end(self, traffic: &Traffic, request_id: Arc<str>, response: Response) -> Response {
        let is_cut = response.extensions().get::<Cut>().is_some();
        let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
        let session = response.extensions().get::<Arc<Session>>().cloned();
        let is_complete = !is_cut
            && fault != Some(Kind::Truncate)
            && !response.headers().contains_key(header::CONTENT_ENCODING);
        let (response, response_body) =
            if is_complete { read_response(response).await } else { (response, KeptBody::None) };
        traffic.push(Entry {
            id: 0,
            at: self.at,
            method: self.method,
            path: self.path,
            status: (!is_cut).then(|| response.status()),
            took: self.started.elapsed(),
            request_id,
            session,
            request_body: self.request_body,
            response_body,
            fault,
        });
        response
    }
}

async fn read_request(request: Request) -> (Request, KeptBody) {
    if request.body().is_end_stream() {
        return (request, KeptBody::None);
    }
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await;
    let kept = KeptBody::of(&bytes);
    (Request::from_parts(parts, Body::from(bytes)), kept)
}

async fn read_response(response: Response) -> (Response, KeptBody) {
    match response.body().size_hint().exact() {
        // One without a known size is passed on as it arrives.
        Some(0) | None => return (response, KeptBody::None),
        Some(length) if length > MAX_BODY_BYTES as u64 => return (response, KeptBody::SizeOnly(length)),
        Some(_) => {}
    }
    let (parts, body) = response.into_parts();
    let bytes = whole(body).await;
    let kept = KeptBody::of(&bytes);
    (Response::from_parts(parts, Body::from(bytes)), kept)
}

/// The body as JSON: the fields of the contract, with secrets and phone numbers masked.
fn readable(bytes: &Bytes) -> Value {
    match serde_json::from_slice(bytes) {
        Ok(body @ (Value::Object(_) | Value::Array(_))) => masked(body),
        Ok(_) => json!(format!("[{} bytes, not an object]", bytes.len())),
        Err(_) => json!(format!("[{} bytes, not JSON]", bytes.len())),
    }
}

fn masked(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(masked).collect(),
        Value::Object(fields) => {
            let count = fields.len();
            let mut shown: serde_json::Map<String, Value> = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.clone(), field(&name, value)?)))
                .collect();
            if shown.len() < count {
                shown.insert("…".to_owned(), json!(format!("{} not shown", count - shown.len())));
            }
            Value::Object(shown)
        }
        // Nothing says what it is.
        _ => json!(MASK),
    }
}

const MASK: &str = "•••";

/// The value of a field as it is shown; `None` for a field that is not in the contract.
fn field(name: &str, value: Value) -> Option<Value> {
    if SECRET_FIELDS.contains(&name) {
        return Some(json!(MASK));
    }
    SHOWN_FIELDS.binary_search(&name).ok()?;
    Some(match value {
        Value::String(text) => Value::String(with_masked_phones(&text)),
        Value::Number(_) if name.contains("phone") => json!(MASK),
        Value::Array(_) | Value::Object(_) => masked(value),
        plain => plain,
    })
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

    #[test]
    fn what_is_not_a_field_of_the_contract_is_not_shown() {
        let shown = |body: &'static str| readable(&Bytes::from(body));
        assert_eq!(
            shown(r#"{"Password":"x","email":"a@b.c"}"#),
            json!({"email": "a@b.c", "…": "1 not shown"})
        );
        assert_eq!(shown(r#"["a@b.c","secret",481516]"#), json!(["•••", "•••", "•••"]));
        assert_eq!(shown("481516"), json!("[6 bytes, not an object]"));
        assert_eq!(
            shown(r#"{"phone_number":254712345678,"amount":500}"#),
            json!({"phone_number": "•••", "amount": 500})
        );
    }

    #[test]
    fn the_shown_fields_can_be_searched() {
        assert!(SHOWN_FIELDS.is_sorted());
    }
}
