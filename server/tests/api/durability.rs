//! Changes that were answered survive a power failure.

use std::path::Path;

use base::clock::Clock;
use store::{Connection, Database, query_scalar};

use crate::{
    command_line::{error_line, serve},
    test_app::{NOON, TestApp},
    test_store,
};

async fn written_with(app: &TestApp) -> String {
    let read = app.sandbox.database.write(async move |connection: &mut Connection| {
        Ok(query_scalar("SELECT current_setting('synchronous_commit')").fetch_one(connection).await?)
    });
    read.await.unwrap()
}

#[tokio::test]
async fn a_file_without_a_write_ahead_log_is_refused() {
    // A database in memory has none.
    let refused = Database::open(Path::new(":memory:")).await.unwrap_err().to_string();
    assert!(refused.contains("journal_mode = memory"), "{refused}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn commits_are_flushed_whatever_the_database_is_set_to_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let url = test_store::url(folder.path()).unwrap();
    let name = url.rsplit_once('/').unwrap().1;
    for (set, expected) in [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")] {
        test_store::administer(&format!("ALTER DATABASE {name} SET synchronous_commit = {set}"));
        let app = TestApp::start_at(&url, Clock::held_at(NOON)).await;
        assert_eq!(written_with(&app).await, expected);
        app.sandbox.close(std::time::Duration::ZERO).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_database_that_does_not_flush_is_refused_outside_demo_mode_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let url = test_store::url(folder.path()).unwrap();
    let database = Database::open_at(&url.parse().unwrap()).await.unwrap();
    let fsync: String = query_scalar("SELECT current_setting('fsync')")
        .fetch_one(&mut database.read().await.unwrap())
        .await
        .unwrap();
    if fsync == "on" {
        // The cluster of these tests flushes.
        return;
    }
    assert_eq!(
        error_line(&serve().args(["--database-url", &url]).output().unwrap()),
        "mkopo: PostgreSQL has fsync = off, so a power failure can lose payouts that were answered; set it to on"
    );
}
