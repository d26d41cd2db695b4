//! The latest calls of the API, with secrets masked.
//!
//! Calls are kept in memory, not in a table: otherwise every read would be a write, and they are not
//! needed after a restart. Each server shows its own calls.

pub mod body;
pub mod call;
mod fields;
pub mod headers;
pub mod secrets;

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

pub use self::call::Call;
use self::call::Entry;
use lending::demo::Beginning;

/// The number of calls to keep.
const CAPACITY: usize = 1000;
/// The number of sent codes to keep, so that they are masked wherever somebody types them.
const MAX_CODES: usize = 1000;

/// The latest calls of one server.
#[derive(Debug)]
pub struct Traffic(Mutex<Ring>);

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<Arc<Entry>>,
    /// The size of all entries, and its limit, however much callers send.
    bytes: usize,
    max_bytes: usize,
    /// Whether there was no room for older calls than these.
    has_dropped: bool,
    counted: u64,
    codes: VecDeque<Arc<str>>,
    beginning: Option<Beginning>,
}

/// The kept data at one moment.
pub struct Snapshot {
    /// The calls, newest first.
    pub entries: Vec<Arc<Entry>>,
    pub codes: Vec<Arc<str>>,
    /// The start of the sandbox, if this server knows it.
    pub beginning: Option<Beginning>,
}

impl Traffic {
    pub fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(Ring { max_bytes, ..Ring::default() }))
    }

    pub fn bound(&self, max_bytes: usize) {
        let mut ring = self.0.lock();
        ring.max_bytes = max_bytes;
        while ring.take_excess().is_some() {}
        ring.entries.shrink_to_fit();
    }

    /// All recorded calls, newest first.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.0.lock().entries.iter().rev().cloned().collect()
    }

    /// Returns whether there was no room for older calls than those in [`Self::entries`].
    pub fn has_dropped(&self) -> bool {
        self.0.lock().has_dropped
    }

    pub fn clear(&self) {
        let mut ring = self.0.lock();
        ring.entries = VecDeque::new();
        ring.bytes = 0;
        ring.has_dropped = false;
    }

    /// Forgets everything, because the sandbox starts over.
    pub fn begin_again(&self, beginning: Beginning) {
        let mut ring = self.0.lock();
        let Ring { counted, max_bytes, .. } = *ring;
        *ring = Ring { counted, max_bytes, beginning: Some(beginning), ..Ring::default() };
    }

    /// Forgets with which data the sandbox has begun, because others have replaced it.
    pub fn forget_beginning(&self) {
        self.0.lock().beginning = None;
    }

    pub fn code_sent(&self, code: &str) {
        let codes = &mut self.0.lock().codes;
        if codes.len() == MAX_CODES {
            codes.pop_front();
        }
        codes.push_back(code.into());
    }

    pub fn snapshot(&self) -> Snapshot {
        let ring = self.0.lock();
        Snapshot {
            entries: ring.entries.iter().rev().cloned().collect(),
            codes: ring.codes.iter().cloned().collect(),
            beginning: ring.beginning,
        }
    }

    /// Keeps a call, in place of the oldest ones if there is no room.
    pub fn push(&self, mut entry: Entry) {
        let mut ring = self.0.lock();
        ring.counted += 1;
        entry.id = ring.counted;
        ring.bytes += entry.kept_bytes();
        ring.entries.push_back(Arc::new(entry));
        let mut oldest = ring.take_excess();
        drop(ring);
        // Entries are dropped without the lock, so that the others can be read.
        while oldest.is_some() {
            oldest = self.0.lock().take_excess();
        }
    }
}

impl Ring {
    /// Removes and returns the oldest entry, if a limit is exceeded.
    fn take_excess(&mut self) -> Option<Arc<Entry>> {
        if self.entries.len() <= CAPACITY && self.bytes <= self.max_bytes {
            return None;
        }
        let oldest = self.entries.pop_front()?;
        self.bytes -= oldest.kept_bytes();
        self.has_dropped = true;
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{body::KeptBody, headers::Headers, *};
    use axum::http::{HeaderMap, Method, header};
    use base::clock::UnixMillis;
    use lending::demo::DemoData;

    pub(super) fn call(answer: &'static str) -> Entry {
        Entry {
            id: 1,
            at: UnixMillis(0),
            method: Method::POST,
            path: "/auth/login".into(),
            query: None,
            request_headers: Headers::of_request(&HeaderMap::new()),
            request_body: KeptBody::None,
            status: None,
            response_headers: Headers::of_response(&HeaderMap::new()),
            response_body: KeptBody::Whole(answer.into()),
            took: Duration::ZERO,
            request_id: "1".into(),
            session: None,
            fault: None,
        }
    }

    #[test]
    fn the_latest_1000_codes_are_kept_until_the_sandbox_starts_over() {
        let traffic = Traffic::new(1000);
        for code in 0..1001 {
            traffic.code_sent(&code.to_string());
        }
        let codes = traffic.snapshot().codes;
        assert_eq!((codes.len(), &*codes[0], &*codes[999]), (1000, "1", "1000"));
        let world = DemoData::Empty;
        traffic.begin_again(Beginning { world, now: UnixMillis(0), is_frozen: false });
        assert!(traffic.snapshot().codes.is_empty());
    }

    #[test]
    fn a_number_is_not_given_twice_though_the_sandbox_starts_over() {
        let traffic = Traffic::new(100_000);
        let world = DemoData::Empty;
        for number in 1..4 {
            traffic.begin_again(Beginning { world, now: UnixMillis(0), is_frozen: false });
            traffic.push(call("{}"));
            assert_eq!(traffic.entries()[0].id, number);
        }
    }

    #[test]
    fn a_call_says_how_long_it_took_and_counts_all_that_it_keeps() {
        let short = call("{}");
        let headers = HeaderMap::from_iter([(header::ETAG, "1".parse().unwrap())]);
        let long = Entry {
            path: "/auth/login/again".into(),
            query: Some("page=2".into()),
            request_headers: Headers::of_request(&headers),
            response_headers: Headers::of_response(&headers),
            response_body: KeptBody::Whole("{\"a\":1}".into()),
            took: Duration::from_millis(1_500),
            ..call("{}")
        };
        assert_eq!(long.ms(), 1_500);
        let of_headers =
            |entry: &Entry| entry.request_headers.kept_bytes() + entry.response_headers.kept_bytes();
        let more_in_headers = of_headers(&long) - of_headers(&short);
        assert!(more_in_headers > 0);
        let more = "/again".len() + "page=2".len() + more_in_headers + "\"a\":1".len();
        assert_eq!(long.kept_bytes() - short.kept_bytes(), more);
    }

    #[test]
    fn calls_are_kept_within_a_bound_also_after_they_were_cleared_and_when_it_is_lowered() {
        let size = call("{}").kept_bytes();
        let traffic = Traffic::new(3 * size);
        let keep = |count: usize| (0..count).for_each(|_| traffic.push(call("{}")));
        keep(3);
        assert!(!traffic.has_dropped());
        keep(8);
        assert_eq!((traffic.entries().len(), traffic.has_dropped()), (3, true));
        traffic.clear();
        keep(3);
        assert_eq!((traffic.entries().len(), traffic.has_dropped()), (3, false));
        traffic.bound(2 * size);
        assert_eq!(traffic.entries().len(), 2);
    }
}
