//! Checks calls against the contract without delaying them: a call is watched as it passes and checked later.

use std::{
    io::Read,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, Method, StatusCode, Uri, header},
};
use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    mpsc::{self, OwnedPermit, Receiver, Sender},
};

use super::{headers, held::Held};
use contract::{Differences, Operation, Side};
use lending::world::World;

/// The maximum number of calls that wait to be checked. Further ones are not checked.
const MAX_WAITING: usize = 64;
/// The maximum size of all waiting answers together, in bytes.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The largest window that a zstd answer may need, as a power of two: what browsers accept (RFC 9659).
const MAX_ZSTD_WINDOW: u32 = 23;
/// The longest check of one answer.
const LONGEST_CHECK: Duration = Duration::from_secs(1);
/// Under load, the pause after a check, as a multiple of the time that it took: then only a sample is checked.
const PAUSES: u32 = 49;

/// Watches calls.
#[derive(Clone, Debug)]
pub struct Observer {
    queue: Sender<Exchange>,
    /// [`MAX_BYTES`].
    room: Arc<Semaphore>,
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
    /// The part of [`MAX_BYTES`] that it takes.
    room: OwnedSemaphorePermit,
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
        (Self { queue, room: Arc::new(Semaphore::new(MAX_BYTES)), held }, Waiting(waiting))
    }

    /// Begins to watch a call to `uri`; `None` if there are too many.
    pub fn begin(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Option<Observation> {
        let place = self.queue.clone().try_reserve_owned();
        let (Ok(place), Ok(room)) = (place, Arc::clone(&self.room).try_acquire_many_owned(0)) else {
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
            room,
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
        let bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(self.exchange.room.semaphore()).try_acquire_many_owned(bytes) else {
            self.held.count(false);
            return None;
        };
        self.exchange.room.merge(room);
        self.exchange.body.push(data.clone());
        Some(self)
    }

    /// Ends the observation, and queues the call to be checked.
    pub fn end(self) {
        self.place.send(self.exchange);
    }
}

/// Checks the calls that were watched, one after the other, for as long as it is polled.
pub async fn keep_checking(
    world: &World,
    held: &Held,
    Waiting(mut waiting): Waiting,
    count: impl Fn(&str, &str),
) {
    while let Some(exchange) = waiting.recv().await {
        let started = Instant::now();
        let now = world.clock.now();
        let checking = tokio::task::spawn_blocking(move || exchange.differences());
        // A panic affects one call only.
        let Ok(checked) = checking.await else { continue };
        let is_whole = checked
            .as_ref()
            .is_some_and(|sides| sides.iter().all(|(_, _, differences)| differences.is_whole));
        held.count(is_whole);
        for (operation, side, Differences { found, .. }) in checked.into_iter().flatten() {
            for difference in &found {
                count(&operation, &difference.kind.to_string());
            }
            held.add(&operation, side, now, found);
        }
        if waiting.len() > MAX_WAITING / 2 {
            tokio::time::sleep(started.elapsed() * PAUSES).await;
        }
    }
}

impl Exchange {
    /// Returns the differences of both sides; `None` if the answer can't be decompressed here.
    fn differences(self) -> Option<Vec<(String, Side, Differences)>> {
        let Some(operation) = &self.operation else {
            // The call is no operation of the contract, so there is nothing to compare with.
            return Some(Vec::new());
        };
        let name = format!("{} {}", operation.method.to_uppercase(), operation.path);
        let request = contract::of_request(operation, &self.query, &self.request_headers, &self.request_body);
        let bytes: Vec<u8> = self.body.iter().flatten().copied().collect();
        let body = if self.is_head { None } else { Some(self.plain(&bytes)?) };
        let answer = contract::of_answer(operation, self.status, &self.headers, body, LONGEST_CHECK);
        // A request that the provider refuses may be wrong.
        let request = (!self.status.is_client_error()).then(|| (name.clone(), Side::Request, request));
        Some(request.into_iter().chain([(name, Side::Answer, answer)]).collect())
    }

    /// The body without its compression, which is undone as it is read.
    fn plain<'a>(&self, body: &'a [u8]) -> Option<Box<dyn Read + 'a>> {
        if !self.headers.contains_key(header::CONTENT_ENCODING) {
            return Some(Box::new(body));
        }
        Some(match headers::encoding(&self.headers)? {
            "identity" => Box::new(body),
            "gzip" => Box::new(flate2::read::MultiGzDecoder::new(body)),
            "br" => Box::new(brotli::Decompressor::new(body, 4096)),
            "zstd" => {
                let mut decoder = zstd::stream::read::Decoder::new(body).ok()?;
                decoder.window_log_max(MAX_ZSTD_WINDOW).ok()?;
                Box::new(decoder)
            }
            _ => return None,
        })
    }
}
