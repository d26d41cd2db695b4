//! Which sandbox a request reaches, over real connections: what a client library or a proxy may send.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::connections::{Served, served};
use axum::http::Method;
use mkopo::http::connections::Limits;

/// The status and the code of the answer to a request line and headers.
async fn answer(served: &Served, line: &str, headers: &str) -> (String, Option<String>) {
    let request = format!("{line}\r\n{headers}Connection: close\r\n\r\n");
    let answer = served.exchange(&request).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or("closed").to_owned();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    (status, body["code"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn every_host_and_header_reaches_a_sandbox_or_main_or_has_a_clear_answer() {
    let served = served(Limits::default()).await;
    let one = served.app.make_sandbox(json!({"name": "pr-12"})).await;
    let agent = one.sign_in("agent").await;
    let token = agent.token();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    // Its session is valid in it, and nowhere else.
    let reached = ("200", None);
    let in_main = ("401", Some("no_session"));
    let unclear = ("400", Some("bad_parameter"));
    let unknown = ("404", Some("sandbox_not_found"));
    for (headers, expected) in [
        ("Host: pr-12.localhost\r\n", reached),
        ("Host: pr-12.localhost:8080\r\n", reached),
        ("Host: PR-12.LocalHost:8080\r\n", reached),
        ("Host: pr-12.localhost.\r\n", reached),
        ("Host: pr-12.localhost.:8080\r\n", reached),
        ("Host: localhost:8080\r\nMkopo-Sandbox: pr-12\r\n", reached),
        ("Host: [::1]:8080\r\nmkopo-sandbox:   pr-12  \r\n", reached),
        ("Host: pr-12.localhost\r\nMkopo-Sandbox: pr-12\r\n", reached),
        ("Host: PR-12.localhost.\r\nMkopo-Sandbox: pr-12\r\n", reached),
        ("Host: localhost\r\n", in_main),
        ("Host: localhost\r\nMkopo-Sandbox: main\r\n", in_main),
        ("Host: pr-12.localhost\r\nMkopo-Sandbox: main\r\n", unclear),
        ("Host: localhost:8080\r\n", in_main),
        ("Host: main.localhost:8080\r\n", in_main),
        ("Host: 127.0.0.1:8080\r\n", in_main),
        ("Host: [::1]\r\n", in_main),
        ("Host: [::1]:8080\r\n", in_main),
        ("Host: [::ffff:127.0.0.1]:8080\r\n", in_main),
        ("Host: pr-12.example.com\r\n", ("421", Some("unknown_host"))),
        ("Host: pr-12localhost\r\n", in_main),
        ("Host: pr-12.localhost\r\nHost: pr-12.localhost\r\n", unclear),
        ("Host: pr-12.localhost\r\nHost: localhost\r\n", unclear),
        ("Host: localhost\r\nHost: pr-12.localhost\r\n", unclear),
        ("Host: pr-12.localhost\r\nMkopo-Sandbox: pr-13\r\n", unclear),
        ("Host: pr-12.localhost:8080\r\nMkopo-Sandbox: pr-13\r\n", unclear),
        ("Host: localhost\r\nMkopo-Sandbox: pr-12\r\nMkopo-Sandbox: pr-12\r\n", unclear),
        ("Host: localhost\r\nMkopo-Sandbox: \r\n", unclear),
        ("Host: localhost\r\nMkopo-Sandbox: pr-\u{e9}\r\n", unclear),
        ("Host: pr-13.localhost\r\n", unknown),
        ("Host: a.pr-12.localhost\r\n", unknown),
        ("Host: a.pr-12.localhost:8080\r\n", unknown),
        ("Host: pr-12.pr-12.localhost\r\n", unknown),
        ("Host: pr_12.localhost\r\n", unknown),
        ("Host: -.localhost\r\n", unknown),
        ("Host: .localhost\r\n", unknown),
        ("Host: localhost\r\nMkopo-Sandbox: PR-12\r\n", unknown),
        ("Host: localhost\r\nMkopo-Sandbox: pr-12, pr-12\r\n", unknown),
        ("Host: localhost\r\nMkopo-Sandbox: a.b\r\n", unknown),
    ] {
        let line = "GET /api/v1/auth/me HTTP/1.1";
        let (status, code) = answer(&served, line, &format!("{bearer}{headers}")).await;
        assert_eq!((status.as_str(), code.as_deref()), expected, "{headers:?}");
    }
    // An absolute address counts more than the header, and HTTP/1.0 needs neither.
    for (line, expected) in [
        ("GET http://pr-12.localhost:8080/api/v1/auth/me HTTP/1.1", reached),
        ("GET http://localhost:8080/api/v1/auth/me HTTP/1.1", in_main),
    ] {
        let headers = format!("{bearer}Host: pr-13.localhost\r\n");
        let (status, code) = answer(&served, line, &headers).await;
        assert_eq!((status.as_str(), code.as_deref()), expected, "{line}");
    }
    let (status, code) = answer(&served, "GET /api/v1/auth/me HTTP/1.0", &bearer).await;
    assert_eq!((status.as_str(), code.as_deref()), in_main);
}

#[tokio::test]
async fn a_connection_outlives_the_sandbox_that_was_removed() {
    let served = served(Limits::default()).await;
    let one = served.app.make_sandbox(json!({"name": "pr-12"})).await;
    let agent = one.sign_in("agent").await;
    let token = agent.token();
    let mut stream = served.connect().await;
    let mut call = async |name: &str| {
        let head =
            format!("GET /api/v1/auth/me HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 16 * 1024];
        let length = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    assert!(call("pr-12.localhost").await.starts_with("HTTP/1.1 200"));
    assert_eq!(served.app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 204);
    let gone = call("pr-12.localhost").await;
    assert!(gone.starts_with("HTTP/1.1 404") && gone.contains("There is no sandbox pr-12."), "{gone}");
    assert!(call("localhost").await.starts_with("HTTP/1.1 401"), "it is of use for others");
}
