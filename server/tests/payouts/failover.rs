//! Three servers on a PostgreSQL cluster that fails over again and again while clients pay loans out, also where the
//! servers' clocks differ, and in sandboxes. The cluster, with
//! Patroni, etcd and `HAProxy`, is started on this machine (`tools/machine/cluster`).

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use settings::Settings;
use tempfile::TempDir;

use crate::{
    crash::{self, Answers, Lost, fill, pay_on},
    number,
    sandboxes::{self, Answered, try_make, try_remove},
    server::{Server, try_call},
    servers::{
        CLOCKS_OFF_BY, Ended, SERVERS, console, get, options_of, run, settings_of, wait_until,
        wait_until_settled, watch_pending,
    },
    test_app::{CONSOLE_TOKEN, disbursement_of, payout_path},
};

const FAULTS: [&str; 6] = ["member", "postgres", "hang", "switchover", "haproxy", "etcd"];

/// Enough for some 40 payouts a second, with [`LATENCY_MS`].
const CALLERS: usize = 36;
const LATENCY_MS: u32 = 800;

/// More than are paid in a round.
const LOANS_A_ROUND: usize = 4000;

/// The longest that a payout may be PENDING: a lease of 20 s passes before a member that hangs is replaced.
const LONGEST_PENDING: Duration = Duration::from_mins(1);

/// A cluster of this test.
struct Cluster {
    folder: TempDir,
    url: String,
}

impl Cluster {
    fn start(is_synchronous: bool) -> Self {
        // If it does not start, what did is stopped.
        let mut cluster = Self { folder: tempfile::tempdir().unwrap(), url: String::new() };
        let mode = if is_synchronous { "sync" } else { "async" };
        cluster.url = run("cluster", &["start", cluster.folder.path().to_str().unwrap(), mode]);
        cluster
    }

    fn hit(&self, fault: &str) {
        run("cluster", &["hit", self.folder.path().to_str().unwrap(), fault]);
    }

    fn settings(&self) -> Settings {
        settings_of(&self.folder, &self.url)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        run("cluster", &["stop", self.folder.path().to_str().unwrap()]);
    }
}

/// The longest time without a paid loan, until `is_over`.
fn watch_gaps(answers: &Mutex<Answers>, is_over: &AtomicBool) -> Duration {
    let count = || answers.lock().unwrap().paid.len();
    let (mut paid, mut since, mut longest) = (count(), Instant::now(), Duration::ZERO);
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
        if count() != paid {
            (paid, since) = (count(), Instant::now());
        }
        longest = longest.max(since.elapsed());
    }
    longest
}

/// Pays through all servers while the cluster is hit, and returns the longest time without a paid loan.
fn pay_and_hit(cluster: &Cluster, servers: &[Server], fault: &str, answers: &Mutex<Answers>) -> Duration {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let ended = Ended(&is_over);
        for caller in 0..CALLERS {
            let (address, is_over) = (&servers[caller % SERVERS].address, &is_over);
            scope.spawn(move || pay_on(address, answers, is_over, Duration::from_millis(100)));
        }
        let watching = scope.spawn(|| watch_gaps(answers, &is_over));
        thread::sleep(Duration::from_secs(2));
        cluster.hit(fault);
        thread::sleep(Duration::from_secs(2));
        drop(ended);
        watching.join().unwrap()
    })
}

/// The offsets of the clocks of the servers' machines.
type Clocks = [&'static str; SERVERS];

const RIGHT_CLOCKS: Clocks = ["+0"; SERVERS];

fn fail_over_repeatedly(rounds: usize, is_synchronous: bool, clocks: Clocks) {
    let cluster = Cluster::start(is_synchronous);
    fill(cluster.settings(), rounds * LOANS_A_ROUND);
    let start = |offset| Server::start_with_clock_off_by(offset, &options_of(&cluster.folder, &cluster.url));
    let servers: Vec<Server> = clocks.into_iter().map(start).collect();
    console(&servers[0], "PUT", "/scenario", Some(&json!({ "latency_ms": LATENCY_MS })));
    let (answers, is_over) = (Mutex::new(Answers::default()), AtomicBool::new(false));
    let mut gaps: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let slowest = thread::scope(|scope| {
        let watching = scope.spawn(|| watch_pending(&cluster.url, &is_over));
        let ended = Ended(&is_over);
        for round in 0..rounds {
            let fault = FAULTS[round % FAULTS.len()];
            gaps.entry(fault).or_default().push(pay_and_hit(&cluster, &servers, fault, &answers));
        }
        wait_until("ready", Duration::from_secs(30), || {
            servers.iter().all(|server| get(server, "/readyz", "").status == 200)
        });
        wait_until_settled(&servers[1]);
        drop(ended);
        watching.join().unwrap()
    });
    let answers = answers.into_inner().unwrap();
    println!(
        "{rounds} rounds, synchronous: {is_synchronous}, clocks off by {clocks:?}: {} asked, {} paid and answered, \
         {} failed, the slowest settled in {} ms",
        answers.asked,
        answers.paid.len(),
        answers.failed,
        slowest.as_millis()
    );
    for (fault, gaps) in gaps {
        println!("{fault}: the longest times without a paid loan: {gaps:.1?}");
    }
    assert!(answers.paid.len() > 10 * rounds, "{} paid only", answers.paid.len());
    drop(servers);
    // Without synchronous replication, the last commits before a failover may be lost: claims with their payments.
    crash::check(cluster.settings(), &answers, if is_synchronous { Lost::Nothing } else { Lost::TheLast });
    assert!(slowest <= LONGEST_PENDING, "a payout was PENDING for {slowest:?}");
}

fn rounds() -> usize {
    number("MKOPO_TEST_FAILOVERS").unwrap_or(28).try_into().unwrap()
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_with_synchronous_replication_loses_nothing_and_pays_nothing_twice() {
    fail_over_repeatedly(rounds(), true, RIGHT_CLOCKS);
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_without_synchronous_replication_pays_nothing_twice_by_its_own_books() {
    fail_over_repeatedly(rounds(), false, RIGHT_CLOCKS);
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_whose_servers_clocks_differ_loses_nothing_and_pays_nothing_twice() {
    fail_over_repeatedly(rounds(), true, CLOCKS_OFF_BY);
}

/// The number of sandboxes in which loans are paid at once.
const PAID_IN: usize = 4;

/// More than are paid in a sandbox in a round.
const APPROVED_A_ROUND: usize = 125;

/// Approves loans in a sandbox, and returns them with the token of an agent.
fn approve_in(server: &Server, name: &str) -> (String, Vec<Value>) {
    let operator = format!("Bearer {CONSOLE_TOKEN}");
    let headers = [("mkopo-sandbox", name), ("authorization", operator.as_str())];
    let wish = json!({"count": APPROVED_A_ROUND, "loan": {"total_loan_amount": 1000}});
    let mut loans = Vec::new();
    for _ in 0..rounds() {
        let approved =
            try_call(&server.console, "POST", "/console/api/loans", &headers, Some(&wish)).unwrap();
        loans.extend(approved.body.as_array().unwrap().iter().cloned());
    }
    (sandboxes::sign_in(server, name), loans)
}

/// Pays loans in a sandbox, one after the other, until `is_over`. One that is open needs nothing of the cluster. Returns
/// how many were paid.
fn pay_in(server: &Server, name: &str, token: &str, loans: &[Value], is_over: &AtomicBool) -> usize {
    let mut paid = 0;
    for loan in loans.iter().take_while(|_| !is_over.load(Ordering::Relaxed)) {
        let (path, body) = (payout_path(loan), disbursement_of(loan));
        let answer = sandboxes::call(server, name, "POST", &path, token, Some(&body));
        // Accepted, on a machine that is very busy.
        assert!(matches!(answer.status, 200 | 202), "{name}: {} {}", answer.status, answer.body);
        paid += 1;
        thread::sleep(Duration::from_millis(250));
    }
    paid
}

/// Makes sandboxes and removes nine of ten, until `is_over`.
fn make_and_remove(server: &Server, who: usize, answered: &Mutex<Answered>, is_over: &AtomicBool) {
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let name = format!("made-{who}-{number}");
        if try_make(&server.console, &name, answered) && number % 10 != 0 {
            try_remove(&server.console, &name, answered);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Asks another server for a sandbox until `is_over`: it says where it is not, or that it can't know.
fn ask_elsewhere(server: &Server, name: &str, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let answer = sandboxes::call(server, name, "GET", "/api/v1/auth/me", "", None);
        assert!(matches!(answer.status, 421 | 503), "{} {}", answer.status, answer.body);
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn sandboxes_over_failovers_are_whole_or_not_there_and_pay_nothing_twice() {
    let cluster = Cluster::start(true);
    let start = |number: usize| {
        let [data_dir, folder, option, url] = options_of(&cluster.folder, &cluster.url);
        let sandboxes = ["--sandboxes".to_owned(), if number == 0 { "9000" } else { "0" }.to_owned()];
        Server::start_on(&[&[data_dir, format!("{folder}-{number}"), option, url][..], &sandboxes].concat())
    };
    let servers: Vec<Server> = (0..SERVERS).map(start).collect();
    let names: Vec<String> = (0..PAID_IN).map(|number| format!("paid-in-{number}")).collect();
    let approved = names.iter().map(|name| {
        sandboxes::make(&servers[0], name);
        (name, approve_in(&servers[0], name))
    });
    let approved: Vec<(&String, (String, Vec<Value>))> = approved.collect();
    let (answered, is_over) = (Mutex::new(Answered::default()), AtomicBool::new(false));
    let paid: usize = thread::scope(|scope| {
        let ended = Ended(&is_over);
        let (first, answered, is_over) = (&servers[0], &answered, &is_over);
        let paying: Vec<_> = approved
            .iter()
            .map(|(name, (token, loans))| scope.spawn(move || pay_in(first, name, token, loans, is_over)))
            .collect();
        for who in 0..2 {
            scope.spawn(move || make_and_remove(first, who, answered, is_over));
        }
        for server in &servers[1..] {
            let name = &names[0];
            scope.spawn(move || ask_elsewhere(server, name, is_over));
        }
        for round in 0..rounds() {
            cluster.hit(FAULTS[round % FAULTS.len()]);
        }
        drop(ended);
        paying.into_iter().map(|paying| paying.join().unwrap()).sum()
    });
    wait_until("ready", Duration::from_secs(30), || get(&servers[0], "/readyz", "").status == 200);
    let answered = answered.into_inner().unwrap();
    println!(
        "{} rounds: {paid} paid in sandboxes; {} sandboxes left, {} removed, {} removals not answered",
        rounds(),
        answered.made.len(),
        answered.removed.len(),
        answered.unknown.len()
    );
    for name in &names {
        let token = format!("Bearer {CONSOLE_TOKEN}");
        let headers = [("mkopo-sandbox", name.as_str()), ("authorization", &token)];
        let audit = try_call(&servers[0].console, "GET", "/console/api/invariant", &headers, None).unwrap();
        assert_eq!(audit.body["ok"], true, "{}", audit.body);
    }
    drop(servers);
    let again = start(0);
    let mut found = sandboxes::check(&again, &answered);
    assert!(names.iter().all(|name| found.remove(name)), "{found:?}");
    sandboxes::check_are_whole(&again, &found);
}
