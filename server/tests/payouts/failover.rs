//! Three servers on a PostgreSQL cluster that fails over again and again while clients pay loans out, also where the
//! servers' clocks differ. The cluster, with Patroni, etcd and `HAProxy`, is started on this machine
//! (`tools/machine/cluster`).

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
    crash::{self, Answers, Lost, fill, while_paying},
    number,
    server::Server,
    servers::{
        CLOCKS_OFF_BY, SERVERS, addresses, beside, console, options_of, run, settings_of, wait_until_ready,
        wait_until_settled, watch_pending,
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
    let hit = || {
        thread::sleep(Duration::from_secs(2));
        cluster.hit(fault);
        thread::sleep(Duration::from_secs(2));
    };
    while_paying(&addresses(servers), CALLERS, Duration::from_millis(100), answers, || {
        beside(|is_over| watch_gaps(answers, is_over), hit).0
    })
}

/// The offsets of the clocks of the servers' machines.
type Clocks = [&'static str; SERVERS];

const RIGHT_CLOCKS: Clocks = ["+0"; SERVERS];

fn fail_over_repeatedly(is_synchronous: bool, clocks: Clocks) {
    let rounds: usize = number("MKOPO_TEST_FAILOVERS").unwrap_or(28).try_into().unwrap();
    let cluster = Cluster::start(is_synchronous);
    fill(cluster.settings(), rounds * LOANS_A_ROUND);
    let start = |offset| Server::start_with_clock_off_by(offset, &options_of(&cluster.folder, &cluster.url));
    let servers: Vec<Server> = clocks.into_iter().map(start).collect();
    console(&servers[0], "PUT", "/scenario", Some(&json!({ "latency_ms": LATENCY_MS })));
    let answers = Mutex::new(Answers::default());
    let mut gaps: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let (slowest, ()) = watch_pending(&cluster.url, || {
        for round in 0..rounds {
            let fault = FAULTS[round % FAULTS.len()];
            gaps.entry(fault).or_default().push(pay_and_hit(&cluster, &servers, fault, &answers));
        }
        wait_until_ready(&servers);
        wait_until_settled(&servers[1]);
    });
    let answers = answers.into_inner().unwrap();
    println!(
        "{rounds} rounds, synchronous: {is_synchronous}, clocks off by {clocks:?}: {answers}, the slowest settled in \
         {slowest:?}"
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

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_with_synchronous_replication_loses_nothing_and_pays_nothing_twice() {
    fail_over_repeatedly(true, RIGHT_CLOCKS);
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_without_synchronous_replication_pays_nothing_twice_by_its_own_books() {
    fail_over_repeatedly(false, RIGHT_CLOCKS);
}

#[test]
#[ignore = "needs a cluster, and takes half a minute a round"]
fn a_cluster_whose_servers_clocks_differ_loses_nothing_and_pays_nothing_twice() {
    fail_over_repeatedly(true, CLOCKS_OFF_BY);
}
