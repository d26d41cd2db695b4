//! A loan is paid once, whatever clocks, resets and other servers do between its claim and its payment.

use std::{pin::pin, time::Duration};

use axum::http::Method;
use base::clock::Clock;
use lending::mobile_money::Outcome;
use serde_json::{Value, json};

use crate::{
    idempotency::lock_file,
    test_app::{NOON, TestApp, run_until, wait_until},
};

const HOUR: Duration = Duration::from_hours(1);

/// The loan is paid by one more call, and only by it.
async fn assert_paid_once_by_the_next_call(app: &TestApp, agent: &TestApp, loan: &Value) {
    let phone = loan["customer_phone_number"].as_str().unwrap();
    if agent.status_of(loan).await == "FAILED" {
        assert_eq!(app.as_time_passes(agent.disburse(loan)).await.status, 200);
    }
    assert_eq!(agent.disburse(loan).await.failure().1, "already_disbursed");
    assert_eq!(app.texts_to(phone).await, 1);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn moving_the_clock_on_does_not_free_a_loan_that_is_being_paid() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "43200"]).await;
    for loan in &agent.waiting_loans::<3>().await {
        let (held, call) = agent.claimed(loan, agent.disburse(loan)).await;
        app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
        app.reconcile().await;
        drop(held);
        let answer = app.as_time_passes(call).await;
        // If the request was voided before this call was answered, the answer says so.
        if answer.status != 202 {
            assert_eq!(answer.kind(), "422 mobile_money_refused");
        }
        assert_paid_once_by_the_next_call(&app, &agent, loan).await;
    }
}

#[tokio::test]
async fn a_payment_that_was_asked_after_in_vain_is_refused_for_good() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let ahead = app.another_server_at(Clock::held_at(NOON.plus(HOUR)), &[]).await;
    let (held, call) = agent.claimed(&loan, agent.disburse(&loan)).await;
    ahead.reconcile().await;
    assert_eq!(agent.status_of(&loan).await, "FAILED");
    // Somebody else pays the loan before the first call goes on.
    assert_eq!(ahead.with(agent.token()).disburse(&loan).await.status, 200);
    drop(held);
    assert_eq!(app.as_time_passes(call).await.failure().1, "mobile_money_refused");
    assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_reset_cuts_off_the_payouts_that_run_in_every_server() {
    let app = TestApp::start().await;
    let second = app.another_server(&[]).await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    let (held, call) = agent.claimed(loan, agent.disburse(loan)).await;
    assert_eq!(second.console(Method::POST, "/data/reset", None).await.status, 204);
    drop(held);
    assert_eq!(app.as_time_passes(call).await.failure().1, "not_known");
    app.assert_every_shilling_is_accounted_for().await;
    // The loan is there again, with the demo data, and is paid as any other.
    let agent = app.sign_in("agent").await;
    assert_eq!(agent.disburse(&agent.waiting_loan().await).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_reset_whose_caller_hangs_up_is_finished_all_the_same() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    assert_eq!(agent.disburse(&loan).await.status, 200);
    let free = app.occupy_writer().await;
    {
        let mut reset = Box::pin(app.console(Method::POST, "/data/reset", None));
        app.run_until_it_waits(&mut reset).await;
    }
    free.send(()).unwrap();
    wait_until("the session is over", async || agent.get("/api/v1/auth/me").await.status == 401).await;
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_call_whose_session_a_reset_ended_pays_nothing() {
    // On PostgreSQL, the calls would not queue behind the reset.
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    let free = app.occupy_writer().await;
    let mut reset = pin!(app.console(Method::POST, "/data/reset", None));
    app.run_until_it_waits(&mut reset).await;
    // The calls queue behind it, with the session that it ends.
    let mut calls = [None, Some("a-key")].map(|key| {
        let agent = &agent;
        Box::pin(async move {
            match key {
                Some(key) => agent.disburse_with_key(loan, key).await,
                None => agent.disburse(loan).await,
            }
        })
    });
    for call in &mut calls {
        queue_payout(&app, call).await;
    }
    free.send(()).unwrap();
    assert_eq!(reset.await.status, 204);
    for call in calls {
        // On a machine that is very busy, the call's time runs out first.
        let (status, code, _) = call.await.failure();
        assert!(["no_session", "took_too_long"].contains(&code.as_str()), "{status} {code}");
    }
    app.assert_every_shilling_is_accounted_for().await;
    let agent = app.sign_in("agent").await;
    assert!(agent.records_of(loan).await.is_empty());
    assert_eq!(agent.disburse(loan).await.status, 200);
}

#[tokio::test]
async fn a_call_that_waits_while_its_session_ends_pays_nothing() {
    // On PostgreSQL, the call would not queue behind it.
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    let end_of_sessions = "UPDATE session SET ended_at = created_at";
    let free = app.occupy_writer_and(end_of_sessions).await;
    let mut call = pin!(agent.disburse(loan));
    queue_payout(&app, &mut call).await;
    free.send(()).unwrap();
    assert_eq!(call.await.failure().1, "no_session");
    let agent = app.sign_in("agent").await;
    assert!(agent.records_of(loan).await.is_empty());
}

/// Runs a call that pays out until more writes wait: it writes in a task of its own. A write in the background may be
/// taken for it; then the call does not begin before its session has ended.
async fn queue_payout<T>(app: &TestApp, call: &mut (impl Future<Output = T> + Unpin)) {
    let writes_waiting = || app.sandbox.database.load().writes_waiting;
    let before = writes_waiting();
    run_until("more writes wait", call, async || writes_waiting() != before).await;
}

#[tokio::test]
async fn a_restored_snapshot_hears_nothing_of_payments_made_before() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 2_000})).await;
    let (held, mut call) = agent.claimed(&loan, agent.disburse(&loan)).await;
    assert_eq!(app.console(Method::POST, "/data/snapshots/claimed", None).await.status, 201);
    // Mobile money takes the payment in; its answer is on the way.
    let float = app.float().await;
    drop(held);
    run_until("the payment is taken in", &mut call, async || app.float().await != float).await;
    assert_eq!(app.console(Method::PUT, "/data/snapshots/claimed", None).await.status, 204);
    app.as_time_passes(call).await;
    app.assert_every_shilling_is_accounted_for().await;
    agent.until_settled(&loan).await;
    assert_paid_once_by_the_next_call(&app, &agent, &loan).await;
}

#[tokio::test]
async fn a_request_lost_while_the_clock_was_ahead_is_settled_in_seconds_once_it_is_set_back() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "43200"]).await;
    let [lost, slow] = &agent.waiting_loans().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "25d"})).await;
    app.next_outcomes(&[Outcome::LostUnpaid, Outcome::Slow]).await;
    for loan in [lost, slow] {
        assert_eq!(app.as_time_passes(agent.disburse(loan)).await.status, 202);
    }
    app.set_console(Method::PUT, "/clock", json!({"now": NOON.to_string()})).await;
    app.later(Duration::from_secs(30)).await;
    app.later(Duration::from_secs(30)).await;
    assert_eq!(agent.status_of(lost).await, "FAILED");
    assert_eq!(agent.status_of(slow).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn the_daily_limit_does_not_count_payments_of_a_later_day() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "43200"]).await;
    let mut loans = Vec::new();
    for _ in 0..3 {
        loans.push(app.approve_loan(250_000, "0712000777").await);
    }
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d"})).await;
    for loan in &loans[..2] {
        assert_eq!(agent.disburse(loan).await.status, 200);
    }
    app.set_console(Method::PUT, "/clock", json!({"now": NOON.to_string()})).await;
    assert_eq!(agent.disburse(&loans[2]).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_payment_that_the_store_turned_away_is_sent_again_under_the_same_id() {
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    let (held, mut call) = agent.claimed(loan, agent.disburse(loan)).await;
    let mut other = lock_file(&app).await;
    drop(held);
    while app.write("SELECT 1").await.is_ok() {}
    assert!(futures::poll!(&mut call).is_pending());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(app.as_time_passes(call).await.status, 200);
    assert_eq!(agent.records_of(loan).await.len(), 1);
    assert_paid_once_by_the_next_call(&app, &agent, loan).await;
}

#[tokio::test]
async fn a_payout_that_never_left_a_crashed_server_frees_its_loan_within_half_a_minute() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let (held, call) = agent.claimed(&loan, agent.disburse(&loan)).await;
    drop(call);
    let app = app.restart().await;
    drop(held);
    let agent = app.sign_in("agent").await;
    for _ in 0..3 {
        app.later(Duration::from_secs(10)).await;
    }
    assert_eq!(agent.status_of(&loan).await, "FAILED");
    assert_paid_once_by_the_next_call(&app, &agent, &loan).await;
}
