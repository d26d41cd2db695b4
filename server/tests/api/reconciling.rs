use std::time::Duration;

use axum::http::Method;
use base::{
    clock::{Clock, UnixMillis},
    kes::Kes,
};
use futures::future::join_all;
use lending::{
    mobile_money::{Outcome, Refusal},
    payouts,
};
use serde_json::{Value, json};

use crate::{
    subscriber,
    test_app::{NOON, TestApp, run_until, wait_until},
};

/// The time until the next look at the open payout of `loan`.
async fn until_next_look(app: &TestApp, loan: &Value) -> Duration {
    let loan_id = loan["loan_id"].as_str().unwrap();
    let next = format!("SELECT check_by FROM payout WHERE loan_id = '{loan_id}' AND status = 'PENDING'");
    UnixMillis(app.count(next).await).since(app.sandbox.clock.unset_now())
}

// S-118
#[tokio::test]
async fn a_lost_answer_is_found_by_a_status_query() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    let accepted = app.as_time_passes(agent.disburse(&loan)).await;
    assert_eq!(accepted.status, 202);
    assert_eq!(
        json!([accepted.json()["status"], accepted.json()["mpesa_ref"], accepted.json()["loan_status"]]),
        json!(["PENDING", null, "APPROVED"])
    );
    let audit = app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(audit.pending, 3, "this one, and two of the demo's");

    app.later(Duration::from_secs(10)).await;
    let record = &agent.records_of(&loan).await[0];
    assert_eq!(record["status"], "COMPLETED");
    assert_eq!(record["id"], accepted.json()["id"]);
    assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    assert!(!agent.pending().await.iter().any(|other| other["loan_id"] == loan["loan_id"]));
    let settled = app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(settled.money_out, audit.money_out + Kes(loan["total_loan_amount"].as_i64().unwrap()));
}

#[tokio::test]
async fn an_open_payout_is_looked_at_within_ten_seconds() {
    let (app, agent) = TestApp::start_for("agent").await;
    // Not in step with the rounds of any server.
    app.as_time_passes(app.sandbox.clock.sleep(Duration::from_secs(1))).await;
    let loan = &agent.waiting_loan().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    let began = app.sandbox.clock.now();
    // Slowly, so that what the server itself takes does not count.
    let step = Duration::from_millis(10);
    app.as_time_passes_by(step, async {
        agent.disburse(loan).await;
        while agent.status_of(loan).await == "PENDING" {}
    })
    .await;
    let took = app.sandbox.clock.now().since(began);
    assert!(took < Duration::from_secs(12), "{took:?}");
}

#[tokio::test]
async fn an_open_payout_is_due_by_the_consoles_clock_too_unless_that_stands_still() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.write("DELETE FROM payout WHERE status = 'PENDING'").await.expect("the demo's are gone");
    let (_held, _call) = agent.claimed(&loan, agent.disburse(&loan)).await;
    let next = async || payouts::next_check(&app.sandbox.payouts).await.unwrap();
    let set_clock = async |change| app.set_console(Method::PUT, "/clock", change).await;
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    payouts::reconcile(&app.sandbox.payouts).await.unwrap();
    assert_eq!(next().await, seconds(10), "it is not due yet");
    set_clock(json!({"advance": "7s"})).await;
    assert_eq!(next().await, seconds(3));
    set_clock(json!({"frozen": true})).await;
    assert_eq!(next().await, seconds(10), "in base time");
    set_clock(json!({"advance": "3s"})).await;
    assert!(next().await <= seconds(5), "it is due, or the server has just looked at it");
}

#[tokio::test]
async fn a_payment_that_mobile_money_never_received_fails_and_frees_its_loan() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);

    app.later(Duration::from_secs(2)).await;
    assert_eq!(agent.status_of(&loan).await, "PENDING", "its request might still arrive");
    app.later(Duration::from_secs(10)).await;
    let record = &agent.records_of(&loan).await[0];
    assert_eq!(
        json!([record["status"], record["error_message"], record["mpesa_ref"]]),
        json!(["FAILED", "The payment request was not received by mobile money.", null])
    );
    assert_eq!(agent.disburse(&loan).await.status, 200);
    assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    app.assert_every_shilling_is_accounted_for().await;
}

/// Servers that die in a query must not add up to half a minute.
#[tokio::test]
async fn while_its_request_lives_an_open_payout_is_looked_at_again_within_five_seconds() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    app.later(Duration::from_secs(2)).await;
    assert_eq!(agent.status_of(&loan).await, "PENDING");
    let left = until_next_look(&app, &loan).await;
    assert!(left <= Duration::from_secs(5), "{left:?}");
}

/// A server may die with the lease of it.
#[tokio::test]
async fn an_open_payout_of_any_age_is_looked_at_again_within_ten_seconds() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    app.write(
        "UPDATE mobile_money_payment SET result_at = result_at + 7200000, result_by = 9007199254740991",
    )
    .await
    .unwrap();
    app.write("UPDATE payout SET claimed_at = claimed_at - 3600000, created_at = created_at - 3600000")
        .await
        .unwrap();
    app.later(Duration::from_mins(1)).await;
    let left = until_next_look(&app, &loan).await;
    assert!(left <= Duration::from_secs(10), "{left:?}");
}

#[tokio::test]
async fn a_slow_result_settles_the_payout_when_it_arrives() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::Slow]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    assert_eq!(agent.status_of(&loan).await, "PENDING");
    agent.until_settled(&loan).await;
    assert_eq!(agent.status_of(&loan).await, "COMPLETED");
    assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    app.assert_every_shilling_is_accounted_for().await;
}

// S-118
#[tokio::test]
async fn a_result_that_comes_twice_or_before_the_answer_settles_once() {
    let (app, agent) = TestApp::start_for("agent").await;
    for (loan, outcome) in
        agent.waiting_loans::<2>().await.iter().zip([Outcome::ResultTwice, Outcome::ResultBeforeAnswer])
    {
        app.next_outcomes(&[outcome]).await;
        assert_eq!(agent.disburse(loan).await.status, 200);
        app.later(Duration::from_secs(10)).await;
        assert_eq!(agent.records_of(loan).await.len(), 1);
        assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
        app.assert_every_shilling_is_accounted_for().await;
    }
}

#[tokio::test]
async fn a_result_that_contradicts_the_recorded_one_is_an_error_in_the_log_and_changes_nothing() {
    let receipt = "(SELECT receipt FROM mobile_money_payment WHERE originator_id = transaction_id)";
    let (refused, paid) = (Outcome::Refused(Refusal::MaximumBalance), Outcome::Success);
    let completed = |receipt| format!("status = 'COMPLETED', receipt = {receipt}");
    let failed = || "status = 'FAILED', error_message = 'Refused.'".to_owned();
    for (result, recorded, contradicts) in [
        (paid, completed(receipt), false),
        (paid, completed("'another'"), true),
        (paid, failed(), true),
        (refused, completed("'another'"), true),
        (refused, failed(), false),
    ] {
        let (app, agent, loan) = TestApp::ready_to_pay().await;
        let loan_id = loan["loan_id"].as_str().unwrap();
        let slowly = json!({"latency_ms": 1_000, "next": [result.name()]});
        app.set_console(Method::PUT, "/scenario", slowly).await;
        let mut call = Box::pin(agent.disburse(&loan));
        let asked = format!(
            "SELECT count(*) FROM mobile_money_payment JOIN payout ON transaction_id = originator_id
             WHERE loan_id = '{loan_id}'"
        );
        run_until("mobile money is asked", &mut call, async || app.count(asked.as_str()).await == 1).await;
        app.write(format!(
            "UPDATE payout SET {recorded}, processed_at = created_at WHERE loan_id = '{loan_id}'"
        ))
        .await
        .unwrap();
        let before = agent.records_of(&loan).await;
        subscriber::capture();
        app.as_time_passes(call).await;
        let is_said = subscriber::captured().contains("payout.contradicted");
        assert_eq!(is_said, contradicts, "{result:?} after {recorded}");
        assert_eq!(agent.records_of(&loan).await, before);
    }
}

#[tokio::test]
async fn what_was_open_when_the_server_died_settles_after_the_next_start() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);

    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    // The clock does not advance: the start makes all open payouts due.
    wait_until("the payout is settled", async || agent.status_of(&loan).await != "PENDING").await;
    assert_eq!(agent.status_of(&loan).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn the_demos_open_payouts_settle_a_day_later() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "4320"]).await;
    app.later(Duration::from_hours(20)).await;
    let open =
        |pending: &[Value]| pending.iter().filter(|loan| loan["disbursement_status"] == "PENDING").count();
    assert_eq!(open(&agent.pending().await), 2);
    app.later(Duration::from_hours(5)).await;
    assert_eq!(open(&agent.pending().await), 0);
    let audit = app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(audit.pending, 0);
}

#[tokio::test]
async fn two_servers_that_reconcile_concurrently_settle_each_payout_once() {
    let (app, agent) = TestApp::start_for("agent").await;
    let loans = &agent.waiting_loans::<5>().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost; 5]).await;
    let mut calls = Box::pin(join_all(loans.iter().map(|loan| agent.disburse(loan))));
    for loan in loans {
        agent.until_claimed(loan, &mut calls).await;
    }
    for answer in app.as_time_passes(calls).await {
        assert_eq!(answer.status, 202);
    }
    let other = app.another_server(&[]).await.sandbox;
    app.clock.advance(Duration::from_secs(20));
    tokio::try_join!(payouts::reconcile(&app.sandbox.payouts), payouts::reconcile(&other.payouts)).unwrap();
    for loan in loans {
        assert_eq!(agent.status_of(loan).await, "COMPLETED");
        assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    }
    app.assert_every_shilling_is_accounted_for().await;
    other.close(Duration::ZERO).await;
}

#[tokio::test]
async fn what_a_server_whose_clock_was_ahead_left_open_settles_within_a_minute() {
    let app = TestApp::start_with(&["--session-minutes", "43200"]).await;
    // A payout whose times are far ahead is due here, and would be looked at before its call is answered.
    let not_looked_at = "SELECT count(*) FROM payout WHERE status = 'PENDING' AND checks = 0";
    wait_until("the first round is over", async || app.count(not_looked_at).await == 0).await;
    let ahead = app.another_server_at(Clock::held_at(NOON.plus(Duration::from_hours(1))), &[]).await;
    let agent = app.sign_in("agent").await;
    let [lost, slow] = &agent.waiting_loans().await;
    ahead.next_outcomes(&[Outcome::LostUnpaid, Outcome::Slow]).await;
    let agent_of_ahead = ahead.with(agent.token());
    for loan in [lost, slow] {
        assert_eq!(ahead.as_time_passes(agent_of_ahead.disburse(loan)).await.status, 202);
    }
    ahead.sandbox.close(Duration::ZERO).await;
    for _ in 0..6 {
        app.later(Duration::from_secs(10)).await;
    }
    assert_eq!(agent.status_of(lost).await, "FAILED");
    assert_eq!(agent.status_of(slow).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_caller_who_disconnects_does_not_stop_the_payout() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 1_000})).await;
    {
        let mut call = Box::pin(agent.disburse(&loan));
        agent.until_claimed(&loan, &mut call).await;
    }
    agent.until_settled(&loan).await;
    assert_eq!(agent.status_of(&loan).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_running_payouts() {
    let (app, agent) = TestApp::start_for("agent").await;
    let loans = &agent.waiting_loans::<5>().await;
    let held = app.sandbox.mobile_money.hold_requests().await;
    let mut calls = Box::pin(join_all(loans.iter().map(|loan| agent.disburse(loan))));
    agent.until_claimed(&loans[0], &mut calls).await;
    let go_on = async { drop(held) };
    let (answers, (), ()) = tokio::join!(calls, app.sandbox.tasks.end(Duration::from_mins(1)), go_on);
    for answer in answers {
        assert_eq!(answer.status, 200);
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_delays_none_of_those_that_come_with_it() {
    let (app, agent) = TestApp::start_for("agent").await;
    let loans = &agent.waiting_loans::<4>().await;
    let records = agent.records().await;
    let paid = records.iter().find(|record| record["status"] == "COMPLETED").unwrap();
    let [loan_id, paid_id] = [&loans[0], paid].map(|loan| loan["loan_id"].as_str().unwrap());
    let held = app.sandbox.mobile_money.hold_requests().await;
    let mut calls = Box::pin(join_all(loans.iter().map(|loan| agent.disburse(loan))));
    for loan in loans {
        agent.until_claimed(loan, &mut calls).await;
    }
    // Only one of the two can be disbursed.
    let loans_of_both = format!("loan (status) WHERE loan_id = '{loan_id}' OR loan_id = '{paid_id}'");
    app.write(format!("CREATE UNIQUE INDEX one_of_both ON {loans_of_both}")).await.unwrap();
    drop(held);
    let answers = app.as_time_passes(calls).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(statuses, [202, 200, 200, 200]);
    app.write("DROP INDEX one_of_both").await.unwrap();
    app.later(Duration::from_secs(10)).await;
    assert_eq!(agent.status_of(&loans[0]).await, "COMPLETED");
    app.assert_every_shilling_is_accounted_for().await;
}
