use std::{net::SocketAddr, time::Duration};

use axum::{
    extract::ConnectInfo,
    http::{Method, StatusCode},
};
use insta::assert_json_snapshot;
use mkopo::demo;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp, request};

const LOGIN: &str = "/api/v1/auth/login";
const AGENT: &str = "agent@mkopo.test";
const HERE: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";

fn credentials(email: &str, password: &str) -> Value {
    json!({"email": email, "password": password})
}

async fn login_from(app: &TestApp, address: &str, email: &str, password: &str) -> StatusCode {
    app.post_from(address, LOGIN, credentials(email, password)).await.status
}

/// What as many sign-ins of different people who do not exist hear, from one address.
async fn strangers(app: &TestApp, address: &str, numbers: std::ops::Range<u32>) -> Vec<StatusCode> {
    let mut heard = Vec::new();
    for n in numbers {
        heard.push(login_from(app, address, &format!("nobody-{n}@mkopo.test"), "wrong").await);
    }
    heard
}

fn passed(heard: &[StatusCode]) -> usize {
    heard.iter().filter(|status| **status != StatusCode::TOO_MANY_REQUESTS).count()
}

async fn rows(app: &TestApp) -> i64 {
    let mut reader = app.sandbox.database.read().await.unwrap();
    mkopo::database::query_scalar("SELECT count(*) FROM try_count").fetch_one(&mut reader).await.unwrap()
}

#[tokio::test]
async fn the_tenth_wrong_password_of_a_user_is_one_too_many_from_anywhere() {
    let app = TestApp::start().await;
    for n in 0..9 {
        let status = login_from(&app, &format!("192.0.2.{n}"), AGENT, "wrong").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    app.clock.advance(Duration::from_millis(500));
    let answer = app.post_from("192.0.2.99", LOGIN, credentials(AGENT, "wrong")).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers["retry-after"], "900");
    assert_json_snapshot!(answer.json(), {".request_id" => "[id]"}, @r#"
    {
      "code": "too_many_requests",
      "error": "Too many tries. Try again in 15 minutes.",
      "message": "Too many tries. Try again in 15 minutes.",
      "request_id": "[id]"
    }
    "#);
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(login_from(&app, HERE, "supervisor@mkopo.test", demo::PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn who_waits_as_long_as_retry_after_says_may_try_again() {
    let app = TestApp::start().await;
    for _ in 0..9 {
        login_from(&app, HERE, AGENT, "wrong").await;
        app.clock.advance(Duration::from_secs(7));
    }
    let refused = app.post_from(HERE, LOGIN, credentials(AGENT, demo::PASSWORD)).await;
    let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(wait, 15 * 60 - 9 * 7);
    app.clock.advance(Duration::from_secs(wait - 1));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn a_sign_in_begins_the_users_count_anew() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        for _ in 0..8 {
            assert_eq!(login_from(&app, HERE, AGENT, "wrong").await, StatusCode::BAD_REQUEST);
        }
        assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::OK);
    }
}

#[tokio::test]
async fn the_hundredth_wrong_try_from_an_address_is_one_too_many_whatever_it_forwards() {
    let app = TestApp::start().await;
    for n in 0..120_u32 {
        let body = credentials(&format!("nobody-{n}@mkopo.test"), "wrong");
        let mut request = request(Method::POST, LOGIN, None, Some(body));
        request.headers_mut().insert("x-forwarded-for", format!("203.0.113.{n}").parse().unwrap());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(HERE.parse().unwrap(), 4711)));
        let status = app.send(request).await.status;
        let expected = if n < 99 { StatusCode::NOT_FOUND } else { StatusCode::TOO_MANY_REQUESTS };
        assert_eq!(status, expected, "try {}", n + 1);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(login_from(&app, ELSEWHERE, AGENT, demo::PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn a_sign_in_does_not_begin_the_addresss_count_anew() {
    let app = TestApp::start().await;
    assert_eq!(passed(&strangers(&app, HERE, 0..98).await), 98);
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::OK);
    assert_eq!(passed(&strangers(&app, HERE, 98..102).await), 1);
}

#[tokio::test]
async fn behind_a_trusted_proxy_its_clients_are_told_apart() {
    let app = TestApp::start_with(&["--trusted-proxies", "192.0.2.0/24,10.0.0.1"]).await;
    let from = async |forwarded_for: &str, n: u32| {
        let body = credentials(&format!("nobody-{n}@mkopo.test"), "wrong");
        let mut request = request(Method::POST, LOGIN, None, Some(body));
        request.headers_mut().insert("x-forwarded-for", forwarded_for.parse().unwrap());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(HERE.parse().unwrap(), 4711)));
        app.send(request).await.status
    };
    for n in 0..99 {
        // What the client made up stands to the left of what the proxy saw.
        assert_eq!(from(&format!("10.9.9.{n}, 203.0.113.1, 10.0.0.1"), n).await, StatusCode::NOT_FOUND);
    }
    assert_eq!(from("203.0.113.1", 99).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(from("203.0.113.2", 100).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn many_tries_at_once_get_no_further_than_one_after_the_other() {
    let app = TestApp::start().await;
    let calls = (0..40).map(|n| login_from(&app, HERE, AGENT, ["wrong", "Wrong"][n % 2]));
    let heard = futures::future::join_all(calls).await;
    assert_eq!(passed(&heard), 9);
}

#[tokio::test]
async fn many_right_sign_ins_at_once_all_pass() {
    let app = TestApp::start().await;
    let calls = (0..20).map(|_| login_from(&app, HERE, AGENT, demo::PASSWORD));
    let heard = futures::future::join_all(calls).await;
    assert!(heard.iter().all(|status| *status == StatusCode::OK), "{heard:?}");
}

#[tokio::test]
async fn a_restart_and_a_second_process_go_on_counting() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        login_from(&app, HERE, AGENT, "wrong").await;
    }
    let app = app.restart().await;
    let second = app.another_server(&[]).await;
    for _ in 0..4 {
        assert_eq!(login_from(&second, HERE, AGENT, "wrong").await, StatusCode::BAD_REQUEST);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(login_from(&second, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn wrong_passwords_beside_a_code_count_with_the_others() {
    let app = TestApp::start().await;
    let body = json!({"email": AGENT, "password": "wrong", "otp": "123456"});
    for _ in 0..9 {
        let answer = app.post("/api/v1/auth/verify-signin-otp", body.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
}

/// How many of ten calls passed, and what the next one said.
async fn ten_calls(app: &TestApp, path: &str, body: impl Fn(u32) -> Value) -> (usize, Answer) {
    let mut heard = Vec::new();
    for n in 0..10 {
        heard.push(app.post(path, body(n)).await.status);
    }
    (passed(&heard), app.post(path, body(10)).await)
}

#[tokio::test]
async fn wrong_sign_in_codes_and_wrong_reset_codes_are_limited_too() {
    let app = TestApp::start().await;
    let (passed, last) = ten_calls(
        &app,
        "/api/v1/auth/verify-signin-otp",
        |n| json!({"email": AGENT, "password": demo::PASSWORD, "otp": format!("{n:06}")}),
    )
    .await;
    assert_eq!((passed, last.headers["retry-after"].to_str().unwrap()), (9, "900"));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::OK, "by password alone");

    let (passed, last) = ten_calls(
        &app,
        "/api/v1/auth/reset-password",
        |n| json!({"email": AGENT, "otp": format!("{n:06}"), "new_password": "Kahawa-2026"}),
    )
    .await;
    assert_eq!((passed, last.headers["retry-after"].to_str().unwrap()), (9, "900"));
}

#[tokio::test]
async fn a_right_code_past_the_limit_is_refused_and_stays_good_for_nothing() {
    let app = TestApp::start().await;
    for n in 0..9 {
        let body = json!({"email": AGENT, "otp": format!("{n:06}"), "new_password": "Kahawa-2026"});
        app.post("/api/v1/auth/reset-password", body).await;
    }
    app.post("/api/v1/auth/request-password-reset", json!({"email": AGENT})).await;
    let code = app.newest_code("+254711000003").await;
    let body = json!({"email": AGENT, "otp": code, "new_password": "Kahawa-2026"});
    let answer = app.post("/api/v1/auth/reset-password", body).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn asking_for_codes_is_limited_by_user_and_by_address() {
    let app = TestApp::start().await;
    for path in ["/api/v1/auth/request-signin-otp", "/api/v1/auth/request-password-reset"] {
        for _ in 0..9 {
            assert_eq!(app.post_from(HERE, path, json!({"email": AGENT})).await.status, StatusCode::OK);
            app.clock.advance(Duration::from_secs(30));
        }
        let refused = app.post_from(HERE, path, json!({"email": AGENT})).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers["retry-after"], (15 * 60 - 9 * 30).to_string().as_str());

        for n in 0..90 {
            let stranger = json!({"email": format!("nobody-{n}@mkopo.test")});
            assert_eq!(app.post_from(HERE, path, stranger).await.status, StatusCode::NOT_FOUND);
        }
        let stranger = json!({"email": "somebody@mkopo.test"});
        assert_eq!(app.post_from(HERE, path, stranger.clone()).await.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(app.post_from(ELSEWHERE, path, stranger).await.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn counts_that_ended_are_dropped() {
    let app = TestApp::start().await;
    strangers(&app, HERE, 0..20).await;
    assert_eq!(rows(&app).await, 21);
    app.clock.advance(Duration::from_mins(15));
    login_from(&app, ELSEWHERE, AGENT, "wrong").await;
    assert_eq!(rows(&app).await, 2);
}

#[tokio::test]
async fn the_addresses_typed_at_sign_in_are_not_kept() {
    let app = TestApp::start().await;
    login_from(&app, HERE, "my-password@oops", "x").await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    let subjects: Vec<String> =
        mkopo::database::query_scalar("SELECT subject FROM try_count").fetch_all(&mut reader).await.unwrap();
    assert_eq!(subjects.len(), 2);
    assert!(subjects.iter().all(|subject| !subject.contains("oops")), "{subjects:?}");
}
