use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use futures::future::join_all;
use lending::{mobile_money::Outcome, payouts};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use crate::{
    test_app::{Answer, TestApp, disbursement_of, payout, run_until, wait_until, waiting, with_headers},
    test_store,
};

const KEY: &str = "7c4a8d09-ca37-4e3c-9e0d-8f6b2a1c5d10";

/// Asserts that `again` is a replay of `first`, byte for byte.
fn assert_replays(first: &Answer, again: &Answer) {
    assert!(!first.is_replay());
    assert!(again.is_replay());
    assert_eq!(again.status, first.status);
    assert_eq!(again.headers["content-type"], first.headers["content-type"]);
    assert_eq!(String::from_utf8_lossy(&again.bytes), String::from_utf8_lossy(&first.bytes));
}

#[tokio::test]
async fn a_repeat_with_the_same_key_gets_the_first_answer_again_also_after_a_restart() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;

    let first = agent.disburse_with_key(&loan, KEY).await;
    assert_eq!(first.status, 200);
    app.clock.advance(Duration::from_mins(3));
    assert_replays(&first, &agent.disburse_with_key(&loan, KEY).await);
    assert_replays(&first, &agent.disburse_with_key(&loan, &format!("\"{KEY}\"")).await);
    assert_eq!(agent.records_of(&loan).await.len(), 1);
    app.assert_every_shilling_is_accounted_for().await;

    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    assert_replays(&first, &agent.disburse_with_key(&loan, KEY).await);
}

#[tokio::test]
async fn every_final_refusal_replays() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let mut loans = waiting(&pending);
    let paid = loans.next().unwrap();
    assert_eq!(agent.disburse(paid).await.status, 200);
    let rejected = loans.next().unwrap();
    let rejected_id = rejected["loan_id"].as_str().unwrap();
    let reject = format!("UPDATE loan SET status = 'REJECTED' WHERE loan_id = '{rejected_id}'");
    app.write(reject).await.unwrap();
    let loan = loans.next().unwrap();
    let too_large = pending.iter().find(|loan| loan["total_loan_amount"] == 300_000).unwrap();
    let unknown = json!({"loan_id": "LN-0", "total_loan_amount": 1, "customer_phone_number": "0712345678"});
    let mut other_amount = loan.clone();
    other_amount["total_loan_amount"] = json!(1);
    let mut other_phone = loan.clone();
    other_phone["customer_phone_number"] = json!("not a number");

    let mut answers = Vec::new();
    for loan in [paid, rejected, too_large, &unknown, &other_amount, &other_phone] {
        let key = format!("key-{}", answers.len());
        let first = agent.disburse_with_key(loan, &key).await;
        app.clock.advance(Duration::from_mins(1));
        let again = agent.disburse_with_key(loan, &key).await;
        assert_replays(&first, &again);
        answers.push(first.kind());
    }
    assert_eq!(
        answers,
        [
            "409 already_disbursed",
            "409 not_approved",
            "422 mobile_money_refused",
            "404 loan_not_found",
            "422 amount_mismatch",
            "422 phone_mismatch",
        ]
    );
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn an_answer_replays_in_its_original_format() {
    let (_, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let refused = pending.iter().find(|loan| loan["total_loan_amount"] == 300_000).unwrap();
    let paid = waiting(&pending).next().unwrap();
    for (loan, key, format) in
        [(refused, "refused", "application/problem+json"), (paid, "paid", "application/json")]
    {
        let headers = [("idempotency-key", key), ("accept", "application/problem+json")];
        let first = agent.send(with_headers(payout(loan), &headers)).await;
        assert_eq!(first.headers["content-type"], format);
        assert_replays(&first, &agent.disburse_with_key(loan, key).await);
    }
}

#[tokio::test]
async fn a_key_of_another_call_is_refused() {
    let (_, agent) = TestApp::start_for("agent").await;
    let [loan, other_loan] = &agent.waiting_loans().await;
    agent.disburse_with_key(loan, KEY).await;

    let mut other_body = disbursement_of(loan);
    other_body["agent_id"] = json!(2);
    for answer in [
        agent.disburse_with_key(other_loan, KEY).await,
        agent.disburse_body_with_key(loan, other_body, KEY).await,
    ] {
        assert_eq!(answer.kind(), "422 idempotency_key_reused");
    }
    assert_eq!(agent.records_of(other_loan).await.len(), 0);
}

#[tokio::test]
async fn a_key_is_in_use_while_the_first_call_runs() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::Slow]).await;

    let mut first = Box::pin(agent.disburse_with_key(&loan, KEY));
    agent.until_claimed(&loan, &mut first).await;
    assert_eq!(agent.disburse_with_key(&loan, KEY).await.kind(), "409 idempotency_key_in_use");

    let first = app.as_time_passes(first).await;
    assert_eq!(first.status, 202);
    assert_replays(&first, &agent.disburse_with_key(&loan, KEY).await);
    app.later(Duration::from_mins(1)).await;
    assert_eq!(agent.status_of(&loan).await, "COMPLETED");
    assert_replays(&first, &agent.disburse_with_key(&loan, KEY).await);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_key_whose_call_died_with_its_server_is_answered_once_the_payout_has_settled() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    let mut first = Box::pin(agent.disburse_with_key(&loan, KEY));
    agent.until_claimed(&loan, &mut first).await;
    drop(first);
    wait_until("the payment is taken in", async || app.float().await != 50_000_000).await;

    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    app.later(Duration::from_secs(10)).await;
    let answer = agent.disburse_with_key(&loan, KEY).await;
    assert_eq!(answer.status, 200);
    assert!(answer.is_replay());
    assert_eq!(answer.json()["status"], "COMPLETED");
    assert_eq!(agent.disburse_with_key(&loan, KEY).await.bytes, answer.bytes);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_key_whose_call_died_with_its_server_does_not_stay_in_use_while_the_payout_is_open() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    let mut first = Box::pin(agent.disburse_with_key(&loan, KEY));
    agent.until_claimed(&loan, &mut first).await;
    drop(first);
    let is_asked = async || app.sandbox.mobile_money.scenario().await.unwrap().next.is_empty();
    wait_until("mobile money is asked", is_asked).await;

    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    assert_eq!(agent.disburse_with_key(&loan, KEY).await.failure().1, "idempotency_key_in_use");
    app.later(Duration::from_secs(10)).await;
    let accepted = agent.disburse_with_key(&loan, KEY).await;
    assert_eq!(accepted.status, 202);
    assert!(accepted.is_replay());
    app.later(Duration::from_mins(5)).await;
    assert_eq!(agent.status_of(&loan).await, "FAILED");
    assert_eq!(agent.disburse_with_key(&loan, KEY).await.bytes, accepted.bytes);
    assert_eq!(agent.disburse_with_key(&loan, "another-key").await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

// S-12
#[tokio::test]
async fn in_progress_is_not_a_final_answer() {
    let (app, agent) = TestApp::start_for("agent").await;
    let supervisor = app.sign_in("supervisor").await;
    let loan = &agent.waiting_loan().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    assert_eq!(app.as_time_passes(agent.disburse(loan)).await.status, 202);

    assert_eq!(supervisor.disburse_with_key(loan, KEY).await.failure().1, "in_progress");
    app.later(Duration::from_mins(3)).await;
    let answer = supervisor.disburse_with_key(loan, KEY).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.is_replay());
}

#[tokio::test]
async fn a_key_expires_after_a_day() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "4320"]).await;
    let [loan, other_loan] = &agent.waiting_loans().await;
    let first = agent.disburse_with_key(loan, KEY).await;
    app.clock.advance(Duration::from_hours(24) - Duration::from_millis(1));
    assert_replays(&first, &agent.disburse_with_key(loan, KEY).await);
    app.clock.advance(Duration::from_millis(1));
    assert_eq!(agent.disburse_with_key(loan, KEY).await.failure().1, "already_disbursed");
    app.clock.advance(Duration::from_hours(24));
    assert_eq!(agent.disburse_with_key(other_loan, KEY).await.status, 200);
}

#[tokio::test]
async fn a_user_can_have_any_number_of_keys() {
    let (_, agent, loan) = TestApp::ready_to_pay().await;
    let mut unknown = loan.clone();
    unknown["loan_id"] = json!("LN-2026-99999");
    for keys in (0..1200).collect::<Vec<u32>>().chunks(100) {
        let calls = keys.iter().map(|n| {
            let (agent, unknown) = (&agent, &unknown);
            async move { agent.disburse_with_key(unknown, &format!("key-{n}")).await }
        });
        for answer in join_all(calls).await {
            assert_eq!(answer.status, 404);
        }
    }
    let first = agent.disburse_with_key(&loan, KEY).await;
    assert_eq!(first.status, 200);
    assert_replays(&first, &agent.disburse_with_key(&loan, KEY).await);
    assert!(agent.disburse_with_key(&unknown, "key-0").await.is_replay());
}

/// Another program holds the file's lock, until it is dropped, for longer than the server waits for it.
pub async fn lock_file(app: &TestApp) -> SqliteConnection {
    app.write("PRAGMA busy_timeout = 20").await.unwrap();
    let file = app.data_dir().join("mkopo.db");
    let mut other = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    other
}

#[tokio::test]
async fn an_answer_that_could_not_be_stored_is_not_sent() {
    let app = TestApp::start_on_file().await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    let mut call = Box::pin(agent.disburse_with_key(loan, KEY));
    agent.until_claimed(loan, &mut call).await;
    let is_asked = async || app.sandbox.mobile_money.scenario().await.unwrap().next.is_empty();
    run_until("mobile money is asked", &mut call, is_asked).await;
    let other = lock_file(&app).await;
    // After 8 seconds the call would be answered 202.
    assert_eq!(app.as_time_passes(call).await.kind(), "503 not_known");
    other.close().await.unwrap();
    app.later(Duration::from_secs(10)).await;
    let first = agent.disburse_with_key(loan, KEY).await;
    assert_eq!(first.status, 200);
    assert!(first.is_replay());
    assert_eq!(agent.disburse_with_key(loan, KEY).await.bytes, first.bytes);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn calls_for_one_loan_with_different_keys_at_once_pay_it_once_and_each_key_has_one_answer() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let keys: Vec<String> = (0..40).map(|n| format!("key-{n}")).collect();
    let answers = join_all(keys.iter().map(|key| agent.disburse_with_key(&loan, key))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for (key, first) in keys.iter().zip(&answers) {
        let again = agent.disburse_with_key(&loan, key).await;
        match *first.status {
            StatusCode::OK => assert_replays(first, &again),
            _ if first.failure().1 == "already_disbursed" => assert_replays(first, &again),
            // It was no final answer.
            _ => {
                assert_eq!(first.failure().1, "in_progress");
                assert_eq!((again.failure().1.as_str(), again.is_replay()), ("already_disbursed", false));
            }
        }
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_loan_id_over_64_characters_is_unknown_and_nothing_is_stored() {
    let (app, agent) = TestApp::start_for("agent").await;
    let mut loan = agent.waiting_loan().await;
    for (length, keys) in [(65, 0), (900, 0), (64, 1)] {
        loan["loan_id"] = json!("L".repeat(length));
        let answer = agent.disburse_with_key(&loan, &format!("key-{length}")).await;
        assert_eq!(answer.failure().1, "loan_not_found");
        assert_eq!(app.count("SELECT count(*) FROM idempotency_key").await, keys, "{length}");
    }
}

// S-68, S-110
#[tokio::test]
async fn each_user_has_their_own_keys() {
    let (app, agent) = TestApp::start_for("agent").await;
    let supervisor = app.sign_in("supervisor").await;
    let loan = &agent.waiting_loan().await;
    assert_eq!(agent.disburse_with_key(loan, KEY).await.status, 200);
    let theirs = supervisor.disburse_with_key(loan, KEY).await;
    assert_eq!((theirs.failure().1.as_str(), theirs.is_replay()), ("already_disbursed", false));
}

#[tokio::test]
async fn an_invalid_key_is_refused_before_anything_is_done() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let long = "k".repeat(256);
    let quoted_long = format!("\"{long}\"");
    for key in
        ["", "\"\"", "\"", "a b", "\"a\"b\"", "\"open", "open\"", "tab\tbed", "ключ", &long, &quoted_long]
    {
        let mut call = payout(&loan);
        call.headers_mut().insert("idempotency-key", HeaderValue::from_bytes(key.as_bytes()).unwrap());
        assert_eq!(agent.send(call).await.kind(), "400 bad_idempotency_key", "{key}");
    }
    let mut call = payout(&loan);
    for key in ["one", "two"] {
        call.headers_mut().append("idempotency-key", HeaderValue::from_static(key));
    }
    assert_eq!(agent.send(call).await.failure().1, "bad_idempotency_key");
    assert_eq!(agent.records_of(&loan).await.len(), 0);
    app.assert_every_shilling_is_accounted_for().await;
    for key in [&long[1..], "\"a b\""] {
        agent.disburse_with_key(&loan, key).await;
        assert!(agent.disburse_with_key(&loan, key).await.is_replay(), "{key}");
    }
}

#[tokio::test]
async fn concurrent_calls_with_one_key_have_one_answer() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let answers = join_all((0..100).map(|_| agent.disburse_with_key(&loan, KEY))).await;
    let mut paid = Vec::new();
    for answer in answers {
        if answer.status == 200 {
            paid.push(answer);
        } else {
            assert_eq!(answer.kind(), "409 idempotency_key_in_use");
        }
    }
    assert_eq!(paid.iter().filter(|answer| !answer.is_replay()).count(), 1);
    assert!(paid.iter().all(|answer| answer.bytes == paid[0].bytes));
    assert_eq!(agent.records_of(&loan).await.len(), 1);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_key_is_kept_for_as_long_as_its_payout_is_pending() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let (held, call) = agent.claimed(&loan, agent.disburse_with_key(&loan, KEY)).await;
    let tomorrow = app.sandbox.clock.now().plus(Duration::from_hours(25));
    assert_eq!(payouts::delete_expired_keys(&app.sandbox.database, tomorrow).await.unwrap(), 0);
    drop(held);
    assert_eq!(call.await.status, 200);
    assert_eq!(payouts::delete_expired_keys(&app.sandbox.database, tomorrow).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn an_expired_key_that_is_used_again_while_it_is_being_deleted_is_kept_on_postgresql() {
    const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                         AND query LIKE '%DELETE FROM idempotency_key%' AND wait_event_type = 'Lock'";
    let (app, agent) = TestApp::start_for("agent").await;
    agent.disburse_with_key(&agent.waiting_loan().await, KEY).await;
    let tomorrow = app.sandbox.clock.now().plus(Duration::from_hours(25));
    let mut other = test_store::connection(app.data_dir()).await;
    let use_again = format!("BEGIN; UPDATE idempotency_key SET created_at = {}", tomorrow.0);
    sqlx::raw_sql(AssertSqlSafe(use_again)).execute(&mut other).await.unwrap();
    let used = async {
        wait_until("the key is to be deleted", async || app.count(WAITS).await == 1).await;
        sqlx::raw_sql("COMMIT").execute(&mut other).await.unwrap();
    };
    let (deleted, ()) = tokio::join!(payouts::delete_expired_keys(&app.sandbox.database, tomorrow), used);
    assert_eq!(deleted.unwrap(), 0);
}
