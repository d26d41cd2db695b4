//! Persistent connections, which take as little time as possible from what is measured.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A request of a method and a path, with more headers.
pub fn request(what: &str, headers: &str, body: &str) -> String {
    let of_body = match body.len() {
        0 => String::new(),
        length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    format!("{what} HTTP/1.1\r\nHost: bench\r\n{of_body}{headers}\r\n{body}")
}

/// The header of somebody who is signed in.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

pub struct Answer {
    head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The body of a success.
    pub fn json(&self) -> Value {
        assert!(self.head.starts_with("HTTP/1.1 2"), "{} {}", self.head, String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    headers.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
}

pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub async fn of(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: vec![0; 256 * 1024] }
    }

    /// Sends a request, and reads until the head of the answer is in the buffer: returns its length, that of the body,
    /// and how much of the body follows it there.
    async fn send(&mut self, request: &str) -> (usize, usize, usize) {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let mut have = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[have..]).await.unwrap();
            assert!(read > 0, "closed: {}", String::from_utf8_lossy(&self.buffer[..have]));
            have += read;
            if let Some(end) = self.buffer[..have].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let length =
                    header(self.head(end), "content-length").map_or(0, |length| length.parse().unwrap());
                return (end, length, have - end - 4);
            }
        }
    }

    fn head(&self, end: usize) -> &str {
        std::str::from_utf8(&self.buffer[..end]).unwrap()
    }

    pub async fn call(&mut self, request: &str) -> Answer {
        let (end, length, have) = self.send(request).await;
        let mut body = self.buffer[end + 4..end + 4 + have].to_vec();
        body.resize(length, 0);
        self.stream.read_exact(&mut body[have..]).await.unwrap();
        Answer { head: self.head(end).to_owned(), body }
    }

    /// Reads an answer that has what was asked for, without keeping its body, which is not part of the measurement.
    pub async fn skip(&mut self, request: &str) {
        let (end, length, have) = self.send(request).await;
        let head = self.head(end);
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 304"), "{head}");
        let mut left = length - have;
        while left > 0 {
            let read = self.stream.read(&mut self.buffer).await.unwrap();
            assert!(read > 0, "closed");
            left -= read;
        }
    }

    /// Signs the demo's agent in, and returns the token.
    pub async fn sign_in(&mut self, headers: &str) -> String {
        let credentials = json!({"email": "agent@mkopo.test", "password": lending::demo::PASSWORD});
        let answer = self.call(&request("POST /api/v1/auth/login", headers, &credentials.to_string())).await;
        answer.json()["user"]["token"].as_str().unwrap().to_owned()
    }
}
