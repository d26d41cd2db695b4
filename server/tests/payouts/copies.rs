//! Copies of the data that are made while loans are paid: each agrees with itself, has what was answered before, and a
//! server goes on with it.

use std::{path::Path, process::Command, sync::Mutex};

use serde_json::json;
use tempfile::TempDir;

use crate::{
    crash::{self, Answers, Lost, prepare, wait_until_more_are_paid, while_paying},
    number,
    server::Server,
    servers::{self, PAUSE, addresses, console, run, wait_until_settled},
    test_store,
};

const CALLERS: usize = 8;

/// More than are paid during a round.
const LOANS_A_ROUND: usize = 4000;

/// Slow enough for some 150 payouts a second.
const LATENCY_MS: u32 = 50;

/// A copy, and what was answered before it was begun.
struct Copied {
    folder: TempDir,
    url: String,
    before: Answers,
}

fn file_in(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("mkopo.db").display())
}

fn mkopo(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_mkopo")).env_clear().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes each kind of copy of the data in `folder`, which the `url` names, once.
fn copy_all(folder: &Path, url: &str, answers: &Mutex<Answers>) -> Vec<Copied> {
    let copied = |copy: &dyn Fn(&TempDir) -> String| {
        let (to, before) = (tempfile::tempdir().unwrap(), answers.lock().unwrap().clone());
        let url = copy(&to);
        assert!(answers.lock().unwrap().paid.len() > before.paid.len(), "nothing was paid meanwhile");
        Copied { folder: to, url, before }
    };
    let to_a_file = |to: &TempDir| {
        let to = file_in(to.path());
        mkopo(&["data", "copy", "--from", url, "--to", &to]);
        to
    };
    if !test_store::is_postgres() {
        let from_a_backup = |to: &TempDir| {
            let backup = to.path().join("backup.db");
            let (from, backup) = (folder.to_str().unwrap(), backup.to_str().unwrap());
            mkopo(&["data", "backup", "--data-dir", from, backup]);
            mkopo(&["data", "restore", "--data-dir", to.path().to_str().unwrap(), backup]);
            file_in(to.path())
        };
        return vec![copied(&to_a_file), copied(&from_a_backup)];
    }
    let to_a_database = |to: &TempDir| {
        let to = test_store::url(to.path()).unwrap();
        mkopo(&["data", "copy", "--from", url, "--to", &to]);
        to
    };
    let from_a_dump = |to: &TempDir| {
        let to = test_store::url(to.path()).unwrap();
        run("postgres", &["copy", url, &to]);
        to
    };
    vec![copied(&to_a_file), copied(&to_a_database), copied(&from_a_dump)]
}

fn copy_repeatedly(rounds: usize) {
    let folder = prepare(rounds * LOANS_A_ROUND);
    let url = test_store::url(folder.path()).unwrap_or_else(|| file_in(folder.path()));
    let server = Server::start_on(&test_store::options(folder.path()));
    console(&server, "PUT", "/scenario", Some(&json!({ "latency_ms": LATENCY_MS })));
    let answers = Mutex::new(Answers::default());
    let copies: Vec<Copied> = while_paying(&addresses([&server]), CALLERS, PAUSE, &answers, || {
        let copy = |_| {
            wait_until_more_are_paid(&answers);
            copy_all(folder.path(), &url, &answers)
        };
        (0..rounds).flat_map(copy).collect()
    });
    wait_until_settled(&server);
    drop(server);
    let answers = answers.into_inner().unwrap();
    println!("{} copies: {answers}", copies.len());
    crash::check(crash::settings_of(folder.path()), &answers, Lost::Nothing);
    for Copied { folder, url, before } in &copies {
        crash::check(servers::settings_of(folder, url), before, Lost::Nothing);
    }
}

#[test]
fn data_that_is_copied_while_loans_are_paid_agrees_with_itself_and_lacks_nothing_from_before() {
    copy_repeatedly(1);
}

#[test]
#[ignore = "takes minutes"]
fn data_that_is_copied_repeatedly_while_loans_are_paid_agrees_with_itself_and_lacks_nothing_from_before() {
    copy_repeatedly(number("MKOPO_TEST_ROUNDS").unwrap_or(1000).div_ceil(100).try_into().unwrap());
}
