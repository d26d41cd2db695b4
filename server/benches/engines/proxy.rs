//! A proxy that stands for the network between a server and PostgreSQL: it delays each byte by the same time
//! in both directions, and counts the statements that pass.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

pub struct Proxy {
    pub address: SocketAddr,
    statements: Arc<AtomicU64>,
}

impl Proxy {
    /// Passes connections on to `target`, until the process ends. On threads: timers of an async runtime are
    /// too coarse for a millisecond.
    pub fn start(target: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let statements = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&statements);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(target).unwrap());
                let count =
                    Count { counter: Arc::clone(&counter), left: 0, head: Vec::new(), is_begun: false };
                pass(client.try_clone().unwrap(), server.try_clone().unwrap(), delay, Some(count));
                pass(server, client, delay, None);
            }
        });
        Self { address, statements }
    }

    /// The number of statements that have passed: simple queries, and executions of prepared ones.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration, mut count: Option<Count>) {
    from.set_nodelay(true).unwrap();
    to.set_nodelay(true).unwrap();
    let (sender, received) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 65536];
        while let Ok(read) = from.read(&mut buffer) {
            if let Some(count) = &mut count {
                count.see(&buffer[..read]);
            }
            if read == 0 || sender.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in received {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        _ = to.shutdown(std::net::Shutdown::Both);
    });
}

/// Counts the statements in what a client sends: messages of a type, a length and a body, after a first one
/// without a type.
struct Count {
    counter: Arc<AtomicU64>,
    /// The number of bytes of the current message's body that are still to come.
    left: usize,
    /// The beginning of the next message.
    head: Vec<u8>,
    is_begun: bool,
}

impl Count {
    fn see(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped = self.left.min(bytes.len());
            self.left -= skipped;
            bytes = &bytes[skipped..];
            let head_length = if self.is_begun { 5 } else { 4 };
            while self.left == 0 && self.head.len() < head_length && !bytes.is_empty() {
                self.head.push(bytes[0]);
                bytes = &bytes[1..];
            }
            if self.head.len() == head_length {
                let length: [u8; 4] = self.head[head_length - 4..].try_into().unwrap();
                self.left = u32::from_be_bytes(length) as usize - 4;
                if self.is_begun && matches!(self.head[0], b'Q' | b'E') {
                    self.counter.fetch_add(1, Ordering::Relaxed);
                }
                // What asks for TLS is followed by the first message.
                self.is_begun = self.is_begun || self.left != 4;
                self.head.clear();
            }
        }
    }
}
