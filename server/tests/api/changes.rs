//! Lists on PostgreSQL follow the changes of transactions that run side by side.

use std::time::Duration;

use mkopo::{
    database::{changes, changes::Changes},
    sandboxes,
};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{
    sandboxes::Given,
    store,
    test_app::{TestApp, waiting},
};

const REJECT: &str = "UPDATE loan SET status = 'REJECTED' WHERE loan_id = $1";

async fn reject(connection: &mut PgConnection, loan: &str) {
    sqlx::query(REJECT).bind(loan).execute(connection).await.unwrap();
}

/// Waits until all transactions have ended that began before. The tests beside have theirs on the same PostgreSQL, and
/// no change is deleted that is later than the oldest one.
async fn earlier_ones_have_ended(connection: &mut PgConnection) {
    const NOW: &str = "SELECT pg_current_xact_id()::text::bigint";
    const OLDEST: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
    let now: i64 = sqlx::query_scalar(NOW).fetch_one(&mut *connection).await.unwrap();
    let waiting = async {
        while sqlx::query_scalar::<_, i64>(OLDEST).fetch_one(&mut *connection).await.unwrap() <= now {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
}

#[tokio::test]
async fn a_change_that_is_committed_after_a_later_one_was_seen_is_not_missed() {
    if !store::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let mut loans = waiting(&pending).map(|loan| loan["loan_id"].as_str().unwrap());
    let (first, second) = (loans.next().unwrap(), loans.next().unwrap());
    let url = store::url(app.data_dir()).unwrap();
    let mut early = PgConnection::connect(&url).await.unwrap();
    let mut late = PgConnection::connect(&url).await.unwrap();

    // The transaction that began first ends last.
    sqlx::raw_sql("BEGIN").execute(&mut early).await.unwrap();
    reject(&mut early, first).await;
    reject(&mut late, second).await;
    assert_eq!(agent.pending().await.len(), pending.len() - 1);
    sqlx::raw_sql("COMMIT").execute(&mut early).await.unwrap();
    assert_eq!(agent.pending().await.len(), pending.len() - 2);
}

#[tokio::test]
async fn a_list_that_was_read_before_the_oldest_change_that_is_kept_is_read_as_a_whole() {
    if !store::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let mut loans = waiting(&pending).map(|loan| loan["loan_id"].as_str().unwrap());
    let database = &app.sandbox.database;
    let mut reader = database.read().await.unwrap();
    let before = Changes::since(&mut reader, None).await.unwrap().mark;
    let mut writer = PgConnection::connect(&store::url(app.data_dir()).unwrap()).await.unwrap();
    reject(&mut writer, loans.next().unwrap()).await;
    let since = Changes::since(&mut reader, Some(&before)).await.unwrap();
    assert_eq!(since.loans.map(|loans| loans.len()), Some(1));

    earlier_ones_have_ended(&mut writer).await;
    // Not what a transaction that still runs has written, or what began after it.
    sqlx::raw_sql("BEGIN").execute(&mut writer).await.unwrap();
    reject(&mut writer, loans.next().unwrap()).await;
    let horizon = changes::delete_before(database, None).await.unwrap();
    changes::delete_before(database, horizon).await.unwrap();
    sqlx::raw_sql("COMMIT").execute(&mut writer).await.unwrap();
    let since = Changes::since(&mut reader, Some(&before)).await.unwrap();
    assert!(since.loans.is_none(), "{since:?}");
    assert_eq!(agent.pending().await.len(), pending.len() - 2);
    let since = Changes::since(&mut reader, Some(&since.mark)).await.unwrap();
    assert_eq!(since.loans.map(|loans| loans.len()), Some(0));
}

#[tokio::test]
async fn the_lists_of_a_server_of_an_earlier_release_are_kept_current() {
    const LOANS: &str = "SELECT value FROM version WHERE name = 'loans'";
    if !store::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let mut connection = PgConnection::connect(&store::url(app.data_dir()).unwrap()).await.unwrap();
    let before: i64 = sqlx::query_scalar(LOANS).fetch_one(&mut connection).await.unwrap();
    let mut loans = waiting(&pending);
    assert_eq!(agent.disburse(loans.next().unwrap()).await.status, 200);
    let after: i64 = sqlx::query_scalar(LOANS).fetch_one(&mut connection).await.unwrap();
    assert_eq!(after, before, "nobody needs it");

    sqlx::raw_sql(
        "INSERT INTO server_lease (server_id, expires_at, renewals) VALUES ('earlier', 9000000000000, 0)",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let loan = loans.next().unwrap();
    assert_eq!(agent.disburse(loan).await.status, 200);
    let changed: i64 =
        sqlx::query_scalar("SELECT count(*) FROM loan_change WHERE version > $1 AND loan_id = $2")
            .bind(before)
            .bind(loan["loan_id"].as_str().unwrap())
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert!(changed > 0);
}

#[tokio::test]
async fn changes_in_a_sandbox_are_deleted_once_every_server_has_seen_them() {
    if !store::is_postgres() {
        return;
    }
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let session = one.sign_in("agent").await;
    let loans = one.pending(&session).await;
    let mut writer = PgConnection::connect(&store::url(app.data_dir()).unwrap()).await.unwrap();
    let schema: String =
        sqlx::query_scalar("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'mkopo\\_sandbox\\_%'")
            .fetch_one(&mut writer)
            .await
            .unwrap();
    let recorded =
        format!("SELECT DISTINCT loan_id::text FROM \"{schema}\".loan_feed WHERE loan_id = ANY($1)");
    let start = format!("SELECT xid::text::bigint FROM \"{schema}\".loan_feed_start");
    let trim = async |writer: &mut PgConnection| {
        let start = async |writer: &mut PgConnection| -> i64 {
            sqlx::query_scalar(AssertSqlSafe(start.clone())).fetch_one(writer).await.unwrap()
        };
        let before = start(writer).await;
        earlier_ones_have_ended(writer).await;
        app.clock.advance(Duration::from_mins(11));
        // In the background.
        while start(writer).await == before {
            sandboxes::tend(&app.sandbox.server).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    // Only from the second time on is anything before a time that all have seen.
    while tokio::time::timeout(Duration::from_secs(1), trim(&mut writer)).await.is_err() {
        one.sign_in("agent").await;
    }
    let paid: Vec<String> =
        waiting(&loans).take(3).map(|loan| loan["loan_id"].as_str().unwrap().to_owned()).collect();
    for (round, loan) in waiting(&loans).take(3).enumerate() {
        assert_eq!(one.disburse(&session, loan).await.status, 200);
        tokio::time::timeout(Duration::from_secs(20), trim(&mut writer)).await.unwrap();
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(recorded.clone()))
            .bind(&paid)
            .fetch_all(&mut writer)
            .await
            .unwrap();
        assert_eq!(found, [paid[round].as_str()], "those of the round before are deleted");
    }
    assert_eq!(one.pending(&session).await.len(), loans.len() - 3);
}
