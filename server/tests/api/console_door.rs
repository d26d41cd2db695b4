use std::time::Duration;

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use base::{clock::Clock, randomness::Randomness};
use insta::assert_snapshot;
use mkopo::Sandbox;
use serde_json::json;
use settings::Settings;

use crate::{
    browser::{Browser, cookie_of, csrf, get, hidden_fields, html, post, words},
    contract, slices,
    test_app::{Answer, CONSOLE_TOKEN, Listener, NOON, TestApp, request, sent_from, settings, with_headers},
};

// S-55, S-114
#[tokio::test]
async fn everything_under_console_needs_the_token() {
    let (app, agent) = TestApp::start_for("agent").await;
    let almost = &CONSOLE_TOKEN[..CONSOLE_TOKEN.len() - 1];
    for path in ["/console", "/console/", "/console/nothing", "/console/api", "/console/api/outbox"] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for token in [None, Some(""), Some(almost), Some(agent.token())] {
                let answer = app.send(request(method.clone(), path, token, None)).await;
                assert_eq!(answer.status, 401, "{method} {path} {token:?}");
                assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
            }
        }
    }
    let answer = app.get("/console/api/outbox").await;
    assert_snapshot!(answer.refusal(), @"401 no_console_token: The console's token is missing or wrong: send `Authorization: Bearer <token>`.");
}

// S-25
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

// S-67, S-114
#[tokio::test]
async fn the_token_is_valid_for_the_console_only() {
    let app = TestApp::start().await;
    let me = app.with(CONSOLE_TOKEN).get("/api/v1/auth/me").await;
    assert_eq!(me.status, 401);
    let unknown = app.console(Method::GET, "/nothing", None).await;
    assert_eq!(unknown.failure().0, 404);
    assert_eq!(unknown.headers[header::CACHE_CONTROL], "no-store");
    assert_eq!(app.console(Method::POST, "/clock", None).await.failure().0, 405);
}

// S-75
#[tokio::test]
async fn a_missing_token_is_generated_once_and_stored_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = async || {
        let mut settings = Settings { console_token: None, ..settings(folder.path().to_str().unwrap(), &[]) };
        settings.store.database_url = None;
        Sandbox::open(settings, Clock::held_at(NOON), Randomness::from_os()).await.unwrap()
    };
    let link = open().await.console_token.sign_in_url("http://127.0.0.1:8080");
    let stored = std::fs::read_to_string(folder.path().join("console.token")).unwrap();
    assert_eq!(link, format!("http://127.0.0.1:8080/console?token={stored}"));
    assert_eq!(stored.len(), 32);
    assert_eq!(open().await.console_token.sign_in_url("http://127.0.0.1:8080"), link);
}

// S-75
#[tokio::test]
async fn an_invalid_secret_in_the_data_folder_is_named_and_not_replaced() {
    for (name, content) in [
        ("console.token", "too-short"),
        ("console.token", ""),
        ("jwt.secret", "too-short"),
        ("jwt.secret", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let settings = settings(folder.path().to_str().unwrap(), &[]);
        let mut settings = Settings { console_token: None, jwt_secret: None, ..settings };
        settings.store.database_url = None;
        let opened = Sandbox::open(settings, Clock::held_at(NOON), Randomness::from_os()).await;
        let Err(error) = opened else { panic!("started with '{content}' as {name}") };
        assert!(format!("{error:#}").contains(file.to_str().unwrap()), "{error:#}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), content);
    }
}

#[tokio::test]
async fn without_the_cookie_every_page_shows_only_the_sign_in_form() {
    let app = TestApp::start().await;
    let forged = "mkopo_console=0123.4567";
    let others = ["/console/", "/console/nothing", "/console/outbox/x", "/console/sign-out"];
    let pages = Browser::sign_in(&app).await.pages().await;
    for address in pages.iter().map(|page| page.0.as_str()).chain(others) {
        for cookie in [None, Some(forged), Some("mkopo_console=")] {
            for request in [get(address, cookie), post(address, cookie, &[("act", "reset")])] {
                let answer = app.send(request).await;
                assert_eq!(answer.status, 401, "{address}");
                assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
                let read = words(&answer);
                assert!(read.contains("Sign in to the console"), "{address}: {read}");
                assert!(!read.contains("Float") && !html(&answer).contains("<nav"), "{address}: {read}");
            }
        }
    }
}

// S-87
#[tokio::test]
async fn the_printed_link_shows_a_page_that_sends_the_token_by_post() {
    let app = TestApp::start().await;
    let page = app.send(get(&format!("/console/outbox?token={CONSOLE_TOKEN}"), None)).await;
    assert_eq!(page.status, 200);
    assert!(
        !page.headers.contains_key(header::SET_COOKIE),
        "a request that other sites can make changes nothing"
    );
    assert_eq!(page.headers[header::REFERRER_POLICY], "origin", "the token is in no Referer");
    assert_eq!(page.headers[header::CACHE_CONTROL], "no-store");
    let form = "<form method=\"post\" action=\"/console/sign-in\" data-redeem=\"\" data-submit=\"\" class=\"stack\">";
    assert!(html(&page).contains(form), "{}", html(&page));
    let fields = [("page", "/console/outbox"), ("token", CONSOLE_TOKEN)];
    for (name, value) in fields {
        assert!(html(&page).contains(&format!("name=\"{name}\" value=\"{value}\"")), "{name}");
    }
    assert!(words(&page).contains("Sign in"), "without script there is a button");

    let answer = app.send(post("/console/sign-in", None, &fields)).await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.headers[header::LOCATION], "/console/outbox");
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.ends_with("; Path=/console; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(CONSOLE_TOKEN), "the cookie is not the token");

    let almost = [("token", "console-token-of-a-tesT")];
    let wrong = app.send(post("/console/sign-in", None, &almost)).await;
    assert_eq!(wrong.status, 401);
    assert!(words(&wrong).contains("That is not the console's token."));
    assert!(!wrong.headers.contains_key(header::SET_COOKIE));
}

// S-19
#[tokio::test]
async fn behind_tls_the_cookie_is_secure() {
    let app = TestApp::start_with(&["--behind-tls", "true"]).await;
    let answer = app.send(post("/console/sign-in", None, &[("token", CONSOLE_TOKEN)])).await;
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().starts_with("__Host-mkopo_console="));
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().contains("; Path=/; Secure"));
    assert_eq!(app.send(get("/console", Some(&cookie_of(&answer)))).await.status, 200);
}

// S-3, S-28
#[tokio::test]
async fn signing_in_with_the_token_opens_the_requested_page() {
    let app = TestApp::start().await;
    let fields = |token, page| [("token", token), ("page", page)];
    let wrong = app.send(post("/console/sign-in", None, &fields("nothing", "/console/outbox"))).await;
    assert_eq!(wrong.status, 401);
    assert!(html(&wrong).contains("role=\"alert\""));
    assert!(html(&wrong).contains("name=\"page\" value=\"/console/outbox\""), "the requested page is kept");
    assert!(!html(&wrong).contains("nothing"), "the input may be part of a token");

    for (requested, next) in [("/console/outbox", "/console/outbox"), ("https://evil.example", "/console")] {
        let answer = app.send(post("/console/sign-in", None, &fields(CONSOLE_TOKEN, requested))).await;
        assert_eq!(answer.status, 303);
        assert_eq!(answer.headers[header::LOCATION], next);
        let cookie = cookie_of(&answer);
        assert_eq!(app.send(get("/console/outbox", Some(&cookie))).await.status, 200);
    }
}

/// The page that a sign-in form requests.
fn requested(form: &Answer) -> String {
    let page = hidden_fields(form).into_iter().find(|field| field.0 == "page").unwrap().1;
    page.replace("&amp;", "&")
}

#[tokio::test]
async fn signing_in_keeps_the_query_of_the_requested_page_but_never_a_token() {
    let app = TestApp::start().await;
    let next = async |page: &str| {
        let fields = [("page", page), ("token", CONSOLE_TOKEN)];
        let answer = app.send(post("/console/sign-in", None, &fields)).await;
        answer.headers[header::LOCATION].to_str().unwrap().to_owned()
    };
    let with_token = format!("/console/outbox?to=x&token={CONSOLE_TOKEN}&channel=sms");
    for (address, expected) in [
        ("/console/traces?id=abc", "/console/traces?id=abc"),
        ("/console/outbox?to=%2B254711000003", "/console/outbox?to=%2B254711000003"),
        (with_token.as_str(), "/console/outbox?to=x&channel=sms"),
        ("/console/nothing?id=abc", "/console"),
    ] {
        let form = app.send(get(address, None)).await;
        assert_eq!(requested(&form), expected, "{address}");
        assert_eq!(next(&requested(&form)).await, expected, "{address}");
    }
    for (forged, expected) in [
        (with_token.as_str(), "/console/outbox?to=x&channel=sms"),
        ("//evil.example/console/traces?id=1", "/console"),
        ("/console/traces/..//evil.example?id=1", "/console"),
        ("/console/traces?id=1\r\nX: y#//evil", "/console/traces?id=1%0D%0AX%3A+y%23%2F%2Fevil"),
    ] {
        assert_eq!(next(forged).await, expected, "{forged}");
    }
    let signed_out = app.send(post("/console/loans?done=approved", None, &[("act", "approve")])).await;
    assert_eq!(requested(&signed_out), "/console/loans", "this form was not done");
}

// S-26
#[tokio::test]
async fn sign_in_accepts_only_post() {
    let app = TestApp::start().await;
    let answer = app.send(get("/console/sign-in", None)).await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.headers[header::ALLOW], "POST");
    assert!(words(&answer).contains("Sign in to the console"));
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

// S-20
#[tokio::test]
async fn the_cookie_is_valid_for_pages_only() {
    let (app, browser) = Browser::start().await;
    assert_eq!(browser.get("/console/api/outbox").await.status, 401);
    let token = request(Method::GET, "/console", Some(CONSOLE_TOKEN), None);
    assert_eq!(app.send(token).await.status, 401, "the token in a header is not valid for pages");
    assert_eq!(browser.get("/api/v1/auth/me").await.status, 401);
}

// S-25
#[tokio::test]
async fn a_form_without_the_operators_csrf_token_is_rejected() {
    let app = TestApp::start().await;
    let (browser, other) = (Browser::sign_in(&app).await, Browser::sign_in(&app).await);
    let theirs = csrf(&other.get("/console").await);
    let pages = browser.pages().await;
    let pages = pages.iter().map(|page| page.0.as_str());
    for address in pages.chain(["/console/sign-out", "/console/nothing"]) {
        for csrf in ["", "0123", theirs.as_str()] {
            let answer = browser.send_as(address, &[("csrf", csrf), ("act", "forget")]).await;
            assert_eq!(answer.status, 403, "{address} {csrf}");
            assert!(words(&answer).contains("Nothing was changed"), "{address}");
        }
    }
    let csrf = csrf(&browser.get("/console").await);
    let mut as_json = post("/console/data", Some(&browser.cookie), &[("csrf", &csrf), ("act", "reset")]);
    as_json.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
    assert_eq!(app.send(as_json).await.status, 403, "another media type is rejected too");
}

// S-27, S-86
#[tokio::test]
async fn each_listener_serves_its_own_paths_and_nothing_of_the_other() {
    let portal = tempfile::tempdir().unwrap();
    std::fs::write(portal.path().join("index.html"), "<p>the portal</p>").unwrap();
    let app = slices::start(&portal).await;
    let browser = Browser::sign_in(&app).await;
    let get = |path: &str| {
        let mut request = request(Method::GET, path, Some(CONSOLE_TOKEN), None);
        request.headers_mut().insert(header::COOKIE, browser.cookie.parse().unwrap());
        if path == "/pending-loans" {
            request.headers_mut().insert(header::ACCEPT, "text/html".parse().unwrap());
        }
        request
    };
    let console =
        ["/console", "/console/outbox", "/console/api/outbox", "/console/assets/console.js", "/metrics"];
    for path in console {
        assert_eq!(app.send_to(Listener::Portal, get(path)).await.kind(), "404 not_found", "{path}");
        assert_eq!(app.send_to(Listener::Console, get(path)).await.status, 200, "{path}");
    }
    let mut upload = request(Method::POST, "/console/api/slices", Some(CONSOLE_TOKEN), None);
    *upload.body_mut() = Body::from(vec![0; 1 << 20]);
    assert_eq!(app.send_to(Listener::Portal, upload).await.status, 404, "and not that the body is too large");
    for path in ["/console/", "/console/nothing"] {
        assert_eq!(app.send_to(Listener::Portal, get(path)).await.status, 404, "{path}");
    }
    for path in ["/api/v1/auth/me", "/api/v1/openapi.json", "/docs/", "/slices.json", "/pending-loans"] {
        assert_eq!(app.send_to(Listener::Console, get(path)).await.status, 404, "{path}");
        assert_ne!(app.send_to(Listener::Portal, get(path)).await.status, 404, "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        for listener in [Listener::Portal, Listener::Console] {
            assert_eq!(app.send_to(listener, get(path)).await.status, 200, "{path}");
        }
    }
    let root = app.send_to(Listener::Console, get("/")).await;
    assert_eq!(root.status, 303);
    assert_eq!(root.headers[header::LOCATION], "/console");
}

// S-25
#[tokio::test]
async fn pages_of_other_origins_cannot_use_the_console_but_link_to_it() {
    let (app, browser) = Browser::start().await;
    let csrf = csrf(&browser.get("/console").await);
    let with = |request: Request<Body>, headers: &[(&'static str, &str)]| {
        let own = [("host", "127.0.0.1:8081"), ("cookie", browser.cookie.as_str())];
        with_headers(with_headers(request, &own), headers)
    };
    let form = || post("/console/clock", None, &[("csrf", &csrf), ("act", "stop")]);
    let page = || get("/console/outbox", None);
    let call = || request(Method::GET, "/console/api/clock", Some(CONSOLE_TOKEN), None);
    let sign_in = || post("/console/sign-in", None, &[("token", CONSOLE_TOKEN)]);

    let portal = ("origin", "http://127.0.0.1:8080");
    for site in ["same-site", "cross-site", "anything"] {
        for request in [form(), page(), call(), sign_in()] {
            let path = request.uri().to_string();
            let answer = app.send(with(request, &[("sec-fetch-site", site)])).await;
            assert_eq!(answer.failure().1, "cross_site", "{path} {site}");
        }
        let framed = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        assert_eq!(app.send(with(page(), &framed)).await.status, 403);
        let link = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert_eq!(app.send(with(page(), &link)).await.status, 200);
        assert_eq!(app.send(with(form(), &link)).await.status, 403);
    }
    for origin in [portal, ("origin", "null"), ("origin", "https://evil.example")] {
        for request in [form(), page(), call(), sign_in()] {
            assert_eq!(app.send(with(request, &[origin])).await.status, 403, "{origin:?}");
        }
    }
    let own = [("origin", "http://127.0.0.1:8081"), ("sec-fetch-site", "same-origin")];
    assert_eq!(app.send(with(form(), &own)).await.status, 303);
    assert_eq!(app.send(with(page(), &[("sec-fetch-site", "none")])).await.status, 200);
}

/// Otherwise any page could have an operator's browser try wrong tokens until the operator is locked out.
// S-44
#[tokio::test]
async fn a_page_elsewhere_cannot_have_tokens_tried_but_its_links_work() {
    let app = TestApp::start().await;
    let redeem = async |token: &str, site: Option<&str>| {
        let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let link = with_headers(get(&format!("/console?token={token}"), None), &link);
        let site: Vec<_> = site.into_iter().map(|site| ("sec-fetch-site", site)).collect();
        let page = app.send(with_headers(link, &site)).await;
        assert_eq!(page.status, 200);
        assert!(hidden_fields(&page).contains(&("token".to_owned(), token.to_owned())), "{}", html(&page));
        assert!(words(&page).contains("Sign in"), "there is a button");
        html(&page).contains("data-submit")
    };
    // From a terminal or a mail program, typed, on a page of its own, and in a browser that does not say.
    for site in [None, Some("none"), Some("same-origin")] {
        assert!(redeem(CONSOLE_TOKEN, site).await, "{site:?}");
    }
    for site in ["same-site", "cross-site", "anything"] {
        assert!(!redeem(CONSOLE_TOKEN, Some(site)).await, "{site}");
        assert!(redeem("ticket-0123", Some(site)).await, "{site}: consoles link to each other");
    }
    for _ in 0..120 {
        let unknown = post("/console/sign-in", None, &[("token", "ticket-0123")]);
        assert_eq!(app.send(unknown).await.status, 401);
    }
    Browser::sign_in(&app).await;
}

#[tokio::test]
async fn behind_a_proxy_that_changes_the_host_the_public_address_is_the_consoles_origin() {
    let app = TestApp::start_with(&["--console-public-url", "https://console.example.com"]).await;
    let sign_in = |origin: &str| {
        let form = post("/console/sign-in", None, &[("token", CONSOLE_TOKEN)]);
        with_headers(form, &[("host", "127.0.0.1:8081"), ("origin", origin)])
    };
    assert_eq!(app.send(sign_in("https://console.example.com")).await.status, 303);
    assert_eq!(app.send(sign_in("https://portal.example.com")).await.status, 403);
}

// S-60
#[tokio::test]
async fn signing_out_ends_the_sign_in_on_all_servers_and_no_other() {
    let app = TestApp::start().await;
    let (browser, other) = (Browser::sign_in(&app).await, Browser::sign_in(&app).await);
    let second = app.another_server(&[]).await;
    assert_eq!(second.send(get("/console", Some(&browser.cookie))).await.status, 200);
    let csrf = csrf(&browser.get("/console").await);
    let answer = browser.send_as("/console/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 303);
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.starts_with("mkopo_console=;") && cookie.contains("Max-Age=0"), "{cookie}");
    for server in [&app, &second] {
        assert_eq!(server.send(get("/console", Some(&browser.cookie))).await.status, 401);
        assert_eq!(server.send(get("/console", Some(&other.cookie))).await.status, 200);
    }
}

// S-58
#[tokio::test]
async fn a_sign_in_ends_when_it_is_not_used_for_twelve_hours_and_outlives_a_reset() {
    let (app, browser) = Browser::start().await;
    for _ in 0..3 {
        app.clock.advance(Duration::from_hours(11));
        assert_eq!(browser.get("/console").await.status, 200, "each use prolongs it");
    }
    browser.done("/console/clock", "advance", &[("advance", "30d")]).await;
    browser.done("/console/data", "reset", &[("confirmed", "yes")]).await;
    app.clock.advance(Duration::from_hours(12));
    assert_eq!(browser.get("/console").await.status, 401);
}

// S-44
#[tokio::test]
async fn wrong_console_tokens_are_limited_by_address_on_all_servers() {
    let app = TestApp::start().await;
    let second = app.another_server(&[]).await;
    let call = |token: &str| request(Method::GET, "/console/api/clock", Some(token), None);
    let form = |token: &str| post("/console/sign-in", None, &[("token", token)]);
    for number in 0..99 {
        let wrong = if number % 2 == 0 { call("no-such-token") } else { form("no-such-token") };
        let server = if number % 3 == 0 { &app } else { &second };
        assert_eq!(server.send(sent_from("192.0.2.7", wrong)).await.status, 401, "{number}");
    }
    for token in ["no-such-token", CONSOLE_TOKEN] {
        let called = app.send(sent_from("192.0.2.7", call(token))).await;
        assert_eq!(called.status, 429);
        assert_eq!(called.headers[header::RETRY_AFTER], "900");
        let sent = second.send(sent_from("192.0.2.7", form(token))).await;
        assert_eq!(sent.status, 429);
        assert!(words(&sent).contains("Too many attempts. Try again in 15 minutes."), "{}", words(&sent));
        assert!(!sent.headers.contains_key(header::SET_COOKIE));
    }
    assert_eq!(app.send(sent_from("192.0.2.8", call(CONSOLE_TOKEN))).await.status, 200);
    assert_eq!(app.send(sent_from("192.0.2.8", form(CONSOLE_TOKEN))).await.status, 303);
    app.clock.advance(Duration::from_mins(15));
    assert_eq!(app.send(sent_from("192.0.2.7", call(CONSOLE_TOKEN))).await.status, 200);
}

// S-83, S-97
#[tokio::test]
async fn outside_demo_mode_the_tools_are_off_unless_the_deployment_allows_them() {
    let app = TestApp::start_with(&["--demo", "false"]).await;
    app.console(Method::POST, "/data/snapshots/first", None).await;
    let call = async |app: &TestApp, path: &str, method: &str| {
        let path = path.replace("/console/api", "").replace("{name}", "first");
        app.console(method.to_uppercase().parse().unwrap(), &path, None).await
    };
    let calls = contract::operations().into_iter().filter(|call| call.0.starts_with("/console/api/"));
    let (tools, others): (Vec<_>, Vec<_>) = calls.partition(|(path, method)| {
        let refusal = contract::response(path, method, "403");
        assert!(
            matches!(refusal, Some("ToolsOff" | "CrossSite" | "MainSandbox")),
            "{method} {path}: {refusal:?}"
        );
        refusal == Some("ToolsOff")
    });
    for (path, method) in &tools {
        assert_eq!(call(&app, path, method).await.kind(), "403 tools_off", "{method} {path}");
    }
    for (path, method) in &others {
        assert_ne!(call(&app, path, method).await.status, 403, "{method} {path}");
    }
    for path in ["/scenario", "/clock", "/faults", "/traffic", "/staff", "/invariant", "/data/snapshots"] {
        assert_eq!(app.console(Method::GET, path, None).await.status, 200, "{path}");
    }

    let browser = Browser::sign_in(&app).await;
    for page in ["outbox", "loans", "scenario", "faults", "clock"] {
        let shown = browser.get(&format!("/console/{page}")).await;
        assert_eq!(shown.status, 200, "{page}");
        assert!(words(&shown).contains("This tool is off: it is available in demo mode"), "{page}");
        let (_, main) = html(&shown).split_once("<main").unwrap();
        assert!(!main.contains("method=\"post\""), "{page} has no forms");
    }
    let data = browser.get("/console/data").await;
    assert!(!words(&data).contains("Restore") && words(&data).contains("Save all data"));
    let forms = [
        ("clock", "stop"),
        ("faults", "end"),
        ("scenario", "clear"),
        ("loans", "make"),
        ("outbox", "empty"),
        ("data", "reset"),
        ("data", "empty"),
        ("data", "restore"),
    ];
    let csrf = csrf(&data);
    for (page, act) in forms {
        let fields = [("csrf", csrf.as_str()), ("act", act), ("name", "first")];
        let answer = browser.send_as(&format!("/console/{page}"), &fields).await;
        assert_eq!(answer.status, 403, "{page} {act}");
        assert!(words(&answer).contains("This tool is off"), "{page} {act}");
    }

    let app = app.restart_with(&["--demo", "false", "--tools", "true"]).await;
    for (path, method) in &tools {
        assert_ne!(call(&app, path, method).await.status, 403, "{method} {path}");
    }
}

// S-83
#[tokio::test]
async fn what_the_tools_have_set_is_put_back_at_a_start_without_them() {
    let app = TestApp::start().await;
    let at_first = app.read_console("/scenario").await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d", "frozen": true})).await;
    app.set_console(Method::POST, "/faults", json!({"path": "/api/v1/auth/me", "kind": "drop"})).await;
    let scenario = json!({"default": "lost_unpaid", "latency_ms": 800, "next": ["slow"]});
    app.set_console(Method::PUT, "/scenario", scenario).await;

    let app = app.restart_with(&["--demo", "false"]).await;
    assert_eq!(app.sandbox.clock.now(), NOON);
    assert_eq!(app.sign_in("agent").await.get("/api/v1/auth/me").await.status, 200);
    assert_eq!(app.read_console("/faults").await, json!([]));
    assert_eq!(app.read_console("/scenario").await, at_first);
    let app = app.restart_with(&["--demo", "false"]).await;
    let by_the_start = "SELECT count(*) FROM event WHERE who = 'command line'";
    assert_eq!(app.count(by_the_start).await, 3, "once each");
}

#[tokio::test]
async fn what_one_tool_has_set_is_put_back_though_the_others_have_set_nothing() {
    for (method, path, change) in [
        (Method::PUT, "/clock", json!({"advance": "2d"})),
        (Method::POST, "/faults", json!({"path": "/api/v1/auth/me", "kind": "drop"})),
        (Method::PUT, "/scenario", json!({"default": "slow"})),
        (Method::PUT, "/scenario", json!({"latency_ms": 800})),
        (Method::PUT, "/scenario", json!({"next": ["slow"]})),
    ] {
        let app = TestApp::start().await;
        let at_first = app.read_console(path).await;
        app.set_console(method, path, change.clone()).await;
        assert_ne!(app.read_console(path).await, at_first, "{change}");
        let app = app.restart_with(&["--demo", "false"]).await;
        assert_eq!(app.read_console(path).await, at_first, "{change}");
    }
}

#[tokio::test]
async fn the_float_stays_when_the_scenario_is_put_back() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"default": "slow", "float": 1_000})).await;
    let app = app.restart_with(&["--demo", "false"]).await;
    let scenario = app.read_console("/scenario").await;
    assert_eq!(json!([scenario["default"], scenario["float"]]), json!(["success", 1_000]));
}
