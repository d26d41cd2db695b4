use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use insta::assert_json_snapshot;
use mkopo::{
    Sandbox,
    clock::Clock,
    randomness::Randomness,
    settings::{DatabaseSettings, Settings},
};

use crate::{
    browser::{Browser, PAGES, cookie_of, csrf, get, html, post, words},
    test_app::{CONSOLE_TOKEN, NOON, TestApp, request, settings},
};

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
        let mut settings = Settings { console_token: None, ..settings(folder.path().to_str().unwrap(), &[]) };
        settings.store.database = DatabaseSettings::default();
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

#[tokio::test]
async fn without_the_cookie_every_page_shows_only_the_sign_in_form() {
    let app = TestApp::start().await;
    let forged = "mkopo_console=0123.4567";
    let others = ["/console/", "/console/nothing", "/console/outbox/x", "/console/sign-out"];
    for address in PAGES.iter().map(|page| page.0).chain(others) {
        for cookie in [None, Some(forged), Some("mkopo_console=")] {
            for request in [get(address, cookie), post(address, cookie, &[("act", "reset")])] {
                let answer = app.send(request).await;
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{address}");
                assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
                let read = words(&answer);
                assert!(read.contains("Sign in to the console"), "{address}: {read}");
                assert!(!read.contains("Float") && !html(&answer).contains("<nav"), "{address}: {read}");
            }
        }
    }
}

#[tokio::test]
async fn the_printed_link_sets_a_cookie_and_removes_the_token_from_the_url() {
    let app = TestApp::start().await;
    let answer = app.send(get(&format!("/console?token={CONSOLE_TOKEN}"), None)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers[header::LOCATION], "/console");
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.ends_with("; Path=/console; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(CONSOLE_TOKEN), "the cookie is not the token");

    let wrong = app.send(get("/console?token=console-token-of-a-tesT", None)).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    assert!(words(&wrong).contains("That is not the console's token."));
    assert!(!wrong.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn behind_tls_the_cookie_is_secure() {
    let app = TestApp::start_with(&["--behind-tls", "true"]).await;
    let answer = app.send(get(&format!("/console?token={CONSOLE_TOKEN}"), None)).await;
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn signing_in_with_the_token_opens_the_requested_page() {
    let app = TestApp::start().await;
    let fields = |token, page| [("token", token), ("page", page)];
    let wrong = app.send(post("/console/sign-in", None, &fields("nothing", "/console/outbox"))).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    assert!(html(&wrong).contains("role=\"alert\""));
    assert!(html(&wrong).contains("name=\"page\" value=\"/console/outbox\""), "the requested page is kept");
    assert!(!html(&wrong).contains("nothing"), "the input may be part of a token");

    for (requested, next) in [("/console/outbox", "/console/outbox"), ("https://evil.example", "/console")] {
        let answer = app.send(post("/console/sign-in", None, &fields(CONSOLE_TOKEN, requested))).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        assert_eq!(answer.headers[header::LOCATION], next);
        let cookie = cookie_of(&answer);
        assert_eq!(app.send(get("/console/outbox", Some(&cookie))).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn sign_in_accepts_only_post() {
    let app = TestApp::start().await;
    let answer = app.send(get("/console/sign-in", None)).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.headers[header::ALLOW], "POST");
    assert!(words(&answer).contains("Sign in to the console"));
}

#[tokio::test]
async fn signing_out_deletes_the_cookie() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let csrf = csrf(&browser.get("/console").await);
    let answer = browser.send_as("/console/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.starts_with("mkopo_console=;") && cookie.contains("Max-Age=0"), "{cookie}");
}

#[tokio::test]
async fn a_new_token_invalidates_cookies() {
    let app = TestApp::start().await;
    let cookie = Browser::sign_in(&app).await.cookie.clone();
    let app = app.restart().await;
    assert_eq!(app.send(get("/console", Some(&cookie))).await.status, 200, "it survives a restart");
    let other = app.another_server(&["--console-token", "another-token-of-a-test"]).await;
    assert_eq!(other.send(get("/console", Some(&cookie))).await.status, 401);
}

#[tokio::test]
async fn the_cookie_is_valid_for_pages_only() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    assert_eq!(browser.get("/console/api/outbox").await.status, 401);
    let token = request(Method::GET, "/console", Some(CONSOLE_TOKEN), None);
    assert_eq!(app.send(token).await.status, 401, "the token in a header is not valid for pages");
    assert_eq!(browser.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn a_form_without_the_operators_csrf_token_is_rejected() {
    let app = TestApp::start().await;
    let (browser, other) = (Browser::sign_in(&app).await, Browser::sign_in(&app).await);
    let theirs = csrf(&other.get("/console").await);
    let pages = PAGES.iter().map(|page| page.0).chain(["/console/sign-out", "/console/nothing"]);
    for address in pages {
        for csrf in ["", "0123", theirs.as_str()] {
            let answer = browser.send_as(address, &[("csrf", csrf), ("act", "forget")]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{address} {csrf}");
            assert!(words(&answer).contains("Nothing was changed"), "{address}");
        }
    }
    let csrf = csrf(&browser.get("/console").await);
    let mut as_json = post("/console/data", Some(&browser.cookie), &[("csrf", &csrf), ("act", "reset")]);
    as_json.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    assert_eq!(app.send(as_json).await.status, StatusCode::FORBIDDEN, "another media type is rejected too");
}
