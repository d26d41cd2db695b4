//! Work that stays fast however many rows there are: nothing reads or changes more rows than it needs.

use std::time::Duration;

use axum::http::Method;
use base::clock::UnixMillis;
use lending::{mobile_money::Outcome, outbox};
use serde_json::json;
use store::{Connection, query, query_scalar};

use crate::test_app::TestApp;

const SESSIONS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO session (session_id, staff_id, created_at, expires_at)
    SELECT 'until-' || $2 || '-' || n, staff_id, $2 - 1000, $2
    FROM number, staff WHERE email = 'agent@mkopo.test'";

const KEYS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO idempotency_key
        (staff_id, idempotency_key, fingerprint, request_id, problem, status, body, created_at)
    SELECT staff_id, 'old-' || n, 'f', 'r', FALSE, 404, '{}', $2
    FROM number, staff WHERE email = 'agent@mkopo.test'";

const CODES: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO outbox_message
        (message_id, channel, recipient, subject, body, code, code_expires_at, created_at, next_attempt_at)
    SELECT 'm-' || n, 'email', 'agent@mkopo.test', 'Code', 'It is 123456.', '123456', $2, $2, $2 FROM number";

/// Runs a statement whose values are a number of rows and a time.
async fn add(app: &TestApp, sql: &'static str, count: i64, at: UnixMillis) {
    let add = app.sandbox.database.write(async move |connection: &mut Connection| {
        query(sql).bind(count).bind(at).execute(connection).await?;
        Ok(())
    });
    add.await.unwrap();
}

/// The result of `act`, and the counts before it and between its transactions, until there are only `last`.
async fn counts_while<T>(
    app: &TestApp,
    sql: &'static str,
    last: i64,
    act: impl Future<Output = T>,
) -> (T, Vec<i64>) {
    // As a write, which has its turn between two others, however slow it is.
    let count = async || {
        let count = async |connection: &mut Connection| Ok(query_scalar(sql).fetch_one(connection).await?);
        app.sandbox.database.write(count).await.unwrap()
    };
    let mut counts: Vec<i64> = vec![count().await];
    let count_on = async {
        while counts.last() != Some(&last) {
            counts.push(count().await);
        }
        counts.dedup();
        counts
    };
    tokio::join!(act, async { tokio::time::timeout(Duration::from_mins(1), count_on).await.unwrap() })
}

#[tokio::test]
async fn ending_sessions_touches_only_those_that_are_live() {
    let (app, agent) = TestApp::start_for("agent").await;
    add(&app, SESSIONS, 3000, app.clock.now().minus(Duration::from_hours(12))).await;
    let ended = app.console(Method::POST, "/staff/agent@mkopo.test/expire", None).await.json();
    assert_eq!(ended, json!({"ended": 1}));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(app.count("SELECT count(*) FROM session WHERE ended_at IS NOT NULL").await, 1);
}

#[tokio::test]
async fn any_number_of_live_sessions_is_ended_in_several_transactions() {
    const LIVE: &str = "SELECT count(*) FROM session WHERE ended_at IS NULL";
    let (app, agent) = TestApp::start_for("agent").await;
    add(&app, SESSIONS, 2999, app.clock.now().plus(Duration::from_hours(1))).await;
    let expire = app.console(Method::POST, "/staff/expire", None);
    let (ended, counts) = counts_while(&app, LIVE, 0, expire).await;
    assert_eq!(ended.json(), json!({"ended": 3000}));
    assert!(counts.len() > 2, "{counts:?}");
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn sessions_that_expired_by_the_set_clock_only_are_ended_too() {
    let (app, agent) = TestApp::start_for("agent").await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1d"})).await;
    app.console(Method::POST, "/staff/agent@mkopo.test/expire", None).await;
    app.set_console(Method::PUT, "/clock", json!({"now": app.clock.unset_now().to_string()})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn old_keys_and_sessions_are_deleted_in_several_transactions() {
    const OLD_KEYS: &str = "SELECT count(*) FROM idempotency_key";
    const OLD_SESSIONS: &str = "SELECT count(*) FROM session WHERE session_id LIKE 'until-%'";
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "4320"]).await;
    app.next_outcomes(&[Outcome::Slow]).await;
    let open = agent.waiting_loan().await;
    assert_eq!(app.as_time_passes(agent.disburse_with_key(&open, "open")).await.status, 202);

    let now = app.clock.now();
    let days = |days: u64| Duration::from_hours(24 * days);
    add(&app, KEYS, 2999, now.minus(days(1))).await;
    add(&app, SESSIONS, 2000, now.minus(days(31))).await;
    add(&app, SESSIONS, 10, now.minus(days(29))).await;
    let sweep = async { app.clock.advance(Duration::from_hours(1)) };
    let of_sessions = counts_while(&app, OLD_SESSIONS, 10, sweep);
    let (((), sessions), keys) = counts_while(&app, OLD_KEYS, 1, of_sessions).await;
    assert!(keys.len() > 2, "the first and last state are not the only ones: {keys:?}");
    assert!(sessions.len() > 2, "{sessions:?}");
}

#[tokio::test]
async fn expired_codes_are_redacted_in_several_transactions() {
    const CODED: &str = "SELECT count(*) FROM outbox_message WHERE code IS NOT NULL OR body LIKE '%123456%'";
    const GIVEN_UP: &str = "
        SELECT count(*) FROM outbox_message
        WHERE next_attempt_at IS NULL AND last_error = 'Not sent: its code has expired.'";
    let app = TestApp::start().await;
    let app = app.restart_with(&["--demo", "false"]).await;
    add(&app, CODES, 2100, app.clock.now()).await;
    let delivering = Box::pin(outbox::deliver_due(&app.sandbox.outbox));
    let (delivered, counts) = counts_while(&app, CODED, 0, delivering).await;
    delivered.unwrap();
    assert!(counts.len() > 2, "{counts:?}");
    assert_eq!(app.count(GIVEN_UP).await, 2100);
}
