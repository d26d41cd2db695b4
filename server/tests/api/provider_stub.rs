//! Providers on the loopback address: another service of ours, and ones that break the rules.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

use crate::test_app::{Listener, TestApp};

/// A service of ours that is reached through the network, as a provider is.
pub struct OwnProvider {
    pub app: TestApp,
    pub url: String,
}

impl OwnProvider {
    pub async fn start() -> Self {
        let app = TestApp::start().await;
        let url = app.serve(Listener::Portal).await;
        Self { app, url }
    }
}

/// A provider that answers each request with what a function returns for its head, byte for byte, and then
/// closes the connection or leaves it open.
pub struct Stub {
    pub url: String,
    received: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

/// The reply of a stub to a request.
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
        Self::listen(reply, None).await
    }

    /// A stub with TLS, as `localhost`, and its own certificate (PEM).
    pub async fn start_with_tls(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (Self, String) {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let stub = Self::listen(reply, Some(TlsAcceptor::from(Arc::new(config)))).await;
        (stub, own.cert.pem())
    }

    async fn listen(reply: impl Fn(&str) -> Reply + Send + Sync + 'static, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = match &tls {
            Some(_) => format!("https://localhost:{}", address.port()),
            None => format!("http://{address}"),
        };
        let received = Arc::<Mutex<Vec<String>>>::default();
        let (reply, log) = (Arc::new(reply), Arc::clone(&received));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (reply, log, tls) = (Arc::clone(&reply), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => talk(tls.accept(stream).await.ok()?, &*reply, &log).await,
                        None => talk(stream, &*reply, &log).await,
                    }
                });
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
    stream: impl AsyncRead + AsyncWrite + Unpin,
    reply: &(dyn Fn(&str) -> Reply + Send + Sync),
    log: &Mutex<Vec<String>>,
) -> Option<()> {
    let (mut stream, mut head) = (BufReader::new(stream), Vec::new());
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    log.lock().unwrap().push(head.clone());
    match reply(&head) {
        Reply::Closes(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            stream.shutdown().await.ok()?;
        }
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

/// An address that nobody listens on.
pub const NOBODY: &str = "http://127.0.0.1:9";

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
