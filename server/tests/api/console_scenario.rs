use axum::http::Method;
use base::kes::Kes;
use insta::assert_snapshot;
use lending::mobile_money::{Outcome, Refusal, Scenario};
use serde_json::json;

use crate::{
    browser::{Browser, form},
    test_app::{Answer, TestApp},
};

#[tokio::test]
async fn omitted_fields_are_not_changed() {
    let app = TestApp::start().await;
    let first = app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 800, "seed": 7})).await;
    assert_eq!(first.json()["float"], 50_000_000);
    let change = json!({"default": "slow", "float": 1000, "next": ["success", "lost_unpaid"]});
    let changed = app.set_console(Method::PUT, "/scenario", change).await.json();
    let expected = json!({
        "default": "slow", "next": ["success", "lost_unpaid"], "float": 1000, "latency_ms": 800, "spread_percent": 0,
        "seed": 7, "outcomes": changed["outcomes"], "magic": changed["magic"],
    });
    assert_eq!(changed, expected);
    assert_eq!(app.read_console("/scenario").await, changed);
    assert_eq!(app.console(Method::DELETE, "/scenario", None).await.status, 204);
    let scenario = app.read_console("/scenario").await;
    let expected = json!({
        "default": "success", "next": [], "float": 50_000_000, "latency_ms": 0, "spread_percent": 0, "seed": 1,
        "outcomes": scenario["outcomes"], "magic": scenario["magic"],
    });
    assert_eq!(scenario, expected);
}

#[tokio::test]
async fn every_outcome_and_every_magic_value_is_listed() {
    let app = TestApp::start().await;
    let scenario = app.read_console("/scenario").await;
    let outcomes = scenario["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 16);
    let refused = "The balance is insufficient for the transaction.";
    let expected = json!([
        {"name": "success", "result_code": "0", "text": "The service request is processed successfully."},
        {"name": "insufficient_funds", "result_code": "1", "text": refused},
        {"name": "lost_unpaid", "result_code": null, "text": "The request is lost, and no answer comes."},
    ]);
    assert_eq!(json!([outcomes[0], outcomes[1], outcomes[12]]), expected);
    let magic = scenario["magic"].as_array().unwrap();
    assert_eq!(magic.len(), 31);
    let expected = json!([
        {"phone": "+254700000001", "amount": null, "outcome": "insufficient_funds"},
        {"phone": null, "amount": 99_901, "outcome": "insufficient_funds"},
    ]);
    assert_eq!(json!([magic[1], magic[16]]), expected);
}

#[tokio::test]
async fn an_invalid_scenario_is_rejected_and_changes_nothing() {
    let app = TestApp::start().await;
    let before = app.read_console("/scenario").await;
    let mut failures = Vec::new();
    for change in [
        json!({"default": "sucess"}),
        json!({"next": ["success", "lost"]}),
        json!({"latency_ms": -1}),
        json!({"latency_ms": 600_001}),
        json!({"spread_percent": 101}),
        json!({"latency": 800}),
    ] {
        failures.push(app.console(Method::PUT, "/scenario", change).await.refusal());
    }
    assert_snapshot!(failures.join("\n"), @"
    422 invalid_request: The request body is invalid: default: unknown outcome sucess at line 1 column 20.
    422 invalid_request: The request body is invalid: next: unknown outcome lost at line 1 column 26.
    422 invalid_request: The request body is invalid: latency_ms: invalid value: integer, expected u32 at line 1 column 16.
    422 invalid_request: latency_ms must be between 0 and 600000.
    422 invalid_request: spread_percent must be between 0 and 100.
    422 invalid_request: The request body is invalid: unknown field `latency`, expected one of `default`, `latency_ms`, `spread_percent`, `float`, `seed`, `next` at line 1 column 10.
    ");
    assert_eq!(app.read_console("/scenario").await, before);
    let largest = json!({"latency_ms": 600_000, "spread_percent": 100});
    let changed = app.set_console(Method::PUT, "/scenario", largest).await.json();
    assert_eq!(json!([changed["latency_ms"], changed["spread_percent"]]), json!([600_000, 100]));
}

#[tokio::test]
async fn a_float_is_never_below_zero() {
    let app = TestApp::start().await;
    for (float, status) in [(-1, 422), (0, 200), (9_007_199_254_740_991_i64, 200)] {
        let answer = app.console(Method::PUT, "/scenario", json!({"float": float})).await;
        assert_eq!(answer.status, status, "{float}");
    }
    let too_much = json!({"float": 9_007_199_254_740_992_i64});
    let answer = app.console(Method::PUT, "/scenario", too_much).await;
    assert_eq!(answer.failure().2, "float must be between 0 and 2^53 - 1.");
    let write = app.write("UPDATE mobile_money_account SET float = -1").await;
    assert!(write.is_err(), "the database refuses it, too");
}

#[tokio::test]
async fn the_audit_includes_a_payout() {
    let (app, agent) = TestApp::start_for("agent").await;
    let before = app.read_console("/invariant").await;
    let loan = &agent.waiting_loan().await;
    agent.disburse(loan).await;
    let after = app.read_console("/invariant").await;
    let amount = loan["total_loan_amount"].as_i64().unwrap();
    assert_eq!(after["ok"], true);
    assert_eq!(after["money_out"], before["money_out"].as_i64().unwrap() + amount);
    assert_eq!(after["completed"], after["money_out"]);
}

#[tokio::test]
async fn the_page_queues_outcomes_and_changes_settings() {
    let (app, browser) = Browser::start().await;
    let typed = [("next", "insufficient_funds"), ("count", "2")];
    let done = browser.done("/console/scenario", "queue", &typed).await;
    assert!(done.contains("Queued for the next payouts: insufficient funds (code 1)."), "{done}");
    browser.done("/console/scenario", "queue", &[("next", "slow")]).await;
    let scenario = app.sandbox.mobile_money.scenario().await.unwrap();
    let refused = Outcome::Refused(Refusal::InsufficientFunds);
    assert_eq!(scenario.next, [refused, refused, Outcome::Slow], "in the order of submission");
    assert!(browser.done("/console/scenario", "clear", &[]).await.contains("No queued outcomes"));

    let numbers = [("latency_ms", "250"), ("spread_percent", "45"), ("float", "0"), ("seed", "9")];
    let typed = [&[("default", "lost_unpaid")], &numbers[..]].concat();
    browser.done("/console/scenario", "change", &typed).await;
    let scenario = app.sandbox.mobile_money.scenario().await.unwrap();
    let Scenario { default, latency_ms, spread_percent, float, seed, .. } = scenario;
    assert_eq!((default, latency_ms, spread_percent), (Outcome::LostUnpaid, 250, 45));
    assert_eq!((float, seed), (Kes(0), 9));
    browser.done("/console/scenario", "start", &[]).await;
    assert_eq!(app.sandbox.mobile_money.scenario().await.unwrap().float, Kes(50_000_000));
}

/// The settings on a page with another response time, as a browser sends them.
fn with_latency<'a>(page: &'a Answer, ms: &'a str) -> Vec<(&'a str, &'a str)> {
    let fields = form(page, "value=\"change\"").into_iter();
    fields.map(|(name, value)| (name, if name == "latency_ms" { ms } else { value })).collect()
}

#[tokio::test]
async fn the_page_saves_only_the_settings_that_were_changed_on_it() {
    let (app, browser) = Browser::start().await;
    let page = browser.get("/console/scenario").await;
    let agent = app.sign_in("agent").await;
    agent.disburse(&agent.waiting_loan().await).await;
    let change = json!({"default": "slow"});
    let float = app.set_console(Method::PUT, "/scenario", change).await.json()["float"].as_i64().unwrap();
    assert!(float < 50_000_000, "{float}");

    let rejected = browser.send_as("/console/scenario", &with_latency(&page, "soon")).await;
    assert_eq!(rejected.status, 422);
    assert_eq!(browser.send_as("/console/scenario", &with_latency(&rejected, "250")).await.status, 303);
    let scenario = app.sandbox.mobile_money.scenario().await.unwrap();
    assert_eq!((scenario.latency_ms, scenario.default, scenario.float), (250, Outcome::Slow, Kes(float)));
}
