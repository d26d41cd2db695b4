//! What stays fast however many rows there are: nothing reads or changes more rows than it needs.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use mkopo::{
    clock::UnixMillis,
    database::{Connection, Reader, query, query_as, query_scalar},
    mobile_money::Outcome,
    outbox,
};
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::{
    store,
    test_app::{TestApp, waiting},
};

const CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO customer
    SELECT 'CUS-X' || n, first_name, last_name, phone_number, id_number, nickname, gender, status, account_id,
           account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

const LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < $1)
    INSERT INTO loan
    SELECT 'LN-X' || n, 'CUS-X' || n, 100, interest_rate_bp, term_months, purpose, 'APPROVED', 100, notes,
           approver_id, approver_name, approver_email, approved_at, NULL, created_at, updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

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
    let add = app.sandbox.database.write(move |connection: &mut Connection| {
        Box::pin(async move {
            query(sql).bind(count).bind(at).execute(connection).await?;
            Ok(())
        })
    });
    add.await.unwrap();
}

async fn count(app: &TestApp, sql: &'static str) -> i64 {
    query_scalar(sql).fetch_one(&mut *reader(app).await).await.unwrap()
}

/// What `act` returns, and the counts before it and after each commit, until there are only `last`.
async fn counts_while<T>(
    app: &TestApp,
    sql: &'static str,
    last: i64,
    act: impl Future<Output = T>,
) -> (T, Vec<i64>) {
    let mut commits = app.sandbox.database.commits();
    // Before it begins, which also connects: on a busy machine that takes longer than several transactions.
    let mut counts = vec![count(app, sql).await];
    let count_on = async {
        while counts.last() != Some(&last) {
            tokio::time::timeout(Duration::from_secs(10), commits.changed()).await.unwrap().unwrap();
            let now = count(app, sql).await;
            if counts.last() != Some(&now) {
                counts.push(now);
            }
        }
        counts
    };
    tokio::join!(act, count_on)
}

async fn write(app: &TestApp, sql: String) {
    let write = app.sandbox.database.write(move |connection: &mut Connection| {
        Box::pin(async move {
            connection.command(AssertSqlSafe(sql)).await?;
            Ok(())
        })
    });
    write.await.unwrap();
}

/// Adds `count` loans with a customer each.
async fn add_loans(app: &TestApp, count: i64) {
    let add = app.sandbox.database.write(move |connection: &mut Connection| {
        Box::pin(async move {
            query(CUSTOMERS).bind(count).execute(&mut *connection).await?;
            query(LOANS).bind(count).execute(connection).await?;
            Ok(())
        })
    });
    add.await.unwrap();
}

async fn reader(app: &TestApp) -> Reader {
    app.sandbox.database.read().await.unwrap()
}

/// How many rows sequential scans of loans and customers have read, and how often their indexes were
/// used.
async fn scanned(app: &TestApp) -> (i64, i64) {
    const SCANNED: &str = "
        SELECT CAST(sum(seq_tup_read) AS BIGINT), CAST(sum(idx_scan) AS BIGINT)
        FROM pg_stat_user_tables WHERE relname IN ('loan', 'customer')";
    query_as(SCANNED).fetch_one(&mut *reader(app).await).await.unwrap()
}

#[tokio::test]
async fn right_after_a_bulk_load_a_payout_reads_no_table_as_a_whole() {
    if !store::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    for table in ["loan", "customer", "payout"] {
        write(&app, format!("ALTER TABLE {table} SET (autovacuum_enabled = false); ANALYZE {table}")).await;
    }
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let mut loans = waiting(&pending);
    // PostgreSQL knows that there are few rows, and keeps the plans for them until it analyzes again.
    for loan in loans.by_ref().take(7) {
        assert_eq!(agent.disburse_with_key(loan, loan["loan_id"].as_str().unwrap()).await.status, 200);
    }
    add_loans(&app, 20_000).await;
    let before = scanned(&app).await;
    for loan in loans.take(4) {
        assert_eq!(agent.disburse_with_key(loan, loan["loan_id"].as_str().unwrap()).await.status, 200);
    }
    // PostgreSQL publishes the figures of a connection about a second later, at its next commit.
    let mut after = scanned(&app).await;
    while after.1 < before.1 + 8 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        write(&app, "UPDATE version SET value = value + 0 WHERE name = 'console'".to_owned()).await;
        after = scanned(&app).await;
    }
    assert!(after.0 - before.0 < 20_000, "{} rows were read in sequence", after.0 - before.0);
}

#[tokio::test]
async fn ending_sessions_touches_only_those_that_are_live() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    add(&app, SESSIONS, 3000, app.clock.now().minus(Duration::from_hours(12))).await;
    let ended = app.console(Method::POST, "/staff/agent@mkopo.test/expire", None).await.json();
    assert_eq!(ended, json!({"ended": 1}));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(count(&app, "SELECT count(*) FROM session WHERE ended_at IS NOT NULL").await, 1);
}

#[tokio::test]
async fn any_number_of_live_sessions_is_ended_in_several_transactions() {
    const LIVE: &str = "SELECT count(*) FROM session WHERE ended_at IS NULL";
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    add(&app, SESSIONS, 2999, app.clock.now().plus(Duration::from_hours(1))).await;
    let expire = app.console(Method::POST, "/staff/expire", None);
    let (ended, counts) = counts_while(&app, LIVE, 0, expire).await;
    assert_eq!(ended.json(), json!({"ended": 3000}));
    assert!(counts.len() > 2, "{counts:?}");
    assert_eq!(agent.get("/api/v1/auth/me").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn sessions_that_expired_by_the_set_clock_only_are_ended_too() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1d"})).await;
    app.console(Method::POST, "/staff/agent@mkopo.test/expire", None).await;
    app.set_console(Method::PUT, "/clock", json!({"now": app.clock.unset_now().to_string()})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn old_keys_and_sessions_are_deleted_in_several_transactions() {
    const OLD_KEYS: &str = "SELECT count(*) FROM idempotency_key";
    const OLD_SESSIONS: &str = "SELECT count(*) FROM session WHERE session_id LIKE 'until-%'";
    let app = TestApp::start_with(&["--session-minutes", "4320"]).await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    app.next_outcomes(&[Outcome::Slow]).await;
    let open = waiting(&pending).next().unwrap();
    assert_eq!(app.as_time_passes(agent.disburse_with_key(open, "open")).await.status, 202);

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
    let (delivered, counts) = counts_while(&app, CODED, 0, outbox::deliver_due(&app.sandbox)).await;
    delivered.unwrap();
    assert!(counts.len() > 2, "{counts:?}");
    assert_eq!(count(&app, GIVEN_UP).await, 2100);
}
