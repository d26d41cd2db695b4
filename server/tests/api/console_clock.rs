use std::time::Duration;

use axum::http::Method;
use base::clock::Clock;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    test_app::{NOON, TestApp, wait_until},
};

async fn set_clock(app: &TestApp, change: Value) -> Value {
    app.set_console(Method::PUT, "/clock", change).await.json()
}

#[tokio::test]
async fn the_clock_is_moved_forward_set_back_and_stopped_and_shows_the_real_time_again() {
    let app = TestApp::start().await;
    let held = app.read_console("/clock").await;
    assert_eq!(held, json!({"frozen": false, "now": "2026-11-14T09:00:00.000Z", "offset_ms": 0}));
    let moved = set_clock(&app, json!({"advance": "2d"})).await;
    assert_eq!(moved, json!({"frozen": false, "now": "2026-11-16T09:00:00.000Z", "offset_ms": 172_800_000}));
    let frozen = set_clock(&app, json!({"now": "2026-11-01T08:00:00+03:00", "frozen": true})).await;
    let expected = json!({"frozen": true, "now": "2026-11-01T05:00:00.000Z", "offset_ms": -1_137_600_000});
    assert_eq!(frozen, expected);
    app.clock.advance(Duration::from_mins(1));
    let later = app.read_console("/clock").await;
    assert_eq!(later["now"], frozen["now"]);
    let running = set_clock(&app, json!({"frozen": false})).await;
    assert_eq!(running["now"], frozen["now"]);
    app.clock.advance(Duration::from_mins(1));
    assert_eq!(app.read_console("/clock").await["now"], "2026-11-01T05:01:00.000Z");
    assert_eq!(app.console(Method::DELETE, "/clock", None).await.status, 204);
    let real = json!({"frozen": false, "now": "2026-11-14T09:02:00.000Z", "offset_ms": 0});
    assert_eq!(app.read_console("/clock").await, real);
}

#[tokio::test]
async fn receipts_and_dates_follow_the_clock() {
    let app = TestApp::start().await;
    set_clock(&app, json!({"now": "2031-12-31T12:00:00Z"})).await;
    let agent = app.sign_in("agent").await;
    let paid = agent.disburse(&agent.waiting_loan().await).await.json();
    assert!(paid["mpesa_ref"].as_str().unwrap().starts_with("ZLV"), "{}", paid["mpesa_ref"]);
    assert_eq!(paid["created_at"], "2031-12-31T12:00:00.000Z");
}

#[tokio::test]
async fn a_payout_returns_while_the_clock_is_stopped() {
    let (app, agent) = TestApp::start_for("agent").await;
    set_clock(&app, json!({"frozen": true})).await;
    app.set_console(Method::PUT, "/scenario", json!({"next": ["slow"]})).await;
    assert_eq!(app.as_time_passes(agent.disburse(&agent.waiting_loan().await)).await.status, 202);
}

#[tokio::test]
async fn another_server_loads_the_clock_at_start_and_follows_changes() {
    let app = TestApp::start().await;
    set_clock(&app, json!({"advance": "3d", "frozen": true})).await;
    let machine = Clock::held_at(NOON.plus(Duration::from_secs(5)));
    let other = app.another_server_at(machine, &[]).await;
    assert_eq!(other.clock.now(), app.clock.now());
    set_clock(&app, json!({"frozen": false})).await;
    wait_until("the other server's clock runs", async || other.clock.setting().frozen_at.is_none()).await;
    assert_eq!(other.clock.now(), app.clock.now().plus(Duration::from_secs(5)));
}

#[tokio::test]
async fn an_invalid_time_is_rejected_and_changes_nothing() {
    let app = TestApp::start().await;
    let mut failures = Vec::new();
    for change in [
        json!({"advance": "-2h"}),
        json!({"advance": "a while"}),
        json!({"now": "tomorrow"}),
        json!({"now": "2005-12-31T23:59:59Z"}),
        json!({"advance": "2d", "now": "2099-12-31T00:00:00Z"}),
        json!({"frozen": "yes"}),
        json!({"offset_ms": 5}),
    ] {
        failures.push(app.console(Method::PUT, "/clock", change).await.refusal());
    }
    assert_snapshot!(failures.join("\n"), @r#"
    422 invalid_request: "-2h" is not a duration such as 90s, 15m, 12h or 2d.
    422 invalid_request: "a while" is not a duration such as 90s, 15m, 12h or 2d.
    422 invalid_request: "tomorrow" is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z.
    422 invalid_request: The clock can be set to the years 2006 to 2099.
    422 invalid_request: The clock can be set to the years 2006 to 2099.
    422 invalid_request: The request body is invalid: frozen: invalid type: string, expected a boolean at line 1 column 15.
    422 invalid_request: The request body is invalid: unknown field `offset_ms`, expected one of `now`, `advance`, `frozen` at line 1 column 12.
    "#);
    assert_eq!(app.clock.now(), NOON);
}

#[tokio::test]
async fn the_console_shows_dates_in_the_time_zone_of_the_deployment() {
    let app = TestApp::start_with(&["--time-zone", "Pacific/Auckland"]).await;
    let browser = Browser::sign_in(&app).await;
    let page = browser.read("/console/clock").await;
    assert!(page.contains("14 Nov 2026, 22:00:00 in Pacific/Auckland"), "{page}");
    let page = browser.done("/console/clock", "go", &[("now", "2026-11-15T00:30")]).await;
    assert!(page.contains("The time is now 15 Nov 2026, 00:30:00."), "{page}");
    let clock = app.read_console("/clock").await;
    assert_eq!(clock["now"], "2026-11-14T11:30:00.000Z");
    assert!(browser.read("/console").await.contains("Sunday, 15 November 2026"));
    app.set_console(Method::POST, "/loans", json!({})).await;
    assert!(browser.read("/console/loans").await.contains("15 Nov 2026, 00:30:00"));
}
