//! Sandboxes of real servers: beside several servers on one database, and when servers are killed or their
//! disk is full.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use base::{clock::Clock, randomness::Randomness};
use lending::demo;
use mkopo::Sandbox;
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use settings::DatabaseSettings;

use crate::{
    server::{Answer, Server, try_call},
    servers::{Cluster, wait_until},
    test_app::{CONSOLE_TOKEN, disbursement_of, payout_path, settings, waiting},
    test_store,
};

const PENDING: &str = "/api/v1/disbursements/pending";

/// A call of the console of `main`; `None` if the server is gone.
fn try_console(server: &str, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
    let token = format!("Bearer {CONSOLE_TOKEN}");
    try_call(server, method, &format!("/console/api{path}"), &[("authorization", &token)], body)
}

fn console(server: &Server, method: &str, path: &str, body: Option<&Value>) -> Answer {
    try_console(&server.console, method, path, body).unwrap()
}

pub fn make(server: &Server, name: &str) {
    let made = console(server, "POST", "/sandboxes", Some(&json!({"name": name})));
    assert_eq!(made.status, 201, "{}", made.body);
}

/// The names of all sandboxes besides `main`.
fn names(server: &Server) -> BTreeSet<String> {
    let list = console(server, "GET", "/sandboxes", None).body;
    let names = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
    names.filter(|name| name != "main").collect()
}

/// A call in a sandbox.
pub fn call(
    server: &Server,
    sandbox: &str,
    method: &str,
    path: &str,
    token: &str,
    body: Option<&Value>,
) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("mkopo-sandbox", sandbox), ("authorization", bearer.as_str())];
    try_call(&server.address, method, path, &headers, body).unwrap()
}

pub fn sign_in(server: &Server, sandbox: &str) -> String {
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    let answer = call(server, sandbox, "POST", "/api/v1/auth/login", "", Some(&credentials));
    assert_eq!(answer.status, 200, "{sandbox}: {}", answer.body);
    answer.body["user"]["token"].as_str().unwrap().to_owned()
}

fn pending(server: &Server, sandbox: &str, token: &str) -> Vec<Value> {
    let answer = call(server, sandbox, "GET", PENDING, token, None);
    assert_eq!(answer.status, 200, "{sandbox}: {}", answer.body);
    answer.body.as_array().unwrap().clone()
}

fn pay(server: &Server, sandbox: &str, token: &str, loan: &Value) -> u16 {
    call(server, sandbox, "POST", &payout_path(loan), token, Some(&disbursement_of(loan))).status
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_sandbox_is_on_the_server_that_made_it_and_the_others_say_so_on_postgresql() {
    let cluster = Cluster::start();
    // Each on a machine of its own.
    let servers: Vec<Server> = (0..3)
        .map(|number| {
            let [data_dir, folder, url, database] = cluster.options();
            Server::start_on(&[data_dir, format!("{folder}-{number}"), url, database])
        })
        .collect();
    let [one, two, _] = &servers[..] else { unreachable!() };
    make(one, "pr-12");
    let token = sign_in(one, "pr-12");
    let loans = pending(one, "pr-12", &token);
    assert_eq!(pay(one, "pr-12", &token, waiting(&loans).next().unwrap()), 200);
    for server in &servers[1..] {
        let elsewhere = call(server, "pr-12", "GET", PENDING, &token, None);
        assert_eq!((elsewhere.status, &elsewhere.body["code"]), (421, &json!("sandbox_elsewhere")));
    }
    // Its name is taken everywhere, and any server removes it.
    let refused = console(two, "POST", "/sandboxes", Some(&json!({"name": "pr-12"})));
    assert_eq!(refused.body["code"], "sandbox_exists");
    assert_eq!(console(two, "DELETE", "/sandboxes/pr-12", None).status, 204);
    wait_until("its server has noticed", Duration::from_secs(20), || {
        call(one, "pr-12", "GET", PENDING, &token, None).status == 404
    });
}

/// The sandboxes that a client has made and removed, as far as it was answered.
#[derive(Default)]
pub struct Answered {
    pub made: BTreeSet<String>,
    pub removed: BTreeSet<String>,
    /// Their removal was not answered.
    pub unknown: BTreeSet<String>,
}

/// Makes a sandbox. Returns whether it was made: it was not if the server is gone or can't write.
pub fn try_make(server: &str, name: &str, answered: &Mutex<Answered>) -> bool {
    let wish = json!({"name": name, "expires_in": "30d", "now": "2026-03-01T09:00:00Z"});
    let is_made = is_done(try_console(server, "POST", "/sandboxes", Some(&wish)), 201);
    if is_made {
        answered.lock().unwrap().made.insert(name.to_owned());
    }
    is_made
}

/// Removes a sandbox. Returns whether that was answered.
pub fn try_remove(server: &str, name: &str, answered: &Mutex<Answered>) -> bool {
    answered.lock().unwrap().unknown.insert(name.to_owned());
    let is_removed = is_done(try_console(server, "DELETE", &format!("/sandboxes/{name}"), None), 204);
    if is_removed {
        let mut answered = answered.lock().unwrap();
        answered.unknown.remove(name);
        answered.made.remove(name);
        answered.removed.insert(name.to_owned());
    }
    is_removed
}

/// Returns whether a call was answered with that status: 503, or no answer, if it was not.
fn is_done(answer: Option<Answer>, status: u16) -> bool {
    let Some(answer) = answer.filter(|answer| answer.status != 503) else { return false };
    assert_eq!(answer.status, status, "{}", answer.body);
    true
}

/// Makes sandboxes, and removes every other one, until the server is gone.
fn make_and_remove(server: &str, who: &str, answered: &Mutex<Answered>) {
    for number in 0.. {
        let name = format!("{who}-{number}");
        if !try_make(server, &name, answered) || number % 2 == 1 && !try_remove(server, &name, answered) {
            return;
        }
    }
}

/// Checks that all sandboxes that were made are there, and that those that were removed are not. Returns their names.
pub fn check(server: &Server, answered: &Answered) -> BTreeSet<String> {
    let found = names(server);
    let lost: Vec<&String> = answered.made.difference(&found).collect();
    assert!(lost.iter().all(|name| answered.unknown.contains(*name)), "{lost:?} are lost");
    assert!(answered.removed.is_disjoint(&found), "some that were removed are back");
    found
}

/// Checks that new sandboxes have all their data.
pub fn check_are_whole<'n>(server: &Server, names: impl IntoIterator<Item = &'n String>) {
    for name in names {
        let token = sign_in(server, name);
        assert_eq!(pending(server, name, &token).len(), 24, "{name}");
    }
}

/// The ids of the files of sandboxes: each has up to three files.
fn ids_in(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder.join("sandboxes")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.split('.').next().unwrap().to_owned()).collect()
}

/// Deletes what has no row, a day later.
fn clean_up(folder: &Path) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let clock = Clock::system();
        clock.advance(Duration::from_hours(25));
        let settings = settings(folder.to_str().unwrap(), &["--sandboxes", "1000"]);
        let sandbox = Sandbox::open(settings, clock, Randomness::from_os()).await.unwrap();
        sandbox.server.sandboxes.delete_orphans().await.unwrap();
        sandbox.close(Duration::from_secs(5)).await;
    });
}

#[test]
fn a_server_that_is_killed_while_sandboxes_are_made_and_removed_leaves_each_whole_or_not_there() {
    // More where making one takes longer.
    const ROUNDS: std::ops::Range<u64> = 6..40;
    let folder = tempfile::tempdir().unwrap();
    let mut options = test_store::options(folder.path());
    options.extend(["--sandboxes".to_owned(), "1000".to_owned()]);
    let answered = Mutex::new(Answered::default());
    let are_enough = |answered: &Answered| answered.made.len() > 10 && answered.removed.len() > 5;
    for round in 0..ROUNDS.end {
        if round >= ROUNDS.start && are_enough(&answered.lock().unwrap()) {
            break;
        }
        let server = Server::start_on(&options);
        let mut rng = ChaCha12Rng::seed_from_u64(round);
        // The first one takes longer: its data is made.
        let began = Instant::now();
        make(&server, &format!("first-{round}"));
        assert_eq!(console(&server, "DELETE", &format!("/sandboxes/first-{round}"), None).status, 204);
        let took = began.elapsed();
        let address = server.console.clone();
        thread::scope(|scope| {
            for who in 0..4 {
                let (address, answered) = (&address, &answered);
                scope.spawn(move || make_and_remove(address, &format!("r{round}-{who}"), answered));
            }
            // Later on a busy machine, where each takes longer.
            thread::sleep(took.mul_f64(rng.random_range(0.05..2.0)));
            drop(server);
        });
    }

    let server = Server::start_on(&options);
    let answered = answered.into_inner().unwrap();
    assert!(are_enough(&answered), "too few were made and removed");
    let found = check(&server, &answered);
    check_are_whole(&server, &found);
    drop(server);

    clean_up(folder.path());
    assert_eq!(ids_in(folder.path()).len(), found.len(), "nothing is left of the others");
    let server = Server::start_on(&options);
    assert_eq!(names(&server), found);
}

#[test]
fn on_a_full_disk_no_sandbox_is_made_and_nothing_is_left_of_it() {
    // Always on SQLite: PostgreSQL does not use the server's disk.
    let folder = tempfile::tempdir().unwrap();
    let options = ["--data-dir".to_owned(), folder.path().to_str().unwrap().to_owned()];
    let made = {
        let server = Server::start_on(&options);
        make(&server, "before");
        names(&server)
    };
    // Nothing is left in the write-ahead log of `main`, so that only a sandbox needs more room than there is.
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut settings = settings(folder.path().to_str().unwrap(), &[]);
        settings.store.database = DatabaseSettings::default();
        let sandbox = Sandbox::open(settings, Clock::system(), Randomness::from_os()).await.unwrap();
        sandbox.close(Duration::from_secs(5)).await;
    });
    {
        let server = Server::start_with_disk_of(300_000, &options);
        for _ in 0..2 {
            let full = console(&server, "POST", "/sandboxes", Some(&json!({"name": "pr-12"})));
            let sentence = "There is no room on the server's disk. Nothing was made.";
            assert_eq!((full.status, &full.body["error"]), (507, &json!(sentence)), "{}", full.body);
        }
        assert_eq!(names(&server), made);
        assert_eq!(ids_in(folder.path()).len(), made.len(), "nothing is left of it");
        let token = sign_in(&server, "before");
        assert_eq!(pending(&server, "before", &token).len(), 24);
    }
    let server = Server::start_on(&options);
    make(&server, "pr-12");
    let token = sign_in(&server, "pr-12");
    assert_eq!(pending(&server, "pr-12", &token).len(), 24);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_raises_the_number_of_files_that_it_may_have_open() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with_files(1024, &test_store::options(folder.path()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<Option<u64>> =
        line.split_whitespace().skip(3).take(2).map(|number| number.parse().ok()).collect();
    let [soft, hard] = numbers[..] else { unreachable!("{line}") };
    assert_eq!(soft, Some(hard.map_or(16_000, |hard| hard.min(16_000))), "{line}");
}
