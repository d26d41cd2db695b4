//! Checks calls against the contract without delaying them: a call is watched as it passes and checked later.

use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
};
use tokio::sync::mpsc::{self, OwnedPermit, Receiver, Sender};

use super::held::Held;
use crate::{
    Sandbox,
    contract::{self, Difference, Operation, Side},
};

/// The maximum number of calls that wait to be checked. Further ones are not checked.
const MAX_WAITING: usize = 64;
/// The maximum size of all waiting answers together, in bytes.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The maximum size of a checked answer without its compression, in bytes.
const MAX_PLAIN: u64 = 32 * 1024 * 1024;
/// The ratio of the pause after a check to the check itself under load, when a sample is enough.
const PAUSES: u32 = 49;

/// Watches calls.
#[derive(Clone, Debug)]
pub struct Observer {
    queue: Sender<Exchange>,
    bytes: Arc<AtomicUsize>,
    held: Arc<Held>,
}

/// The calls that wait to be checked.
#[derive(Debug)]
pub struct Waiting(Receiver<Exchange>);

/// A request and its answer.
#[derive(Debug)]
struct Exchange {
    operation: Option<Operation>,
    is_head: bool,
    query: String,
    request_headers: HeaderMap,
    request_body: Bytes,
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<Bytes>,
    memory: Memory,
}

/// The part of [`MAX_BYTES`] that a call takes.
#[derive(Debug)]
struct Memory {
    taken: usize,
    all: Arc<AtomicUsize>,
}

impl Memory {
    /// Takes `bytes` more. Returns whether there was room.
    fn take(&mut self, bytes: usize) -> bool {
        self.taken += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_BYTES
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.all.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

/// A call that is being watched.
#[derive(Debug)]
pub struct Observation {
    place: OwnedPermit<Exchange>,
    held: Arc<Held>,
    exchange: Exchange,
}

impl Observer {
    /// Returns an observer that counts in `held`, and the queue that [`keep_checking`] reads.
    pub fn new(held: Arc<Held>) -> (Self, Waiting) {
        let (queue, waiting) = mpsc::channel(MAX_WAITING);
        (Self { queue, bytes: Arc::default(), held }, Waiting(waiting))
    }

    /// Begins to watch a call to `uri`; `None` if there are too many.
    pub fn begin(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Option<Observation> {
        let Ok(place) = self.queue.clone().try_reserve_owned() else {
            self.held.count(false);
            return None;
        };
        let media_type = headers.get(header::CONTENT_TYPE).map(|value| (header::CONTENT_TYPE, value.clone()));
        let exchange = Exchange {
            operation: Operation::of(method, uri.path()),
            is_head: method == Method::HEAD,
            query: uri.query().unwrap_or_default().to_owned(),
            request_headers: media_type.into_iter().collect(),
            request_body: body.clone(),
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: Vec::new(),
            memory: Memory { taken: 0, all: Arc::clone(&self.bytes) },
        };
        Some(Observation { place, held: Arc::clone(&self.held), exchange })
    }
}

impl Observation {
    /// Records the head of the answer, as the provider sent it.
    pub fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.exchange.status = status;
        self.exchange.headers = headers.clone();
    }

    /// Records the next part of the answer's body. Without room for more, drops the call and returns `None`.
    pub fn with(mut self, data: &Bytes) -> Option<Self> {
        if !self.exchange.memory.take(data.len()) {
            self.held.count(false);
            return None;
        }
        self.exchange.body.push(data.clone());
        Some(self)
    }

    /// Ends the observation, and queues the call to be checked.
    pub fn end(self) {
        self.place.send(self.exchange);
    }
}

/// Checks the calls that were watched, for as long as it is polled.
pub async fn keep_checking(sandbox: &Sandbox, held: &Held, Waiting(mut waiting): Waiting) {
    while let Some(exchange) = waiting.recv().await {
        let started = Instant::now();
        let now = sandbox.clock.now();
        let checking = tokio::task::spawn_blocking(move || exchange.differences());
        // A panic affects one call only.
        let Ok(found) = checking.await else { continue };
        held.count(found.is_some());
        for (operation, side, differences) in found.into_iter().flatten() {
            for difference in &differences {
                sandbox.server.metrics.contract_difference(&operation, difference.kind.name());
            }
            held.add(&operation, side, now, differences);
        }
        if waiting.len() > MAX_WAITING / 2 {
            tokio::time::sleep(started.elapsed() * PAUSES).await;
        }
    }
}

impl Exchange {
    /// Returns the differences of both sides; `None` if the answer can't be decompressed here.
    fn differences(self) -> Option<Vec<(String, Side, Vec<Difference>)>> {
        let Some(operation) = &self.operation else {
            // The call is no operation of the contract, so there is nothing to compare with.
            return Some(Vec::new());
        };
        let name = format!("{} {}", operation.method.to_uppercase(), operation.path);
        let request = contract::of_request(operation, &self.query, &self.request_headers, &self.request_body);
        let body = if self.is_head { None } else { Some(self.plain_body()?) };
        let answer = contract::of_answer(operation, self.status, &self.headers, body.as_deref());
        // A request that the provider refuses may be wrong.
        let request = if self.status.is_client_error() { Vec::new() } else { request };
        Some(vec![(name.clone(), Side::Request, request), (name, Side::Answer, answer)])
    }

    /// The body without its compression.
    fn plain_body(&self) -> Option<Vec<u8>> {
        let body: Vec<u8> = self.body.iter().flatten().copied().collect();
        let encoding = self.headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
        let mut decoder: Box<dyn Read> = match encoding {
            None | Some(b"identity") => return Some(body),
            Some(b"gzip") => Box::new(flate2::read::MultiGzDecoder::new(&*body)),
            Some(b"br") => Box::new(brotli::Decompressor::new(&*body, 4096)),
            Some(b"zstd") => Box::new(zstd::stream::read::Decoder::new(&*body).ok()?),
            Some(_) => return None,
        };
        let mut plain = Vec::new();
        let length = decoder.by_ref().take(MAX_PLAIN).read_to_end(&mut plain).ok()?;
        ((length as u64) < MAX_PLAIN).then_some(plain)
    }
}
