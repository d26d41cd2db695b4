//! Answers connections: a bounded number at once, each only while its client keeps up.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::Sleep,
};
use tower::Service;

/// How many header fields a request may have.
const HEADERS_AT_MOST: usize = 64;
/// How much of a request's head is held, in bytes, before no more is read.
const HEAD_AT_MOST: usize = 32 * 1024;

/// The connection is to end instead of the answer being sent. Put on an answer that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Closed, as by a peer that is done.
    Closed,
    /// Reset, as by one that is gone.
    Reset,
}

/// How many connections there may be, and how long one is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at once; others wait to be accepted.
    pub connections: usize,
    /// How long a request's head may take to come, the pause before it included.
    pub head: Duration,
    /// How long a client may take nothing of an answer that is there for it.
    pub stall: Duration,
    /// How long calls in hand may take once asked to stop; a payout is answered within 8 s.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head: Duration::from_secs(20),
            stall: Duration::from_secs(20),
            stop: Duration::from_secs(9),
        }
    }
}

/// Answers on `listener` until `stop`, then finishes the calls in hand.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let open = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            let slot = Arc::clone(&open).acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection =
                    graceful.watch(connection(stream, ConnectInfo(peer), router.clone(), limits));
                tokio::spawn(async move {
                    // A client that went away or sent what is no HTTP is nobody's concern here.
                    _ = connection.await;
                    drop(slot);
                });
            }
            Err(error) => {
                // Out of file handles, most likely: some will be closed in a moment.
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(limits.stop, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with calls in hand");
    }
}

fn connection(
    stream: TcpStream,
    peer: ConnectInfo<SocketAddr>,
    router: Router,
    limits: Limits,
) -> http1::Connection<
    TokioIo<Moving>,
    impl hyper::service::HttpService<Incoming, ResBody = Body, Future: Send> + Send,
> {
    _ = stream.set_nodelay(true);
    let reset = Arc::new(AtomicBool::new(false));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(HEADERS_AT_MOST)
        .max_buf_size(HEAD_AT_MOST)
        .serve_connection(
            TokioIo::new(Moving { stream, patience: limits.stall, stalled: None, reset: Arc::clone(&reset) }),
            service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(peer);
                let reset = Arc::clone(&reset);
                let answer = router.clone().call(request.map(Body::new));
                async move {
                    let Ok(answer) = answer.await;
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

/// A connection that is given up when its client takes nothing of what is there for it.
struct Moving {
    stream: TcpStream,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    /// Whether it ends by a reset instead of in peace.
    reset: Arc<AtomicBool>,
}

impl Drop for Moving {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            _ = self.stream.set_zero_linger();
        }
    }
}

impl Moving {
    fn moved<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.stalled = None;
            return poll;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Moving {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Moving {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.moved(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.moved(cx, poll)
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
