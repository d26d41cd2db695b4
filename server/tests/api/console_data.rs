use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Staff, TestApp, waiting};

/// What of the data a caller can see.
async fn lists(agent: &Staff<'_>) -> (Vec<Value>, Vec<Value>) {
    (agent.pending().await, agent.records().await)
}

async fn reset(app: &TestApp, body: Option<Value>) {
    assert_eq!(app.console(Method::POST, "/data/reset", body).await.status, 204);
}

#[tokio::test]
async fn a_reset_brings_back_the_first_day() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let first_day = lists(&agent).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2h"})).await;
    app.set_console(Method::PUT, "/scenario", json!({"default": "slow", "float": 0, "latency_ms": 9})).await;
    app.set_console(Method::PUT, "/scenario", json!({"next": ["bad_number"], "latency_ms": 0})).await;
    agent.disburse(waiting(&first_day.0).next().unwrap()).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    assert_ne!(lists(&agent).await, first_day);

    reset(&app, None).await;

    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "nobody is signed in");
    let agent = app.sign_in("agent").await;
    assert_eq!(lists(&agent).await, first_day);
    assert_eq!(app.console(Method::GET, "/outbox", None).await.json(), json!([]));
    assert_eq!(app.console(Method::GET, "/clock", None).await.json()["offset_ms"], 0);
    let scenario = app.console(Method::GET, "/scenario", None).await.json();
    assert_eq!((&scenario["default"], &scenario["float"]), (&json!("success"), &json!(50_000_000)));
    assert_eq!(agent.disburse(waiting(&first_day.0).next().unwrap()).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_reset_lifts_the_limits() {
    let app = TestApp::start().await;
    let wrong = json!({"email": "agent@mkopo.test", "password": "wrong"});
    while app.post("/api/v1/auth/login", wrong.clone()).await.status != 429 {}
    reset(&app, None).await;
    app.sign_in("agent").await;
}

#[tokio::test]
async fn another_seed_makes_other_data_and_the_same_seed_the_same() {
    let app = TestApp::start().await;
    reset(&app, Some(json!({"seed": 7}))).await;
    let seventh = lists(&app.sign_in("agent").await).await;
    reset(&app, Some(json!({}))).await;
    assert_ne!(lists(&app.sign_in("agent").await).await, seventh);
    reset(&app, Some(json!({"seed": 7}))).await;
    assert_eq!(lists(&app.sign_in("agent").await).await, seventh);
    let wrong = app.console(Method::POST, "/data/reset", Some(json!({"seed": "seven"}))).await;
    assert_eq!(wrong.failure().0, 422);
}

#[tokio::test]
async fn real_data_is_never_replaced_by_demo_data() {
    let app = TestApp::start().await;
    let before = lists(&app.sign_in("agent").await).await;
    let app = app.restart_with(&["--demo", "false"]).await;
    let answer = app.console(Method::POST, "/data/reset", None).await;
    assert_eq!(answer.failure().0, 409);
    assert_eq!(lists(&app.sign_in("agent").await).await, before);
}
