use std::time::Duration;

use axum::http::StatusCode;
use futures::future::join_all;
use mkopo::{database::Connection, error::Failure};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    store,
    test_app::{TestApp, waiting},
};

/// A write that can be counted.
async fn move_on(connection: &mut Connection) -> Result<(), sqlx::Error> {
    mkopo::database::query("UPDATE version SET value = value + 1 WHERE name = 'sessions'")
        .execute(connection)
        .await?;
    Ok(())
}

/// Runs one statement in a transaction of its own.
async fn write(app: &TestApp, sql: &'static str) -> Result<(), Failure> {
    app.sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                connection.command(sql).await?;
                Ok(())
            })
        })
        .await
}

async fn moves(app: &TestApp) -> i64 {
    mkopo::database::query_scalar("SELECT value FROM version WHERE name = 'sessions'")
        .fetch_one(&mut app.sandbox.database.read().await.unwrap())
        .await
        .unwrap()
}

/// Keeps the writer busy until told otherwise.
async fn occupy_writer(app: &TestApp) -> oneshot::Sender<()> {
    let (free, freed) = oneshot::channel::<()>();
    let (occupied, is_occupied) = oneshot::channel();
    let database = app.sandbox.database.clone();
    tokio::spawn(async move {
        database
            .write(move |_: &mut Connection| {
                Box::pin(async move {
                    occupied.send(()).unwrap();
                    _ = freed.await;
                    Ok(())
                })
            })
            .await
    });
    is_occupied.await.unwrap();
    free
}

#[tokio::test]
async fn a_full_disk_is_a_failure_that_leaves_no_trace() {
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loans: Vec<&Value> = waiting(&pending).collect();
    // As large as it is, and not one page more; then every free page is used up.
    write(&app, "CREATE TABLE filler (data BLOB) STRICT").await.unwrap();
    write(&app, "PRAGMA max_page_count = 1").await.unwrap();
    while write(&app, "INSERT INTO filler VALUES (zeroblob(3000))").await.is_ok() {}

    let answers = join_all(loans.iter().map(|loan| agent.disburse(loan))).await;
    let mut refused = 0;
    for (loan, answer) in loans.iter().zip(&answers) {
        let records = agent.records_of(loan).await;
        match answer.status {
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
    app.assert_every_shilling_is_accounted_for().await;

    write(&app, "PRAGMA max_page_count = 1000000").await.unwrap();
    app.later(Duration::from_mins(5)).await;
    for loan in loans {
        if agent.records_of(loan).await.first().is_none_or(|record| record["status"] == "FAILED") {
            assert_eq!(agent.disburse(loan).await.status, StatusCode::OK);
        }
        assert_eq!(agent.records_of(loan).await[0]["status"], "COMPLETED");
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_panic_in_a_piece_of_work_undoes_it_alone() {
    let app = TestApp::start().await;
    let before = moves(&app).await;
    let free = occupy_writer(&app).await;
    let panics = app.sandbox.database.write(move |connection: &mut Connection| {
        Box::pin(async move {
            move_on(connection).await?;
            assert!(before < 0, "a fault of the program");
            Ok(())
        })
    });
    let works = app
        .sandbox
        .database
        .write(|connection: &mut Connection| Box::pin(async move { Ok(move_on(connection).await?) }));
    let together = async {
        tokio::task::yield_now().await;
        free.send(()).unwrap();
    };
    let (panicked, worked, ()) = tokio::join!(panics, works, together);
    assert!(matches!(panicked, Err(Failure::Internal(_))), "{panicked:?}");
    worked.unwrap();
    assert_eq!(moves(&app).await, before + 1);
}

#[tokio::test]
async fn when_a_commit_fails_everybody_in_it_hears_that_nothing_was_done() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap();
    let before = moves(&app).await;
    let free = occupy_writer(&app).await;
    // The reference to nothing is looked at when the commit comes.
    let owes_reference = if store::is_postgres() {
        "CREATE TABLE debt (staff_id TEXT REFERENCES staff (staff_id) DEFERRABLE INITIALLY DEFERRED);
         INSERT INTO debt (staff_id) VALUES ('nobody')"
    } else {
        "PRAGMA defer_foreign_keys = ON;
         INSERT INTO session (session_id, staff_id, created_at, expires_at) VALUES ('x', 'nobody', 0, 0)"
    };
    let breaks_commit = write(&app, owes_reference);
    let (broken, paid, ()) = tokio::join!(breaks_commit, agent.disburse_with_key(loan, "key"), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        free.send(()).unwrap();
    });
    assert!(matches!(broken, Err(Failure::Busy)), "{broken:?}");
    assert_eq!((paid.failure().0, paid.failure().1.as_str()), (503, "busy"));
    assert_eq!(paid.headers["retry-after"], "1");
    assert_eq!(agent.records_of(loan).await.len(), 0);
    assert_eq!(moves(&app).await, before);

    let again = agent.disburse_with_key(loan, "key").await;
    assert_eq!((again.status, again.is_replay()), (StatusCode::OK, false));
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn when_too_much_waits_calls_are_told_to_come_again_and_nothing_is_done_for_them() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap();
    let free = occupy_writer(&app).await;
    let database = &app.sandbox.database;
    let touch = || database.write(|_: &mut Connection| Box::pin(async { Ok(()) }));
    let crowd = async { join_all((0..1500).map(|_| touch())).await };
    let latecomer = async {
        tokio::task::yield_now().await;
        let answer = agent.disburse(loan).await;
        free.send(()).unwrap();
        answer
    };
    let (crowd, refused) = tokio::join!(crowd, latecomer);
    let turned_away = crowd.iter().filter(|done| matches!(done, Err(Failure::Busy))).count();
    assert!((476..=480).contains(&turned_away), "{turned_away}");
    assert_eq!(refused.failure().1, "busy");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(agent.records_of(loan).await.len(), 0);
    assert_eq!(agent.disburse(loan).await.status, StatusCode::OK);
}

#[tokio::test]
async fn work_that_carries_on_what_was_accepted_waits_instead_of_being_turned_away() {
    let app = TestApp::start().await;
    let free = occupy_writer(&app).await;
    let database = &app.sandbox.database;
    let crowd = join_all((0..1500).map(|_| database.write(|_: &mut Connection| Box::pin(async { Ok(()) }))));
    let accepted = async {
        tokio::task::yield_now().await;
        tokio::join!(database.write_in_turn(|_: &mut Connection| Box::pin(async { Ok(7) })), async {
            tokio::task::yield_now().await;
            free.send(()).unwrap();
        })
        .0
    };
    let (_, accepted) = tokio::join!(crowd, accepted);
    assert_eq!(accepted.unwrap(), 7);
}

#[tokio::test]
async fn closing_does_what_waits_and_turns_away_what_comes_after() {
    let app = TestApp::start().await;
    let before = moves(&app).await;
    let free = occupy_writer(&app).await;
    let move_on = || {
        app.sandbox
            .database
            .write(|connection: &mut Connection| Box::pin(async move { Ok(move_on(connection).await?) }))
    };
    let close = async {
        tokio::task::yield_now().await;
        tokio::join!(app.sandbox.database.close(), async {
            tokio::task::yield_now().await;
            free.send(()).unwrap();
        });
        move_on().await
    };
    let (waited, late) = tokio::join!(move_on(), close);
    waited.unwrap();
    assert!(matches!(late, Err(Failure::Busy)), "{late:?}");
    let app = app.restart().await;
    assert_eq!(moves(&app).await, before + 1);
}
