//! What is kept of calls and of acts on the console where everything is made up, so that they can be played
//! again.

use std::sync::{Arc, atomic::Ordering};

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
};

use super::{Entry, KeptBody, Ring, Traffic};
use crate::{
    Sandbox,
    auth::session::Session,
    clock::UnixMillis,
    console::faults::Kind,
    demo::Beginning,
    http::{accept, edge, ready_body},
};

/// The longest query that is kept.
const MAX_QUERY_BYTES: usize = 1024;

/// The longest header that is kept.
const MAX_HEADER_BYTES: usize = 512;

/// The number of codes to keep.
const MAX_CODES: usize = 1000;

/// The headers on which answers depend.
const HEADERS: [HeaderName; 3] =
    [header::CONTENT_TYPE, header::IF_NONE_MATCH, HeaderName::from_static("idempotency-key")];

/// What is kept of the calls of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Calls, without large bodies: there are real people in them.
    Calls,
    /// Calls and acts, with all of their bodies: everything is made up.
    Whole,
}

/// What was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A call of the portal's API.
    Call,
    /// A call of the console's API that changes something.
    Act,
    /// A form of the console.
    Form,
}

/// The state of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordingState {
    /// How the sandbox began, if it is known.
    pub beginning: Option<Beginning>,
    /// How many calls and acts are no longer kept.
    pub dropped: u64,
    /// The codes in messages, the oldest first.
    pub codes: Vec<String>,
    /// Whether there were more.
    pub has_more_codes: bool,
}

/// What is kept of a call or an act besides what is listed.
#[derive(Debug)]
pub(super) struct Details {
    pub what: What,
    pub generation: u64,
    pub began: u64,
    pub ended: u64,
    settled: u64,
    is_frozen: bool,
    query: Option<Box<str>>,
    headers: Vec<(HeaderName, Box<[u8]>)>,
    /// What came as its token; copied when it is known not to be that of a session.
    authorization: Option<HeaderValue>,
    is_cut: bool,
}

impl Details {
    pub fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(_, value)| value.len()).sum();
        let authorization = self.authorization.as_ref().map_or(0, HeaderValue::len);
        size_of::<Self>() + headers + authorization + self.query.as_ref().map_or(0, |query| query.len())
    }

    /// Keeps its token only if it is not that of a session. A copy: what came shares its memory with the whole
    /// head.
    pub fn answered(&mut self, has_session: bool) {
        let kept = self.authorization.take().filter(|_| !has_session);
        self.authorization = kept.and_then(|value| {
            self.is_cut |= value.len() > MAX_HEADER_BYTES * 2;
            HeaderValue::from_bytes(&value.as_bytes()[..value.len().min(MAX_HEADER_BYTES * 2)]).ok()
        });
    }
}

impl Traffic {
    /// The details of a request that comes; `None` where they are not kept.
    pub(super) fn details(&self, sandbox: &Sandbox, what: What, request: &Request) -> Option<Box<Details>> {
        if self.recording == Recording::Calls {
            return None;
        }
        let (path, headers) = (request.uri().path(), request.headers());
        let query = request.uri().query().unwrap_or_default();
        let is_cut = query.len() > MAX_QUERY_BYTES || edge::shortened(path) != path;
        let kept = kept_headers(headers);
        let is_cut = is_cut || kept.iter().any(|(_, value)| value.len() > MAX_HEADER_BYTES);
        Some(Box::new(Details {
            what,
            generation: self.generation.load(Ordering::Acquire),
            began: self.moment(),
            ended: 0,
            settled: self.settled.load(Ordering::Relaxed),
            is_frozen: sandbox.clock.setting().frozen_at.is_some(),
            query: (!query.is_empty() && !is_cut).then(|| query.into()),
            headers: if is_cut { Vec::new() } else { kept },
            authorization: headers.get(header::AUTHORIZATION).filter(|_| what == What::Call).cloned(),
            is_cut,
        }))
    }

    /// Forgets everything: the sandbox begins again.
    pub fn begin_again(&self, beginning: Beginning) {
        let mut ring = self.ring();
        let state = RecordingState { beginning: Some(beginning), ..RecordingState::default() };
        *ring = Ring { counted: ring.counted, max_bytes: ring.max_bytes, state, ..Ring::default() };
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.moments.store(0, Ordering::Relaxed);
        self.settled.store(0, Ordering::Relaxed);
    }

    /// Notes that a code was sent in a message.
    pub fn code_sent(&self, code: String) {
        if self.recording == Recording::Whole {
            let state = &mut self.ring().state;
            if state.codes.len() < MAX_CODES {
                state.codes.push(code);
            } else {
                state.has_more_codes = true;
            }
        }
    }

    /// Notes that a payout got its result.
    pub fn payout_settled(&self) {
        self.settled.fetch_add(1, Ordering::Relaxed);
    }

    /// What was recorded since the sandbox began, in the order in which it came, and how many payouts got their
    /// result.
    pub fn recorded(&self) -> (RecordingState, Vec<Recorded>, u64) {
        let ring = self.ring();
        let mut all: Vec<Recorded> = ring.entries.iter().filter_map(Recorded::of).collect();
        let state = ring.state.clone();
        drop(ring);
        all.sort_by_key(|one| one.began);
        (state, all, self.settled.load(Ordering::Relaxed))
    }
}

fn kept_headers(headers: &HeaderMap) -> Vec<(HeaderName, Box<[u8]>)> {
    let mut kept = Vec::new();
    for name in HEADERS {
        kept.extend(headers.get(&name).map(|value| (name, value.as_bytes().into())));
    }
    // What else is accepted makes no difference.
    if accept::items(headers, header::ACCEPT).any(|item| item.contains("problem")) {
        kept.extend(headers.get(header::ACCEPT).map(|value| (header::ACCEPT, value.as_bytes().into())));
    }
    kept
}

/// A recorded call or act.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of a call")]
pub struct Recorded {
    pub what: What,
    /// The moments at which it came and was answered.
    pub began: u64,
    pub ended: u64,
    pub at: UnixMillis,
    pub is_frozen: bool,
    /// How many payouts had their result when it came.
    pub settled: u64,
    pub method: Method,
    pub path: String,
    pub query: Option<String>,
    pub headers: Vec<(HeaderName, String)>,
    pub session: Option<Arc<Session>>,
    /// What came as its token without being that of a session.
    pub authorization: Option<String>,
    pub request_body: Option<Bytes>,
    pub status: Option<u16>,
    pub response_body: Option<Bytes>,
    pub fault: Option<Kind>,
    pub ms: u64,
    pub request_id: Arc<str>,
    /// Whether its address or a header was too long to be kept.
    pub is_cut: bool,
}

impl Recorded {
    fn of(entry: &Entry) -> Option<Self> {
        let details = entry.details.as_ref()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let prefix = match details.what {
            What::Call => crate::http::API,
            What::Act => crate::console::CALLS,
            What::Form => "/console",
        };
        Some(Self {
            what: details.what,
            began: details.began,
            ended: details.ended,
            at: entry.at,
            is_frozen: details.is_frozen,
            settled: details.settled,
            method: entry.method.clone(),
            path: format!("{prefix}{}", entry.path),
            query: details.query.as_deref().map(str::to_owned),
            headers: details.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            session: entry.session.clone(),
            authorization: details.authorization.as_ref().map(|value| text(value.as_bytes())),
            request_body: entry.request_body.plain(),
            status: entry.status.map(|status| status.as_u16()),
            response_body: entry.response_body.plain(),
            fault: entry.fault,
            ms: u64::try_from(entry.took.as_millis()).unwrap_or(u64::MAX),
            request_id: Arc::clone(&entry.request_id),
            is_cut: details.is_cut,
        })
    }
}

impl KeptBody {
    /// The whole body, not compressed.
    fn plain(&self) -> Option<Bytes> {
        match self {
            Self::Raw(bytes) => Some(bytes.clone()),
            Self::Encoded(encoding, bytes) => ready_body::decoded(encoding, bytes),
            Self::None | Self::SizeOnly(_) => None,
        }
    }
}
