//! Servers as processes, and connections to them.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::processes;

const CONSOLE_TOKEN: &str = "a-token-of-a-bench";

/// A server process, as in a deployment.
pub struct Server {
    process: Child,
    pub portal: SocketAddr,
    pub console: SocketAddr,
}

impl Server {
    /// Starts a server on the store of `options`, and waits until it answers.
    pub async fn start(options: &[String], sandboxes: usize) -> Self {
        let free = || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (portal, console) = (free(), free());
        let process = Command::new(env!("CARGO_BIN_EXE_mkopo"))
            .args(["serve", "--demo", "true", "--log", "error", "--sandboxes", &sandboxes.to_string()])
            .args(["--listen", &portal.to_string(), "--console-listen", &console.to_string()])
            .args(["--jwt-secret", "the-secret-of-the-servers-of-a-bench", "--console-token", CONSOLE_TOKEN])
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(console).await.is_err() {
            assert!(Instant::now() < until, "the server did not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Self { process, portal, console }
    }

    /// The resident memory in KB.
    pub fn resident(&self) -> f64 {
        processes::memory(self.process.id(), "VmRSS")
    }
}

/// Kills it, so that all sandboxes are closed when another one starts on the data.
impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The options that name the store of `folder`.
pub fn store(folder: &Path) -> Vec<String> {
    vec!["--data-dir".to_owned(), folder.to_str().unwrap().to_owned()]
}

/// A persistent connection of somebody who uses one sandbox.
pub struct Client {
    stream: TcpStream,
    sandbox: String,
    token: String,
    buffer: Vec<u8>,
}

impl Client {
    /// Somebody in `main`.
    pub async fn of_main(address: SocketAddr) -> Self {
        Self::of(address, "main").await
    }

    /// Somebody in the sandbox of that name.
    pub async fn of(address: SocketAddr, sandbox: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let buffer = vec![0; 1024 * 1024];
        Self { stream, sandbox: sandbox.to_owned(), token: CONSOLE_TOKEN.to_owned(), buffer }
    }

    /// Signs the demo's agent in.
    pub async fn sign_in(&mut self) {
        let credentials = json!({"email": "agent@mkopo.test", "password": lending::demo::PASSWORD});
        let answer = self.call("POST", "/api/v1/auth/login", Some(&credentials)).await;
        answer["user"]["token"].as_str().unwrap().clone_into(&mut self.token);
    }

    /// The body of the answer, whose status must be one of success.
    pub async fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, length) = self.send(method, path, body).await;
        let body = &self.buffer[..length];
        assert!(status.starts_with('2'), "{method} {path}: {status} {}", String::from_utf8_lossy(body));
        if body.is_empty() { Value::Null } else { serde_json::from_slice(body).unwrap() }
    }

    /// The status of the answer, and the length of its body, which is not parsed.
    pub async fn send(&mut self, method: &str, path: &str, body: Option<&Value>) -> (String, usize) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: bench\r\nMkopo-Sandbox: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.sandbox,
            self.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut have = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[have..]).await.unwrap();
            assert!(read > 0, "closed");
            have += read;
            let Some(end) = self.buffer[..have].windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&self.buffer[..end]).unwrap();
            let status = head[9..12].to_owned();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            let whole = end + 4 + length;
            if have < whole {
                self.stream.read_exact(&mut self.buffer[have..whole]).await.unwrap();
            }
            self.buffer.copy_within(end + 4..whole, 0);
            return (status, length);
        }
    }
}
