//! The latest calls of the API, with secrets masked.
//!
//! They are in memory, not in a table: otherwise every read would be a write, and they are not needed
//! after a restart. Each server shows its own calls. In demo mode, they are kept whole, with the console's acts
//! among them, for the evidence.

pub(super) mod api;
mod filter;
pub(super) mod page;
mod recorded;

pub use recorded::{Recorded, Recording, RecordingState, What};

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::Response,
};
use serde::Serialize;
use serde_json::{Value, json};

use self::recorded::Details;
use super::faults::{Kind, inject::Hit};
use crate::{
    Sandbox,
    auth::session::Session,
    clock::UnixMillis,
    http::{API, connections::Cut, edge, extract::whole},
    phone::Msisdn,
};

/// The number of calls to keep.
const CAPACITY: usize = 1000;
/// The number of calls and acts to keep where they are kept whole.
const WHOLE_CAPACITY: usize = 2 * CAPACITY;
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
    /// Where calls are kept whole.
    details: Option<Box<Details>>,
}

/// A body as it came; it is parsed and masked only when someone reads it.
#[derive(Clone, Debug)]
enum KeptBody {
    None,
    Raw(Bytes),
    /// A compressed one.
    Encoded(HeaderValue, Bytes),
    /// A large one, of so many bytes.
    SizeOnly(u64),
}

impl KeptBody {
    fn of(bytes: &Bytes, is_whole: bool) -> Self {
        match bytes.len() {
            0 => Self::None,
            length if length <= MAX_BODY_BYTES || is_whole => Self::Raw(bytes.clone()),
            length => Self::SizeOnly(length as u64),
        }
    }

    fn kept(&self) -> Option<&Bytes> {
        match self {
            Self::Raw(bytes) | Self::Encoded(_, bytes) => Some(bytes),
            Self::None | Self::SizeOnly(_) => None,
        }
    }

    fn readable(&self) -> Value {
        match self {
            Self::None | Self::Encoded(..) => Value::Null,
            Self::Raw(bytes) if bytes.len() > MAX_BODY_BYTES => json!(format!("[{} bytes]", bytes.len())),
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
        ENTRY_BYTES + self.path.len() + self.details.as_ref().map_or(0, |details| details.bytes())
    }

    fn is_act(&self) -> bool {
        self.details.as_ref().is_some_and(|details| details.what != What::Call)
    }
}

/// The latest calls of one server.
#[derive(Debug)]
pub struct Traffic {
    ring: Mutex<Ring>,
    recording: Recording,
    /// Counts what begins and what ends, in the order in which it does.
    moments: AtomicU64,
    /// Counts the beginnings.
    generation: AtomicU64,
    /// Counts the payouts that got their result.
    settled: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// Of all entries, whatever callers send, and how many there may be.
    bytes: usize,
    max_bytes: usize,
    counted: u64,
    /// Lists are answered many times with the same bytes; how many entries have them.
    shared: HashMap<usize, usize>,
    /// The last call that is no longer listed.
    cleared: u64,
    state: RecordingState,
}

impl Traffic {
    /// Keeps at most `max_bytes`.
    pub fn new(max_bytes: usize, recording: Recording) -> Self {
        Self {
            ring: Mutex::new(Ring { max_bytes, ..Ring::default() }),
            recording,
            moments: AtomicU64::default(),
            generation: AtomicU64::default(),
            settled: AtomicU64::default(),
        }
    }

    /// Keeps at most `max_bytes` from now on.
    pub fn bound(&self, max_bytes: usize) {
        let mut ring = self.ring();
        ring.max_bytes = max_bytes;
        while ring.take_excess(self.capacity()).is_some() {}
        ring.entries.shrink_to_fit();
    }

    /// All recorded calls, newest first.
    pub fn latest(&self) -> Vec<Call> {
        self.latest_of(CAPACITY, |_| true)
    }

    /// At most `limit` of the matching calls, newest first.
    pub fn latest_of(&self, limit: usize, is_match: impl Fn(&Outline) -> bool) -> Vec<Call> {
        let ring = self.ring();
        let matching = ring.listed().filter(|entry| is_match(&entry.outline()));
        matching.take(limit).map(Entry::call).collect()
    }

    /// The outlines of all recorded calls, newest first.
    pub fn outlines(&self) -> Vec<Outline> {
        self.ring().listed().map(Entry::outline).collect()
    }

    /// Removes all recorded calls. Where they are kept whole, they are no longer listed.
    pub fn clear(&self) {
        let mut ring = self.ring();
        match self.recording {
            Recording::Calls => {
                *ring = Ring { counted: ring.counted, max_bytes: ring.max_bytes, ..Ring::default() }
            }
            Recording::Whole => ring.cleared = ring.counted,
        }
    }

    fn capacity(&self) -> usize {
        match self.recording {
            Recording::Calls => CAPACITY,
            Recording::Whole => WHOLE_CAPACITY,
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, mut entry: Entry) {
        let mut ring = self.ring();
        if let Some(details) = &mut entry.details {
            if details.generation == self.generation.load(Ordering::Acquire) {
                details.ended = self.moment();
            } else if details.what == What::Call {
                // It began before the data was replaced.
                entry.details = None;
            } else {
                return;
            }
        }
        if !entry.is_act() {
            ring.counted += 1;
            entry.id = ring.counted;
        }
        ring.add(entry);
        let mut oldest = ring.take_excess(self.capacity());
        drop(ring);
        // Each is dropped while the others can be read.
        while oldest.is_some() {
            oldest = self.ring().take_excess(self.capacity());
        }
    }

    /// The number of this moment.
    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Ring {
    /// The calls that are listed, newest first.
    fn listed(&self) -> impl Iterator<Item = &Entry> {
        let calls = self.entries.iter().rev().filter(|entry| !entry.is_act());
        calls.filter(|entry| entry.id > self.cleared).take(CAPACITY)
    }

    fn add(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        for body in [&entry.request_body, &entry.response_body].into_iter().filter_map(KeptBody::kept) {
            if body.len() > MAX_BODY_BYTES {
                let users = self.shared.entry(body.as_ptr().addr()).or_default();
                *users += 1;
                if *users > 1 {
                    continue;
                }
            }
            self.bytes += body.len();
        }
        self.entries.push_back(entry);
    }

    /// Takes the oldest entry out, if there are too many.
    fn take_excess(&mut self, capacity: usize) -> Option<Entry> {
        if self.entries.len() <= capacity && self.bytes <= self.max_bytes {
            return None;
        }
        let oldest = self.entries.pop_front()?;
        self.bytes -= oldest.bytes();
        for body in [&oldest.request_body, &oldest.response_body].into_iter().filter_map(KeptBody::kept) {
            let address = body.as_ptr().addr();
            if body.len() > MAX_BODY_BYTES
                && let Some(users) = self.shared.get_mut(&address)
            {
                *users -= 1;
                if *users > 0 {
                    continue;
                }
                self.shared.remove(&address);
            }
            self.bytes -= body.len();
        }
        self.state.dropped += u64::from(oldest.details.is_some());
        Some(oldest)
    }
}

/// A call in progress, to be recorded with its response.
#[derive(Debug)]
pub struct Observed {
    sandbox: Sandbox,
    at: UnixMillis,
    started: tokio::time::Instant,
    method: Method,
    path: Box<str>,
    request_body: KeptBody,
    details: Option<Box<Details>>,
}

impl Observed {
    /// Starts to observe a request. Returns the request with its body buffered.
    pub async fn begin(sandbox: &Sandbox, request: Request) -> (Self, Request) {
        Self::begin_what(sandbox, What::Call, request).await
    }

    /// Starts to observe a call of the portal or an act on the console.
    pub async fn begin_what(sandbox: &Sandbox, what: What, request: Request) -> (Self, Request) {
        let at = sandbox.clock.now();
        let method = request.method().clone();
        // A copy: the address that came shares its memory with the whole head.
        let path = edge::shortened(request.uri().path()).into();
        let started = tokio::time::Instant::now();
        let details = sandbox.traffic.details(sandbox, what, &request);
        let (request, request_body) = read_request(request, details.is_some()).await;
        let sandbox = sandbox.clone();
        (Self { sandbox, at, started, method, path, request_body, details }, request)
    }

    /// Sets the body of a request that somebody else has read.
    pub fn with_body(self, body: &Bytes) -> Self {
        Self { request_body: KeptBody::of(body, true), ..self }
    }

    /// Records the call with its response, and returns the response.
    pub async fn end(mut self, request_id: Arc<str>, response: Response) -> Response {
        let is_cut = response.extensions().get::<Cut>().is_some();
        let fault = response.extensions().get::<Hit>().map(|hit| hit.0);
        let session = response.extensions().get::<Arc<Session>>().cloned();
        if let Some(details) = &mut self.details {
            details.answered(session.is_some());
        }
        let is_whole = self.details.is_some();
        let encoding = response.headers().get(header::CONTENT_ENCODING).cloned();
        let is_shown = self.details.as_ref().is_none_or(|details| details.what != What::Form);
        let is_complete =
            !is_cut && fault != Some(Kind::Truncate) && (is_whole || encoding.is_none()) && is_shown;
        let (response, response_body) =
            if is_complete { read_response(response, is_whole).await } else { (response, KeptBody::None) };
        let response_body = match (response_body, encoding) {
            (KeptBody::Raw(bytes), Some(encoding)) => KeptBody::Encoded(encoding, bytes),
            (body, _) => body,
        };
        self.sandbox.traffic.push(Entry {
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
            details: self.details,
        });
        response
    }
}

async fn read_request(request: Request, is_whole: bool) -> (Request, KeptBody) {
    if request.body().is_end_stream() {
        return (request, KeptBody::None);
    }
    let (parts, body) = request.into_parts();
    let bytes = whole(body).await;
    let kept = KeptBody::of(&bytes, is_whole);
    (Request::from_parts(parts, Body::from(bytes)), kept)
}

async fn read_response(response: Response, is_whole: bool) -> (Response, KeptBody) {
    match response.body().size_hint().exact() {
        // One without a known size is passed on as it arrives.
        Some(0) | None => return (response, KeptBody::None),
        Some(length) if length > MAX_BODY_BYTES as u64 && !is_whole => {
            return (response, KeptBody::SizeOnly(length));
        }
        Some(_) => {}
    }
    let (parts, body) = response.into_parts();
    let bytes = whole(body).await;
    let kept = KeptBody::of(&bytes, is_whole);
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
