//! The disk of PostgreSQL itself is full, and has room again, while clients pay loans out.

use std::{
    fs::{self, File},
    io::Write,
    sync::Mutex,
    thread,
    time::Duration,
};

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::{
    crash::{self, Answers, LOANS, Lost, fill, wait_until_more_are_paid, while_paying},
    number,
    servers::{
        Cluster, addresses, administer, console, options_of, run, start_servers, wait_until,
        wait_until_ready, wait_until_settled, watch_pending,
    },
};

/// Room for an empty cluster, the loans and some log, in MB.
const SIZE_MB: &str = "320";

const CALLERS: usize = 9;

/// The longest that a payout may be PENDING: it is not settled while there is no room.
const LONGEST_PENDING: Duration = Duration::from_mins(1);

/// A small disk of this test.
struct Disk(TempDir);

impl Disk {
    fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run("disk", &["mount", folder.path().to_str().unwrap(), SIZE_MB]);
        Self(folder)
    }

    /// Fills it but for some bytes.
    fn fill(&self, left: u64) {
        let mut file = File::create(self.0.path().join("ballast")).unwrap();
        let (block, mut size) = (vec![1; 1 << 16], 0);
        // The last write is shorter than the others.
        while let Ok(written @ 1..) = file.write(&block) {
            size += written as u64;
        }
        file.set_len(size.saturating_sub(left)).unwrap();
    }

    fn clear(&self) {
        fs::remove_file(self.0.path().join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("disk", &["unmount", self.0.path().to_str().unwrap()]);
    }
}

/// Runs statements that may fail. Returns whether they succeeded.
fn can_run(url: &str, statement: &'static str) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async {
            let mut connection = PgConnection::connect(url).await?;
            sqlx::raw_sql(statement).execute(&mut connection).await
        })
        .is_ok()
}

/// Moves on to another file of the log until there is no room for one, which ends PostgreSQL.
fn fill_the_log(url: &str) {
    const NEXT_FILE: &str = "SELECT pg_create_restore_point('full'); SELECT pg_switch_wal();";
    wait_until("the log is full", Duration::from_secs(20), || !can_run(url, NEXT_FILE));
}

/// Starts PostgreSQL again if it has ended, as whoever has made room does.
fn ensure_runs(cluster: &Cluster) {
    wait_until("it runs again", Duration::from_secs(30), || {
        if !cluster.is_running() {
            cluster.start_again();
        }
        can_run(&cluster.url, "SELECT 1")
    });
}

/// Pays through all servers while, in each round, the disk is filled for two seconds: every other time so that
/// PostgreSQL can't extend a table, and otherwise so that it can't write its log, either.
fn fill_repeatedly(rounds: u32) {
    let disk = Disk::mount();
    let cluster = Cluster::start_in(tempfile::tempdir_in(disk.0.path()).unwrap());
    // It does not fill the disk by itself.
    administer(
        &cluster.url,
        &[
            "ALTER SYSTEM SET min_wal_size = '32MB'",
            "ALTER SYSTEM SET max_wal_size = '64MB'",
            "SELECT pg_reload_conf()",
        ],
    );
    fill(cluster.settings(), LOANS.max(400 * usize::try_from(rounds).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let servers = start_servers(&options_of(&folder, &cluster.url));
    let answers = Mutex::new(Answers::default());
    let refused = || answers.lock().unwrap().refused;
    let hit = || {
        for round in 0..rounds {
            wait_until_more_are_paid(&answers);
            let before = refused();
            disk.fill(if round % 2 == 0 { 16_384 } else { 0 });
            if round % 2 == 1 {
                fill_the_log(&cluster.url);
            }
            wait_until("the disk is full", Duration::from_mins(1), || refused() > before);
            thread::sleep(Duration::from_secs(2));
            disk.clear();
            ensure_runs(&cluster);
            wait_until_ready(&servers);
        }
        wait_until_more_are_paid(&answers);
    };
    let (slowest, ()) = watch_pending(&cluster.url, || {
        while_paying(&addresses(&servers), CALLERS, Duration::from_millis(50), &answers, hit);
    });
    wait_until_settled(&servers[0]);
    assert_eq!(console(&servers[0], "GET", "/invariant", None).body["ok"], true);
    drop(servers);
    let answers = answers.into_inner().unwrap();
    println!("{rounds} times without room: {answers}, the slowest settled in {slowest:?}");
    crash::check(cluster.settings(), &answers, Lost::Nothing);
    assert!(slowest <= LONGEST_PENDING, "a payout was PENDING for {slowest:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_full_disk_loses_nothing_and_pays_nothing_twice_on_postgresql() {
    fill_repeatedly(2);
}

#[test]
#[ignore = "needs PostgreSQL, and takes minutes"]
fn a_disk_of_postgresql_that_is_full_repeatedly_loses_nothing_and_pays_nothing_twice() {
    fill_repeatedly(number("MKOPO_TEST_ROUNDS").unwrap_or(1000).div_ceil(20));
}
