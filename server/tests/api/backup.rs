//! `mkopo data backup` and `mkopo data restore`, on the data of a running service.

use base::kes::Kes;
use std::{
    path::{Path, PathBuf},
    process::Output,
    time::Duration,
};

use axum::http::Method;
use serde_json::json;
use store::{Database, query_as, query_scalar};

use crate::{
    command_line::{error_line, mkopo},
    deploying,
    test_app::TestApp,
};

/// Runs a command on another thread, so that the service on this one keeps running.
async fn run(command: &'static str, data_dir: &Path, file: &Path) -> Output {
    let mut mkopo = mkopo();
    mkopo.args(["data", command]).arg(file).env("MKOPO_DATA_DIR", data_dir);
    tokio::task::spawn_blocking(move || mkopo.output().unwrap()).await.unwrap()
}

fn copy_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("monday.db")
}

#[tokio::test]
async fn a_backup_made_while_loans_are_paid_is_complete_and_can_be_restored() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    let forty = json!({ "count": 40, "loan": { "total_loan_amount": 1000 } });
    let approved = app.console(Method::POST, "/loans", Some(forty)).await.json();
    let supervisor = app.sign_in("supervisor").await;
    let pay_all = async {
        for loan in approved.as_array().unwrap() {
            assert_eq!(supervisor.disburse(loan).await.status, 200);
        }
    };
    let (copied, ()) = tokio::join!(run("backup", app.data_dir(), &file), pay_all);
    assert!(copied.status.success(), "{copied:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let paid = app.assert_every_shilling_is_accounted_for().await;

    let while_running = error_line(&run("restore", app.data_dir(), &file).await);
    assert!(while_running.contains("stop it first"), "{while_running}");
    assert_eq!(app.assert_every_shilling_is_accounted_for().await.completed, paid.completed);

    let other = tempfile::tempdir().unwrap();
    for replaced in [false, true] {
        let restored = run("restore", other.path(), &file).await;
        assert!(restored.status.success(), "{restored:?}");
        assert_eq!(other.path().join("mkopo.db.replaced").exists(), replaced);
    }
    let copy = format!("sqlite:{}", other.path().join("mkopo.db").display());
    let copy = TestApp::start_at(&copy, app.clock.clone()).await;
    let then = copy.assert_every_shilling_is_accounted_for().await;
    assert!(then.completed <= paid.completed, "{then:?}");
    assert!(then.completed >= paid.completed - Kes(40_000), "{then:?}");
}

#[tokio::test]
async fn a_restored_backup_revives_no_session_no_code_and_no_revoked_token() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    app.sign_in("agent").await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    for slice in ["mfe-loans", "mfe-plans"] {
        deploying::token_of(&app, slice).await;
    }
    let link = json!({"story": "first-payout", "roles": ["agent"], "worlds": 1, "works_for": "1h"});
    app.set_console(Method::POST, "/story-links", link).await;
    let copied = run("backup", app.data_dir(), &file).await;
    assert!(copied.status.success(), "{copied:?}");
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/ci", None).await;

    let data = app.data_dir().to_owned();
    app.sandbox.close(Duration::ZERO).await;
    let restored = run("restore", &data, &file).await;
    assert!(restored.status.success(), "{restored:?}");
    let database = Database::open(&data.join("mkopo.db")).await.unwrap();
    let mut reader = database.read().await.unwrap();
    let open: (i64, i64, i64) = query_as(
        "SELECT (SELECT count(*) FROM session WHERE ended_at IS NULL),
                (SELECT count(*) FROM one_time_code WHERE used_at IS NULL),
                (SELECT count(*) FROM story_link WHERE revoked_at IS NULL)",
    )
    .fetch_one(&mut reader)
    .await
    .unwrap();
    let tokens: Vec<String> =
        query_scalar("SELECT slice FROM deploy_token").fetch_all(&mut reader).await.unwrap();
    assert_eq!((open, tokens), ((0, 0, 0), vec!["mfe-plans".to_owned()]));
    drop(reader);
    database.close().await;

    // A machine that has never had the data does not know which were revoked.
    let other = tempfile::tempdir().unwrap();
    let restored = run("restore", other.path(), &file).await;
    assert!(
        String::from_utf8_lossy(&restored.stderr).contains("All deploy tokens have ended"),
        "{restored:?}"
    );
    let database = Database::open(&other.path().join("mkopo.db")).await.unwrap();
    let count = query_scalar::<i64>("SELECT count(*) FROM deploy_token");
    assert_eq!(count.fetch_one(&mut database.read().await.unwrap()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_failed_backup_or_restore_prints_one_line_and_changes_nothing() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    let error = async |command, data_dir: &Path, file: &Path| {
        let line = error_line(&run(command, data_dir, file).await);
        line.replace(folder.path().to_str().unwrap(), "[folder]")
    };
    std::fs::write(&file, "something else").unwrap();
    let nowhere = folder.path().join("nowhere");
    let errors = [
        error("backup", app.data_dir(), &file).await,
        error("backup", app.data_dir(), &nowhere.join("monday.db")).await,
        error("backup", &nowhere, &folder.path().join("tuesday.db")).await,
        error("restore", &nowhere, &file).await,
        error("restore", &nowhere, &folder.path().join("tuesday.db")).await,
    ];
    let mut postgres = mkopo();
    postgres.args(["data", "backup", "-"]);
    postgres.env("MKOPO_DATABASE_URL", "postgres://mkopo:s3cret@db.example.com/loans");
    let errors = errors.into_iter().chain([error_line(&postgres.output().unwrap())]).collect::<Vec<_>>();
    insta::assert_snapshot!(errors.join("\n"), @"
    mkopo: [folder]/monday.db already exists; choose another file name
    mkopo: can't write to [folder]/nowhere/monday.db: No such file or directory (os error 2)
    mkopo: can't open the database [folder]/nowhere/mkopo.db: unable to open database file
    mkopo: [folder]/monday.db is not a valid backup of Mkopo's data: file is not a database
    mkopo: can't read [folder]/tuesday.db: No such file or directory (os error 2)
    mkopo: MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore
    ");
    assert_eq!(std::fs::read(&file).unwrap(), b"something else");
    assert!(!nowhere.join("mkopo.db").exists());
}

#[tokio::test]
async fn a_damaged_database_is_kept_with_its_log() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    assert!(run("backup", app.data_dir(), &file).await.status.success());
    app.sandbox.close(Duration::ZERO).await;
    std::fs::write(app.data_dir().join("mkopo.db"), "not a database, despite its name").unwrap();
    std::fs::write(app.data_dir().join("mkopo.db-wal"), "a log that belongs to it").unwrap();
    let restored = run("restore", app.data_dir(), &file).await;
    assert!(restored.status.success(), "{restored:?}");
    assert!(app.data_dir().join("mkopo.db.replaced-wal").exists());
    app.restart().await.assert_every_shilling_is_accounted_for().await;
}
