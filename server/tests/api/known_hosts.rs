//! The names that a server answers by.

use axum::{body::Body, http::Request};

use mkopo::http::connections::Limits;

use crate::{
    connections::served,
    test_app::{Listener, TestApp},
};

/// Without this, a page of any domain whose owner leads its name to this machine could read what the portal and the
/// console serve to their own pages (DNS rebinding).
#[tokio::test]
async fn portal_and_console_answer_only_by_names_that_they_know() {
    let app = TestApp::start_with(&[
        "--public-url",
        "https://portal.example.com",
        "--console-public-url",
        "https://console.example.com",
        "--sandbox-domain",
        "sandboxes.example.com",
    ])
    .await;
    let asked = async |listener: Listener, host: &str, path: &str| {
        app.send_to(listener, Request::get(path).header("host", host).body(Body::empty()).unwrap()).await
    };
    for (listener, path) in
        [(Listener::Portal, "/slices.json"), (Listener::Console, "/console/assets/console.css")]
    {
        for host in [
            "localhost:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "192.0.2.7",
            "server:8080",
            "portal.example.com",
            "CONSOLE.example.com:443",
            "sandboxes.example.com",
        ] {
            assert_eq!(asked(listener, host, path).await.status, 200, "{host}");
        }
        for host in [
            "attacker.example",
            "portal.example.com.attacker.example",
            "127.0.0.1.nip.example",
            "localhost.example",
            "www.evillocalhost",
            "evilsandboxes.example.com",
        ] {
            let refused = asked(listener, host, path).await.failure();
            assert_eq!((refused.0, refused.1.as_str()), (421, "unknown_host"), "{host}");
            assert!(refused.2.contains(host) && refused.2.contains("MKOPO_PUBLIC_URL"), "{}", refused.2);
            assert_eq!(asked(listener, host, "/readyz").await.status, 200);
        }
        // It is known, but has no such sandbox.
        let below = asked(listener, "pr-12.sandboxes.example.com", path).await.failure();
        assert_eq!((below.0, below.1.as_str()), (404, "sandbox_not_found"));
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_invalid_except_in_http_1_0() {
    let served = served(Limits::default()).await;
    for (line, status) in [
        ("GET /slices.json HTTP/1.1", "400 Bad Request"),
        ("GET http://localhost:8080/slices.json HTTP/1.1", "400 Bad Request"),
        ("GET /slices.json HTTP/1.0", "200 OK"),
    ] {
        let answer = served.exchange(format!("{line}\r\nConnection: close\r\n\r\n")).await;
        assert!(answer.split_once(' ').unwrap().1.starts_with(status), "{line}: {answer}");
    }
}
