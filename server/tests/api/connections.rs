//! Slow, stalled and malformed clients, over real connections.

use std::time::Duration;

use axum::http::Method;
use mkopo::http::connections::{self, Limits};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

use crate::test_app::{Listener, TestApp, request};

pub struct Served {
    pub app: TestApp,
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

pub async fn served(limits: Limits) -> Served {
    served_by(TestApp::start().await, limits).await
}

/// Serves `app` over real connections.
pub async fn served_by(app: TestApp, limits: Limits) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let [router, _] = mkopo::routers(&app.sandbox);
    let serving = tokio::spawn(connections::serve(listener, router, limits, async { _ = stopped.await }));
    Served { app, address, stop, serving }
}

/// The default limits, with few connections.
fn limits() -> Limits {
    Limits { connections: 8, ..Limits::default() }
}

impl Served {
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Stops, and waits until all calls have ended.
    pub async fn end(self) {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap();
    }

    /// Sends `bytes` and reads until the connection is closed.
    pub async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The server may refuse the request before all of it is sent.
        _ = stream.write_all(bytes.as_ref()).await;
        read_to_end(&mut stream).await
    }
}

pub async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
    // An error is fine, a timeout is not.
    _ = read.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("closed")
}

#[tokio::test]
async fn a_head_that_never_arrives_times_out() {
    let served = served(Limits { head: Duration::from_millis(100), ..limits() }).await;
    for start in ["", "GET / HT", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        let answer = served.exchange(start).await;
        assert!(matches!(status(&answer), "closed" | "408"), "{start:?}: {answer}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_is_disconnected() {
    let served = served(Limits { stall: Duration::from_millis(100), connections: 1, ..limits() }).await;
    let token = served.app.sign_in("agent").await.token().to_owned();
    let mut stalled = served.connect().await;
    let request = format!(
        "GET /api/v1/disbursement-records HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    // Requests more than the socket buffers hold, and reads nothing.
    let requests = async {
        for _ in 0..1000 {
            if stalled.write_all(request.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    _ = tokio::time::timeout(Duration::from_secs(2), requests).await;
    // The only connection slot is free again.
    let answer = served.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status(&answer), "200");
}

fn get_pending(token: &str) -> String {
    format!("GET /api/v1/disbursements/pending HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n")
}

/// Reads the next response, at most `at_once` bytes at a time, and returns its body.
async fn read_body(stream: &mut BufReader<TcpStream>, at_once: usize) -> Vec<u8> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            None if line == "\r\n" => break,
            _ => assert!(!line.is_empty(), "closed"),
        }
    }
    let mut body = vec![0; length];
    for part in body.chunks_mut(at_once) {
        stream.read_exact(part).await.unwrap();
    }
    body
}

#[tokio::test]
async fn a_large_list_arrives_whole_from_a_server_that_sends_it_many_times() {
    let served = served(limits()).await;
    let staff = served.app.sign_in("agent").await;
    served.app.set_console(Method::POST, "/loans", json!({"count": 500})).await;
    let list = served.app.with(staff.token()).get("/api/v1/disbursements/pending").await.bytes;
    assert!(list.len() > 256 * 1024, "{}", list.len());

    // One request after the other, several at once, and one of which only the head is sent.
    let mut stream = BufReader::new(served.connect().await);
    let request = get_pending(staff.token());
    for requests in [1, 1, 3] {
        stream.write_all(request.repeat(requests).as_bytes()).await.unwrap();
        for _ in 0..requests {
            assert!(read_body(&mut stream, usize::MAX).await == list);
        }
    }
    stream.write_all(request.replace("GET", "HEAD").as_bytes()).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut head = String::new();
    while head.lines().last() != Some("") {
        stream.read_line(&mut head).await.unwrap();
    }
    assert!(head.contains(&format!("content-length: {}", list.len())), "{head}");
    assert_eq!(read_body(&mut stream, usize::MAX).await, b"{\"status\":\"ok\"}");
}

#[tokio::test]
async fn a_client_that_reads_slowly_receives_the_list_as_it_was_and_then_as_it_is() {
    // More than what the operating system buffers, so that lists are sent in parts.
    const REQUESTS: usize = 20;
    let served = served(limits()).await;
    let staff = served.app.sign_in("agent").await;
    served.app.set_console(Method::POST, "/loans", json!({"count": 1000})).await;
    // Not checked against the contract: that takes much longer than sending such a list.
    let pending = async || {
        let call = request(Method::GET, "/api/v1/disbursements/pending", Some(staff.token()), None);
        served.app.send_to(Listener::Portal, call).await.bytes
    };
    let before = pending().await;
    assert!(before.len() > 512 * 1024, "{}", before.len());

    let slow = TcpSocket::new_v4().unwrap();
    slow.set_recv_buffer_size(64 * 1024).unwrap();
    let mut slow = BufReader::new(slow.connect(served.address).await.unwrap());
    let requests = get_pending(staff.token()).repeat(REQUESTS);
    slow.write_all(requests.as_bytes()).await.unwrap();
    // Meanwhile, the server sends until nothing more fits.
    for _ in 0..REQUESTS {
        assert!(pending().await == before);
    }
    for _ in 0..REQUESTS {
        assert!(read_body(&mut slow, 1000).await == before);
    }
    slow.write_all(requests.as_bytes()).await.unwrap();
    assert!(read_body(&mut slow, 1000).await == before);
    served.app.approve_loan(25_000, "0712345678").await;
    let after = pending().await;
    let mut received = Vec::new();
    for _ in 1..REQUESTS {
        let list = read_body(&mut slow, 1000).await;
        assert!(list == before || list == after);
        received.push(list == after);
    }
    assert!(received.is_sorted(), "{received:?}");
    assert!(!received[0] && received[REQUESTS - 2], "{received:?}");
}

/// A request with a head of that many bytes.
fn get_healthz(size: usize) -> String {
    let start = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ";
    let end = "\r\n\r\n";
    format!("{start}{}{end}", "x".repeat(size - start.len() - end.len()))
}

#[tokio::test]
async fn an_oversized_head_is_refused() {
    let served = served(limits()).await;
    let long = "x".repeat(200 * 1024);
    let many = "X-Many: x\r\n".repeat(100);
    for head in [
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        get_healthz(32 * 1024 + 1),
    ] {
        let answer = served.exchange(head).await;
        assert!(matches!(status(&answer), "414" | "431" | "closed"), "{answer}");
    }
    assert_eq!(status(&served.exchange(get_healthz(32 * 1024)).await), "200");
}

// S-31
#[tokio::test]
async fn invalid_http_is_answered_with_400_or_closed() {
    let served = served(limits()).await;
    for bytes in [
        "\r\n\r\nhello\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET  /  HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "GET / HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n",
    ] {
        let answer = served.exchange(bytes).await;
        assert!(matches!(status(&answer), "400" | "closed"), "{bytes:?}: {answer}");
    }
}

fn login(headers: &str, body: &str) -> String {
    format!(
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}\r\n{body}"
    )
}

// S-31
#[tokio::test]
async fn wrong_body_lengths_are_refused() {
    let served = served(limits()).await;
    let large = "x".repeat(64 * 1024 + 1);
    let chunk = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    for (request, expected) in [
        (login(&format!("Content-Length: {}\r\n", large.len()), &large), "413"),
        (login("Transfer-Encoding: chunked\r\n", &chunk), "413"),
        (login("Content-Length: 99999999999\r\nExpect: 100-continue\r\n", ""), "413"),
        (login("Content-Length: 99999999999\r\n", "{}"), "413"),
        (login("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), "400"),
    ] {
        let answer = served.exchange(&request).await;
        assert_eq!(status(&answer), expected, "{}: {answer}", &request[..200.min(request.len())]);
        assert!(answer.contains("\"request_id\""), "{answer}");
    }
    // A client that disconnects before sending the declared length does not keep the server waiting.
    let mut stream = served.connect().await;
    stream.write_all(login("Content-Length: 100\r\n", "{").as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert!(matches!(status(&read_to_end(&mut stream).await), "400" | "closed"));
}

/// A proxy that can't send the rest of a body has no answer for its client.
#[tokio::test]
async fn an_upload_that_is_refused_is_read_to_its_end() {
    const LENGTH: usize = 40 * 1024 * 1024;
    let served = served(Limits::default()).await;
    let head = format!(
        "POST /deploy/slices HTTP/1.1\r\nHost: portal\r\nAuthorization: Bearer wrong\r\n\
         Content-Type: application/gzip\r\nContent-Length: {LENGTH}\r\nConnection: close\r\n\r\n"
    );
    let mut stream = served.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![0; LENGTH]).await.unwrap();
    let answer = read_to_end(&mut stream).await;
    assert_eq!(status(&answer), "401", "{answer}");
}

/// Otherwise a proxy sends the next person's request on a connection that closes without an answer.
// S-31
#[tokio::test]
async fn a_call_that_is_refused_before_its_body_arrives_closes_its_connection_only_if_it_says_so() {
    let served = served(limits()).await;
    let long = format!("/{}", "x".repeat(2000));
    for (path, header, expected) in [
        ("/api/v1/auth/login", "Mkopo-Sandbox: nobody", "404"),
        (&*long, "Accept: */*", "414"),
        ("/api/v1/auth/login", "Content-Encoding: gzip", "415"),
        ("/healthz", "Accept: */*", "405"),
        ("/deploy/slices", "Authorization: Bearer wrong", "401"),
        ("/api/v1/auth/login", "Expect: 100-continue\r\nContent-Encoding: gzip", "415"),
    ] {
        let mut stream = BufReader::new(served.connect().await);
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\nContent-Length: 2000\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // Who answers before the body arrives does so by now.
        _ = tokio::time::timeout(Duration::from_millis(50), stream.fill_buf()).await;
        _ = stream.write_all(&[b'x'; 2000]).await;

        let (mut answer, mut length) = (String::new(), 0);
        while !answer.ends_with("\r\n\r\n") && stream.read_line(&mut answer).await.unwrap() > 0 {
            let line = answer.lines().last().unwrap().to_lowercase();
            length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
        }
        stream.read_exact(&mut vec![0; length]).await.unwrap();
        assert_eq!(status(&answer), expected, "{answer}");
        if !answer.to_lowercase().contains("connection: close") {
            let next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            _ = stream.write_all(next.as_bytes()).await;
            let next = read_to_end(stream.get_mut()).await;
            assert_eq!(status(&next), "200", "after {path} with {header}: {next:?}");
        }
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_idle_clients() {
    let served = served(limits()).await;
    let mut idle = served.connect().await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    tokio::time::timeout(Duration::from_secs(8), served.end()).await.unwrap();
}
