//! `mkopo data backup` and `mkopo data restore`, on the data of a running service.

use base::kes::Kes;
use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::http::Method;
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection};
use store::{Database, query_as, query_scalar};
use tempfile::TempDir;

use crate::{
    command_line::{error_line, mkopo},
    deploying,
    test_app::{TestApp, wait_until},
};

/// Runs a command on another thread, so that the service on this one keeps running.
async fn run(command: &'static str, data_dir: &Path, file: &Path) -> Output {
    let mut mkopo = mkopo();
    mkopo.args(["data", command]).arg(file).env("MKOPO_DATA_DIR", data_dir);
    tokio::task::spawn_blocking(move || mkopo.output().unwrap()).await.unwrap()
}

fn copy_in(folder: &TempDir) -> PathBuf {
    folder.path().join("monday.db")
}

/// A backup of the data, and the folder that it is in.
async fn backed_up(app: &TestApp) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    let copied = run("backup", app.data_dir(), &file).await;
    assert!(copied.status.success(), "{copied:?}");
    (folder, file)
}

/// Restores a backup, and returns what the command says.
async fn restore(data_dir: &Path, file: &Path) -> String {
    let restored = run("restore", data_dir, file).await;
    assert!(restored.status.success(), "{restored:?}");
    String::from_utf8(restored.stderr).unwrap()
}

/// The names of the files that belong to the database in a data folder.
fn files_of_database(data_dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(data_dir).unwrap().map(|file| file.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("mkopo.db")).collect();
    names.sort();
    names
}

/// The number of loans in a data folder that no service uses.
async fn loans_in(data_dir: &Path) -> i64 {
    let database = Database::open(&data_dir.join("mkopo.db")).await.unwrap();
    let count = query_scalar::<i64>("SELECT count(*) FROM loan");
    let loans = count.fetch_one(&mut database.read().await.unwrap()).await.unwrap();
    database.close().await;
    loans
}

#[tokio::test]
async fn a_backup_made_while_loans_are_paid_is_complete_and_can_be_restored() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let file = copy_in(&folder);
    let forty = json!({ "count": 40, "loan": { "total_loan_amount": 1000 } });
    let approved = app.console(Method::POST, "/loans", forty).await.json();
    let supervisor = app.sign_in("supervisor").await;
    let pay_all = async {
        for loan in approved.as_array().unwrap() {
            assert_eq!(supervisor.disburse(loan).await.status, 200);
        }
    };
    let (copied, ()) = tokio::join!(run("backup", app.data_dir(), &file), pay_all);
    assert!(copied.status.success(), "{copied:?}");
    let paid = app.assert_every_shilling_is_accounted_for().await;

    let while_running = error_line(&run("restore", app.data_dir(), &file).await);
    assert!(while_running.contains("stop it first"), "{while_running}");
    assert_eq!(app.assert_every_shilling_is_accounted_for().await.completed, paid.completed);

    let other = tempfile::tempdir().unwrap();
    for kept in [None, Some("mkopo.db.replaced"), Some("mkopo.db.replaced-2")] {
        restore(other.path(), &file).await;
        assert!(kept.is_none_or(|kept| other.path().join(kept).exists()), "{kept:?}");
    }
    let copy = format!("sqlite:{}", other.path().join("mkopo.db").display());
    let copy = TestApp::start_at(&copy, app.clock.clone()).await;
    let then = copy.assert_every_shilling_is_accounted_for().await;
    assert!(then.completed <= paid.completed, "{then:?}");
    assert!(then.completed >= paid.completed - Kes(40_000), "{then:?}");
}

#[tokio::test]
async fn a_restore_keeps_the_sandboxes_as_they_are() {
    let app = TestApp::start_on_file().await;
    for name in ["removed", "kept"] {
        app.set_console(Method::POST, "/sandboxes", json!({"name": name})).await;
    }
    let (_folder, file) = backed_up(&app).await;
    app.console(Method::DELETE, "/sandboxes/removed", None).await;
    app.set_console(Method::POST, "/sandboxes", json!({"name": "made-since"})).await;

    let data = app.data_dir().to_owned();
    app.sandbox.close(Duration::ZERO).await;
    restore(&data, &file).await;
    let database = Database::open(&data.join("mkopo.db")).await.unwrap();
    let names = query_scalar::<String>("SELECT name FROM sandbox ORDER BY name");
    let names = names.fetch_all(&mut database.read().await.unwrap()).await.unwrap();
    assert_eq!(names, ["kept", "made-since"]);
    database.close().await;
}

#[tokio::test]
async fn a_damaged_database_is_kept_with_its_log_and_the_sandboxes_are_those_of_the_backup() {
    let app = TestApp::start_on_file().await;
    app.set_console(Method::POST, "/sandboxes", json!({"name": "kept"})).await;
    let (folder, file) = backed_up(&app).await;
    app.sandbox.close(Duration::ZERO).await;
    // The sandboxes are in the data folder, wherever a link there leads.
    let damaged = folder.path().join("damaged.db");
    std::fs::write(&damaged, "not a database, despite its name").unwrap();
    std::fs::write(folder.path().join("damaged.db-wal"), "a log that belongs to it").unwrap();
    std::fs::remove_file(app.data_dir().join("mkopo.db")).unwrap();
    std::os::unix::fs::symlink(&damaged, app.data_dir().join("mkopo.db")).unwrap();
    let said = restore(app.data_dir(), &file).await;
    assert!(said.contains("The sandboxes are those of the backup"), "{said}");
    assert!(folder.path().join("damaged.db.replaced-wal").exists());
    let app = app.restart().await;
    app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(app.count("SELECT count(*) FROM sandbox WHERE name = 'kept'").await, 1);

    // Where their data never was, they are not listed.
    let elsewhere = folder.path().join("elsewhere");
    restore(&elsewhere, &file).await;
    let database = Database::open(&elsewhere.join("mkopo.db")).await.unwrap();
    let mut reader = database.read().await.unwrap();
    let listed: i64 = query_scalar("SELECT count(*) FROM sandbox").fetch_one(&mut reader).await.unwrap();
    assert_eq!(listed, 0);
}

#[tokio::test]
async fn a_restored_backup_revives_no_session_no_code_and_no_revoked_token() {
    let app = TestApp::start_on_file().await;
    app.sign_in("agent").await;
    app.request_code("agent@mkopo.test").await;
    for slice in ["mfe-loans", "mfe-plans"] {
        deploying::token_of(&app, slice).await;
    }
    let link = json!({"story": "first-payout", "roles": ["agent"], "worlds": 1, "works_for": "1h"});
    app.set_console(Method::POST, "/story-links", link).await;
    let (_folder, file) = backed_up(&app).await;
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/ci", None).await;

    let data = app.data_dir().to_owned();
    app.sandbox.close(Duration::ZERO).await;
    restore(&data, &file).await;
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
    let said = restore(other.path(), &file).await;
    assert!(said.contains("All deploy tokens have ended"), "{said}");
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
    let cut_off = tempfile::tempdir().unwrap();
    assert!(run("backup", app.data_dir(), &cut_off.path().join("mkopo.db")).await.status.success());
    let data = std::fs::File::options().write(true).open(cut_off.path().join("mkopo.db")).unwrap();
    data.set_len(8192).unwrap();
    let errors = [
        error("backup", app.data_dir(), &file).await,
        error("backup", app.data_dir(), &nowhere.join("monday.db")).await,
        error("backup", &nowhere, &folder.path().join("tuesday.db")).await,
        error("backup", cut_off.path(), &file.with_extension("part"))
            .await
            .replace(cut_off.path().to_str().unwrap(), "[cut off]"),
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
    mkopo: can't copy the database [cut off]/mkopo.db: database disk image is malformed
    mkopo: [folder]/monday.db is not a valid backup of Mkopo's data: file is not a database
    mkopo: can't read [folder]/tuesday.db: No such file or directory (os error 2)
    mkopo: MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore
    ");
    assert_eq!(std::fs::read(&file).unwrap(), b"something else");
    assert!(!nowhere.join("mkopo.db").exists());
}

#[tokio::test]
async fn a_restore_without_room_for_the_whole_copy_fails_and_leaves_the_data_in_place() {
    let app = TestApp::start_on_file().await;
    let (_folder, file) = backed_up(&app).await;
    // The copy grows by the events since the backup.
    for _ in 0..150 {
        app.set_console(Method::POST, "/loans", json!({ "count": 1 })).await;
    }
    let data = app.data_dir().to_owned();
    app.sandbox.close(Duration::ZERO).await;
    let loans = loans_in(&data).await;

    // There is room for the backup, and for a log beside it. With the signal ignored, writing beyond the limit fails
    // as on a full disk.
    let blocks = std::fs::metadata(&file).unwrap().len() / 512;
    let script = format!("trap '' XFSZ; ulimit -Sf {blocks}; exec \"$0\" data restore \"$@\"");
    let mut limited = Command::new("sh");
    limited.args(["-c", &script, env!("CARGO_BIN_EXE_mkopo")]).arg(&file);
    limited.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("MKOPO_DATA_DIR", &data);
    let restored = tokio::task::spawn_blocking(move || limited.output().unwrap()).await.unwrap();
    let said = error_line(&restored).replace(data.to_str().unwrap(), "[data]");
    insta::assert_snapshot!(said, @"mkopo: can't write [data]/mkopo.db: disk I/O error");
    assert_eq!(files_of_database(&data), ["mkopo.db", "mkopo.db.lock"]);
    assert_eq!(loans_in(&data).await, loans);

    restore(&data, &file).await;
    assert_eq!(loans_in(&data).await, loans - 150);
}

#[tokio::test]
async fn a_backup_that_is_stopped_leaves_nothing_and_neither_does_one_that_is_killed_while_it_is_read() {
    let app = TestApp::start_on_file().await;
    let data = app.data_dir().to_owned();
    app.sandbox.close(Duration::ZERO).await;
    let backup = |file: &Path| {
        let mut mkopo = mkopo();
        mkopo.args(["data", "backup"]).arg(file).env("MKOPO_DATA_DIR", &data).stdout(Stdio::piped());
        mkopo.spawn().unwrap()
    };
    let mut killed = backup(Path::new("-"));
    killed.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let files = files_of_database(&data);
    assert!(files.iter().all(|name| !name.contains("part")), "{files:?}");

    // Without a write-ahead log, readers wait for whoever has locked the file.
    let mut other = SqliteConnection::connect(data.join("mkopo.db").to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let left = || std::fs::read_dir(folder.path()).unwrap().count();
    let mut stopped = backup(&copy_in(&folder));
    wait_until("the backup has begun", async || left() == 1).await;
    assert!(Command::new("kill").arg(stopped.id().to_string()).status().unwrap().success());
    assert_eq!((stopped.wait().unwrap().code(), left()), (Some(1), 0));
}

#[tokio::test]
async fn a_killed_restore_leaves_nothing_for_the_next_one() {
    let app = TestApp::start_on_file().await;
    let loans = app.count("SELECT count(*) FROM loan").await;
    let (_folder, file) = backed_up(&app).await;
    app.set_console(Method::POST, "/loans", json!({ "count": 40 })).await;
    let other_log = std::fs::read(app.data_dir().join("mkopo.db-wal")).unwrap();

    let other = tempfile::tempdir().unwrap();
    let mut killed = mkopo()
        .args(["data", "restore", "-"])
        .env("MKOPO_DATA_DIR", other.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let part = || files_of_database(other.path()).into_iter().find(|name| name.contains("part"));
    wait_until("a part of the file", async || part().is_some()).await;
    let left = part().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    // It was killed later, while it wrote the copy of another backup.
    std::fs::write(other.path().join(format!("{left}-wal")), other_log).unwrap();

    restore(other.path(), &file).await;
    assert_eq!(files_of_database(other.path()), ["mkopo.db", "mkopo.db.lock"]);
    assert_eq!(loans_in(other.path()).await, loans);
}

#[tokio::test]
async fn there_is_data_at_each_moment_of_a_restore() {
    let app = TestApp::start_on_file().await;
    let (_folder, file) = backed_up(&app).await;
    let other = tempfile::tempdir().unwrap();
    restore(other.path(), &file).await;

    // What a server would start with if the restore were killed at that moment.
    let (database, is_over) = (other.path().join("mkopo.db"), Arc::new(AtomicBool::new(false)));
    let watching = tokio::task::spawn_blocking({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                assert!(database.exists());
            }
        }
    });
    restore(other.path(), &file).await;
    is_over.store(true, Ordering::Relaxed);
    watching.await.unwrap();
    let files = files_of_database(other.path());
    assert_eq!(files, ["mkopo.db", "mkopo.db.lock", "mkopo.db.replaced"]);
}

#[tokio::test]
async fn a_backup_of_a_newer_version_is_refused_with_that_reason_and_nothing_is_left_of_it() {
    let app = TestApp::start_on_file().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9999, 'of next year', TRUE, '', 1)";
    app.write(newer).await.unwrap();
    let (folder, file) = backed_up(&app).await;
    let other = tempfile::tempdir().unwrap();
    let said = error_line(&run("restore", other.path(), &file).await);
    let said = said.replace(folder.path().to_str().unwrap(), "[folder]");
    insta::assert_snapshot!(said, @"mkopo: can't restore [folder]/monday.db: it was created by a newer version of mkopo; start that version");
    assert_eq!(files_of_database(other.path()), ["mkopo.db.lock"]);
}

#[tokio::test]
async fn a_restore_through_a_symbolic_link_replaces_the_file_and_keeps_the_link() {
    let app = TestApp::start_on_file().await;
    let loans = app.count("SELECT count(*) FROM loan").await;
    let (folder, file) = backed_up(&app).await;
    app.set_console(Method::POST, "/loans", json!({ "count": 1 })).await;
    app.sandbox.close(Duration::ZERO).await;
    let link = folder.path().join("mkopo.db");
    std::os::unix::fs::symlink(app.data_dir().join("mkopo.db"), &link).unwrap();
    restore(folder.path(), &file).await;
    assert!(link.is_symlink());
    assert_eq!(files_of_database(app.data_dir()), ["mkopo.db", "mkopo.db.lock", "mkopo.db.replaced"]);
    assert_eq!(loans_in(app.data_dir()).await, loans);
}

#[test]
fn the_docs_end_the_same_after_a_dump_is_restored() {
    let (program, docs) =
        (include_str!("../../src/commands/backup.rs"), include_str!("../../../docs/deploy.md"));
    let end_all = program.split_once("const END_ALL").unwrap().1.split_once("];").unwrap().0;
    let statements = end_all.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    let statements: Vec<&str> = statements.collect();
    assert!(!statements.is_empty());
    for statement in statements {
        assert!(docs.contains(&format!("\n{statement};\n")), "docs/deploy.md does not have: {statement}");
    }
}
