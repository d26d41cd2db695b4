use axum::{
    body::Body,
    http::{Method, Request, header},
};
use insta::assert_json_snapshot;
use mkopo::{
    Sandbox,
    clock::Clock,
    randomness::Randomness,
    settings::{DatabaseSettings, Settings},
};

use crate::test_app::{CONSOLE_TOKEN, NOON, TestApp, request, settings};

#[tokio::test]
async fn everything_under_console_needs_the_token() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let almost = &CONSOLE_TOKEN[..CONSOLE_TOKEN.len() - 1];
    for path in ["/console", "/console/", "/console/nothing", "/console/api", "/console/api/outbox"] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for token in [None, Some(""), Some(almost), Some(agent.token.as_str())] {
                let answer = app.send(request(method.clone(), path, token, None)).await;
                assert_eq!(answer.status, 401, "{method} {path} {token:?}");
                assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
            }
        }
    }
    let answer = app.call(Method::GET, "/console/api/outbox", None).await;
    assert_json_snapshot!(answer.failure(), @r#"
    [
      401,
      "no_console_token",
      "The console requires its token: send `Authorization: Bearer <token>`."
    ]
    "#);
}

#[tokio::test]
async fn the_token_is_accepted_only_in_the_authorization_header() {
    let app = TestApp::start().await;
    for request in [
        Request::get(format!("/console/api/clock?token={CONSOLE_TOKEN}")),
        Request::get("/console/api/clock").header(header::COOKIE, format!("mkopo_console={CONSOLE_TOKEN}")),
        Request::get("/console/api/clock").header(header::AUTHORIZATION, format!("Basic {CONSOLE_TOKEN}")),
    ] {
        assert_eq!(app.send(request.body(Body::empty()).unwrap()).await.status, 401);
    }
    assert_eq!(app.console(Method::GET, "/clock", None).await.status, 200);
}

#[tokio::test]
async fn the_token_is_valid_for_the_console_only() {
    let app = TestApp::start().await;
    let me = app.send(request(Method::GET, "/api/v1/auth/me", Some(CONSOLE_TOKEN), None)).await;
    assert_eq!(me.status, 401);
    let unknown = app.console(Method::GET, "/nothing", None).await;
    assert_eq!(unknown.failure().0, 404);
    assert_eq!(unknown.headers[header::CACHE_CONTROL], "no-store");
    assert_eq!(app.console(Method::POST, "/clock", None).await.failure().0, 405);
}

#[tokio::test]
async fn a_missing_token_is_generated_once_and_stored_in_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = async || {
        let settings = Settings {
            console_token: None,
            database: DatabaseSettings::default(),
            ..settings(folder.path().to_str().unwrap(), &[])
        };
        Sandbox::open(settings, Clock::held_at(NOON), Randomness::from_os()).await.unwrap()
    };
    let link = open().await.console_token.sign_in_url("http://127.0.0.1:8080");
    let file = folder.path().join("console.token");
    let stored = std::fs::read_to_string(&file).unwrap();
    assert_eq!(link, format!("http://127.0.0.1:8080/console?token={stored}"));
    assert_eq!(stored.len(), 32);
    assert_eq!(open().await.console_token.sign_in_url("http://127.0.0.1:8080"), link);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
