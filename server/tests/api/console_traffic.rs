use axum::http::Method;
use insta::assert_json_snapshot;
use mkopo::demo;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    test_app::{TestApp, waiting},
};

async fn traffic(app: &TestApp) -> Vec<Value> {
    app.console(Method::GET, "/traffic", None).await.json().as_array().unwrap().clone()
}

#[tokio::test]
async fn a_call_is_listed_with_masked_secrets() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    agent.get("/api/v1/auth/me").await;
    let calls = traffic(&app).await;
    assert_json_snapshot!(
        calls,
        {"[].request_id" => "[id]", "[].ms" => "[ms]", "[].response_body.id" => "[id]", "[].response_body.user.id" => "[id]"},
        @r#"
    [
      {
        "at": "2026-11-14T09:00:00.000Z",
        "fault": null,
        "id": 2,
        "method": "GET",
        "ms": "[ms]",
        "path": "/api/v1/auth/me",
        "request_body": null,
        "request_id": "[id]",
        "response_body": {
          "created_at": "2025-10-10T09:00:00.000Z",
          "email": "agent@mkopo.test",
          "id": "[id]",
          "name": "Wanjiru Maina",
          "phone_number": "+25471•••••03",
          "role": "agent",
          "username": "Wanjiru"
        },
        "status": 200,
        "user": "agent@mkopo.test"
      },
      {
        "at": "2026-11-14T09:00:00.000Z",
        "fault": null,
        "id": 1,
        "method": "POST",
        "ms": "[ms]",
        "path": "/api/v1/auth/login",
        "request_body": {
          "email": "agent@mkopo.test",
          "password": "•••"
        },
        "request_id": "[id]",
        "response_body": {
          "user": {
            "email": "agent@mkopo.test",
            "id": "[id]",
            "name": "Wanjiru Maina",
            "role": "agent",
            "token": "•••",
            "username": "Wanjiru"
          }
        },
        "status": 200,
        "user": null
      }
    ]
    "#
    );
    let all = json!(calls).to_string();
    for secret in [demo::PASSWORD, &agent.token, "711000003"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_payout_is_listed_with_masked_phone_numbers_and_its_user() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    let loan = waiting(&pending).next().unwrap();
    let answer = agent.disburse(loan).await;
    let call = &traffic(&app).await[0];
    assert_eq!(call["user"], "agent@mkopo.test");
    assert_eq!(call["request_id"], answer.headers["x-request-id"].to_str().unwrap());
    assert_eq!(call["request_body"]["amount"], loan["total_loan_amount"]);
    assert_eq!(call["response_body"]["status"], "COMPLETED");
    let phone = loan["customer_phone_number"].as_str().unwrap();
    assert!(!call.to_string().contains(&phone[4..]), "{call}");
}

#[tokio::test]
async fn failures_and_faults_are_listed() {
    let app = TestApp::start().await;
    app.call(Method::GET, "/api/v1/auth/me", None).await;
    let fault = json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503});
    app.set_console(Method::POST, "/faults", fault).await;
    app.call(Method::GET, "/api/v1/auth/me", None).await;
    let calls = traffic(&app).await;
    let listed: Vec<_> =
        calls.iter().map(|call| (&call["status"], &call["response_body"]["code"], &call["fault"])).collect();
    assert_json_snapshot!(listed, @r#"
    [
      [
        503,
        "injected_fault",
        "status"
      ],
      [
        401,
        "no_session",
        null
      ]
    ]
    "#);
}

#[tokio::test]
async fn the_latest_thousand_calls_are_kept_until_they_are_cleared() {
    let app = TestApp::start().await;
    for _ in 0..1005 {
        app.call(Method::GET, "/api/v1/auth/me", None).await;
    }
    let calls = traffic(&app).await;
    assert_eq!(calls.len(), 1000);
    assert_eq!((&calls[0]["id"], &calls[999]["id"]), (&json!(1005), &json!(6)));
    assert_eq!(app.console(Method::DELETE, "/traffic", None).await.status, 204);
    assert_eq!(traffic(&app).await, Vec::<Value>::new());
}

#[tokio::test]
async fn only_the_size_of_a_large_body_is_listed() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let list = agent.get("/api/v1/disbursement-records").await;
    let call = &traffic(&app).await[0];
    assert_eq!(call["response_body"], format!("[{} bytes]", list.bytes.len()));
}

#[tokio::test]
async fn the_page_filters_and_clears_traffic() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    agent.get("/api/v1/auth/me").await;
    agent.get("/api/v1/nothing").await;
    assert!(browser.read("/console/traffic").await.contains("3 calls"));
    for (query, found) in [
        ("path=auth", "2 calls"),
        ("method=POST", "1 call;"),
        ("status=4xx", "1 call;"),
        ("status=none", "No matching calls"),
        ("user=agent%40", "1 call;"),
        ("path=auth&method=GET&status=2xx&user=agent", "1 call;"),
    ] {
        let read = browser.read(&format!("/console/traffic?{query}")).await;
        assert!(read.contains(found), "{query}: {read}");
    }
    let done = browser.done("/console/traffic", "forget", &[]).await;
    assert!(done.contains("The calls are cleared.") && done.contains("No calls yet"), "{done}");
}

#[tokio::test]
async fn calls_are_filtered() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    agent.get("/api/v1/auth/me").await;
    app.clock.advance(std::time::Duration::from_mins(1));
    agent.get("/api/v1/nothing").await;
    app.post("/api/v1/auth/login", json!({"email": "agent@mkopo.test", "password": "wrong"})).await;
    let ids = async |query: &str| {
        let answer = app.console(Method::GET, &format!("/traffic?{query}"), None).await.json();
        answer.as_array().unwrap().iter().map(|call| call["id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, [4, 3, 2, 1]);
    assert_eq!(ids("method=post").await, [4, 1]);
    assert_eq!(ids("path=/auth/").await, [4, 2, 1]);
    assert_eq!(ids("status=4xx").await, [4, 3]);
    assert_eq!(ids("status=404").await, [3]);
    assert_eq!(ids("status=none").await, [0_u64; 0]);
    assert_eq!(ids("user=agent@").await, [2]);
    assert_eq!(ids("since=2026-11-14T09:01:00Z").await, [4, 3]);
    assert_eq!(ids("until=2026-11-14T12:00:00%2B03:00&method=GET").await, [2]);
    for wrong in ["status=odd", "status=4", "since=yesterday", "colour=blue"] {
        assert_eq!(
            app.console(Method::GET, &format!("/traffic?{wrong}"), None).await.failure().0,
            400,
            "{wrong}"
        );
    }
}
