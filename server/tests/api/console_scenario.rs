use axum::http::Method;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::test_app::{TestApp, waiting};

#[tokio::test]
async fn the_next_payout_fails_as_told_and_the_one_after_it_does_not() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap();
    app.set_console(Method::PUT, "/scenario", json!({"next": ["insufficient_funds"]})).await;
    let refused = agent.disburse(loan).await;
    assert_json_snapshot!(refused.failure(), @"");
    assert_eq!(refused.json()["result_code"], "1");
    assert_eq!(agent.disburse(loan).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn what_is_not_sent_stays_as_it_is() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 800, "seed": 7})).await;
    let change = json!({"default": "slow", "float": 1000, "next": ["success", "lost_unpaid"]});
    let changed = app.set_console(Method::PUT, "/scenario", change).await.json();
    assert_json_snapshot!(changed, {".outcomes" => "[…]", ".magic" => "[…]"}, @"");
    assert_eq!(app.console(Method::GET, "/scenario", None).await.json(), changed);
    assert_eq!(app.console(Method::DELETE, "/scenario", None).await.status, 204);
    let scenario = app.console(Method::GET, "/scenario", None).await.json();
    assert_json_snapshot!(scenario, {".outcomes" => "[…]", ".magic" => "[…]"}, @"");
}

#[tokio::test]
async fn every_outcome_and_every_magic_number_is_told() {
    let app = TestApp::start().await;
    let scenario = app.console(Method::GET, "/scenario", None).await.json();
    let outcomes = scenario["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 16);
    assert_json_snapshot!([&outcomes[0], &outcomes[1], &outcomes[12]], @"");
    let magic = scenario["magic"].as_array().unwrap();
    assert_eq!(magic.len(), 31);
    assert_json_snapshot!([&magic[1], &magic[16]], @"");
}

#[tokio::test]
async fn a_scenario_that_can_not_be_is_refused_and_changes_nothing() {
    let app = TestApp::start().await;
    let before = app.console(Method::GET, "/scenario", None).await.json();
    let mut failures = Vec::new();
    for change in [
        json!({"default": "sucess"}),
        json!({"next": ["success", "lost"]}),
        json!({"latency_ms": -1}),
        json!({"latency": 800}),
    ] {
        failures.push(app.console(Method::PUT, "/scenario", Some(change)).await.failure());
    }
    assert_json_snapshot!(failures, @"");
    assert_eq!(app.console(Method::GET, "/scenario", None).await.json(), before);
}

#[tokio::test]
async fn the_audit_tells_what_went_out() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let before = app.console(Method::GET, "/invariant", None).await.json();
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap();
    agent.disburse(loan).await;
    let after = app.console(Method::GET, "/invariant", None).await.json();
    let amount = loan["total_loan_amount"].as_i64().unwrap();
    assert_eq!(after["ok"], true);
    assert_eq!(after["money_out"], before["money_out"].as_i64().unwrap() + amount);
    assert_eq!(after["completed"], after["money_out"]);
}
