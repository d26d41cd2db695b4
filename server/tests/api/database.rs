use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use axum::http::{Method, StatusCode};
use base::error::Failure;
use futures::{FutureExt, future::join_all};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection, SqliteConnection};
use store::{Connection, Database};

use crate::{
    test_app::{Listener, TestApp, request, wait_until, waiting},
    test_store,
};

/// A write that increments a counter.
async fn increment(connection: &mut Connection) -> Result<(), sqlx::Error> {
    store::query("UPDATE clock_setting SET offset_ms = offset_ms + 1").run(connection).await
}

/// The counter.
async fn count(app: &TestApp) -> i64 {
    app.count("SELECT offset_ms FROM clock_setting").await
}

/// Waits until `count` writes are queued.
async fn until_waiting(app: &TestApp, count: usize) {
    wait_until("writes wait", async || app.sandbox.database.load().writes_waiting >= count).await;
}

#[tokio::test]
async fn a_full_disk_is_a_failure_without_side_effects() {
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loans: Vec<&Value> = waiting(&pending).collect();
    // The file can't grow, and all free pages are used.
    app.write("CREATE TABLE filler (data BLOB) STRICT").await.unwrap();
    app.write("PRAGMA max_page_count = 1").await.unwrap();
    while app.write("INSERT INTO filler (data) VALUES (zeroblob(3000))").await.is_ok() {}

    let answers = join_all(loans.iter().map(|loan| agent.disburse(loan))).await;
    let mut refused = 0;
    for (loan, answer) in loans.iter().zip(&answers) {
        let records = agent.records_of(loan).await;
        match *answer.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                assert_eq!(answer.failure().1, "busy");
                assert_eq!(records, Vec::<Value>::new());
                refused += 1;
            }
            StatusCode::ACCEPTED => assert_eq!(records[0]["status"], "PENDING"),
            _ => assert_eq!(records[0]["status"], "COMPLETED"),
        }
    }
    assert!(refused > 0, "the disk was not full");
    assert_eq!(app.get("/readyz").await.status, 503);
    app.assert_every_shilling_is_accounted_for().await;

    app.write("PRAGMA max_page_count = 1000000").await.unwrap();
    app.later(Duration::from_mins(5)).await;
    for loan in loans {
        if agent.records_of(loan).await.first().is_none_or(|record| record["status"] == "FAILED") {
            assert_eq!(agent.disburse(loan).await.status, 200);
        }
        assert_eq!(agent.records_of(loan).await[0]["status"], "COMPLETED");
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_server_whose_payouts_have_no_room_on_the_disk_is_not_ready_on_postgresql() {
    const FULL: &str = "
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'no space left on device' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON payout FOR EACH ROW EXECUTE FUNCTION full_disk()";
    let (app, agent) = TestApp::start_for("agent").await;
    let loan = waiting(&agent.pending().await).next().unwrap().clone();
    let is_ready = async || app.get("/readyz").await.status == 200;
    app.write(FULL).await.unwrap();
    assert!(is_ready().await);
    assert_eq!(agent.disburse(&loan).await.status, 503);
    wait_until("not ready", async || !is_ready().await).await;
}

#[tokio::test]
async fn a_start_waits_longer_than_a_call_for_a_program_that_has_locked_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mkopo.db");
    Database::open(&file).await.unwrap().close().await;
    let mut other = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let copied = async {
        tokio::time::sleep(Duration::from_secs(6)).await;
        other.close().await.unwrap();
    };
    let (opened, ()) = tokio::join!(Database::open(&file), copied);
    let wait = async |connection: &mut Connection| {
        Ok(store::query_scalar("PRAGMA busy_timeout").fetch_one(connection).await?)
    };
    let wait: i64 = opened.unwrap().write(wait).await.unwrap();
    assert_eq!(wait, 5000);
}

// S-14
#[tokio::test]
async fn a_panic_in_a_write_rolls_back_only_that_write() {
    let app = TestApp::start().await;
    let before = count(&app).await;
    let free = app.occupy_writer().await;
    let panics = app.sandbox.database.write(async move |connection: &mut Connection| {
        increment(connection).await?;
        assert!(before < 0, "a bug");
        Ok(())
    });
    let works =
        app.sandbox.database.write(async move |connection: &mut Connection| Ok(increment(connection).await?));
    let together = async {
        until_waiting(&app, 2).await;
        free.send(()).unwrap();
    };
    let panics = AssertUnwindSafe(panics).catch_unwind();
    let (panicked, worked, ()) = tokio::join!(panics, works, together);
    assert!(panicked.is_err());
    worked.unwrap();
    assert_eq!(count(&app).await, before + 1);
}

// S-14
#[tokio::test]
async fn a_write_whose_caller_is_gone_is_rolled_back_and_a_commit_is_finished() {
    let app = TestApp::start().await;
    let before = count(&app).await;
    let mut transaction = app.sandbox.database.begin().await.unwrap();
    increment(&mut transaction).await.unwrap();
    drop(transaction);
    let mut transaction = app.sandbox.database.begin().await.unwrap();
    increment(&mut transaction).await.unwrap();
    {
        let mut commit = Box::pin(transaction.commit());
        assert!(futures::poll!(&mut commit).is_pending());
    }
    // Comes after both.
    app.write("SELECT 1").await.unwrap();
    assert_eq!(count(&app).await, before + 1);
}

/// On a full disk, for example, it calls what is missing an internal error.
#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_connection_that_is_refused_can_be_tried_again_whatever_the_reason_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let url = test_store::url(folder.path()).unwrap();
    let (_, database) = url.rsplit_once('/').unwrap();
    test_store::administer("DROP ROLE IF EXISTS shut_out");
    test_store::administer("CREATE ROLE shut_out LOGIN");
    test_store::administer(&format!("REVOKE CONNECT ON DATABASE {database} FROM PUBLIC"));
    let error = PgConnection::connect(&url.replace("mkopo@", "shut_out@")).await.unwrap_err();
    let failure = Failure::from(error);
    assert!(matches!(failure, Failure::Unavailable(_)), "{failure:?}");
}

/// If each waited by itself, the last of them would wait for ten seconds.
#[tokio::test]
async fn while_the_file_is_locked_all_writes_that_wait_fail_together() {
    let app = TestApp::start_on_file().await;
    app.write("PRAGMA busy_timeout = 500").await.unwrap();
    let file = app.data_dir().join("mkopo.db");
    let mut other = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let began = Instant::now();
    let writes = join_all((0..20).map(|_| app.write("SELECT 1"))).await;
    assert!(writes.iter().all(|done| matches!(done, Err(Failure::Unavailable(_)))), "{writes:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    other.close().await.unwrap();
    app.write("SELECT 1").await.unwrap();
}

// S-14, S-109
#[tokio::test]
async fn when_a_commit_fails_all_its_callers_learn_that_nothing_was_done() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let calls: Vec<(&Value, &str)> = waiting(&pending).zip(["one", "two", "three"]).collect();
    // The invalid reference is only checked at commit.
    app.write("CREATE TABLE debt (staff_id TEXT REFERENCES staff (staff_id) DEFERRABLE INITIALLY DEFERRED)")
        .await
        .unwrap();
    let (breaks_commit, undo) = if test_store::is_postgres() {
        let trigger = "
            CREATE FUNCTION owe() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN INSERT INTO debt (staff_id) VALUES (''nobody''); RETURN NULL; END';
            CREATE TRIGGER owe AFTER INSERT ON payout EXECUTE FUNCTION owe()";
        (trigger, "DROP TRIGGER owe ON payout")
    } else {
        let trigger = "CREATE TRIGGER owe AFTER INSERT ON payout BEGIN INSERT INTO debt (staff_id) VALUES ('nobody'); END";
        (trigger, "DROP TRIGGER owe")
    };
    app.write(breaks_commit).await.unwrap();
    let pay = |(loan, key)| agent.disburse_with_key(loan, key);
    let refused = join_all(calls.iter().copied().map(pay)).await;
    for ((loan, _), answer) in calls.iter().zip(refused) {
        assert_eq!(answer.kind(), "503 busy");
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(agent.records_of(loan).await.len(), 0);
    }

    app.write(undo).await.unwrap();
    for again in join_all(calls.into_iter().map(pay)).await {
        assert_eq!(again.status, 200);
        assert!(!again.is_replay());
    }
    app.assert_every_shilling_is_accounted_for().await;
}

// S-95
#[tokio::test]
async fn when_the_queue_is_full_calls_fail_as_busy_and_nothing_is_done() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let free = app.occupy_writer().await;
    let database = &app.sandbox.database;
    let touch = || database.write(async |_: &mut Connection| Ok(()));
    let crowd = async { join_all((0..1500).map(|_| touch())).await };
    let latecomer = async {
        tokio::task::yield_now().await;
        let answer = agent.disburse(&loan).await;
        free.send(()).unwrap();
        answer
    };
    let (crowd, refused) = tokio::join!(crowd, latecomer);
    let rejected = crowd.iter().filter(|done| matches!(done, Err(Failure::Busy))).count();
    assert!((476..=480).contains(&rejected), "{rejected}");
    assert_eq!(refused.failure().1, "busy");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(agent.records_of(&loan).await.len(), 0);
    assert_eq!(agent.disburse(&loan).await.status, 200);
}

#[tokio::test]
async fn work_that_continues_an_accepted_call_waits_instead_of_being_rejected() {
    let app = TestApp::start().await;
    let free = app.occupy_writer().await;
    let database = &app.sandbox.database;
    let crowd = join_all((0..1500).map(|_| database.write(async |_: &mut Connection| Ok(()))));
    let accepted = async {
        tokio::task::yield_now().await;
        tokio::join!(database.write_in_turn(async |_: &mut Connection| { Ok(7) }), async {
            tokio::task::yield_now().await;
            free.send(()).unwrap();
        })
        .0
    };
    let (_, accepted) = tokio::join!(crowd, accepted);
    assert_eq!(accepted.unwrap(), 7);
}

#[tokio::test]
async fn closing_finishes_queued_writes_and_rejects_later_ones() {
    let app = TestApp::start().await;
    let before = count(&app).await;
    let free = app.occupy_writer().await;
    let increment = || {
        app.sandbox.database.write(async move |connection: &mut Connection| Ok(increment(connection).await?))
    };
    let close = async {
        tokio::task::yield_now().await;
        tokio::join!(app.sandbox.database.close(), async {
            tokio::task::yield_now().await;
            free.send(()).unwrap();
        });
        increment().await
    };
    let (waited, late) = tokio::join!(increment(), close);
    waited.unwrap();
    assert!(matches!(late, Err(Failure::Busy)), "{late:?}");
    let app = app.restart().await;
    assert_eq!(count(&app).await, before + 1);
}

#[tokio::test]
async fn closing_leaves_no_connection_open() {
    // One that is left open for a moment rarely outlasts the others: only where many files are closed at once.
    let closings = (0..6).map(async |_| {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..16 {
            let database = Database::open(&folder.path().join("mkopo.db")).await.unwrap();
            for reader in join_all((0..8).map(|_| database.read())).await {
                store::query_scalar::<Option<i64>>("SELECT max(at) FROM event")
                    .fetch_one(&mut reader.unwrap())
                    .await
                    .unwrap();
            }
            database.close().await;
            // The last one deletes the log.
            assert!(!folder.path().join("mkopo.db-wal").exists());
        }
    });
    join_all(closings).await;
}

#[tokio::test]
async fn a_test_shows_what_caused_a_500() {
    let app = TestApp::start().await;
    let token = app.sign_in("agent").await.token().to_owned();
    app.write("ALTER TABLE customer RENAME TO renamed").await.unwrap();
    let pending = request(Method::GET, "/api/v1/disbursements/pending", Some(&token), None);
    let answer = app.send_to(Listener::Portal, pending).await;
    assert_eq!(answer.status, 500);
    let shown = answer.status.to_string();
    let call = "GET /api/v1/disbursements/pending";
    for part in ["500 ", call, "Something went wrong", "caused by Storage(", "customer"] {
        assert!(shown.contains(part), "{shown}");
    }
}

/// Processes that stop, as on a machine that hangs, until this is dropped.
struct Hanging(Vec<Pid>);

impl Hanging {
    fn signal(&self, signal: Signal) {
        for process in &self.0 {
            kill_process(*process, signal).unwrap();
        }
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn readers_whose_postgresql_hangs_make_room_for_others_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let database = test_store::open(folder.path()).await;
    let mut readers = Vec::new();
    while let Ok(reader) = database.read_snapshot().await {
        readers.push(reader);
    }
    let mut processes = Vec::new();
    for reader in &mut readers {
        let process: i32 = store::query_scalar("SELECT pg_backend_pid()").fetch_one(reader).await.unwrap();
        processes.push(Pid::from_raw(process).unwrap());
    }
    let hanging = Hanging(processes);
    hanging.signal(Signal::STOP);
    drop(readers);
    wait_until("others read", async || database.read().await.is_ok()).await;
}
