//! How fast the pending list is served, compared with axum sending the same bytes from memory and
//! with three mock servers; how fast it is forwarded, compared with nginx; the time to start; and the
//! memory used.
//!
//! Servers, writer and load generator are separate processes on one machine, so compare the ratios,
//! not the rates. `cargo bench --bench lists`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

use std::{
    fmt::{Display, Formatter},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use mkopo::{clock::UnixMillis, database::Database};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[path = "lists/mocks.rs"]
mod mocks;
#[path = "lists/proxies.rs"]
mod proxies;

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(3);
const WRITES_PER_SECOND: u32 = 200;
/// For processor time, which other work on the machine moves less than rates.
const PAIRS: usize = 20;
const PAIRED_ROUND: Duration = Duration::from_secs(1);
const PENDING: &str = "/api/v1/disbursements/pending";

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--ready-bytes") => runtime.block_on(send_ready_bytes(&arguments[2])),
        Some("--write") => runtime.block_on(write_forever(Path::new(&arguments[2]))),
        _ => runtime.block_on(async {
            for loans in [100, 10_000] {
                measure(loans).await;
            }
        }),
    }
}

async fn measure(loans: i64) {
    println!("\n{loans} loans, {CONNECTIONS} connections, best of {ROUNDS} rounds of {ROUND:?}");
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), loans).await;

    // Started once before, so that the measured start is on existing data.
    drop(Server::start(folder.path()).await);
    let server = Server::start(folder.path()).await;
    println!("  start to first answer          {:>8} ms  (target 150)", server.started_in.as_millis());

    let token = sign_in(server.address).await;
    let plain = get(server.address, &format!("Authorization: Bearer {token}\r\n")).await;
    let etag = header(&plain.head, "etag").to_owned();
    let body = folder.path().join("body.json");
    std::fs::write(&body, &plain.body).unwrap();
    let axum = start_axum(&body).await;
    let mut mocks = if loans == 100 { mocks::start(folder.path(), &plain.body).await } else { Vec::new() };

    let mut proxies =
        if loans == 100 { proxies::start(folder.path(), axum.address).await } else { Vec::new() };

    let signed_in = format!("Authorization: Bearer {token}\r\n");
    let compressed = format!("{signed_in}Accept-Encoding: zstd\r\n");
    let known = format!("{signed_in}If-None-Match: {etag}\r\n");
    let mut best = [Rate::default(); 6];
    for _ in 0..ROUNDS {
        best[0].keep(load(axum.address, "", ROUND).await);
        best[1].keep(load(server.address, &signed_in, ROUND).await);
        best[2].keep(load(server.address, &compressed, ROUND).await);
        best[3].keep(load(server.address, &known, ROUND).await);
        for mock in &mut mocks {
            mock.best.keep(load(mock.server.address, "", ROUND).await);
        }
        for proxy in &mut proxies {
            proxy.best.keep(load(proxy.server.address, "", ROUND).await);
        }
        let writer = writer(folder.path());
        best[4].keep(load(axum.address, "", ROUND).await);
        best[5].keep(load(server.address, &signed_in, ROUND).await);
        drop(writer);
    }
    let ready = best[0];
    ready.print("axum, the same bytes from memory", ready);
    best[1].print("signed in", ready);
    best[2].print("signed in, zstd", ready);
    best[3].print("signed in, 304", ready);
    for mock in &mocks {
        mock.print(best[1]);
    }
    proxies::print(&proxies);
    // The writer slows both down.
    println!("  while another process writes {WRITES_PER_SECOND} times per second:");
    best[4].print("axum, the same bytes from memory", best[4]);
    best[5].print("signed in", best[4]);
    if loans == 100 {
        println!("  processor time of the servers for one call, {PAIRS} rounds in turns:");
        let pair = async || processor_times(&axum, &server, &signed_in).await;
        print_times("signed in, against axum", pair().await, 1.15);
        let _writer = writer(folder.path());
        print_times("the same beside the writer", pair().await, 1.25);
    }
    println!("  resident memory of the server  {:>8} MB  (target 100)", server.resident_megabytes());
}

/// The processor time that axum and the server take for one call, round by round, in microseconds.
async fn processor_times(axum: &Other, server: &Server, signed_in: &str) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        let ready = processor_time(&axum.process, axum.address, "").await;
        pairs.push((ready, processor_time(&server.process, server.address, signed_in).await));
    }
    pairs
}

async fn processor_time(process: &Running, address: SocketAddr, headers: &str) -> f64 {
    let before = process.processor_time();
    let rate = load(address, headers, PAIRED_ROUND).await;
    let took = process.processor_time().saturating_sub(before);
    took.as_secs_f64() * 1e6 / rate.calls as f64
}

fn print_times(what: &str, mut pairs: Vec<(f64, f64)>, target: f64) {
    pairs.sort_by(|(ready, own), (other_ready, other_own)| {
        (own / ready).total_cmp(&(other_own / other_ready))
    });
    let ratio = |at: usize| pairs[at].1 / pairs[at].0;
    let (ready, own) = pairs[PAIRS / 2];
    println!(
        "  {what:<32} {own:>5.1} µs to {ready:.1}  ratio {:.2} ({:.2} to {:.2}, target {target})",
        ratio(PAIRS / 2),
        ratio(0),
        ratio(PAIRS - 1)
    );
}

/// Adds demo data, and loans until `loans` are waiting.
async fn fill(folder: &Path, loans: i64) {
    drop(Server::start(folder).await);
    let database = Database::open(&folder.join("mkopo.db")).await.unwrap();
    let count = |database: Database| async move {
        let mut reader = database.read().await.unwrap();
        let waiting = "SELECT count(*) FROM loan WHERE status = 'APPROVED'";
        mkopo::database::query_scalar::<i64>(waiting).fetch_one(&mut reader).await.unwrap()
    };
    let missing = loans - count(database.clone()).await;
    database.close().await;
    let made = Command::new(env!("CARGO_BIN_EXE_mkopo"))
        .args(["seed", "--loans", &missing.to_string(), "--records", "0", "--data-dir"])
        .arg(folder)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success());
}

/// A server process, as in a deployment.
struct Server {
    process: Running,
    address: SocketAddr,
    started_in: Duration,
}

impl Server {
    async fn start(folder: &Path) -> Self {
        let address = free_address();
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
        command.args([
            "serve",
            "--demo",
            "true",
            "--console-listen",
            "off",
            "--listen",
            &address.to_string(),
            "--data-dir",
        ]);
        let process = Running::start(command.arg(folder).stdout(Stdio::null()).stderr(Stdio::null()));
        first_answer(address).await;
        Self { process, address, started_in: start.elapsed() }
    }

    fn resident_megabytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

/// Another server, which sends the list without authentication.
struct Other {
    address: SocketAddr,
    process: Running,
}

impl Other {
    /// Starts the server, and returns its first response.
    async fn start(command: &mut Command, address: SocketAddr) -> (Self, Answer) {
        let process = Running::start(command);
        (Self { address, process }, first_answer(address).await)
    }
}

async fn start_axum(body: &Path) -> Other {
    let address = free_address();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("--ready-bytes").arg(body).env("BENCH_LISTEN", address.to_string());
    Other::start(&mut command, address).await.0
}

async fn send_ready_bytes(body: &str) {
    let body = axum::body::Bytes::from(std::fs::read(body).unwrap());
    let answer = move || {
        let body = body.clone();
        async move { ([("content-type", "application/json")], body) }
    };
    let router = axum::Router::new().route(PENDING, axum::routing::get(answer));
    let listener = TcpListener::bind(std::env::var("BENCH_LISTEN").unwrap()).await.unwrap();
    axum::serve(listener, router).await.unwrap();
}

fn writer(folder: &Path) -> Running {
    Running::start(Command::new(std::env::current_exe().unwrap()).arg("--write").arg(folder))
}

/// A process that is killed on drop.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// The time that it had a processor, in its own code and in the kernel's.
    fn processor_time(&self) -> Duration {
        /// Linux counts in hundredths of a second for every machine.
        const TICK: Duration = Duration::from_millis(10);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        // The name before may contain spaces.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks = [fields[11], fields[12]].map(|field| field.parse::<u32>().unwrap());
        TICK * ticks.iter().sum()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

const TOUCH: &str = "
    UPDATE loan SET updated_at = $1 WHERE loan_id = (
        SELECT loan_id FROM loan WHERE status = 'APPROVED'
        ORDER BY approved_at DESC, loan_id DESC LIMIT 1 OFFSET $2)";

/// Updates waiting loans, one after the other, as another server would.
async fn write_forever(folder: &Path) {
    let database = Database::open(&folder.join("mkopo.db")).await.unwrap();
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / WRITES_PER_SECOND);
    for number in 0_i64.. {
        ticks.tick().await;
        let touch = database.write(move |connection: &mut mkopo::database::Connection| {
            Box::pin(async move {
                mkopo::database::query(TOUCH)
                    .bind(UnixMillis(number))
                    .bind(number % 100)
                    .execute(connection)
                    .await?;
                Ok(())
            })
        });
        _ = touch.await;
    }
}

fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

async fn sign_in(address: SocketAddr) -> String {
    let body = format!(r#"{{"email":"agent@mkopo.test","password":"{}"}}"#, mkopo::demo::PASSWORD);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = read_answer(&mut stream, &mut Vec::new()).await;
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    answer["user"]["token"].as_str().unwrap().to_owned()
}

struct Answer {
    head: String,
    body: Vec<u8>,
}

fn request(headers: &str) -> String {
    format!("GET {PENDING} HTTP/1.1\r\nHost: bench\r\n{headers}\r\n")
}

async fn get(address: SocketAddr, headers: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request(headers).as_bytes()).await.unwrap();
    read_answer(&mut stream, &mut Vec::new()).await
}

/// The first response of a process that has just been started.
async fn first_answer(address: SocketAddr) -> Answer {
    let start = Instant::now();
    while TcpStream::connect(address).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "no server started at {address}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    get(address, "").await
}

async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Answer {
    buffer.clear();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "closed: {}", String::from_utf8_lossy(buffer));
        buffer.extend_from_slice(&chunk[..read]);
        let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
        let length = header(&head, "content-length").parse().unwrap_or(0);
        let mut body = buffer.split_off(end + 4);
        let have = body.len();
        body.resize(length, 0);
        stream.read_exact(&mut body[have..]).await.unwrap();
        return Answer { head, body };
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
        .unwrap_or_default()
}

#[derive(Clone, Copy, Default)]
struct Rate {
    per_second: f64,
    p99: Duration,
    calls: usize,
}

impl Rate {
    fn keep(&mut self, other: Self) {
        if other.per_second > self.per_second {
            *self = other;
        }
    }

    fn print(self, what: &str, ready: Self) {
        let ratio = self.per_second / ready.per_second;
        println!("  {what:<32} {self}  ratio {ratio:.2}");
    }
}

impl Display for Rate {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:>8.0} /s  p99 {:>8.2?}", self.per_second, self.p99)
    }
}

/// Sends requests on all connections for the time of a round.
async fn load(address: SocketAddr, headers: &str, round: Duration) -> Rate {
    let until = Instant::now() + round;
    let clients = (0..CONNECTIONS).map(|_| {
        let request = request(headers);
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut took = Vec::new();
            let mut chunk = vec![0; 256 * 1024];
            while Instant::now() < until {
                let start = Instant::now();
                stream.write_all(request.as_bytes()).await.unwrap();
                skip_answer(&mut stream, &mut chunk).await;
                took.push(start.elapsed());
            }
            took
        })
    });
    let started = Instant::now();
    let mut took: Vec<Duration> = Vec::new();
    for client in futures::future::join_all(clients).await {
        took.extend(client.expect("a connection failed"));
    }
    let elapsed = started.elapsed();
    took.sort_unstable();
    let calls = took.len();
    Rate { per_second: calls as f64 / elapsed.as_secs_f64(), p99: took[calls * 99 / 100], calls }
}

/// Reads a response without parsing its body, which is not part of the measurement.
async fn skip_answer(stream: &mut TcpStream, chunk: &mut [u8]) {
    let mut have = 0;
    loop {
        let read = stream.read(&mut chunk[have..]).await.unwrap();
        assert!(read > 0, "closed");
        have += read;
        let Some(end) = chunk[..have].windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&chunk[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 304"), "{head}");
        let length: usize = header(head, "content-length").parse().unwrap_or(0);
        let mut left = (end + 4 + length).checked_sub(have).unwrap();
        while left > 0 {
            let read = stream.read(chunk).await.unwrap();
            assert!(read > 0, "closed");
            left -= read;
        }
        return;
    }
}
