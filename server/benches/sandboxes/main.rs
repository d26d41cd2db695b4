//! Sandboxes: the time to make one and to open one that was closed, and the memory of each.
//!
//! Servers and load generator are separate processes on one machine. `cargo bench --bench sandboxes`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

mod client;
#[path = "../figures/mod.rs"]
mod figures;
#[path = "../processes/mod.rs"]
#[expect(dead_code, reason = "the lists measure more of a process")]
mod processes;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde_json::json;

use self::{
    client::{Client, Server, store},
    figures::{Section, rounds},
};

/// The number of sandboxes on one server.
const SANDBOXES: usize = 140;

/// The number of sandboxes that are measured one by one.
const SAMPLES: usize = 30;

/// The number of sandboxes that are open at once.
const OPEN: usize = 100;

const PENDING: &str = "/api/v1/disbursements/pending";
const RECORDS: &str = "/api/v1/disbursement-records";

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let how = format!(
        "Server as a process, the load generator in another one; both share the cores. There are {SANDBOXES} \
         sandboxes with the demo's data. Making and opening: {SAMPLES} each, one after the other."
    );
    let mut section = Section::new("sandboxes", "Sandboxes", how, Vec::new());
    section.table("Sandboxes");
    let store = store(folder.path());
    let names = making(&store, &mut section).await;
    opening(&store, &names, &mut section).await;
    section.write();
}

/// Makes all sandboxes, and returns their names.
async fn making(store: &[String], section: &mut Section) -> Vec<String> {
    let server = Server::start(store, SANDBOXES).await;
    let mut client = Client::of_main(server.console).await;
    let names: Vec<String> = (0..SANDBOXES).map(|number| format!("bench-{number}")).collect();
    let mut took = Vec::new();
    for name in &names {
        let began = Instant::now();
        let wish = json!({"name": name, "expires_in": "2d"});
        client.call("POST", "/console/api/sandboxes", Some(&wish)).await;
        took.push(millis(began.elapsed()));
    }
    // Its data is made, and then copied.
    section.figure("making the first one", "ms", took[..1].to_vec(), "");
    section.figure("making one", "ms", took[1..=rounds(SAMPLES)].to_vec(), "≤ 50");
    names
}

/// Opens sandboxes that are closed, as all are after a start.
async fn opening(store: &[String], names: &[String], section: &mut Section) {
    let server = Server::start(store, SANDBOXES).await;
    let (warm_up, rest) = names.split_at(names.len() - SAMPLES - OPEN);
    for name in warm_up {
        use_sandbox(server.portal, name).await;
    }
    let (mut more, mut later) = (Vec::new(), Vec::new());
    for name in &rest[..rounds(SAMPLES)] {
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
    let before = server.resident();
    for name in &rest[SAMPLES..] {
        use_sandbox(server.portal, name).await;
    }
    let each = (server.resident() - before) / OPEN as f64 / 1024.0;
    section.figure(
        format!("memory of an open one of {OPEN}, signed in, both lists read"),
        "MB",
        vec![each],
        "≤ 3",
    );
}

/// Reads both lists of a sandbox.
async fn use_sandbox(address: SocketAddr, name: &str) {
    let mut client = Client::of(address, name).await;
    client.sign_in().await;
    client.call("GET", PENDING, None).await;
    client.call("GET", RECORDS, None).await;
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}
