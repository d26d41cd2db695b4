//! Sandboxes: the time to make one and to open one that was closed, and the memory of each.
//!
//! Servers and load generator are separate processes on one machine. `cargo bench --bench sandboxes`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails on the first error")]
#![expect(clippy::cast_precision_loss, reason = "figures to read")]

#[expect(dead_code, reason = "other benchmarks use the rest")]
mod measuring;

use std::{net::SocketAddr, process::Command, time::Instant};

use serde_json::json;

use self::measuring::{
    PENDING,
    client::{Client, bearer, request},
    figures::{Section, rounds},
    millis,
    processes::{CONSOLE_TOKEN, Server},
};

/// The number of sandboxes on one server.
const SANDBOXES: usize = 140;

/// The number of sandboxes that are measured one by one.
const SAMPLES: usize = 30;

/// The number of sandboxes that are open at once.
const OPEN: usize = 100;

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
    let folder = folder.path().to_str().unwrap();
    let names = making(folder, &mut section).await;
    opening(folder, &names, &mut section).await;
    section.write();
}

async fn start(folder: &str) -> Server {
    let sandboxes = SANDBOXES.to_string();
    let program = Command::new(env!("CARGO_BIN_EXE_mkopo"));
    Server::start(program, &["--log", "error", "--sandboxes", &sandboxes, "--data-dir", folder]).await
}

/// Makes all sandboxes, and returns their names.
async fn making(folder: &str, section: &mut Section) -> Vec<String> {
    let server = start(folder).await;
    let mut client = Client::of(server.console).await;
    let names: Vec<String> = (0..SANDBOXES).map(|number| format!("bench-{number}")).collect();
    let mut took = Vec::new();
    for name in &names {
        let began = Instant::now();
        let wish = json!({"name": name, "expires_in": "2d"}).to_string();
        client.call(&request("POST /console/api/sandboxes", &bearer(CONSOLE_TOKEN), &wish)).await.json();
        took.push(millis(began.elapsed()));
    }
    // Its data is made, and then copied.
    section.figure("making the first one", "ms", took[..1].to_vec(), "");
    section.figure("making one", "ms", took[1..=rounds(SAMPLES)].to_vec(), "≤ 50");
    names
}

/// Opens sandboxes that are closed, as all are after a start.
async fn opening(folder: &str, names: &[String], section: &mut Section) {
    let server = start(folder).await;
    let (warm_up, rest) = names.split_at(names.len() - SAMPLES - OPEN);
    for name in warm_up {
        use_sandbox(server.portal, name).await;
    }
    let (mut more, mut later) = (Vec::new(), Vec::new());
    for name in &rest[..rounds(SAMPLES)] {
        let mut client = Client::of(server.portal).await;
        // It reads the data, without a session.
        let headers = format!("Mkopo-Sandbox: {name}\r\n{}", bearer(CONSOLE_TOKEN));
        let request = request(&format!("GET {PENDING}"), &headers, "");
        let mut time = async || {
            let began = Instant::now();
            client.call(&request).await;
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
    let before = server.memory("VmRSS");
    for name in &rest[SAMPLES..] {
        use_sandbox(server.portal, name).await;
    }
    let each = (server.memory("VmRSS") - before) / OPEN as f64;
    section.figure(
        format!("memory of an open one of {OPEN}, signed in, both lists read"),
        "MB",
        vec![each],
        "≤ 3",
    );
}

/// Reads both lists of a sandbox.
async fn use_sandbox(address: SocketAddr, name: &str) {
    let mut client = Client::of(address).await;
    let sandbox = format!("Mkopo-Sandbox: {name}\r\n");
    let headers = format!("{sandbox}{}", bearer(&client.sign_in(&sandbox).await));
    for list in [PENDING, RECORDS] {
        client.skip(&request(&format!("GET {list}"), &headers, "")).await;
    }
}
