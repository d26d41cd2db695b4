use axum::{
    body::Body,
    http::{Method, Request, header},
};
use insta::assert_json_snapshot;
use serde_json::json;

use crate::test_app::TestApp;

fn login_with(content_type: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post("/api/v1/auth/login").header(header::CONTENT_TYPE, content_type).body(body.into()).unwrap()
}

#[tokio::test]
async fn every_way_of_asking_wrong_has_its_answer() {
    let app = TestApp::start().await;
    let mut answers = Vec::new();
    for request in [
        Request::get("/api/v1/nothing").body(Body::empty()).unwrap(),
        Request::put("/api/v1/auth/login").body(Body::empty()).unwrap(),
        login_with("text/plain", "{}"),
        login_with("application/json", "{"),
        login_with("application/json", "{}"),
        login_with("application/json", "x".repeat(64 * 1024 + 1)),
    ] {
        answers.push(app.send(request).await.failure());
    }
    assert_json_snapshot!(answers, @r#"
    [
      [
        404,
        "not_found",
        "There is nothing at this path."
      ],
      [
        405,
        "method_not_allowed",
        "This path does not take this method."
      ],
      [
        415,
        "unsupported_media_type",
        "The body must be sent as application/json."
      ],
      [
        400,
        "malformed_json",
        "The body is not valid JSON: EOF while parsing an object at line 1 column 1."
      ],
      [
        422,
        "invalid_request",
        "The body is not what this call takes: missing field `email` at line 1 column 2."
      ],
      [
        413,
        "body_too_large",
        "The body is larger than 64 KiB."
      ]
    ]
    "#);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    let app = TestApp::start().await;
    let start = r#"{"email":"nobody@mkopo.test","password":""#;
    let body = format!("{start}{}\"}}", "x".repeat(64 * 1024 - start.len() - 2));
    assert_eq!(body.len(), 64 * 1024);
    let (status, ..) = app.send(login_with("application/json", body)).await.failure();
    assert_ne!(status, 413);
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let app = TestApp::start().await;
    let answer = app.call(Method::DELETE, "/api/v1/auth/login", None).await;
    assert_eq!(answer.headers[header::ALLOW], "POST");
}

#[tokio::test]
async fn who_asks_for_a_problem_gets_one() {
    let app = TestApp::start().await;
    let request = Request::get("/api/v1/auth/me")
        .header(header::ACCEPT, "application/problem+json, application/json;q=0.5")
        .body(Body::empty())
        .unwrap();
    let answer = app.send(request).await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json");
    assert_json_snapshot!(answer.json(), {".request_id" => "[id]"}, @r#"
    {
      "code": "no_session",
      "detail": "You are not signed in, or your session has ended.",
      "error": "You are not signed in, or your session has ended.",
      "message": "You are not signed in, or your session has ended.",
      "request_id": "[id]",
      "status": 401,
      "title": "Unauthorized",
      "type": "about:blank"
    }
    "#);
}

#[tokio::test]
async fn the_request_id_of_the_header_stands_in_the_failure() {
    let app = TestApp::start().await;
    let answer = app.call(Method::GET, "/api/v1/auth/me", None).await;
    assert_eq!(json!(answer.headers["x-request-id"].to_str().unwrap()), answer.json()["request_id"]);
}

#[tokio::test]
async fn every_answer_keeps_browsers_safe() {
    let app = TestApp::start().await;
    let answer = app.call(Method::GET, "/api/v1/auth/me", None).await;
    assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert_eq!(answer.headers[header::CONTENT_SECURITY_POLICY], "default-src 'none'; frame-ancestors 'none'");
}
