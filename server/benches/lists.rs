//! The speed at which the pending list is served, compared with axum sending the same bytes from memory
//! and with three mock servers; the time to start; and the memory used.
//!
//! Servers, writer and load generator are separate processes on one machine, so compare the ratios,
//! not the rates. `cargo bench --bench lists`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

use std::{
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base::clock::UnixMillis;
use store::Database;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

use self::figures::{Section, rounds};

#[path = "lists/cores.rs"]
mod cores;
#[path = "figures/mod.rs"]
mod figures;
#[path = "lists/mocks.rs"]
mod mocks;
#[path = "processes/mod.rs"]
mod processes;

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 20;
/// For what is slow, or only compared with.
const FEWER_ROUNDS: usize = 5;
const WRITES_PER_SECOND: u32 = 200;
const PENDING: &str = "/api/v1/disbursements/pending";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--ready-bytes") => Runtime::new().unwrap().block_on(send_ready_bytes(&arguments[2])),
        Some("--blindly") => Runtime::new().unwrap().block_on(answer_blindly(&arguments[2])),
        Some("--write") => Runtime::new().unwrap().block_on(write_forever(Path::new(&arguments[2]))),
        _ => {
            let cores = cores::take_one();
            Runtime::new().unwrap().block_on(measure(cores));
        }
    }
}

async fn measure(cores: &str) {
    let how = format!(
        "`GET {PENDING}` on {CONNECTIONS} connections that are kept open, each of which asks again when it has the \
         answer. {cores}. What stands in one table takes turns of {ROUND:?}, after a first turn that does not count; \
         ratios are of turns of the same round. Ready bytes: axum, in a process of its own, sends the list from \
         memory, without looking at who asks. The limit of the load \
         generator: a process answers whatever comes with the same bytes, without HTTP.\n\n\
         The mock servers are in production mode, without a log of calls, compression, CORS and checksums where \
         they can do without; each has one process, because a cluster gains nothing on one core. Mockoon keeps \
         a record of the last call."
    );
    let mut section = Section::new("lists", "Lists", how, Vec::new());
    measure_list(100, ROUNDS, &mut section).await;
    measure_list(10_000, FEWER_ROUNDS, &mut section).await;
    section.write();
}

async fn measure_list(loans: i64, most_rounds: usize, section: &mut Section) {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), loans).await;

    // Started once before, so that the measured start is on existing data.
    drop(Server::start(folder.path()).await);
    let mut starts = Vec::new();
    for _ in 0..rounds(FEWER_ROUNDS) {
        starts.push(Server::start(folder.path()).await.started_in.as_secs_f64() * 1000.0);
    }
    let server = Server::start(folder.path()).await;
    let token = sign_in(server.address).await;
    let signed_in = format!("Authorization: Bearer {token}\r\n");
    let plain = get(server.address, &signed_in).await;
    let etag = header(&plain.head, "etag").to_owned();
    let (body, nothing) = (folder.path().join("body.json"), folder.path().join("nothing"));
    std::fs::write(&body, &plain.body).unwrap();
    std::fs::write(&nothing, "").unwrap();
    let (axum, blind) = (start_own("--ready-bytes", &body).await, start_own("--blindly", &body).await);
    let blind_short = start_own("--blindly", &nothing).await;

    let size = plain.body.len() / 1024;
    section.table(format!("{loans} loans ({size} KB): calls a second"));
    let mut asked = [
        axum.asked("ready bytes", ""),
        server.asked("signed in", &signed_in),
        server.asked("signed in, zstd", &format!("{signed_in}Accept-Encoding: zstd\r\n")),
        server.asked("signed in, 304", &format!("{signed_in}If-None-Match: {etag}\r\n")),
        blind.asked("the load generator's limit, the same bytes", ""),
        blind_short.asked("the load generator's limit, an empty answer", ""),
    ];
    in_turns(&mut asked, rounds(most_rounds)).await;
    for asked in &asked {
        section.figure(asked.what.clone(), "/s", asked.each(|rate| rate.per_second), "");
    }
    let [ready, own, ..] = &asked;
    section.table(format!("{loans} loans: signed in against ready bytes"));
    let is_small = loans == 100;
    compare(section, ready, own, if is_small { ["≥ 0.5", "≤ 5"] } else { ["≥ 0.8", ""] });

    section.table(format!("{loans} loans: the same beside {WRITES_PER_SECOND} writes a second"));
    let mut asked = [axum.asked("ready bytes", ""), server.asked("signed in", &signed_in)];
    let writer = writer(folder.path());
    in_turns(&mut asked, rounds(most_rounds)).await;
    drop(writer);
    let [ready, own] = &asked;
    compare(section, ready, own, if is_small { ["≥ 0.4", "≤ 5"] } else { ["", ""] });

    if is_small {
        measure_peers(folder.path(), &plain.body, &server, &signed_in, section).await;
    }
    section.table(format!("{loans} loans: the server"));
    section.figure("start to first answer, existing data", "ms", starts, "≤ 150");
    if is_small {
        let mut took = Vec::new();
        for _ in 0..rounds(ROUNDS) {
            let start = Instant::now();
            sign_in(server.address).await;
            took.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        section.figure("a sign-in", "ms", took, "");
    }
    let target = if is_small { "" } else { "≤ 100" };
    section.figure("resident memory after all of the above", "MB", vec![server.memory("VmRSS")], target);
    section.figure("its peak", "MB", vec![server.memory("VmHWM")], "");
}

/// The targets are for the ratio of rates and for p99.
fn compare(section: &mut Section, ready: &Asked, own: &Asked, targets: [&'static str; 2]) {
    section.figure("calls a second, ratio", "", own.against(ready), targets[0]);
    section.figure("calls a second", "/s", own.each(|rate| rate.per_second), "");
    section.figure("calls a second, ready bytes", "/s", ready.each(|rate| rate.per_second), "");
    section.figure("p99", "ms", own.each(|rate| rate.p99), targets[1]);
    section.figure("p99, ready bytes", "ms", ready.each(|rate| rate.p99), "");
    section.figure("the load generator's core is busy", "%", own.each(|rate| rate.busy), "");
}

async fn measure_peers(folder: &Path, list: &[u8], server: &Server, signed_in: &str, section: &mut Section) {
    let (mocks, mut asked): (Vec<_>, Vec<_>) = mocks::start(folder, list)
        .await
        .into_iter()
        .map(|(mock, process, asked)| ((mock, process), asked))
        .unzip();
    asked.push(server.asked("signed in", signed_in));
    in_turns(&mut asked, rounds(FEWER_ROUNDS)).await;
    section.table("100 loans: calls a second against mock servers");
    let own = asked.pop().unwrap();
    section.figure("signed in", "/s", own.each(|rate| rate.per_second), "");
    for ((mock, _), asked) in mocks.iter().zip(&asked) {
        section.figure(mock.package, "/s", asked.each(|rate| rate.per_second), "");
        let what = format!("signed in against {}", mock.package);
        section.figure(what, "", own.against(asked), mock.target);
    }
}

/// A request to a server, and the rate of its answers in each round.
struct Asked {
    what: String,
    address: SocketAddr,
    headers: String,
    rates: Vec<Rate>,
}

impl Asked {
    fn new(what: &str, address: SocketAddr, headers: &str) -> Self {
        Self { what: what.to_owned(), address, headers: headers.to_owned(), rates: Vec::new() }
    }

    fn each(&self, of: fn(&Rate) -> f64) -> Vec<f64> {
        self.rates.iter().map(of).collect()
    }

    /// The ratio of its rate to another one's, round by round.
    fn against(&self, other: &Self) -> Vec<f64> {
        self.rates.iter().zip(&other.rates).map(|(own, other)| own.per_second / other.per_second).collect()
    }
}

struct Rate {
    per_second: f64,
    /// In milliseconds.
    p99: f64,
    /// The load generator's share of a processor, in per cent.
    busy: f64,
}

async fn in_turns(asked: &mut [Asked], rounds: usize) {
    for round in 0..=rounds {
        for asked in &mut *asked {
            let rate = load(asked).await;
            // The first round is the warm-up.
            if round > 0 {
                asked.rates.push(rate);
            }
        }
    }
}

/// Adds demo data, and loans until `loans` are waiting.
async fn fill(folder: &Path, loans: i64) {
    drop(Server::start(folder).await);
    let database = Database::open(&folder.join("mkopo.db")).await.unwrap();
    let count = |database: Database| async move {
        let mut reader = database.read().await.unwrap();
        let waiting = "SELECT count(*) FROM loan WHERE status = 'APPROVED'";
        store::query_scalar::<i64>(waiting).fetch_one(&mut reader).await.unwrap()
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
        let mut command = cores::measured(env!("CARGO_BIN_EXE_mkopo"));
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

    fn asked(&self, what: &str, headers: &str) -> Asked {
        Asked::new(what, self.address, headers)
    }

    /// A figure of the process in MB, such as `VmRSS`.
    fn memory(&self, name: &str) -> f64 {
        processes::memory(self.process.0.id(), name) / 1024.0
    }
}

/// Another server, which sends the list without authentication.
struct Other {
    address: SocketAddr,
    _process: Running,
}

impl Other {
    /// Starts the server, and returns its first response.
    async fn start(command: &mut Command, address: SocketAddr) -> (Self, Answer) {
        (Self { address, _process: Running::start(command) }, first_answer(address).await)
    }

    fn asked(&self, what: &str, headers: &str) -> Asked {
        Asked::new(what, self.address, headers)
    }
}

/// Starts this program as a server of a file.
async fn start_own(mode: &str, body: &Path) -> Other {
    let address = free_address();
    let mut command = cores::measured(std::env::current_exe().unwrap());
    command.arg(mode).arg(body).env("BENCH_LISTEN", address.to_string());
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

/// Answers whatever comes with the same bytes, so that nearly all time is the load generator's and the kernel's.
async fn answer_blindly(body: &str) {
    let body = std::fs::read(body).unwrap();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer: &'static [u8] = [head.into_bytes(), body].concat().leak();
    let listener = TcpListener::bind(std::env::var("BENCH_LISTEN").unwrap()).await.unwrap();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            let mut request = [0; 4096];
            // A request is small and sent at once.
            while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                if stream.write_all(answer).await.is_err() {
                    return;
                }
            }
        });
    }
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
        let touch = store::query(TOUCH).bind(UnixMillis(number)).bind(number % 100);
        _ = database.execute(touch).await;
    }
}

fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

async fn sign_in(address: SocketAddr) -> String {
    let body = format!(r#"{{"email":"agent@mkopo.test","password":"{}"}}"#, lending::demo::PASSWORD);
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

/// Sends requests on all connections for the time of a round.
async fn load(asked: &Asked) -> Rate {
    let address = asked.address;
    let processor_time = || processes::processor_time(std::process::id());
    let before = processor_time();
    let started = Instant::now();
    let clients = (0..CONNECTIONS).map(|_| {
        let request = request(&asked.headers);
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut took = Vec::new();
            let mut chunk = vec![0; 256 * 1024];
            while started.elapsed() < ROUND {
                let start = Instant::now();
                stream.write_all(request.as_bytes()).await.unwrap();
                skip_answer(&mut stream, &mut chunk).await;
                took.push(start.elapsed());
            }
            took
        })
    });
    let mut took: Vec<Duration> = Vec::new();
    for client in futures::future::join_all(clients).await {
        took.extend(client.expect("a connection failed"));
    }
    let elapsed = started.elapsed().as_secs_f64();
    let busy = processor_time().saturating_sub(before).as_secs_f64();
    took.sort_unstable();
    Rate {
        per_second: took.len() as f64 / elapsed,
        p99: took[took.len() * 99 / 100].as_secs_f64() * 1000.0,
        busy: busy / elapsed * 100.0,
    }
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
