//! Payouts of several servers that write side by side.

use std::time::{Duration, Instant};

use axum::http::Method;
use futures::future::join_all;
use lending::mobile_money::{Outcome, Refusal};
use serde_json::{Value, json};

use crate::{
    test_app::{Answer, TestApp, wait_until},
    test_store,
};

const SERVERS: usize = 3;

/// The service, and further servers on the same data.
async fn servers() -> Vec<TestApp> {
    let mut servers = vec![TestApp::start().await];
    // Each generates other ids than the one before it.
    while servers.len() < SERVERS {
        let another = servers[servers.len() - 1].another_server(&[]).await;
        servers.push(another);
    }
    servers
}

async fn approve(app: &TestApp, count: usize, amount: i64, phone: impl Fn(usize) -> String) -> Vec<Value> {
    let mut loans = Vec::new();
    for number in 0..count {
        loans.push(app.approve_loan(amount, &phone(number)).await);
    }
    loans
}

/// Pays each loan at the same time, on one server after the other.
async fn pay_all(servers: &[TestApp], loans: &[Value]) -> Vec<Answer> {
    let agent = servers[0].sign_in("agent").await;
    let token = agent.token();
    let calls = loans.iter().enumerate().map(|(number, loan)| async move {
        servers[number % servers.len()].with(token).disburse(loan).await
    });
    join_all(calls).await
}

fn paid(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.status == 200).count()
}

fn refused(answers: &[Answer], code: &str) -> usize {
    answers.iter().filter(|answer| answer.body()["result_code"] == code).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daily_limit_of_a_phone_holds_for_payments_at_the_same_time() {
    let servers = servers().await;
    let loans = approve(&servers[0], 9, 150_000, |_| "+254712000778".to_owned()).await;
    let answers = pay_all(&servers, &loans).await;
    assert_eq!((paid(&answers), refused(&answers, "4")), (3, 6));
    servers[0].assert_every_shilling_is_accounted_for().await;
}

// S-13
#[tokio::test(flavor = "multi_thread")]
async fn no_shilling_of_the_float_is_lost_whatever_amounts_run_it_down() {
    let servers = servers().await;
    let mut loans = Vec::new();
    for number in 0..36 {
        let amount = 7_000 + 1_013 * (number % 9);
        loans.push(servers[0].approve_loan(amount, &format!("+2547120011{number:02}")).await);
    }
    // Nine of them are 99,468 together.
    for float in [150_001, 99_468, 0, 20_000] {
        servers[0].set_console(Method::PUT, "/scenario", json!({"float": float})).await;
        let answers = pay_all(&servers, &loans.split_off(loans.len() - 9)).await;
        let sent = answers.iter().filter(|answer| answer.status == 200);
        let sent: i64 = sent.map(|answer| answer.json()["amount"].as_i64().unwrap()).sum();
        let left = servers[0].float().await;
        assert_eq!(float, sent + left);
        assert_eq!(paid(&answers) == answers.len(), float >= 99_468, "{float}");
        assert!(paid(&answers) + refused(&answers, "1") == answers.len() && left >= 0, "{left}");
    }
    servers[0].assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_loan_that_somebody_holds_stalls_its_own_calls_only_on_postgresql() {
    let app = TestApp::start().await;
    let loans = approve(&app, 12, 20_000, |number| format!("+2547120070{number:02}")).await;
    let agent = app.sign_in("agent").await;
    let held = loans[0]["loan_id"].as_str().unwrap();
    let mut connection = test_store::connection(app.data_dir()).await;
    let lock = format!("BEGIN; SELECT 1 FROM loan WHERE loan_id = '{held}' FOR UPDATE");
    sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut connection).await.unwrap();
    let began = Instant::now();
    let of_held = async { (agent.disburse(&loans[0]).await, began.elapsed()) };
    let of_others = async {
        for loans in loans[1..].chunks(4) {
            let answers = join_all(loans.iter().map(|loan| agent.disburse(loan))).await;
            assert_eq!(paid(&answers), loans.len());
        }
        began.elapsed()
    };
    let ((answer, waited), others) = tokio::join!(of_held, of_others);
    assert_eq!(answer.kind(), "503 busy");
    assert!(waited >= Duration::from_secs(5) && others < waited, "{waited:?}, {others:?}");
    sqlx::raw_sql("COMMIT").execute(&mut connection).await.unwrap();
    assert_eq!(agent.disburse(&loans[0]).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_key_that_somebody_holds_stalls_no_other_payout_on_postgresql() {
    let app = TestApp::start().await;
    let loans = approve(&app, 9, 20_000, |number| format!("+2547120080{number:02}")).await;
    let agent = app.sign_in("agent").await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    assert_eq!(app.as_time_passes(agent.disburse_with_key(&loans[0], "held")).await.status, 202);
    let mut connection = test_store::connection(app.data_dir()).await;
    let lock = "BEGIN; SELECT 1 FROM idempotency_key WHERE idempotency_key = 'held' FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut connection).await.unwrap();
    let began = Instant::now();
    let of_others = async {
        for loan in &loans[1..] {
            assert_eq!(agent.disburse(loan).await.status, 200);
        }
        began.elapsed()
    };
    let ((), others) = tokio::join!(app.later(Duration::from_secs(10)), of_others);
    assert!(others < Duration::from_secs(5), "{others:?}");
    sqlx::raw_sql("COMMIT").execute(&mut connection).await.unwrap();
    app.later(Duration::from_secs(10)).await;
    let answer = agent.disburse_with_key(&loans[0], "held").await;
    assert_eq!((answer.status.as_u16(), answer.is_replay()), (202, true));
    assert_eq!(agent.status_of(&loans[0]).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}

/// Otherwise it could be the victim of a deadlock: payments lock the outcomes, and then rows that others have written in
/// the same transaction.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn outcomes_are_changed_in_a_transaction_of_their_own_on_postgresql() {
    const WRITE: &str = "UPDATE loan SET status = status";
    const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                         AND query LIKE '%UPDATE mobile_money_scenario SET default%' AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'";
    let app = TestApp::start().await;
    let mut payments = test_store::connection(app.data_dir()).await;
    let lock = "BEGIN; SELECT 1 FROM mobile_money_scenario FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut payments).await.unwrap();
    let free = app.occupy_writer().await;
    let written = app.write(WRITE);
    let changed = app.console(Method::PUT, "/scenario", json!({"next": ["slow"]}));
    let crossed = async {
        wait_until("both are in line", async || app.sandbox.database.load().writes_waiting >= 2).await;
        free.send(()).unwrap();
        wait_until("the change waits for the payments", async || app.count(WAITS).await == 1).await;
        sqlx::raw_sql(WRITE).execute(&mut payments).await.unwrap();
        sqlx::raw_sql("COMMIT").execute(&mut payments).await.unwrap();
    };
    let (written, changed, ()) = tokio::join!(written, changed, crossed);
    written.unwrap();
    assert_eq!(changed.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_sent_for_many_loans_at_once_pays_one_of_them() {
    let servers = servers().await;
    let loans = approve(&servers[0], 12, 20_000, |number| format!("+2547120020{number:02}")).await;
    let agent = servers[0].sign_in("agent").await;
    let token = agent.token();
    let servers = &servers;
    let calls = loans.iter().enumerate().map(|(number, loan)| async move {
        servers[number % SERVERS].with(token).disburse_with_key(loan, "one-key").await
    });
    let answers = join_all(calls).await;
    assert_eq!(paid(&answers), 1);
    let others = answers.iter().filter(|answer| answer.status != 200);
    for answer in others {
        assert_eq!(answer.failure().1, "idempotency_key_reused");
    }
    servers[0].assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_outcomes_are_each_taken_once() {
    let servers = servers().await;
    let loans = approve(&servers[0], 12, 20_000, |number| format!("+2547120030{number:02}")).await;
    servers[0].next_outcomes(&[Outcome::Refused(Refusal::MaximumBalance); 5]).await;
    let answers = pay_all(&servers, &loans).await;
    assert_eq!((paid(&answers), refused(&answers, "8")), (7, 5));
    servers[0].assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_call_whose_session_is_being_ended_waits_and_then_pays_nothing_on_postgresql() {
    let (app, agent) = TestApp::start_for("agent").await;
    let loan = app.approve_loan(20_000, "+254712005000").await;
    let mut connection = test_store::connection(app.data_dir()).await;
    sqlx::raw_sql("BEGIN; UPDATE session SET ended_at = 1").execute(&mut connection).await.unwrap();
    let ending = async {
        wait_until("the claim is tried again", async || app.sandbox.database.load().conflicts > 0).await;
        sqlx::raw_sql("COMMIT").execute(&mut connection).await.unwrap();
    };
    let (answer, ()) = tokio::join!(agent.disburse(&loan), ending);
    assert_eq!(answer.failure().1, "no_session");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn a_call_that_waits_for_a_reset_pays_nothing_on_postgresql() {
    const WAIT: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                        AND wait_event_type = 'Lock' AND wait_event = ";
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let mut connection = test_store::connection(app.data_dir()).await;
    sqlx::raw_sql("BEGIN; SELECT 1 FROM staff FOR UPDATE").execute(&mut connection).await.unwrap();
    let until_one_waits_for = async |what: &str| {
        wait_until(what, async || app.count(&format!("{WAIT} '{what}'")).await >= 1).await;
    };
    let reset = app.console(Method::POST, "/data/reset", None);
    let call = async {
        until_one_waits_for("transactionid").await;
        agent.disburse(&loan).await
    };
    let end = async {
        until_one_waits_for("advisory").await;
        sqlx::raw_sql("COMMIT").execute(&mut connection).await.unwrap();
    };
    let (reset, answer, ()) = tokio::join!(reset, call, end);
    assert_eq!(reset.status, 204);
    // On a machine that is very busy, its time to wait for the lock runs out first.
    let code = answer.failure().1;
    assert!(["no_session", "busy"].contains(&code.as_str()), "{code}");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn claims_of_loans_that_somebody_locks_in_the_wrong_order_are_tried_again_on_postgresql() {
    let app = TestApp::start().await;
    let loans = approve(&app, 2, 20_000, |number| format!("+25471200600{number}")).await;
    let mut ids: Vec<&str> = loans.iter().map(|loan| loan["loan_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let mut connection = test_store::connection(app.data_dir()).await;
    // Locks the loans in the wrong order, the set of the calls being between the two.
    let lock =
        |id: &str| sqlx::AssertSqlSafe(format!("SELECT 1 FROM loan WHERE loan_id = '{id}' FOR UPDATE"));
    sqlx::raw_sql("BEGIN; SET LOCAL deadlock_timeout = '60s'").execute(&mut connection).await.unwrap();
    sqlx::raw_sql(lock(ids[1])).execute(&mut connection).await.unwrap();
    let agent = app.sign_in("agent").await;
    let agent = &agent;
    let other = async {
        wait_until("a claim is tried again", async || app.sandbox.database.load().conflicts > 0).await;
        sqlx::raw_sql(lock(ids[0])).execute(&mut connection).await.unwrap();
        sqlx::raw_sql("COMMIT").execute(&mut connection).await.unwrap();
    };
    let calls = join_all(loans.iter().map(|loan| agent.disburse(loan)));
    let (answers, ()) = tokio::join!(calls, other);
    assert_eq!(paid(&answers), 2);
}
