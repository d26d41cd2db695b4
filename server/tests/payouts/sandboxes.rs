//! Sandboxes of real servers: beside several servers on one database, and when servers or PostgreSQL are killed or the
//! server's disk is full.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use base::clock::Clock;
use lending::demo;
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};

use crate::{
    crash,
    server::{Answer, Server, try_call},
    servers::{Cluster, beside, console, wait_until, wait_until_ready},
    test_app::{CONSOLE_TOKEN, disbursement_of, payout_path, settings, waiting},
    test_store,
};

const PENDING: &str = "/api/v1/disbursements/pending";

/// A call of the console of `main`, whose server may be gone.
fn try_console(server: &str, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, ureq::Error> {
    let token = format!("Bearer {CONSOLE_TOKEN}");
    try_call(server, method, &format!("/console/api{path}"), &[("authorization", &token)], body)
}

fn make(server: &Server, name: &str) {
    console(server, "POST", "/sandboxes", Some(&json!({"name": name})));
}

/// The answer to a call that can't make a sandbox.
fn refusal_to_make(server: &Server, name: &str) -> Answer {
    try_console(&server.console, "POST", "/sandboxes", Some(&json!({"name": name}))).unwrap()
}

/// The names of all sandboxes besides `main`.
fn names(server: &Server) -> BTreeSet<String> {
    let list = console(server, "GET", "/sandboxes", None).body;
    let names = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
    names.filter(|name| name != "main").collect()
}

/// A call in a sandbox.
fn call(
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

fn sign_in(server: &Server, sandbox: &str) -> String {
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
    let servers = [1, 2, 3].map(|machine| Server::start_on(&on_machine(machine, &cluster)));
    let [one, two, _] = &servers;
    make(one, "pr-12");
    let token = sign_in(one, "pr-12");
    let loans = pending(one, "pr-12", &token);
    assert_eq!(pay(one, "pr-12", &token, waiting(&loans).next().unwrap()), 200);
    for server in &servers[1..] {
        let elsewhere = call(server, "pr-12", "GET", PENDING, &token, None);
        assert_eq!((elsewhere.status, &elsewhere.body["code"]), (421, &json!("sandbox_elsewhere")));
    }
    // Its name is taken everywhere, and any server removes it.
    assert_eq!(refusal_to_make(two, "pr-12").body["code"], "sandbox_exists");
    console(two, "DELETE", "/sandboxes/pr-12", None);
    wait_until("its server has noticed", Duration::from_secs(20), || {
        call(one, "pr-12", "GET", PENDING, &token, None).status == 404
    });
}

/// The sandboxes that a client has made and removed, as far as it was answered.
#[derive(Default)]
struct Answered {
    made: BTreeSet<String>,
    removed: BTreeSet<String>,
    /// Their removal was not answered.
    unknown: BTreeSet<String>,
}

/// Makes a sandbox. Returns whether that was answered: it was not if the server is gone or can't write.
fn try_make(server: &str, name: &str, answered: &Mutex<Answered>) -> bool {
    let wish = json!({"name": name, "expires_in": "30d", "now": "2026-03-01T09:00:00Z"});
    let is_made = is_done(try_console(server, "POST", "/sandboxes", Some(&wish)), 201);
    if is_made {
        answered.lock().unwrap().made.insert(name.to_owned());
    }
    is_made
}

fn try_remove(server: &str, name: &str, answered: &Mutex<Answered>) {
    answered.lock().unwrap().unknown.insert(name.to_owned());
    if is_done(try_console(server, "DELETE", &format!("/sandboxes/{name}"), None), 204) {
        let mut answered = answered.lock().unwrap();
        answered.unknown.remove(name);
        answered.made.remove(name);
        answered.removed.insert(name.to_owned());
    }
}

/// Returns whether a call was answered with that status: 503, or no answer, if it was not.
fn is_done(answer: Result<Answer, ureq::Error>, status: u16) -> bool {
    let Some(answer) = answer.ok().filter(|answer| answer.status != 503) else { return false };
    assert_eq!(answer.status, status, "{}", answer.body);
    true
}

/// Makes sandboxes, and removes every other one, until `is_over`.
fn make_and_remove(
    server: &str,
    who: &str,
    pause: Duration,
    answered: &Mutex<Answered>,
    is_over: &AtomicBool,
) {
    for number in 0.. {
        let name = format!("{who}-{number}");
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        if try_make(server, &name, answered) && number % 2 == 1 {
            try_remove(server, &name, answered);
        }
        thread::sleep(pause);
    }
}

/// Checks that all sandboxes that were made are there, and that those that were removed are not. Returns their names.
fn check(server: &Server, answered: &Answered) -> BTreeSet<String> {
    let found = names(server);
    let lost: Vec<&String> = answered.made.difference(&found).collect();
    assert!(lost.iter().all(|name| answered.unknown.contains(*name)), "{lost:?} are lost");
    assert!(answered.removed.is_disjoint(&found), "some that were removed are back");
    found
}

/// Checks that new sandboxes have all their data.
fn check_are_whole(server: &Server, names: &BTreeSet<String>) {
    for name in names {
        let token = sign_in(server, name);
        assert_eq!(pending(server, name, &token).len(), 24, "{name}");
    }
}

/// The options of a server on a machine with that number.
fn on_machine(machine: u32, cluster: &Cluster) -> [String; 4] {
    let [data_dir, folder, url, database] = cluster.options();
    [data_dir, format!("{folder}-{machine}"), url, database]
}

/// The options of a server that may have so many sandboxes.
fn with_room_for(sandboxes: u32, options: &[String]) -> Vec<String> {
    [options, &["--sandboxes".to_owned(), sandboxes.to_string()]].concat()
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
        let sandbox = crash::sandbox(settings, clock).await;
        sandbox.server.sandboxes.delete_orphans().await.unwrap();
        sandbox.close(Duration::from_secs(5)).await;
    });
}

#[test]
fn a_server_that_is_killed_while_sandboxes_are_made_and_removed_leaves_each_whole_or_not_there() {
    // More where making one takes longer.
    const ROUNDS: std::ops::Range<u64> = 6..40;
    let folder = tempfile::tempdir().unwrap();
    let options = with_room_for(1000, &test_store::options(folder.path()));
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
        console(&server, "DELETE", &format!("/sandboxes/first-{round}"), None);
        let took = began.elapsed();
        let address = server.console.clone();
        let make_and_remove = |is_over: &AtomicBool| {
            thread::scope(|scope| {
                for who in ["a", "b", "c", "d"].map(|who| format!("r{round}-{who}")) {
                    let (address, answered) = (&address, &answered);
                    scope.spawn(move || make_and_remove(address, &who, Duration::ZERO, answered, is_over));
                }
            });
        };
        beside(make_and_remove, || {
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
#[ignore = "needs PostgreSQL"]
fn when_postgresql_is_killed_sandboxes_are_whole_or_not_there_and_pay_in_the_meantime_on_postgresql() {
    let cluster = Cluster::start();
    let options = with_room_for(9000, &on_machine(1, &cluster));
    let (server, other) = (Server::start_on(&options), Server::start_on(&on_machine(2, &cluster)));
    make(&server, "open");
    let token = sign_in(&server, "open");
    let loans = pending(&server, "open", &token);
    let mut loans = waiting(&loans);
    let answered = Mutex::new(Answered::default());
    let pause = Duration::from_millis(50);
    beside(
        |is_over| make_and_remove(&server.console, "made", pause, &answered, is_over),
        || {
            for _ in 0..5 {
                let before = answered.lock().unwrap().removed.len();
                wait_until("some are made and removed", Duration::from_secs(30), || {
                    answered.lock().unwrap().removed.len() > before + 3
                });
                cluster.stop("immediate");
                let paid = pay(&server, "open", &token, loans.next().unwrap());
                // Accepted, on a machine that is very busy.
                assert!(matches!(paid, 200 | 202), "{paid}");
                // Another server says where the sandbox is not, or that it can't know.
                let elsewhere = call(&other, "open", "GET", PENDING, &token, None).status;
                assert!(matches!(elsewhere, 421 | 503), "{elsewhere}");
                cluster.start_again();
                wait_until_ready([&server]);
            }
        },
    );
    drop(server);
    let server = Server::start_on(&options);
    let mut found = check(&server, &answered.into_inner().unwrap());
    assert!(found.remove("open"));
    check_are_whole(&server, &found);
}

#[test]
fn on_a_full_disk_no_sandbox_is_made_and_nothing_is_left_of_it() {
    // PostgreSQL does not use the server's disk.
    if test_store::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = test_store::options(folder.path());
    let made = {
        let server = Server::start_on(&options);
        make(&server, "before");
        names(&server)
    };
    // Nothing is left in the write-ahead log of `main`, so that only a sandbox needs more room than there is.
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let sandbox = crash::sandbox(crash::settings_of(folder.path()), Clock::system()).await;
        sandbox.close(Duration::from_secs(5)).await;
    });
    {
        let server = Server::start_with_disk_of(300_000, &options);
        for _ in 0..2 {
            let full = refusal_to_make(&server, "pr-12");
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
    let server = Server::start_after("ulimit -Sn 1024", &test_store::options(folder.path()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<Option<u64>> =
        line.split_whitespace().skip(3).take(2).map(|number| number.parse().ok()).collect();
    let [soft, hard] = numbers[..] else { unreachable!("{line}") };
    assert_eq!(soft, Some(hard.map_or(16_000, |hard| hard.min(16_000))), "{line}");
}

#[test]
fn a_server_that_may_open_few_files_keeps_few_sandboxes_open_and_opens_the_others_when_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    // 14 files for each of 17 sandboxes, besides 2,000.
    let server = Server::start_after("ulimit -n 2238", &test_store::options(folder.path()));
    let names: Vec<String> = (1..=24).map(|number| format!("pr-{number}")).collect();
    let tokens: Vec<String> = names
        .iter()
        .map(|name| {
            make(&server, name);
            sign_in(&server, name)
        })
        .collect();
    assert_eq!(pending(&server, "pr-1", &tokens[0]).len(), 24);
    let url = format!("http://{}/metrics", server.console);
    let metrics = ureq::get(url).call().unwrap().body_mut().read_to_string().unwrap();
    let open = metrics.lines().find_map(|line| line.strip_prefix("mkopo_sandboxes_open ")).unwrap();
    // One that works just then stays open, and the scheduler makes room, too.
    assert!((14..=20).contains(&open.parse().unwrap()), "{open}");
}
