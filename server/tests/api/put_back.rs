//! Somebody else writes to the data that servers run on, or puts another copy in its place: a backup, or a standby
//! that lags. Nothing that they keep in memory from before is served from then on.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use store::{Connection, server_lease};

use crate::{
    test_app::{Status, TestApp, waiting},
    test_store,
};

async fn me(staff: &TestApp) -> Status {
    staff.get("/api/v1/auth/me").await.status
}

#[tokio::test]
async fn a_backup_that_is_put_in_place_is_noticed() {
    let (app, agent) = TestApp::start_for("agent").await;
    // Several changes later, another session is known to be live.
    for amount in [5000, 6000, 7000] {
        app.approve_loan(amount, "+254711000009").await;
        let other = app.sign_in("supervisor").await;
        other.post("/api/v1/auth/logout", None).await;
    }
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    assert_eq!(me(&agent).await, 200);
    agent.pending().await;

    // As a backup: the session had ended, all loans were rejected, the clock was not set.
    let changes = "UPDATE session SET ended_at = 1;
                   UPDATE loan SET status = 'REJECTED' WHERE status = 'APPROVED';
                   UPDATE clock_setting SET offset_ms = 0";
    app.write(changes).await.unwrap();
    assert_eq!(me(&agent).await, 401);
    assert_eq!(app.read_console("/clock").await["offset_ms"], 0);
    assert_eq!(app.sign_in("agent").await.pending().await.len(), 0);
}

#[tokio::test]
async fn a_server_whose_lease_is_not_in_the_data_enters_it_again() {
    let (app, agent) = TestApp::start_for("agent").await;
    app.sandbox.server.lease.renew().await.unwrap();
    assert_eq!(me(&agent).await, 200);
    let changes = "UPDATE session SET ended_at = 1; UPDATE server_lease SET renewals = 0";
    app.write(changes).await.unwrap();
    app.sandbox.server.lease.renew().await.unwrap();
    assert_eq!(me(&agent).await, 401);
    // The lease is whole again.
    let agent = app.sign_in("agent").await;
    app.sandbox.server.lease.renew().await.unwrap();
    assert_eq!(me(&agent).await, 200);
}

#[tokio::test]
async fn a_lease_from_a_clock_that_was_ahead_counts_for_nobody() {
    let app = TestApp::start().await;
    let years_ahead =
        "INSERT INTO server_lease (server_id, expires_at, renewals) VALUES ('0', 4102444800000, 0)";
    app.write(years_ahead).await.unwrap();
    assert!(app.sandbox.server.lease.is_first().await.unwrap());
    let held_for = server_lease::held_for(&mut app.sandbox.database.read().await.unwrap()).await.unwrap();
    assert!(held_for.unwrap() <= Duration::from_secs(30), "{held_for:?}");
    let other = app.another_server(&[]).await;
    assert_eq!(app.count("SELECT count(*) FROM server_lease").await, 2, "the next start deletes it");
    other.sandbox.close(Duration::ZERO).await;
}

#[tokio::test]
async fn what_another_process_commits_is_served_from_the_next_call_on() {
    let app = TestApp::start().await;
    let other = test_store::open(app.data_dir()).await;
    let commit = async |sql: String| {
        let commit =
            async move |connection: &mut Connection| Ok(connection.command(AssertSqlSafe(sql)).await?);
        other.write(commit).await.unwrap();
    };
    for offset_ms in 1..=20 {
        let agent = app.sign_in("agent").await;
        let pending = agent.pending().await;
        let loan_id = pending[0]["loan_id"].as_str().unwrap();
        commit(format!("UPDATE loan SET status = 'REJECTED' WHERE loan_id = '{loan_id}'")).await;
        assert_eq!(agent.pending().await[..], pending[1..]);
        commit(format!("UPDATE clock_setting SET offset_ms = {offset_ms}")).await;
        assert_eq!(app.read_console("/clock").await["offset_ms"], offset_ms);
        commit("UPDATE session SET ended_at = 1 WHERE ended_at IS NULL".to_owned()).await;
        assert_eq!(me(&agent).await, 401);
    }
    other.close().await;
}

/// Runs `sql` in a database.
async fn in_database(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Closes all connections to a database, so that it can be copied or renamed.
fn disconnect(name: &str) {
    test_store::administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
    test_store::administer(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    ));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_copy_that_is_put_in_place_is_noticed_on_postgresql() {
    let app = TestApp::start().await;
    let url = test_store::url(app.data_dir()).unwrap();
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;

    disconnect(&name);
    test_store::administer(&format!("CREATE DATABASE {name}_copy TEMPLATE {name}"));
    test_store::administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
    // In the copy the session ends; here, nothing does.
    let copy = format!("{url}_copy");
    for (url, ended_at, status) in [(&copy, "1", "REJECTED"), (&url, "NULL", "APPROVED")] {
        let loans = format!("UPDATE loan SET status = '{status}' WHERE status = 'APPROVED'");
        in_database(url, &format!("UPDATE session SET ended_at = {ended_at}; {loans}")).await;
    }
    assert_eq!(me(&agent).await, 200);
    assert_eq!(agent.pending().await.len(), pending.len());
    for name in [&name, &format!("{name}_copy")] {
        disconnect(name);
    }
    test_store::administer(&format!("ALTER DATABASE {name} RENAME TO {name}_old"));
    test_store::administer(&format!("ALTER DATABASE {name}_copy RENAME TO {name}"));
    test_store::administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
    assert_eq!(me(&agent).await, 401);
    assert_eq!(app.sign_in("agent").await.pending().await.len(), 0);
    test_store::administer(&format!("DROP DATABASE {name}_old"));
}

#[tokio::test]
async fn a_loan_whose_id_changes_is_listed_under_its_new_id_only() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap()["loan_id"].as_str().unwrap();
    let rename = format!("UPDATE loan SET loan_id = 'LN-RENAMED' WHERE loan_id = '{loan}'");
    app.write(rename).await.unwrap();
    let listed = agent.pending().await;
    let has = |id: &str| listed.iter().any(|loan| loan["loan_id"] == id);
    assert!(has("LN-RENAMED") && !has(loan), "{listed:?}");
    assert_eq!(listed.len(), pending.len());
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_table_that_is_emptied_at_once_is_served_empty_on_postgresql() {
    let (app, agent) = TestApp::start_for("agent").await;
    assert!(!agent.pending().await.is_empty() && !agent.records().await.is_empty());
    app.write("TRUNCATE payout CASCADE").await.unwrap();
    assert_eq!(agent.records().await, Vec::<serde_json::Value>::new());
    app.write("TRUNCATE loan CASCADE").await.unwrap();
    assert_eq!(agent.pending().await, Vec::<serde_json::Value>::new());
    app.write("TRUNCATE session CASCADE").await.unwrap();
    assert_eq!(me(&agent).await, 401);
    assert_eq!(app.count("SELECT count(*) FROM session").await, 0);
}
