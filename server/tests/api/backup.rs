//! `mkopo data backup` and `mkopo data restore`, on the data of a service that runs.

use std::{
    path::{Path, PathBuf},
    process::Output,
    time::Duration,
};

use axum::http::Method;
use mkopo::{Sandbox, payouts, randomness::Randomness};
use serde_json::json;

use crate::{
    command_line::{mkopo, refusal},
    test_app::{TestApp, settings},
};

/// Runs a command on a thread of its own, so that the service on this one goes on meanwhile.
async fn run(act: &'static str, data_dir: &Path, file: &Path) -> Output {
    let mut command = mkopo();
    command.args(["data", act]).arg(file).env("MKOPO_DATA_DIR", data_dir);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn copy_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("monday.db")
}

#[tokio::test]
async fn a_copy_made_while_loans_are_paid_is_whole_and_can_be_put_back() {
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

    let running = refusal(&run("restore", app.data_dir(), &file).await);
    assert!(running.contains("stop it first"), "{running}");
    assert_eq!(app.assert_every_shilling_is_accounted_for().await.completed, paid.completed);

    let other = tempfile::tempdir().unwrap();
    for replaced in [false, true] {
        let restored = run("restore", other.path(), &file).await;
        assert!(restored.status.success(), "{restored:?}");
        assert_eq!(other.path().join("mkopo.db.replaced").exists(), replaced);
    }
    let settings = settings(other.path().to_str().unwrap(), &[]);
    let copy = Sandbox::open(settings, app.clock.clone(), Randomness::seeded(1)).await.unwrap();
    let then = payouts::invariant(&mut copy.database.read().await.unwrap()).await.unwrap();
    assert!(then.ok && then.completed <= paid.completed, "{then:?}");
    assert!(then.completed >= paid.completed - 40_000, "{then:?}");
}

#[tokio::test]
async fn what_can_not_be_copied_or_put_back_is_told_in_a_line_and_changes_nothing() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    let said = async |act, data_dir: &Path, file: &Path| {
        let said = refusal(&run(act, data_dir, file).await);
        said.replace(folder.path().to_str().unwrap(), "[folder]")
    };
    std::fs::write(&file, "something else").unwrap();
    let nowhere = folder.path().join("nowhere");
    let told = [
        said("backup", app.data_dir(), &file).await,
        said("backup", app.data_dir(), &nowhere.join("monday.db")).await,
        said("backup", &nowhere, &folder.path().join("tuesday.db")).await,
        said("restore", &nowhere, &file).await,
        said("restore", &nowhere, &folder.path().join("tuesday.db")).await,
    ];
    let mut postgres = mkopo();
    postgres.args(["data", "backup", "-"]);
    postgres.env("MKOPO_DATABASE_URL", "postgres://mkopo:s3cret@db.example.com/loans");
    let told = told.into_iter().chain([refusal(&postgres.output().unwrap())]).collect::<Vec<_>>();
    insta::assert_snapshot!(told.join("\n"), @"
    mkopo: [folder]/monday.db is there already; give the copy a new name
    mkopo: can't write to [folder]/nowhere/monday.db: No such file or directory (os error 2)
    mkopo: can't open the database [folder]/nowhere/mkopo.db: error returned from database: (code: 14) unable to open database file: (code: 14) unable to open database file
    mkopo: [folder]/monday.db is no sound copy of Mkopo's data: error returned from database: (code: 26) file is not a database: (code: 26) file is not a database
    mkopo: can't read [folder]/tuesday.db: No such file or directory (os error 2)
    mkopo: MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore
    ");
    assert_eq!(std::fs::read(&file).unwrap(), b"something else");
    assert!(!nowhere.join("mkopo.db").exists());
}

#[tokio::test]
async fn a_damaged_database_is_put_aside_with_its_log() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    assert!(run("backup", app.data_dir(), &file).await.status.success());
    app.sandbox.close(Duration::ZERO).await;
    std::fs::write(app.data_dir().join("mkopo.db"), "no database, whatever its name says").unwrap();
    std::fs::write(app.data_dir().join("mkopo.db-wal"), "a log that belongs to it").unwrap();
    let restored = run("restore", app.data_dir(), &file).await;
    assert!(restored.status.success(), "{restored:?}");
    assert!(app.data_dir().join("mkopo.db.replaced-wal").exists());
    app.restart().await.assert_every_shilling_is_accounted_for().await;
}
