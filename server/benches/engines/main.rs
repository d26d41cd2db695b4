//! Throughput of lists, payouts and sign-ins over the network, on `SQLite` and on PostgreSQL with one
//! and with three servers, interleaved in one run; payouts also with a network between the servers and
//! PostgreSQL that takes 1 ms each way; the statements per thousand list calls, and per payout.
//!
//! Servers, PostgreSQL and the load generator are separate processes on one machine, so compare the
//! ratios: the three servers share its processors, while in production each has its own.
//!
//! `tools/machine/postgres with --flushed cargo bench --bench engines`

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

#[path = "../figures/mod.rs"]
mod figures;
mod proxy;

use std::{
    net::{SocketAddr, ToSocketAddrs},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use self::{
    figures::{Section, rounds},
    proxy::Proxy,
};
use base::{clock::Clock, kes::Kes, randomness::Randomness};
use clap::Parser;
use lending::{events::Trail, mobile_money::ScenarioChange};
use mkopo::{
    Sandbox,
    commands::{Command as MkopoCommand, CommandLine},
};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use store::{Connection, Database, query};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
const LOANS: usize = 120_000;
/// The number of payouts made at the same time through each server.
const PAYOUTS_AT_ONCE: usize = 250;
/// The latency of the network in each direction.
const NETWORK: Duration = Duration::from_millis(1);
const SECRETS: [&str; 4] =
    ["--jwt-secret", "the-secret-of-the-servers-of-a-bench", "--console-token", "a-token-of-a-bench"];

/// Adds customers for the loans.
const MORE_CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO customer
        (customer_id, first_name, last_name, phone_number, id_number, nickname, gender, status, account_id,
         account_number, account_status, credit_score, risk_level)
    SELECT 'CUS-X' || n, first_name, last_name, '+2547' || (20000000 + n), id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

const MORE_LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO loan
        (loan_id, customer_id, amount, interest_rate_bp, term_months, purpose, status, remaining_balance, notes,
         approver_id, approver_name, approver_email, approved_at, disbursed_at, created_at, updated_at)
    SELECT 'LN-X' || n, 'CUS-X' || n, 100, interest_rate_bp, term_months, purpose, 'APPROVED', 100,
           notes, approver_id, approver_name, approver_email, approved_at, NULL, created_at, updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

#[tokio::main]
async fn main() {
    let Ok(postgres) = std::env::var("MKOPO_TEST_POSTGRES") else {
        println!("engines: skipped without PostgreSQL; run `make bench`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut section = section(&postgres).await;
    if std::env::args().nth(1).as_deref() == Some("payouts") {
        return compare_payouts(&postgres, folder.path(), &mut section).await;
    }
    // Lists and payouts each have their own databases: 60,000 waiting loans are not a typical list.
    let lists = Kinds::start(&postgres, folder.path(), "lists", 0).await;
    section.table("Pending list, 32 connections");
    lists.compare(Operation::List, 32, &mut section).await;
    section.table("Sign-ins, 16 at once");
    lists.compare(Operation::SignIn, 16, &mut section).await;
    section.table("Statements for each 1,000 list calls, PostgreSQL, one server");
    for connections in [1, 32, 256] {
        let (before, began) = (Transactions::now(&lists.postgres).await, Instant::now());
        tokio::time::sleep(ROUND).await;
        let idle = before.since(&lists.postgres).await / began.elapsed().as_secs_f64();
        let (before, began) = (Transactions::now(&lists.postgres).await, Instant::now());
        let calls = load(&lists.kinds[1], Operation::List, connections).await.calls as f64;
        let statements = before.since(&lists.postgres).await - idle * began.elapsed().as_secs_f64();
        let each = statements.max(0.0) * 1000.0 / calls;
        section.figure(format!("{connections} connections"), "", vec![each], "");
    }
    drop(lists);
    compare_payouts(&postgres, folder.path(), &mut section).await;
    section.write();
}

async fn section(postgres: &str) -> Section {
    let mut connection = PgConnection::connect(postgres).await.unwrap();
    let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut connection).await.unwrap();
    let version = version.split(' ').next().unwrap();
    let how = format!(
        "Over the network, each kind in turns of {ROUND:?}, after a first turn that does not count; ratios are of turns \
         of the same round. PostgreSQL flushes every commit. The servers, PostgreSQL and the load generator share \
         all cores of the machine, and three servers too, so the rates are those of so small a machine. *1 ms \
         away*: a proxy delays every byte between the servers and PostgreSQL by {NETWORK:?} each way. Payouts come \
         {PAYOUTS_AT_ONCE} at once through each server, lists and sign-ins as their tables say, all on connections \
         that are kept open."
    );
    Section::new("engines", "SQLite and PostgreSQL", how, vec![format!("PostgreSQL {version}")])
}

async fn compare_payouts(postgres: &str, folder: &Path, section: &mut Section) {
    let payouts = Kinds::start(postgres, folder, "payouts", LOANS).await;
    section.table(format!("Payouts, {PAYOUTS_AT_ONCE} at once through each server"));
    payouts.compare(Operation::Pay, PAYOUTS_AT_ONCE, section).await;
    for kind in &payouts.kinds {
        let Some(proxy) = &kind.proxy else { continue };
        let before = proxy.statements();
        let at_once = PAYOUTS_AT_ONCE * kind.servers.len();
        let calls = load(kind, Operation::Pay, at_once).await.calls as f64;
        let each = (proxy.statements() - before) as f64 / calls;
        section.figure(format!("{}: statements a payout", kind.name), "", vec![each], "");
    }
    compare_keys(&payouts, section).await;
}

/// Measures payouts under keys beside keys of the same user that are kept already.
async fn compare_keys(payouts: &Kinds, section: &mut Section) {
    section.table("Payouts under keys, beside kept keys of the same user");
    for kind in payouts.kinds.iter().filter(|kind| kind.servers.len() == 1) {
        let mut first = 0;
        for keys in [10, 1000, 50_000] {
            add_keys(&kind.url, first, keys).await;
            first = keys;
            let mut rates = Vec::new();
            for round in 0..=rounds(2) {
                let rate = load(kind, Operation::PayWithKey, PAYOUTS_AT_ONCE).await;
                if round > 0 {
                    rates.push(rate.per_second);
                }
            }
            section.figure(format!("{}: {keys} keys", kind.name), "/s", rates, "");
        }
    }
}

const ADD_KEYS: &str = "
    WITH RECURSIVE number (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < $2)
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, payout_id, request_id, problem, status, body, created_at)
    SELECT staff_id, 'kept-' || n, 'kept', NULL, 'kept', false, 404, '{}', $3
    FROM number, (SELECT staff_id FROM staff WHERE email = 'agent@mkopo.test') AS agent";

async fn add_keys(url: &str, first: i64, last: i64) {
    let database = Database::open_at(&url.parse().unwrap()).await.unwrap();
    let add = database.write(async move |connection: &mut Connection| {
        let now = Clock::system().now();
        query(ADD_KEYS).bind(first + 1).bind(last).bind(now).execute(&mut *connection).await?;
        Ok(connection.analyze().await?)
    });
    add.await.unwrap();
    database.close().await;
}

/// `SQLite`, PostgreSQL with one and with three servers, and for payouts the same with a network between.
struct Kinds {
    kinds: Vec<Arc<Kind>>,
    /// The address of the database that one server has to itself.
    postgres: String,
}

/// The operation to measure.
#[derive(Clone, Copy)]
enum Operation {
    List,
    SignIn,
    Pay,
    PayWithKey,
}

struct Kind {
    name: &'static str,
    /// The database, without a network between.
    url: String,
    servers: Vec<Server>,
    token: String,
    next_loan: AtomicUsize,
    proxy: Option<Proxy>,
}

impl Kinds {
    async fn start(postgres: &str, folder: &Path, purpose: &str, loans: usize) -> Self {
        let mut admin = PgConnection::connect(postgres).await.unwrap();
        let base = postgres.rsplit_once('/').unwrap().0;
        let mut urls = vec![format!("sqlite:{}", folder.join(format!("{purpose}.db")).display())];
        let shapes: &[(&str, usize, bool)] = &[
            ("PostgreSQL, one server", 1, false),
            ("PostgreSQL, three servers", 3, false),
            ("PostgreSQL 1 ms away, one server", 1, true),
            ("PostgreSQL 1 ms away, three servers", 3, true),
        ];
        let shapes = if loans == 0 { &shapes[..2] } else { shapes };
        for number in 0..shapes.len() {
            let name = format!("{purpose}_{number}");
            sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
                .execute(&mut admin)
                .await
                .unwrap();
            urls.push(format!("{base}/{name}"));
        }
        for url in &urls {
            fill(url, folder, loans).await;
        }
        let kind = async |name, direct: &str, url: &str, servers: usize, proxy: Option<Proxy>| {
            let servers: Vec<Server> = (0..servers).map(|_| Server::start(url, folder)).collect();
            for server in &servers {
                server.ready().await;
            }
            let token = Client::of(servers[0].address).await.sign_in().await;
            let url = direct.to_owned();
            Arc::new(Kind { name, url, servers, token, next_loan: AtomicUsize::new(1), proxy })
        };
        let mut kinds = vec![kind("SQLite", &urls[0], &urls[0], 1, None).await];
        let host = base.rsplit_once('@').unwrap().1;
        for (url, (name, servers, is_away)) in urls[1..].iter().zip(shapes) {
            let target = host.to_socket_addrs().unwrap().next().unwrap();
            let proxy = is_away.then(|| Proxy::start(target, NETWORK));
            let through = match &proxy {
                Some(proxy) => url.replace(host, &proxy.address.to_string()),
                None => url.clone(),
            };
            kinds.push(kind(*name, url, &through, *servers, proxy).await);
        }
        Self { kinds, postgres: urls.swap_remove(1) }
    }

    /// Interleaves the kinds, so that all run under the same conditions.
    async fn compare(&self, operation: Operation, at_once: usize, section: &mut Section) {
        let mut rates: Vec<Vec<Rate>> = self.kinds.iter().map(|_| Vec::new()).collect();
        for round in 0..=rounds(ROUNDS) {
            for (kind, rates) in self.kinds.iter().zip(&mut rates) {
                let servers = if matches!(operation, Operation::Pay) { kind.servers.len() } else { 1 };
                let rate = load(kind, operation, at_once * servers).await;
                // The first round is the warm-up.
                if round > 0 {
                    rates.push(rate);
                }
            }
        }
        let each = |rates: &[Rate], of: fn(&Rate) -> f64| rates.iter().map(of).collect();
        let against = |at: usize, other: usize| {
            let pairs = rates[at].iter().zip(&rates[other]);
            pairs.map(|(own, other)| own.per_second / other.per_second).collect()
        };
        for (at, kind) in self.kinds.iter().enumerate() {
            let target = match (operation, at) {
                (Operation::Pay, 0) => "≥ 2000",
                (Operation::Pay, 1) => "≥ 1000",
                (Operation::Pay, 3) => "≥ 400",
                _ => "",
            };
            section.figure(kind.name, "/s", each(&rates[at], |rate| rate.per_second), target);
            section.figure(format!("{}: p99", kind.name), "ms", each(&rates[at], |rate| rate.p99), "");
            if at > 0 {
                section.figure(format!("{} against SQLite", kind.name), "", against(at, 0), "");
            }
        }
        if matches!(operation, Operation::Pay) {
            section.figure("three servers against one, PostgreSQL 1 ms away", "", against(4, 3), "≥ 1");
        }
    }
}

async fn fill(url: &str, folder: &Path, loans: usize) {
    let line =
        ["mkopo", "serve", "--demo", "true", "--data-dir", folder.to_str().unwrap(), "--database-url", url];
    let MkopoCommand::Serve(settings) = CommandLine::parse_from(line.into_iter().chain(SECRETS)).command
    else {
        unreachable!()
    };
    let sandbox = Sandbox::open(settings, Clock::system(), Randomness::from_os()).await.unwrap();
    let loans = i64::try_from(loans).unwrap();
    if loans > 0 {
        let add = sandbox.database.write(async move |connection: &mut Connection| {
            query(MORE_CUSTOMERS).bind(loans).execute(connection).await?;
            query(MORE_LOANS).bind(loans).execute(&mut *connection).await?;
            Ok(connection.analyze().await?)
        });
        add.await.unwrap();
    }
    let change = ScenarioChange { float: Some(Kes(1_000_000_000)), ..ScenarioChange::default() };
    sandbox.mobile_money.change_scenario(change, &Trail::default()).await.unwrap();
    sandbox.close(Duration::from_secs(5)).await;
}

impl Kind {
    async fn run(&self, operation: Operation, client: &mut Client) {
        let token = &self.token;
        match operation {
            Operation::List => {
                let line = "GET /api/v1/disbursements/pending HTTP/1.1";
                client.call(&format!("{line}\r\nAuthorization: Bearer {token}"), "").await;
            }
            Operation::SignIn => _ = client.sign_in().await,
            Operation::Pay | Operation::PayWithKey => {
                let loan = self.next_loan.fetch_add(1, Ordering::Relaxed);
                assert!(loan < LOANS, "no loan is left to pay");
                let phone = 20_000_000 + loan;
                let body = format!(r#"{{"agent_id":1,"amount":100,"phone_number":"+2547{phone}"}}"#);
                let line = format!("POST /api/v1/disbursements/LN-X{loan}/disburse HTTP/1.1");
                let key = match operation {
                    Operation::PayWithKey => format!("\r\nIdempotency-Key: key-{loan}"),
                    _ => String::new(),
                };
                client.call(&format!("{line}\r\nAuthorization: Bearer {token}{key}"), &body).await;
            }
        }
    }
}

/// A server process, as in a deployment.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(url: &str, folder: &Path) -> Self {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_mkopo"))
            .args(["serve", "--demo", "true", "--log", "error", "--listen", &address.to_string()])
            .args(["--console-listen", "off"])
            .args(["--database-url", url, "--data-dir"])
            .arg(folder)
            .args(SECRETS)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, address }
    }

    async fn ready(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(self.address).await.is_err() {
            assert!(Instant::now() < until, "the server did not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The number of transactions that PostgreSQL has committed in a database; a single statement counts as one.
struct Transactions(i64);

impl Transactions {
    async fn now(url: &str) -> Self {
        // Connections report their statistics once a second.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut connection = PgConnection::connect(url).await.unwrap();
        let committed = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
        Self(sqlx::query_scalar(committed).fetch_one(&mut connection).await.unwrap())
    }

    async fn since(self, url: &str) -> f64 {
        (Self::now(url).await.0 - self.0) as f64
    }
}

struct Rate {
    calls: usize,
    per_second: f64,
    /// In milliseconds.
    p99: f64,
}

/// Runs `operation` on `at_once` connections for one round.
async fn load(kind: &Arc<Kind>, operation: Operation, at_once: usize) -> Rate {
    let began = Instant::now();
    let clients = (0..at_once).map(|number| {
        let kind = Arc::clone(kind);
        tokio::spawn(async move {
            let mut client = Client::of(kind.servers[number % kind.servers.len()].address).await;
            let mut took = Vec::new();
            while began.elapsed() < ROUND {
                let start = Instant::now();
                kind.run(operation, &mut client).await;
                took.push(start.elapsed());
            }
            took
        })
    });
    let mut took = Vec::new();
    for client in futures::future::join_all(clients).await {
        took.extend(client.expect("a call failed"));
    }
    took.sort_unstable();
    let per_second = took.len() as f64 / began.elapsed().as_secs_f64();
    let p99 = took[took.len() * 99 / 100].as_secs_f64() * 1000.0;
    Rate { calls: took.len(), per_second, p99 }
}

/// A persistent connection.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    async fn of(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: vec![0; 256 * 1024] }
    }

    /// The body of the response, whose status must be 200.
    async fn call(&mut self, head: &str, body: &str) -> &[u8] {
        let length = body.len();
        let rest = format!("Host: bench\r\nContent-Type: application/json\r\nContent-Length: {length}");
        self.stream.write_all(format!("{head}\r\n{rest}\r\n\r\n{body}").as_bytes()).await.unwrap();
        let mut have = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[have..]).await.unwrap();
            assert!(read > 0, "closed");
            have += read;
            let Some(end) = self.buffer[..have].windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&self.buffer[..end]).unwrap();
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let length: usize = length.parse().unwrap();
            let whole = end + 4 + length;
            self.stream.read_exact(&mut self.buffer[have..whole]).await.unwrap();
            return &self.buffer[end + 4..whole];
        }
    }

    async fn sign_in(&mut self) -> String {
        let body = format!(r#"{{"email":"agent@mkopo.test","password":"{}"}}"#, lending::demo::PASSWORD);
        let answer = self.call("POST /api/v1/auth/login HTTP/1.1", &body).await;
        let answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
        answer["user"]["token"].as_str().unwrap().to_owned()
    }
}
