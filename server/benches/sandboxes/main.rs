//! Sandboxes: the time to make one and to open one that was closed, the memory of each, what a thousand of
//! them cost `main`, and the throughput of 64 workers in a sandbox each against the same in one. On `SQLite`
//! and, if there is one, on PostgreSQL.
//!
//! Servers and load generator are separate processes on one machine. `cargo bench --bench sandboxes`, or
//! `e2e/postgres with --flushed cargo bench --bench sandboxes`; with `-- journeys`, the throughput alone.

#![expect(clippy::unwrap_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

mod client;
#[path = "../figures/mod.rs"]
mod figures;
#[path = "../processes/mod.rs"]
mod processes;

use std::{
    net::SocketAddr,
    ops::Range,
    path::Path,
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use self::{
    client::{Client, Server, store},
    figures::{Section, rounds},
};

/// How many sandboxes there are on one server. On PostgreSQL each has a hundred tables and indexes, of which
/// a hundred thousand would measure the file system.
const SANDBOXES: usize = 1000;
const SANDBOXES_POSTGRES: usize = 200;

/// How many are measured one by one.
const SAMPLES: usize = 30;

const WORKERS: usize = 64;
/// What each worker does before it is measured: the first payouts of a sandbox plan its statements.
const WARM_UP: usize = 6;
const JOURNEYS_EACH: usize = 12;
const ROUNDS: usize = 5;
const LIST_CONNECTIONS: usize = 32;
const LIST_ROUNDS: usize = 20;
/// Short turns, many of them in a round: the machine's speed changes from one second to the next.
const LIST_TURN: Duration = Duration::from_millis(100);
const LIST_TURNS: usize = 10;

const PENDING: &str = "/api/v1/disbursements/pending";
const RECORDS: &str = "/api/v1/disbursement-records";

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let how = format!(
        "Servers as processes, the load generator in another one; all share the cores. There are {SANDBOXES} sandboxes \
         on a server with SQLite, {SANDBOXES_POSTGRES} with PostgreSQL, which flushes every commit. Making and opening: \
         {SAMPLES} each. *The lists of `main`*: {LIST_CONNECTIONS} connections, against a server without sandboxes; the open ones \
         are empty, and nobody uses them; in turns of {} ms, {LIST_TURNS} of each server a round. \
         *Journeys*: {WORKERS} workers pay out {JOURNEYS_EACH} loans each, from the approval to the record, after \
         {WARM_UP} that do not count, in a sandbox each and all in one, in turns, each time once no schema is created or \
         dropped any more. First rounds do not count.",
        LIST_TURN.as_millis()
    );
    let mut section = Section::new("sandboxes", "Sandboxes", how, Vec::new());
    measure("SQLite", folder.path(), SANDBOXES, &[None, None, None, None], &mut section).await;
    let Ok(postgres) = std::env::var("MKOPO_TEST_POSTGRES") else {
        println!("\nPostgreSQL: skipped, there is none; run `make bench`");
        return section.write();
    };
    let mut admin = PgConnection::connect(&postgres).await.unwrap();
    let base = postgres.rsplit_once('/').unwrap().0;
    let mut urls = Vec::new();
    for name in ["sandboxes_many", "sandboxes_resting", "sandboxes_none", "sandboxes_journeys"] {
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut admin).await.unwrap();
        urls.push(format!("{base}/{name}"));
    }
    let urls: Vec<Option<&str>> = urls.iter().map(|url| Some(url.as_str())).collect();
    measure("PostgreSQL", folder.path(), SANDBOXES_POSTGRES, &urls, &mut section).await;
    section.write();
}

async fn measure(
    engine: &str,
    folder: &Path,
    sandboxes: usize,
    urls: &[Option<&str>],
    section: &mut Section,
) {
    section.table(engine);
    let stores: Vec<Vec<String>> = ["many", "resting", "none", "journeys"]
        .iter()
        .zip(urls)
        .map(|(name, url)| store(&folder.join(format!("{engine}-{name}")), *url))
        .collect();
    if std::env::args().nth(1).as_deref() == Some("journeys") {
        return journeys(&stores[3], urls[3], section).await;
    }
    let names = making(&stores[0], sandboxes, section).await;
    opening(&stores[0], &names, section).await;
    closed(&stores[0], &names, section).await;
    memory(&stores[0], &names, section).await;
    lists(&stores[1], &stores[2], &names, section).await;
    journeys(&stores[3], urls[3], section).await;
}

/// Makes all sandboxes, some of them one by one, and returns their names.
async fn making(store: &[String], count: usize, section: &mut Section) -> Vec<String> {
    let server = Server::start(store, count + 100, None).await;
    let mut client = Client::of_main(server.console).await;
    // Its data is made, and then copied.
    let began = Instant::now();
    make(&mut client, 0).await;
    section.figure("making the first one", "ms", vec![millis(began.elapsed())], "");
    // On PostgreSQL the tables of the next one are made meanwhile.
    let mut numbers = 1..=2 * SAMPLES;
    for (when, pause, target) in [
        ("a second after another", Duration::from_secs(1), "≤ 50"),
        ("right after another", Duration::ZERO, ""),
    ] {
        let mut took = Vec::new();
        for number in numbers.by_ref().take(SAMPLES) {
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            make(&mut client, number).await;
            took.push(millis(began.elapsed()));
        }
        section.figure(format!("making one, {when}"), "ms", took, target);
    }
    let began = Instant::now();
    let rest: Vec<usize> = (2 * SAMPLES + 1..count).collect();
    let makers = rest.chunks(rest.len().div_ceil(8)).map(|numbers| {
        let (numbers, address) = (numbers.to_vec(), server.console);
        tokio::spawn(async move {
            let mut client = Client::of_main(address).await;
            for number in numbers {
                make(&mut client, number).await;
            }
        })
    });
    for maker in join_all(makers).await {
        maker.unwrap();
    }
    let took = began.elapsed().as_secs_f64();
    section.figure(format!("making {}, 8 at a time", rest.len()), "s", vec![took], "");
    (0..count).map(name).collect()
}

fn name(number: usize) -> String {
    format!("bench-{number}")
}

async fn make(console: &mut Client, number: usize) {
    let wish = json!({"name": name(number), "expires_in": "2d"});
    console.call("POST", "/console/api/sandboxes", Some(&wish)).await;
}

/// Opens sandboxes that are closed, as all are after a start.
async fn opening(store: &[String], names: &[String], section: &mut Section) {
    let server = Server::start(store, names.len() + 100, None).await;
    let (warm_up, rest) = names.split_at(10);
    for name in warm_up {
        use_sandbox(server.portal, name).await;
    }
    let (mut more, mut later) = (Vec::new(), Vec::new());
    for name in &rest[..SAMPLES] {
        let mut client = Client::of(server.portal, name).await;
        let mut time = async || {
            let began = Instant::now();
            // It reads the data, without a session.
            client.send("GET", PENDING, None).await;
            millis(began.elapsed())
        };
        let first = time().await;
        let mut again = [time().await, time().await, time().await];
        again.sort_by(f64::total_cmp);
        more.push(first - again[1]);
        later.push(again[1]);
    }
    section.figure("a call in an open one", "ms", later, "");
    section.figure("the first call in a closed one, more than the next", "ms", more, "");
    let sample = &rest[SAMPLES..(SAMPLES + 100).min(rest.len())];
    let before = server.resident();
    for name in sample {
        use_sandbox(server.portal, name).await;
    }
    let each = (server.resident() - before) / sample.len() as f64 / 1024.0;
    section.figure("memory of an open one, signed in, both lists read", "MB", vec![each], "≤ 3");
}

/// Reads both lists of a sandbox.
async fn use_sandbox(address: SocketAddr, name: &str) {
    let mut client = Client::of(address, name).await;
    client.sign_in().await;
    client.call("GET", PENDING, None).await;
    client.call("GET", RECORDS, None).await;
}

/// The memory of sandboxes that were open and are closed: as few may be open at once as possible.
async fn closed(store: &[String], names: &[String], section: &mut Section) {
    const FILES: usize = 2000;
    let server = Server::start(store, names.len() + 100, Some(FILES)).await;
    let call = async |name: &str| {
        let mut client = Client::of(server.portal, name).await;
        for _ in 0..5 {
            client.send("GET", PENDING, None).await;
        }
    };
    let (warm_up, rest) = names.split_at(names.len() / 3);
    for name in warm_up {
        call(name).await;
    }
    let before = server.resident();
    for name in rest {
        call(name).await;
    }
    let each = (server.resident() - before) / rest.len() as f64;
    section.figure("memory of a closed one", "KB", vec![each], "");
}

/// The memory of a server on which all of them are open.
async fn memory(store: &[String], names: &[String], section: &mut Section) {
    let server = Server::start(store, names.len() + 100, None).await;
    for name in names {
        Client::of(server.portal, name).await.send("GET", PENDING, None).await;
    }
    let memory = server.resident() / 1024.0;
    section.figure(format!("memory of a server with {} open ones", names.len()), "MB", vec![memory], "");
}

/// The lists of `main` where there are many sandboxes, all of them open, against those of a server without. They are
/// empty: in those with the demo's data, payouts are pending for good, and are asked about now and then.
async fn lists(many: &[String], none: &[String], names: &[String], section: &mut Section) {
    let many = Server::start(many, names.len() + 100, None).await;
    let none = Server::start(none, 0, None).await;
    let mut console = Client::of_main(many.console).await;
    for name in names {
        let wish = json!({"name": name, "seed": "empty", "expires_in": "2d"});
        console.call("POST", "/console/api/sandboxes", Some(&wish)).await;
        Client::of(many.portal, name).await.send("GET", PENDING, None).await;
    }
    many.rests().await;
    let (mut with, mut without) = (readers(many.portal).await, readers(none.portal).await);
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    for round in 0..=rounds(LIST_ROUNDS) {
        let (mut rate, mut other_rate) = (0.0, 0.0);
        let before = (many.processor_time(), none.processor_time());
        for _ in 0..LIST_TURNS {
            rate += list_rate(&mut with).await;
            other_rate += list_rate(&mut without).await;
        }
        let time = (many.processor_time() - before.0) / rate;
        let other_time = (none.processor_time() - before.1) / other_rate;
        // The first round is the warm-up.
        if round > 0 {
            rates.push(rate / other_rate);
            times.push(time / other_time);
        }
    }
    section.figure("the lists of `main` with open ones, against none", "", rates, "");
    section.figure("the same: processor time a call, ratio", "", times, "");
}

/// Those who read lists of `main`, signed in.
async fn readers(address: SocketAddr) -> Vec<Client> {
    join_all((0..LIST_CONNECTIONS).map(async |_| {
        let mut client = Client::of_main(address).await;
        client.sign_in().await;
        client
    }))
    .await
}

/// How many lists they get per second.
async fn list_rate(readers: &mut Vec<Client>) -> f64 {
    let began = Instant::now();
    let reading = readers.drain(..).map(|mut client| {
        tokio::spawn(async move {
            let mut calls = 0.0;
            while began.elapsed() < LIST_TURN {
                client.send("GET", PENDING, None).await;
                calls += 1.0;
            }
            (client, calls)
        })
    });
    let mut calls = 0.0;
    for done in join_all(reading).await {
        let (client, its_calls) = done.unwrap();
        readers.push(client);
        calls += its_calls;
    }
    calls / began.elapsed().as_secs_f64()
}

/// 64 workers in a sandbox each against 64 in one sandbox, with the same calls.
async fn journeys(store: &[String], url: Option<&str>, section: &mut Section) {
    let server = Server::start(store, 200, None).await;
    let (mut separate, mut together, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds(ROUNDS) {
        let each: Vec<String> = (0..WORKERS).map(|number| format!("each-{number}")).collect();
        let own = journey_rate(&server, url, &each).await;
        let shared = journey_rate(&server, url, &["shared".to_owned()]).await;
        if round > 0 {
            separate.push(own);
            together.push(shared);
            ratios.push(own / shared);
        }
    }
    section.figure(format!("journeys of {WORKERS} workers in a sandbox each"), "/s", separate, "");
    section.figure(format!("journeys of {WORKERS} workers in one sandbox"), "/s", together, "");
    section.figure("journeys in a sandbox each, against in one", "", ratios, "");
}

/// How many journeys a second the workers finish in new sandboxes of those names.
async fn journey_rate(server: &Server, url: Option<&str>, names: &[String]) -> f64 {
    let mut console = Client::of_main(server.console).await;
    for name in names {
        console.call("POST", "/console/api/sandboxes", Some(&json!({"name": name, "seed": "empty"}))).await;
    }
    let workers = (0..WORKERS).map(async |number| {
        let name = &names[number % names.len()];
        let mut console = Client::of(server.console, name).await;
        if number < names.len() {
            let scenario = json!({"latency_ms": 0, "float": 1_000_000_000});
            console.call("PUT", "/console/api/scenario", Some(&scenario)).await;
        }
        let mut agent = Client::of(server.portal, name).await;
        agent.sign_in().await;
        Worker { number, console, agent }
    });
    let workers = join_all(workers).await;
    if let Some(url) = url {
        schemas_are_settled(url).await;
    }
    let workers = run(workers, 0..WARM_UP).await;
    let began = Instant::now();
    run(workers, WARM_UP..WARM_UP + JOURNEYS_EACH).await;
    let rate = (WORKERS * JOURNEYS_EACH) as f64 / began.elapsed().as_secs_f64();
    for name in names {
        console.call("DELETE", &format!("/console/api/sandboxes/{name}"), None).await;
    }
    rate
}

/// Waits until no schema has been created or dropped for a second: to create spares, and to drop the schemas of the
/// round before, takes processor time, and PostgreSQL then plans all statements once more.
async fn schemas_are_settled(url: &str) {
    const NAMES: &str = "SELECT nspname::text FROM pg_namespace ORDER BY nspname";
    let mut database = PgConnection::connect(url).await.unwrap();
    let mut before: Vec<String> = Vec::new();
    loop {
        let names = sqlx::query_scalar(NAMES).fetch_all(&mut database).await.unwrap();
        if names == before {
            return;
        }
        before = names;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Runs these journeys of all workers at once.
async fn run(workers: Vec<Worker>, journeys: Range<usize>) -> Vec<Worker> {
    let running = workers.into_iter().map(|worker| tokio::spawn(worker.run(journeys.clone())));
    join_all(running).await.into_iter().map(Result::unwrap).collect()
}

struct Worker {
    number: usize,
    console: Client,
    agent: Client,
}

impl Worker {
    /// Pays loans out, each from its approval to its record.
    async fn run(mut self, journeys: Range<usize>) -> Self {
        for journey in journeys {
            let phone = format!("+2547{}", 20_000_000 + self.number * 1000 + journey);
            let loan = json!({"loan": {"total_loan_amount": 500, "customer_phone_number": phone}});
            let loan = self.console.call("POST", "/console/api/loans", Some(&loan)).await;
            let loan = loan[0]["loan_id"].as_str().unwrap();
            self.agent.send("GET", PENDING, None).await;
            let body = json!({"agent_id": 1, "amount": 500, "phone_number": phone});
            let path = format!("/api/v1/disbursements/{loan}/disburse");
            let paid: Value = self.agent.call("POST", &path, Some(&body)).await;
            assert_eq!(paid["status"], "COMPLETED", "{paid}");
            self.agent.send("GET", RECORDS, None).await;
        }
        self
    }
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}
