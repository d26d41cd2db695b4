use std::time::{Duration, Instant};

use axum::http::Method;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    test_app::{NOON, TestApp},
};

async fn outbox(app: &TestApp, query: &str) -> Vec<Value> {
    let answer = app.console(Method::GET, &format!("/outbox{query}"), None).await;
    assert_eq!(answer.status, 200);
    answer.json().as_array().unwrap().clone()
}

async fn request_code(app: &TestApp, kind: &str, who: &str) {
    let body = json!({"email": format!("{who}@mkopo.test")});
    assert_eq!(app.post(&format!("/api/v1/auth/request-{kind}"), body).await.status, 200);
}

#[tokio::test]
async fn messages_are_filtered_by_recipient_channel_and_earlier_message() {
    let app = TestApp::start().await;
    request_code(&app, "signin-otp", "agent").await;
    request_code(&app, "password-reset", "agent").await;
    request_code(&app, "signin-otp", "admin").await;
    let all = outbox(&app, "").await;
    let to = |messages: &[Value]| messages.iter().map(|message| message["to"].clone()).collect::<Vec<_>>();
    // The clock is stopped, so the order is that of insertion.
    assert_eq!(to(&all), ["admin@mkopo.test", "+254711000003", "agent@mkopo.test"]);
    assert_eq!(to(&outbox(&app, "?channel=sms").await), ["+254711000003"]);
    assert_eq!(to(&outbox(&app, "?to=Admin@Mkopo.test").await), ["admin@mkopo.test"]);
    for phone in ["0711000003", "+254711000003", "%2B254711000003", "254711000003"] {
        assert_eq!(outbox(&app, &format!("?to={phone}")).await.len(), 1, "{phone}");
    }
    let after = |message: &Value| format!("?after={}", message["id"].as_str().unwrap());
    assert_eq!(to(&outbox(&app, &after(&all[1])).await), ["admin@mkopo.test"]);
    assert_eq!(outbox(&app, &after(&all[0])).await, Vec::<Value>::new());
    assert_eq!(outbox(&app, "?after=gone").await.len(), 3);
}

#[tokio::test]
async fn the_plus_of_an_address_may_be_escaped_or_not() {
    let app = TestApp::start().await;
    app.open_account("grace+ci@mkopo.test").await;
    request_code(&app, "signin-otp", "grace+ci").await;
    request_code(&app, "signin-otp", "agent").await;
    for to in ["grace%2Bci@mkopo.test", "grace+ci@mkopo.test"] {
        let messages = outbox(&app, &format!("?to={to}")).await;
        assert_eq!(messages.len(), 1, "{to}");
        assert_eq!(messages[0]["to"], "grace+ci@mkopo.test", "{to}");
    }
}

#[tokio::test]
async fn a_waiting_request_returns_as_soon_as_a_message_is_sent() {
    let app = TestApp::start().await;
    let began = Instant::now();
    let sending = async {
        // A request that started later has already read the empty list, so the first one waits.
        assert_eq!(outbox(&app, "?wait=1ms").await, Vec::<Value>::new());
        request_code(&app, "signin-otp", "admin").await;
        request_code(&app, "signin-otp", "agent").await;
    };
    let (messages, ()) = tokio::join!(outbox(&app, "?to=agent@mkopo.test&wait=20s"), sending);
    assert_eq!(messages.len(), 1);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_waiting_request_returns_messages_of_another_server() {
    let app = TestApp::start().await;
    let second = app.another_server(&[]).await;
    let began = Instant::now();
    let (messages, ()) =
        tokio::join!(outbox(&app, "?wait=20s"), request_code(&second, "signin-otp", "agent"));
    assert_eq!(messages.len(), 1);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_wait_without_a_message_returns_an_empty_list() {
    let app = TestApp::start().await;
    assert_eq!(outbox(&app, "?wait=300ms").await, Vec::<Value>::new());
}

#[tokio::test]
async fn invalid_queries_are_rejected() {
    let app = TestApp::start().await;
    let mut failures = Vec::new();
    for query in ["?wait=soon", "?wait=1h", "?channel=fax", "?recipient=agent@mkopo.test", "?to=foo"] {
        failures.push(app.console(Method::GET, &format!("/outbox{query}"), None).await.refusal());
    }
    assert_snapshot!(failures.join("\n"), @r#"
    422 invalid_request: "soon" is not a duration such as 90s, 15m, 12h or 2d.
    422 invalid_request: The longest wait is 25s.
    400 bad_parameter: The request is invalid: channel: unknown variant `fax`, expected `email` or `sms`.
    400 bad_parameter: The request is invalid: recipient: unknown field `recipient`, expected one of `to`, `channel`, `after`, `wait`.
    400 bad_parameter: The request is invalid: to must be an e-mail address or a Kenyan mobile number.
    "#);
}

#[tokio::test]
async fn the_page_is_filtered() {
    let (app, browser) = Browser::start().await;
    for who in ["agent", "admin"] {
        request_code(&app, "signin-otp", who).await;
    }
    assert!(browser.read("/console/outbox").await.contains("2 messages"));
    let one = browser.read("/console/outbox?to=Agent%40mkopo.test&channel=email").await;
    assert!(
        one.contains("1 message ") && one.contains("agent@mkopo.test") && !one.contains("admin@"),
        "{one}"
    );
}

#[tokio::test]
async fn the_page_says_when_there_may_be_more_messages_than_it_counts() {
    let app = TestApp::start().await;
    app.write(format!(
        "INSERT INTO outbox_message (message_id, channel, recipient, body, created_at)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
         SELECT CAST(n AS TEXT), 'sms', '+254711000003', 'Hello', {} FROM numbers",
        NOON.0
    ))
    .await
    .unwrap();
    let page = Browser::sign_in(&app).await.read("/console/outbox").await;
    assert!(page.contains("1,000 messages or more, the latest 50 shown"), "{page}");
}

#[tokio::test]
async fn an_emptied_outbox_is_empty_and_metrics_count_none() {
    let app = TestApp::start().await;
    request_code(&app, "signin-otp", "agent").await;
    let metrics = async || {
        app.sandbox.server.metrics.refresh(&app.sandbox.slices).await;
        app.metrics().await
    };
    assert!(metrics().await.contains(r#"mkopo_outbox_messages{channel="email"} 1"#));
    assert_eq!(app.console(Method::DELETE, "/outbox", None).await.status, 204);
    assert_eq!(outbox(&app, "").await, Vec::<Value>::new());
    assert!(!metrics().await.contains("mkopo_outbox_messages{"));
}
