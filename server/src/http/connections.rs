//! Serves a limited number of connections, and closes those whose client is too slow.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{HeaderValue, StatusCode, Version, header},
    response::IntoResponse,
};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use ipnet::IpNet;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};
use tower::Service;

use super::open_connections::{Handle, OpenConnections};

/// Maximum number of header fields in a request.
const MAX_HEADERS: usize = 64;
/// Maximum size of a request's head, in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// An extension of a response: closes the connection instead of sending the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Closed normally.
    Closed,
    /// Closed with a TCP reset.
    Reset,
}

/// A request on a connection that has answered another one, as an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct Reused;

/// Limits on the number of connections and on their timeouts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of open connections. When all are taken, the longest idle one is closed for the
    /// next; if none is idle, the next waits.
    pub connections: usize,
    /// Maximum number of open connections from one address.
    pub per_address: usize,
    /// Proxies, whose connections are not counted by address, because they serve many clients.
    pub trusted_proxies: Vec<IpNet>,
    /// Timeout for receiving a request's head, including the idle time before it.
    pub head: Duration,
    /// Timeout for a client that does not read the response that is being sent.
    pub stall: Duration,
    /// Timeout of a shutdown for requests in progress; a payout is answered within 8 s.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_address: 256,
            trusted_proxies: Vec::new(),
            head: Duration::from_secs(20),
            stall: Duration::from_secs(20),
            stop: Duration::from_secs(9),
        }
    }
}

/// Serves `listener` until `stop` completes, then finishes the requests in progress.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    let open = OpenConnections::default();
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let address = peer.ip().to_canonical();
                let Some(handle) = open.register(address, limits.for_address(address)) else { continue };
                let slot = tokio::select! {
                    slot = slot(&slots, &open) => slot,
                    () = &mut stop => break,
                };
                handle.accepted(slot);
                let handle = Arc::new(handle);
                let connection = connection(stream, peer, router.clone(), &limits, &handle);
                let connection = graceful.watch(connection);
                tokio::spawn(async move {
                    tokio::select! {
                        // A client that disconnected or sent invalid HTTP is not an error of ours.
                        _ = connection => {}
                        () = handle.closed() => {}
                    }
                });
            }
            Err(error) => {
                // Most likely out of file descriptors.
                tracing::warn!(%error, "accept failed");
                open.close_longest_idle();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(limits.stop, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests in progress");
    }
}

impl Limits {
    /// The maximum number of connections from `address`; `None` for any number.
    fn for_address(&self, address: IpAddr) -> Option<usize> {
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(&address));
        (!is_proxy).then_some(self.per_address)
    }
}

/// Waits for a free slot, and closes idle connections meanwhile.
async fn slot(slots: &Arc<Semaphore>, open: &OpenConnections) -> Option<OwnedSemaphorePermit> {
    const RETRY_INTERVAL: Duration = Duration::from_millis(100);
    loop {
        if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
            return Some(slot);
        }
        open.close_longest_idle();
        let freed = tokio::time::timeout(RETRY_INTERVAL, Arc::clone(slots).acquire_owned());
        if let Ok(slot) = freed.await {
            return slot.ok();
        }
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: &Limits,
    handle: &Arc<Handle>,
) -> http1::Connection<
    TokioIo<ClientStream>,
    impl hyper::service::HttpService<Incoming, ResBody = Body, Future: Send> + Send + use<>,
> {
    _ = stream.set_nodelay(true);
    let reset = Arc::new(AtomicBool::new(false));
    let service_handle = Arc::clone(handle);
    let has_answered = AtomicBool::new(false);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        // A head that arrives at once would otherwise have up to twice as many.
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(
            TokioIo::new(ClientStream {
                stream,
                stall_timeout: limits.stall,
                stall_timer: None,
                reset: Arc::clone(&reset),
                handle: Arc::clone(handle),
            }),
            service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(ConnectInfo(peer));
                if has_answered.swap(true, Ordering::Relaxed) {
                    request.extensions_mut().insert(Reused);
                }
                let has_host = has_host(&request);
                let (reset, handle) = (Arc::clone(&reset), Arc::clone(&service_handle));
                let answer = router.clone().call(request.map(Body::new));
                async move {
                    if !has_host {
                        return Ok((StatusCode::BAD_REQUEST, [(header::CONNECTION, "close")]).into_response());
                    }
                    handle.call_begins();
                    let Ok(mut answer) = answer.await;
                    if answer.extensions().get::<web::Endless>().is_some() {
                        handle.becomes_endless();
                        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                    } else {
                        handle.call_ends();
                    }
                    match answer.extensions().get::<Cut>() {
                        None => Ok(answer),
                        Some(cut) => {
                            reset.store(*cut == Cut::Reset, Ordering::Relaxed);
                            Err(io::Error::from(io::ErrorKind::ConnectionAborted))
                        }
                    }
                }
            }),
        )
}

/// Returns whether a request names its host, which it must since HTTP/1.1 (RFC 9112, 3.2). hyper leaves this check to us.
fn has_host(request: &Request<Incoming>) -> bool {
    request.version() < Version::HTTP_11 || request.headers().contains_key(header::HOST)
}

/// A stream that times out when its client stops reading.
struct ClientStream {
    stream: TcpStream,
    stall_timeout: Duration,
    stall_timer: Option<Pin<Box<Sleep>>>,
    /// `true` if the connection is closed with a TCP reset.
    reset: Arc<AtomicBool>,
    handle: Arc<Handle>,
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            _ = self.stream.set_zero_linger();
        }
    }
}

impl ClientStream {
    fn check_stall<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.stall_timer = None;
            self.handle.touch();
            return poll;
        }
        let timeout = self.stall_timeout;
        let timer = self.stall_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_stall(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check_stall(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
