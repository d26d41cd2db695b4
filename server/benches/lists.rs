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
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use base::clock::UnixMillis;
use store::Database;
use tokio::{net::TcpListener, runtime::Runtime};

use self::measuring::{
    PENDING,
    client::{Answer, Client, bearer, request},
    figures::{Section, rounds},
    millis, p99,
    processes::{Running, Server, first_answer, free_address, processor_time},
};

#[path = "lists/cores.rs"]
mod cores;
#[expect(dead_code, reason = "other benchmarks use the rest")]
mod measuring;
#[path = "lists/mocks.rs"]
mod mocks;

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 20;
/// For what is slow, or only compared with.
const FEWER_ROUNDS: usize = 5;
const WRITES_PER_SECOND: u32 = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--ready-bytes") => Runtime::new().unwrap().block_on(send_ready_bytes(&arguments[2])),
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
         memory, without looking at who asks.\n\n\
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
    drop(start(folder.path()).await);
    let mut starts = Vec::new();
    for _ in 0..rounds(FEWER_ROUNDS) {
        let began = Instant::now();
        let _server = start(folder.path()).await;
        starts.push(millis(began.elapsed()));
    }
    let server = start(folder.path()).await;
    let mut client = Client::of(server.portal).await;
    let signed_in = bearer(&client.sign_in("").await);
    let plain = client.call(&asking(&signed_in)).await;
    let etag = plain.header("etag").unwrap();
    let body = folder.path().join("body.json");
    std::fs::write(&body, &plain.body).unwrap();
    let axum = start_ready_bytes(&body).await;

    let size = plain.body.len() / 1024;
    section.table(format!("{loans} loans ({size} KB): calls a second"));
    let mut asked = [
        Asked::new("ready bytes", axum.address, ""),
        Asked::new("signed in", server.portal, &signed_in),
        Asked::new("signed in, zstd", server.portal, &format!("{signed_in}Accept-Encoding: zstd\r\n")),
        Asked::new("signed in, 304", server.portal, &format!("{signed_in}If-None-Match: {etag}\r\n")),
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
    let mut asked =
        [Asked::new("ready bytes", axum.address, ""), Asked::new("signed in", server.portal, &signed_in)];
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
    asked.push(Asked::new("signed in", server.portal, signed_in));
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
    request: String,
    rates: Vec<Rate>,
}

impl Asked {
    fn new(what: &str, address: SocketAddr, headers: &str) -> Self {
        Self { what: what.to_owned(), address, request: asking(headers), rates: Vec::new() }
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
    drop(start(folder).await);
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

async fn start(folder: &Path) -> Server {
    let options = ["--data-dir", folder.to_str().unwrap()];
    Server::start(cores::measured(env!("CARGO_BIN_EXE_mkopo")), &options).await
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
}

/// Starts this program as a server of a file.
async fn start_ready_bytes(body: &Path) -> Other {
    let address = free_address();
    let mut command = cores::measured(std::env::current_exe().unwrap());
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

fn asking(headers: &str) -> String {
    request(&format!("GET {PENDING}"), headers, "")
}

/// Sends requests on all connections for the time of a round.
async fn load(asked: &Asked) -> Rate {
    let address = asked.address;
    let before = processor_time();
    let started = Instant::now();
    let clients = (0..CONNECTIONS).map(|_| {
        let request = asked.request.clone();
        tokio::spawn(async move {
            let mut client = Client::of(address).await;
            let mut took = Vec::new();
            while started.elapsed() < ROUND {
                let start = Instant::now();
                client.skip(&request).await;
                took.push(start.elapsed());
            }
            took
        })
    });
    let mut took = Vec::new();
    for client in futures::future::join_all(clients).await {
        took.extend(client.expect("a connection failed"));
    }
    let elapsed = started.elapsed().as_secs_f64();
    let busy = processor_time().saturating_sub(before).as_secs_f64() / elapsed * 100.0;
    Rate { per_second: took.len() as f64 / elapsed, p99: p99(&mut took), busy }
}
