//! Providers on the loopback address: another service of ours, and ones that break the rules.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::Router;
use mkopo::http::connections::{self, Limits};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::test_app::TestApp;

/// A service of ours that is reached through the network, as a provider is.
pub struct OwnProvider {
    pub app: TestApp,
    pub url: String,
    serving: JoinHandle<()>,
}

impl OwnProvider {
    pub async fn start() -> Self {
        let app = TestApp::start().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = mkopo::portal_router(app.sandbox.clone());
        let serving =
            tokio::spawn(connections::serve(listener, router, Limits::default(), std::future::pending()));
        Self { app, url, serving }
    }
}

impl Drop for OwnProvider {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A provider that answers each request with what a function returns for its head, byte for byte, and then
/// closes the connection or leaves it open.
pub struct Stub {
    pub url: String,
    received: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

/// What a stub does with a request.
#[derive(Clone)]
pub enum Reply {
    /// Sends this and closes the connection.
    Closes(Vec<u8>),
    /// Sends this and keeps the connection open.
    Hangs(Vec<u8>),
    /// Sends this again and again.
    Repeats { head: Vec<u8>, chunk: Vec<u8> },
}

impl Stub {
    pub async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<String>>>::default();
        let (reply, log) = (Arc::new(reply), Arc::clone(&received));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (reply, log) = (Arc::clone(&reply), Arc::clone(&log));
                tokio::spawn(async move { talk(stream, &*reply, &log).await });
            }
        });
        Self { url, received, serving }
    }

    /// The heads of the requests that arrived.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn talk(
    mut stream: TcpStream,
    reply: &(dyn Fn(&str) -> Reply + Send + Sync),
    log: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    log.lock().unwrap().push(head.clone());
    match reply(&head) {
        Reply::Closes(bytes) => stream.write_all(&bytes).await.ok()?,
        Reply::Hangs(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            std::future::pending::<()>().await;
        }
        Reply::Repeats { head, chunk } => {
            stream.write_all(&head).await.ok()?;
            while stream.write_all(&chunk).await.is_ok() {}
        }
    }
    Some(())
}

/// The address of a listener that serves `router`.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(connections::serve(listener, router, Limits::default(), std::future::pending()));
    url
}

/// An address that nobody listens on.
pub async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    format!("http://{address}")
}

/// An answer with a status line, headers and a body.
pub fn answer(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str("connection: close\r\n\r\n");
    text.push_str(body);
    text.into_bytes()
}
