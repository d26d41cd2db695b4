//! Throughput of lists, payouts and sign-ins over the network, on `SQLite` and on PostgreSQL with one
//! and with three servers, interleaved in one run; payouts also with a network between the servers and
//! PostgreSQL that takes 1 ms each way.
//!
//! Servers, PostgreSQL and the load generator are separate processes on one machine, so compare the
//! ratios: the three servers share its processors, while in production each has its own.
//!
//! `tools/machine/postgres with --flushed cargo bench --bench engines`

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

#[expect(dead_code, reason = "other benchmarks use the rest")]
mod measuring;
#[path = "../tests/payouts/more_loans.rs"]
mod more_loans;
#[path = "engines/proxy.rs"]
mod proxy;

use std::{
    net::ToSocketAddrs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use self::measuring::{
    PENDING,
    client::{Client, bearer, request},
    figures::{Section, rounds},
    p99,
    processes::{SECRETS, Server},
};
use base::{clock::Clock, kes::Kes, randomness::Randomness};
use clap::Parser;
use lending::{events::Trail, mobile_money::ScenarioChange};
use mkopo::{
    Sandbox,
    commands::{Command as MkopoCommand, CommandLine},
};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use store::Connection;

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
const LOANS: usize = 120_000;
/// The number of payouts made at the same time through each server.
const PAYOUTS_AT_ONCE: usize = 250;
/// The latency of the network in each direction.
const NETWORK: Duration = Duration::from_millis(1);

#[tokio::main]
async fn main() {
    let Ok(postgres) = std::env::var("MKOPO_TEST_POSTGRES") else {
        println!("engines: skipped without PostgreSQL; run `make bench`");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut section = section(&postgres).await;
    // Lists and payouts each have their own databases: 60,000 waiting loans are not a typical list.
    let lists = Kinds::start(&postgres, folder.path(), "lists", 0).await;
    section.table("Pending list, 32 connections");
    lists.compare(Operation::List, 32, &mut section).await;
    section.table("Sign-ins, 16 at once");
    lists.compare(Operation::SignIn, 16, &mut section).await;
    drop(lists);
    let payouts = Kinds::start(&postgres, folder.path(), "payouts", LOANS).await;
    section.table(format!("Payouts, {PAYOUTS_AT_ONCE} at once through each server"));
    payouts.compare(Operation::Pay, PAYOUTS_AT_ONCE, &mut section).await;
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

/// `SQLite`, PostgreSQL with one and with three servers, and for payouts the same with a network between.
struct Kinds {
    kinds: Vec<Arc<Kind>>,
}

/// The operation to measure.
#[derive(Clone, Copy)]
enum Operation {
    List,
    SignIn,
    Pay,
}

struct Kind {
    name: &'static str,
    servers: Vec<Server>,
    token: String,
    next_loan: AtomicUsize,
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
        let kind = async |name, url: &str, count: usize| {
            let options = ["--log", "error", "--database-url", url, "--data-dir", folder.to_str().unwrap()];
            let mut servers = Vec::new();
            for _ in 0..count {
                servers.push(Server::start(Command::new(env!("CARGO_BIN_EXE_mkopo")), &options).await);
            }
            let token = Client::of(servers[0].portal).await.sign_in("").await;
            Arc::new(Kind { name, servers, token, next_loan: AtomicUsize::new(1) })
        };
        let mut kinds = vec![kind("SQLite", &urls[0], 1).await];
        let host = base.rsplit_once('@').unwrap().1;
        for (url, (name, servers, is_away)) in urls[1..].iter().zip(shapes) {
            let target = host.to_socket_addrs().unwrap().next().unwrap();
            let away = is_away.then(|| url.replace(host, &proxy::start(target, NETWORK).to_string()));
            kinds.push(kind(*name, away.as_ref().unwrap_or(url), *servers).await);
        }
        Self { kinds }
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
    more_loans::add(loans, &sandbox.database).await;
    let analyze = async |connection: &mut Connection| Ok(connection.analyze().await?);
    sandbox.database.write(analyze).await.unwrap();
    let change = ScenarioChange { float: Some(Kes(100_000_000_000)), ..ScenarioChange::default() };
    sandbox.mobile_money.change_scenario(change, &Trail::default()).await.unwrap();
    sandbox.close(Duration::from_secs(5)).await;
}

impl Kind {
    async fn run(&self, operation: Operation, client: &mut Client) {
        let signed_in = bearer(&self.token);
        match operation {
            Operation::List => client.skip(&request(&format!("GET {PENDING}"), &signed_in, "")).await,
            Operation::SignIn => _ = client.sign_in("").await,
            Operation::Pay => {
                let loan = self.next_loan.fetch_add(1, Ordering::Relaxed);
                assert!(loan < LOANS, "no loan is left to pay");
                let (amount, phone) = more_loans::amount_and_phone(loan);
                let body = format!(r#"{{"agent_id":1,"amount":{amount},"phone_number":"{phone}"}}"#);
                let path = format!("POST /api/v1/disbursements/LN-X{loan}/disburse");
                client.skip(&request(&path, &signed_in, &body)).await;
            }
        }
    }
}

struct Rate {
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
            let mut client = Client::of(kind.servers[number % kind.servers.len()].portal).await;
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
    let per_second = took.len() as f64 / began.elapsed().as_secs_f64();
    Rate { per_second, p99: p99(&mut took) }
}
