//! Three servers on a PostgreSQL cluster that fails over again and again while clients pay loans out. The cluster, with
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

use serde_json::json;
use settings::Settings;
use tempfile::TempDir;

use crate::{
    crash::{self, Answers, Lost, fill, pay_on},
    number,
    server::Server,
    servers::{
        Ended, SERVERS, console, get, options_of, run, settings_of, wait_until, wait_until_settled,
        watch_pending,
    },
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
        let folder = tempfile::tempdir().unwrap();
        let mode = if is_synchronous { "sync" } else { "async" };
        let url = run("cluster", &["start", folder.path().to_str().unwrap(), mode]);
        Self { folder, url }
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

fn fail_over_repeatedly(rounds: usize, is_synchronous: bool) {
    let cluster = Cluster::start(is_synchronous);
    fill(cluster.settings(), rounds * LOANS_A_ROUND);
    let servers: Vec<Server> =
        (0..SERVERS).map(|_| Server::start_on(&options_of(&cluster.folder, &cluster.url))).collect();
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
        "{rounds} rounds, synchronous: {is_synchronous}: {} asked, {} paid and answered, {} failed, the slowest \
         settled in {} ms",
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
    fail_over_repeatedly(rounds(), true);
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_without_synchronous_replication_pays_nothing_twice_by_its_own_books() {
    fail_over_repeatedly(rounds(), false);
}
