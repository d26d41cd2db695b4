use std::{fs::File, process::Output};

use axum::http::Method;
use base::clock::Clock;
use lending::demo;
use serde_json::json;

use crate::{
    command_line::{error_line, mkopo, printed},
    test_app::{NOON, TestApp},
    test_store,
};

fn copy(from: &str, to: &str) -> Output {
    mkopo().args(["data", "copy", "--from", from, "--to", to]).output().unwrap()
}

/// The kinds of all events, the oldest first.
async fn trail(app: &TestApp) -> Vec<String> {
    let events = app.read_console("/events").await;
    let kinds = events.as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap().to_owned());
    kinds.rev().collect()
}

/// The URL of the database of a service.
fn url_of(app: &TestApp) -> String {
    test_store::url(app.data_dir())
        .unwrap_or_else(|| format!("sqlite:{}", app.data_dir().join("mkopo.db").display()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_in_another_database_behaves_the_same() {
    let (app, agent) = TestApp::start_for("agent").await;
    demo::seed(&app.sandbox.database, NOON, 3, 250, 1200, |_| ()).await.unwrap();
    app.request_code("agent@mkopo.test").await;
    let loan = agent.waiting_loan().await;
    assert_eq!(agent.disburse_with_key(&loan, "key").await.status, 200);
    app.set_console(Method::PUT, "/clock", json!({"advance": "3h"})).await;
    let fault =
        json!({"path": "/api/v1/disbursements/*/disburse", "kind": "status", "status": 503, "times": 1});
    app.set_console(Method::POST, "/faults", fault).await;
    app.console(Method::POST, "/data/snapshots/before", None).await;
    app.set_console(Method::POST, "/story-links", json!({"story": "refused"})).await;
    app.set_console(Method::POST, "/deploy-tokens", json!({"slice": "mfe-loans", "name": "ci"})).await;
    let deployment = async |app: &TestApp| {
        let links = app.read_console("/story-links").await;
        (links, app.read_console("/deploy-tokens").await)
    };
    let (deployed, trail) = (deployment(&app).await, trail(&app).await);
    let seen = (agent.pending().await, agent.records().await);

    // From one engine to the other and back, if the tests use both.
    let folder = tempfile::tempdir().unwrap();
    let mut from = url_of(&app);
    let mut hops = vec![format!("sqlite:{}", folder.path().join("copy.db").display())];
    hops.extend(test_store::url(folder.path()));
    for to in hops {
        let said = printed(copy(&from, &to));
        assert!(said.contains("rows of 24 tables to") && said.contains("the books balance"), "{said}");
        assert!(error_line(&copy(&from, &to)).contains("is not empty: its table fault has rows"));
        from = to;
    }

    let other = TestApp::start_at(&from, Clock::held_at(NOON)).await;
    let agent = other.sign_in("agent").await;
    assert_eq!((agent.pending().await, agent.records().await), seen);
    assert_eq!(other.read_console("/clock").await["offset_ms"], 3 * 3_600_000);
    assert_eq!(deployment(&other).await, deployed);
    // The sign-in is the latest event, after those of the copies.
    let continued = self::trail(&other).await;
    assert_eq!(continued[..trail.len()], trail);
    assert_eq!((&*continued[trail.len()], &**continued.last().unwrap()), ("data_copied", "signed_in"));
    let again = agent.waiting_loan().await;
    assert_eq!(agent.disburse(&again).await.failure().1, "injected_fault");
    // Numbering continues after the copied rows, also after a snapshot is restored.
    other.request_reset_code("agent@mkopo.test").await;
    assert_eq!(other.console(Method::PUT, "/data/snapshots/before", None).await.status, 204);
    let agent = other.sign_in("agent").await;
    assert_eq!((agent.pending().await, agent.records().await), seen);
    assert_eq!(agent.disburse(&again).await.failure().1, "injected_fault");
    assert_eq!(agent.disburse(&again).await.status, 200);
    other.assert_every_shilling_is_accounted_for().await;
}

#[test]
fn a_missing_or_damaged_database_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let said = error_line(&copy(&url("old.db"), &url("new.db")));
    assert_eq!(said, format!("mkopo: can't copy {}: the file does not exist", url("old.db")));
    assert!(!folder.path().join("old.db").exists());

    std::fs::write(folder.path().join("old.db"), "no database, although it is a file of some length")
        .unwrap();
    let said = error_line(&copy(&url("old.db"), &url("new.db")));
    assert!(
        said.ends_with("is damaged; restore a backup (`mkopo data restore`): file is not a database"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_version_is_neither_copied_nor_migrated() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    app.write("DELETE FROM _sqlx_migrations WHERE version > 1").await.unwrap();
    let from = url_of(&app);
    let said = error_line(&copy(&from, &format!("sqlite:{}", folder.path().join("copy.db").display())));
    let expected = ": it is of another version of mkopo; copy it with that version";
    assert!(said.starts_with("mkopo: can't copy ") && said.ends_with(expected), "{said}");
    assert_eq!(app.count("SELECT count(*) FROM _sqlx_migrations").await, 1);
}

#[test]
fn nothing_is_copied_to_a_file_that_a_running_service_uses_or_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("used.db"), "").unwrap();
    // The service holds it.
    let lock = File::create(file("used.db.lock")).unwrap();
    lock.try_lock().unwrap();
    let url = |name: &str| format!("sqlite:{}", file(name).display());
    std::fs::write(file("free.db"), "").unwrap();
    let said = error_line(&copy(&url("free.db"), &url("used.db")));
    let expected = "is in use by another mkopo, such as a running service; stop it first";
    assert_eq!(said, format!("mkopo: {} {expected}", file("used.db").display()));
    drop(lock);
    let said = error_line(&copy(&url("free.db"), &url("free.db")));
    assert_eq!(said, format!("mkopo: can't copy {} to itself", url("free.db")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_copied_into_a_database_that_a_server_runs_on() {
    let source = TestApp::start().await;
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let target = TestApp::start_in(folder, &["--demo", "false"]).await;
    let (from, to) = (url_of(&source), url_of(&target));
    let said = error_line(&copy(&from, &to));
    let (sentence, wait) = said.split_once("wait ").unwrap();
    assert_eq!(
        sentence,
        "mkopo: nothing was copied: a server runs on the target database; stop it first. If it was killed, "
    );
    let seconds: u64 = wait.strip_suffix(" s").unwrap().parse().unwrap();
    assert!((20..=31).contains(&seconds), "{said}");

    target.sandbox.close(std::time::Duration::ZERO).await;
    let copied = copy(&from, &to);
    let warning = String::from_utf8_lossy(&copied.stderr);
    assert!(copied.status.success(), "{warning}");
    assert!(warning.contains("A server runs on the source"), "{warning}");
}
