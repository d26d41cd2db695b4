//! PostgreSQL fails over to a standby that has not seen the last commits: what was claimed or answered before may be
//! gone. A test moves the timeline, and deletes what the new leader never saw.

use std::{pin::Pin, time::Duration};

use lending::mobile_money::Outcome;
use serde_json::{Value, json};

use crate::{
    subscriber,
    test_app::{Answer, TestApp, wait_until},
    test_store,
};

/// Moves the data to another timeline, as a failover does.
fn move_to_timeline(number: u8) -> String {
    format!(
        "DROP VIEW data_copy;
         CREATE VIEW data_copy AS
             SELECT value AS generation, CAST({number} AS BIGINT) AS timeline FROM generation;"
    )
}

/// The log's name for answers that the data does not have.
const MISSING: &str = "data_copy.answers_missing";

/// Undoes the claim of `loan` and what followed in our books, as if it had never been committed.
fn lose_claim(loan: &Value) -> String {
    let loan_id = loan["loan_id"].as_str().unwrap();
    let of_loan = format!("(SELECT payout_id FROM payout WHERE loan_id = '{loan_id}')");
    format!(
        "DELETE FROM idempotency_key WHERE payout_id IN {of_loan};
         DELETE FROM payout WHERE loan_id = '{loan_id}';
         UPDATE loan SET status = 'APPROVED', disbursed_at = NULL WHERE loan_id = '{loan_id}'"
    )
}

type Call<'c> = Pin<Box<dyn Future<Output = Answer> + 'c>>;

async fn events(app: &TestApp) -> Vec<Value> {
    let events = app.read_console("/events?kind=data_copy_found").await;
    events.as_array().unwrap().clone()
}

// S-14
#[tokio::test]
async fn a_payment_is_not_sent_to_a_leader_that_never_saw_its_claim() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let before = app.float().await;
    let (held, call) = agent.claimed(&loan, agent.disburse_with_key(&loan, "first")).await;
    app.write(move_to_timeline(7) + &lose_claim(&loan)).await.unwrap();
    drop(held);
    assert_eq!(app.as_time_passes(call).await.failure().1, "not_known");
    assert_eq!(app.float().await, before);
    // The same key pays the loan once.
    assert_eq!(agent.disburse_with_key(&loan, "first").await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_payment_whose_claim_survived_a_failover_is_sent_to_the_new_leader() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let (held, call) = agent.claimed(&loan, agent.disburse_with_key(&loan, "first")).await;
    app.write(move_to_timeline(7)).await.unwrap();
    drop(held);
    assert_eq!(app.as_time_passes(call).await.status, 200);
    assert_eq!(agent.records_of(&loan).await.len(), 1);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_result_of_the_leader_before_does_not_settle_a_payout_whose_payment_was_lost() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::Slow]).await;
    let before = app.float().await;
    let mut call: Call<'_> = Box::pin(agent.disburse_with_key(&loan, "first"));
    while app.float().await == before {
        assert!(futures::poll!(&mut call).is_pending());
    }
    app.write(move_to_timeline(7)).await.unwrap();
    let lose_payment = "DELETE FROM mobile_money_payment WHERE receipt IS NOT NULL AND requested_at =
                        (SELECT max(requested_at) FROM mobile_money_payment)";
    app.write(lose_payment).await.unwrap();
    assert_eq!(app.as_time_passes(call).await.status, 202);
    for _ in 0..3 {
        app.later(Duration::from_secs(15)).await;
    }
    assert_eq!(agent.status_of(&loan).await, "FAILED");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn accepted_is_the_answer_only_for_a_payout_that_is_there() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    for key in [None, Some("first")] {
        app.next_outcomes(&[Outcome::LostUnpaid]).await;
        let mut call: Call<'_> = match key {
            Some(key) => Box::pin(agent.disburse_with_key(&loan, key)),
            None => Box::pin(agent.disburse(&loan)),
        };
        agent.until_claimed(&loan, &mut call).await;
        app.write(lose_claim(&loan)).await.unwrap();
        assert_eq!(app.as_time_passes(call).await.failure().1, "not_known", "{key:?}");
    }
}

// S-14
#[tokio::test]
async fn another_copy_of_the_data_is_said_once_with_the_answers_that_it_does_not_have() {
    subscriber::capture();
    let (app, agent) = TestApp::start_for("agent").await;
    let [lost, open, kept] = &agent.waiting_loans().await;
    assert_eq!(agent.disburse(lost).await.status, 200);
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    assert_eq!(app.as_time_passes(agent.disburse(open)).await.status, 202);
    app.later(Duration::from_secs(15)).await;
    assert_eq!(agent.status_of(open).await, "COMPLETED", "as 202 promised");
    assert_eq!(agent.disburse(kept).await.status, 200);
    assert!(events(&app).await.is_empty());

    let loan_id = lost["loan_id"].as_str().unwrap();
    let details = found(&app, &agent, 1, move_to_timeline(7) + &lose_claim(lost)).await;
    assert_eq!(details, format!("timeline 7; answers about payouts that are not in it: 1, for {loan_id}"));
    // Counted once the event is written.
    let is_counted = async || app.metrics().await.contains("mkopo_data_copies_found_total 1\n");
    wait_until("the copy is counted", is_counted).await;
    let metrics = app.metrics().await;
    assert!(metrics.contains("mkopo_data_copies_found_total 1\n"), "{metrics}");
    assert!(metrics.contains("mkopo_answers_missing_total 1\n"), "{metrics}");
    // The payment is known to mobile money alone.
    let audit = app.read_console("/invariant").await;
    assert_eq!((audit["ok"].as_bool(), audit["without_payout"].as_array().unwrap().len()), (Some(false), 1));
    // Paid again, the loan is named.
    assert_eq!(agent.disburse(lost).await.status, 200);
    let audit = app.read_console("/invariant").await;
    assert_eq!(audit["double_paid"], json!([loan_id]));
    assert_eq!(events(&app).await.len(), 1);
    assert_eq!(subscriber::captured().matches(MISSING).count(), 1);
    subscriber::capture();

    let details = found(&app, &agent, 2, move_to_timeline(8)).await;
    assert_eq!(details, "timeline 8; the last 3 answers about payouts are in it");
    assert!(!subscriber::captured().contains(MISSING));
}

/// Moves to another copy of the data by `change`, and returns what the newest of `many` events says of it.
async fn found(app: &TestApp, agent: &TestApp, many: usize, change: String) -> String {
    // At once: a background task reads the timeline, too.
    app.write(change).await.unwrap();
    // A call reads PostgreSQL's timeline. A file has none: another one is noticed by the server's lease.
    if !test_store::is_postgres() {
        app.write("UPDATE server_lease SET renewals = renewals + 7").await.unwrap();
        app.sandbox.server.lease.renew().await.unwrap();
    }
    let is_found = async || {
        agent.pending().await;
        events(app).await.len() == many
    };
    let found = wait_until("an event", is_found);
    tokio::time::timeout(Duration::from_secs(20), found).await.unwrap();
    let newest = events(app).await.swap_remove(0);
    assert_eq!(newest["who"], "this server");
    newest["details"].as_str().unwrap().to_owned()
}
