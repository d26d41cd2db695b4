//! The console's pages in a browser without JavaScript.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use mkopo::mobile_money::{Outcome, Refusal};
use serde_json::json;

use crate::{
    slices,
    test_app::{Answer, CONSOLE_TOKEN, TestApp, request, waiting},
};

const PAGES: [(&str, &str); 11] = [
    ("/console", "Overview"),
    ("/console/outbox", "Outbox"),
    ("/console/loans", "Loans"),
    ("/console/payouts", "Payouts"),
    ("/console/scenario", "Scenario"),
    ("/console/faults", "Faults"),
    ("/console/traffic", "Traffic"),
    ("/console/staff", "Staff"),
    ("/console/data", "Data"),
    ("/console/clock", "Clock"),
    ("/console/slices", "Slices"),
];

/// A browser that is signed in to the console.
struct Browser<'a> {
    app: &'a TestApp,
    cookie: String,
}

impl<'a> Browser<'a> {
    async fn sign_in(app: &'a TestApp) -> Self {
        let answer = app.send(get(&format!("/console?token={CONSOLE_TOKEN}"), None)).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        Self { app, cookie: cookie_of(&answer) }
    }

    async fn get(&self, address: &str) -> Answer {
        self.app.send(get(address, Some(&self.cookie))).await
    }

    /// The text of an existing page.
    async fn read(&self, address: &str) -> String {
        let answer = self.get(address).await;
        assert_eq!(answer.status, StatusCode::OK, "{address}");
        words(&answer)
    }

    /// Submits a form of the page at `address` with the given input.
    async fn send(&self, address: &str, act: &str, typed: &[(&str, &str)]) -> Answer {
        let csrf = csrf(&self.get(address).await);
        self.send_as(address, &[&[("csrf", csrf.as_str()), ("act", act)], typed].concat()).await
    }

    async fn send_as(&self, address: &str, fields: &[(&str, &str)]) -> Answer {
        self.app.send(post(address, Some(&self.cookie), fields)).await
    }

    /// Submits a form that must succeed; returns the text of the next page.
    async fn done(&self, address: &str, act: &str, typed: &[(&str, &str)]) -> String {
        let answer = self.send(address, act, typed).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{address} {act} {typed:?}: {}", words(&answer));
        let next = answer.headers[header::LOCATION].to_str().unwrap();
        assert!(next.starts_with(address), "{next}");
        self.read(next).await
    }
}

fn get(address: &str, cookie: Option<&str>) -> Request<Body> {
    let mut request = Request::get(address);
    if let Some(cookie) = cookie {
        request = request.header(header::COOKIE, format!("theme=dark; {cookie}"));
    }
    request.body(Body::empty()).unwrap()
}

fn post(address: &str, cookie: Option<&str>, fields: &[(&str, &str)]) -> Request<Body> {
    let mut request =
        Request::post(address).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    if let Some(cookie) = cookie {
        request = request.header(header::COOKIE, cookie);
    }
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.body(Body::from(body)).unwrap()
}

/// The cookie that an answer sets, as a browser sends it back.
fn cookie_of(answer: &Answer) -> String {
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    cookie.split_once(';').unwrap().0.to_owned()
}

fn html(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.bytes).unwrap()
}

fn csrf(answer: &Answer) -> String {
    let (_, rest) = html(answer).split_once("name=\"csrf\" value=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

/// The visible text of a page, with single spaces.
fn words(answer: &Answer) -> String {
    let inside = html(answer).split_once("<main").map_or(html(answer), |page| page.1);
    let mut text = String::new();
    let mut is_tag = true;
    for letter in inside.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            letter if !is_tag => text.push(letter),
            _ => {}
        }
    }
    let text = text.replace("&#x27;", "'").replace("&quot;", "\"").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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

#[tokio::test]
async fn pages_run_only_their_own_script_and_cannot_be_framed() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    for (address, name) in PAGES {
        let answer = browser.get(address).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(
            policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert!(html(&answer).starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(html(&answer).contains(&format!("<title>{name} · Mkopo console</title>")), "{name}");
        for forbidden in
            [" onclick=", " onsubmit=", "style=\"", "javascript:", "<style", "http://", "https://"]
        {
            assert!(!html(&answer).contains(forbidden), "{address}: {forbidden}");
        }
    }
    for (file, media_type) in [
        ("console.css", "text/css; charset=utf-8"),
        ("console.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let answer = app.send(get(&format!("/console/assets/{file}"), None)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.headers[header::CONTENT_TYPE], media_type);
    }
}

#[tokio::test]
async fn every_page_shows_its_empty_filled_and_failed_states() {
    let empty = TestApp::start_with(&["--demo", "false"]).await;
    let browser = Browser::sign_in(&empty).await;
    for (address, shown) in [
        ("/console", "Loans to pay out 0"),
        ("/console/outbox", "No messages yet"),
        ("/console/loans", "No pending loans"),
        ("/console/payouts", "No payouts yet"),
        ("/console/scenario", "No queued outcomes"),
        ("/console/faults", "No faults"),
        ("/console/traffic", "No calls yet"),
        ("/console/staff", "No accounts yet"),
        ("/console/data", "No snapshots yet"),
        ("/console/data", "In demo mode only"),
        ("/console/clock", "The real time"),
    ] {
        let read = browser.read(address).await;
        assert!(read.contains(shown), "{address}: {read}");
    }
    empty.set_console(Method::POST, "/loans", json!({"loan": {"customer_first_name": "Zuri"}})).await;
    assert!(browser.read("/console/loans").await.contains("1 loan to pay out"));

    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    let loans = agent.pending().await;
    app.next_outcomes(&[Outcome::Refused(Refusal::InsufficientFunds)]).await;
    agent.disburse(waiting(&loans).next().unwrap()).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    app.clock.advance(Duration::from_mins(1));
    app.next_outcomes(&[Outcome::Slow]).await;
    app.set_console(Method::POST, "/faults", json!({"path": "/api/v1/auth/me", "kind": "latency", "ms": 9}))
        .await;
    app.console(Method::POST, "/data/snapshots/first", None).await;
    let code = app.newest_code("agent@mkopo.test").await;
    for (address, shown) in [
        ("/console", "Every shilling is accounted for"),
        ("/console", "in the last minute"),
        ("/console/outbox", code.as_str()),
        ("/console/outbox", "1 message "),
        ("/console/loans", "Failed"),
        ("/console/payouts", "The balance is insufficient for the transaction. (code 1)"),
        ("/console/payouts", "Completed"),
        ("/console/scenario", "one per payout Clear slow"),
        ("/console/faults", "any /api/v1/auth/me waits 9 ms before processing every call"),
        ("/console/traffic", "POST /api/v1/auth/login"),
        ("/console/traffic", "\"password\": \"•••\""),
        ("/console/staff", "4 accounts, 1 open session"),
        ("/console/data", "1 snapshot"),
        ("/console/clock", "14 Nov 2026, 12:01:00"),
    ] {
        let read = browser.read(address).await;
        assert!(read.contains(shown), "{address}: {shown}: {read}");
    }

    app.sandbox.database.close().await;
    // Calls and the clock are in memory.
    let stored = PAGES.iter().filter(|page| !["/console/traffic", "/console/clock"].contains(&page.0));
    for (address, _) in stored {
        let answer = browser.get(address).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{address}");
        assert!(words(&answer).contains("Something went wrong The service is busy."), "{address}");
    }
}

#[tokio::test]
async fn long_lists_are_paginated() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    app.set_console(Method::POST, "/loans", json!({"count": 60})).await;
    let first = browser.get("/console/loans").await;
    assert!(words(&first).contains("The latest 50 loans to pay out"));
    let (_, next) = html(&first).split_once("href=\"/console/loans?after=").unwrap();
    let next = format!("/console/loans?after={}", next.split_once('"').unwrap().0);
    assert!(browser.read(&next).await.contains("approved earlier"));
    assert_eq!(browser.get("/console/loans?after=nonsense").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn input_is_escaped() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let name = "<script>alert(1)</script>";
    browser.done("/console/loans", "approve", &[("customer_first_name", name)]).await;
    let page = browser.get("/console/loans").await;
    assert!(!html(&page).contains(name) && html(&page).contains("&lt;script&gt;"));
    let page = browser.get("/console/outbox?to=%22%3E%3Cscript%3E&channel=sms").await;
    assert!(!html(&page).contains("<script>"));
    assert!(words(&page).contains("No matching messages"));
    let page = browser.get("/console/data?done=saved&what=%3Cb%3Ex").await;
    assert!(html(&page).contains("Saved as &lt;b&gt;x."));
}

#[tokio::test]
async fn the_outbox_is_filtered_and_emptied() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    for who in ["agent", "admin"] {
        app.post("/api/v1/auth/request-signin-otp", json!({"email": format!("{who}@mkopo.test")})).await;
    }
    assert!(browser.read("/console/outbox").await.contains("2 messages"));
    let one = browser.read("/console/outbox?to=Agent%40mkopo.test&channel=email").await;
    assert!(
        one.contains("1 message ") && one.contains("agent@mkopo.test") && !one.contains("admin@"),
        "{one}"
    );
    let done = browser.done("/console/outbox", "empty", &[]).await;
    assert!(done.contains("The outbox is empty.") && done.contains("No messages yet"), "{done}");
}

#[tokio::test]
async fn outcomes_are_queued_and_settings_changed() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let typed = [("next", "insufficient_funds"), ("count", "2")];
    let done = browser.done("/console/scenario", "queue", &typed).await;
    assert!(done.contains("Queued for the next payouts: insufficient funds (code 1)."), "{done}");
    browser.done("/console/scenario", "queue", &[("next", "slow")]).await;
    let scenario = app.sandbox.mobile_money.scenario().await.unwrap();
    let refused = Outcome::Refused(Refusal::InsufficientFunds);
    assert_eq!(scenario.next, [refused, refused, Outcome::Slow], "in the order of submission");
    assert!(browser.done("/console/scenario", "clear", &[]).await.contains("No queued outcomes"));

    let typed = [("default", "lost_unpaid"), ("latency_ms", "250"), ("float", "-5"), ("seed", "9")];
    browser.done("/console/scenario", "change", &typed).await;
    let scenario = app.sandbox.mobile_money.scenario().await.unwrap();
    assert_eq!((scenario.default, scenario.latency_ms), (Outcome::LostUnpaid, 250));
    assert_eq!((scenario.float, scenario.seed), (-5, 9));
    browser.done("/console/scenario", "start", &[]).await;
    assert_eq!(app.sandbox.mobile_money.scenario().await.unwrap().float, 50_000_000);
}

#[tokio::test]
async fn faults_are_added_and_removed() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    let typed = [
        ("method", "GET"),
        ("path", "/api/v1/disbursement-records"),
        ("kind", "status"),
        ("status", "503"),
        ("probability", "1"),
        ("times", "1"),
        ("ms", ""),
        ("seed", ""),
        ("when", ""),
    ];
    let done = browser.done("/console/faults", "add", &typed).await;
    assert!(done.contains("The fault applies from the next call: returns 503 before processing."), "{done}");
    assert_eq!(agent.get("/api/v1/disbursement-records").await.status, 503);
    let page = browser.get("/console/faults").await;
    assert!(words(&page).contains("every call, at most 1 time 1 Remove"), "{}", words(&page));
    let (_, rest) = html(&page).split_once("name=\"id\" value=\"").unwrap();
    let id = rest.split_once('"').unwrap().0;
    assert!(browser.done("/console/faults", "remove", &[("id", id)]).await.contains("No faults"));
    let gone = browser.send("/console/faults", "remove", &[("id", id)]).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(words(&gone).contains(&format!("There is no fault {id}.")), "{}", words(&gone));
    browser.done("/console/faults", "add", &typed).await;
    assert!(browser.done("/console/faults", "end", &[]).await.contains("All faults are removed."));
}

#[tokio::test]
async fn traffic_is_filtered_and_cleared() {
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
async fn one_given_loan_or_many_generated_loans_are_approved() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    let before = agent.pending().await.len();
    let typed = [
        ("customer_first_name", "Wanjiku"),
        ("customer_last_name", ""),
        ("customer_phone_number", "0712 345 678"),
        ("total_loan_amount", "25000"),
        ("term", "6"),
        ("interest_rate", "12.5"),
        ("purpose", "Stock"),
        ("loan_id", "LN-1"),
    ];
    let done = browser.done("/console/loans", "approve", &typed).await;
    assert!(done.contains("KES 25,000 for Wanjiku"), "{done}");
    let loan = agent.pending().await.into_iter().find(|loan| loan["loan_id"] == "LN-1").unwrap();
    assert_eq!((&loan["interest_rate"], &loan["term"]), (&json!(12.5), &json!(6)));
    assert_eq!(loan["customer_phone_number"], "+254712345678");
    assert!(browser.done("/console/loans", "make", &[("count", "30")]).await.contains("30 loans approved."));
    assert_eq!(agent.pending().await.len(), before + 31);
}

#[tokio::test]
async fn staff_are_changed_deactivated_and_activated() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    let email = ("email", "agent@mkopo.test");
    browser.done("/console/staff", "role", &[email, ("role", "supervisor")]).await;
    let account = app.console(Method::GET, "/staff/agent@mkopo.test", None).await.json();
    assert_eq!(account["role"], "supervisor");
    assert!(browser.done("/console/staff", "expire", &[email]).await.contains("1 session ended."));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    app.sign_in("admin").await;
    assert!(browser.done("/console/staff", "expire", &[]).await.contains("1 session ended."));
    assert!(browser.done("/console/staff", "deactivate", &[email]).await.contains("Deactivated"));
    browser.done("/console/staff", "activate", &[email]).await;
    app.sign_in("agent").await;
    let nobody = browser.send("/console/staff", "expire", &[("email", "nobody@mkopo.test")]).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
    assert!(words(&nobody).contains("user not found"));
    let role = browser.send("/console/staff", "role", &[email, ("role", "boss")]).await;
    assert_eq!(role.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn data_is_saved_restored_removed_and_reset() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let name = ("name", "before-the-test");
    assert!(browser.done("/console/data", "save", &[name]).await.contains("Saved as before-the-test."));
    app.set_console(Method::POST, "/loans", json!({"count": 3})).await;
    let many = app.sign_in("agent").await.pending().await.len();
    assert!(browser.done("/console/data", "restore", &[name]).await.contains("before-the-test is restored"));
    assert_eq!(app.sign_in("agent").await.pending().await.len(), many - 3);
    assert!(browser.done("/console/data", "remove", &[name]).await.contains("No snapshots yet"));
    let gone = browser.send("/console/data", "restore", &[name]).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert!(words(&gone).contains("There is no snapshot before-the-test."));
    let agent = app.sign_in("agent").await;
    assert!(
        browser.done("/console/data", "reset", &[("seed", "7")]).await.contains("The demo data is restored.")
    );
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn the_clock_is_moved_stopped_and_reset() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let agent = app.sign_in("agent").await;
    let done = browser.done("/console/clock", "advance", &[("advance", "1d")]).await;
    assert!(done.contains("The time is now 15 Nov 2026, 12:00:00.") && done.contains("1 d ahead"), "{done}");
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "the session is over");
    let done = browser.done("/console/clock", "go", &[("now", "2026-11-01T08:30")]).await;
    assert!(done.contains("1 Nov 2026, 08:30:00") && done.contains("behind the real time"), "{done}");
    browser.done("/console/clock", "go", &[("now", "2026-12-24T06:00:00Z")]).await;
    assert!(browser.done("/console/clock", "stop", &[]).await.contains("Stopped 39 d 21 h ahead"));
    assert!(browser.done("/console/clock", "run", &[]).await.contains("Running"));
    browser.done("/console/clock", "stop", &[]).await;
    assert!(browser.done("/console/clock", "real", &[]).await.contains("Running The real time"));
    let state = app.console(Method::GET, "/clock", None).await.json();
    assert_eq!((&state["offset_ms"], &state["frozen"]), (&json!(0), &json!(false)));
}

/// A form's fields and their input.
type Input = &'static [(&'static str, &'static str)];

const PATH: (&str, &str) = ("path", "/api/v1/auth/me");
const LATENCY: (&str, &str) = ("kind", "latency");

/// Page, form, input, the invalid field, and its error message.
const INVALID: [(&str, &str, Input, &str, &str); 20] = [
    (
        "scenario",
        "queue",
        &[("next", "no_such_outcome"), ("count", "1")],
        "next",
        "unknown outcome no_such_outcome.",
    ),
    ("scenario", "queue", &[("next", "slow"), ("count", "0")], "count", "Enter a number from 1 to 100."),
    ("scenario", "change", &[("default", "odd"), ("seed", "4")], "default", "unknown outcome odd."),
    (
        "scenario",
        "change",
        &[("default", "slow"), ("latency_ms", "soon")],
        "latency_ms",
        "\"soon\" is not a whole number of ms.",
    ),
    (
        "scenario",
        "change",
        &[("default", "slow"), ("float", "1e9")],
        "float",
        "\"1e9\" is not a whole number of shillings.",
    ),
    (
        "faults",
        "add",
        &[("path", "/api/v2/x"), LATENCY, ("ms", "5")],
        "path",
        "path must be a whole path under /api/v1/",
    ),
    (
        "faults",
        "add",
        &[("path", "/api/v1/a**"), LATENCY, ("ms", "5")],
        "path",
        "path must be a whole path under /api/v1/",
    ),
    ("faults", "add", &[PATH, ("kind", "explode")], "kind", "unknown variant `explode`"),
    (
        "faults",
        "add",
        &[PATH, ("kind", "status"), ("status", "200")],
        "status",
        "needs a status from 400 to 599.",
    ),
    ("faults", "add", &[PATH, LATENCY, ("ms", "30000")], "ms", "needs ms from 1 to 25000."),
    (
        "faults",
        "add",
        &[PATH, ("kind", "drop"), ("probability", "2")],
        "probability",
        "probability must be above 0 and at most 1.",
    ),
    ("faults", "add", &[PATH, ("kind", "truncate"), ("when", "before")], "when", "so when must be after."),
    ("data", "save", &[("name", "../escape")], "name", "A snapshot's name has 1 to 64 letters"),
    ("data", "reset", &[("seed", "-1")], "seed", "\"-1\" is not a whole number from 0 to 4294967295."),
    (
        "clock",
        "advance",
        &[("advance", "-5m")],
        "advance",
        "\"-5m\" is not a duration such as 90s, 15m, 12h or 2d.",
    ),
    (
        "clock",
        "advance",
        &[("advance", "1000000d")],
        "advance",
        "The clock can be set to the years 2006 to 2099.",
    ),
    ("clock", "go", &[("now", "1999-01-01T00:00")], "now", "The clock can be set to the years 2006 to 2099."),
    (
        "clock",
        "go",
        &[("now", "yesterday")],
        "now",
        "\"yesterday\" is not a date and time such as 2026-11-14T12:00.",
    ),
    ("loans", "make", &[("count", "1001")], "count", "count must be between 1 and 1000."),
    (
        "loans",
        "approve",
        &[("customer_phone_number", "0800 123"), ("purpose", "Stock")],
        "customer_phone_number",
        "must be a Kenyan mobile number",
    ),
];

#[tokio::test]
async fn a_rejected_form_keeps_its_input_and_shows_the_error_at_the_field() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    for (page, act, typed, field, wrong) in INVALID {
        let answer = browser.send(&format!("/console/{page}"), act, typed).await;
        let read = words(&answer);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{page} {act} {typed:?}: {read}");
        assert!(read.contains(wrong), "{page} {act} {typed:?}: {read}");
        let html = html(&answer);
        let control = &html[html.find(&format!("id=\"{act}-{field}\"")).unwrap()..];
        let control = control.split_once('>').unwrap().0;
        assert!(control.contains("aria-invalid=\"true\""), "{control}");
        assert!(control.contains(&format!("aria-describedby=\"{act}-{field}-error")), "{control}");
        assert!(html.contains(&format!("id=\"{act}-{field}-error\" role=\"alert\"")), "{page} {act}");
        for (name, value) in typed {
            let control = &html[html.find(&format!("id=\"{act}-{name}\"")).unwrap()..];
            let control = control.split_once("</div>").unwrap().0;
            let is_selected = control.contains(&format!("value=\"{value}\" selected"));
            let is_kept = !control.contains("<select") && control.contains(&format!("value=\"{value}\""));
            assert!(is_selected || is_kept, "{page} {act} {name}: {control}");
        }
    }
    let unknown = browser.send("/console/clock", "explode", &[]).await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(words(&unknown).contains("This page does not have this form."));
}

#[tokio::test]
async fn errors_are_shown_as_pages() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let missing = browser.get("/console/nothing").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert!(words(&missing).contains("Page not found"), "{}", words(&missing));
    let slash = browser.get("/console/").await;
    assert_eq!(
        (slash.status, &slash.headers[header::LOCATION]),
        (StatusCode::SEE_OTHER, &"/console".parse().unwrap())
    );
    let csrf = csrf(&browser.get("/console").await);
    let answer = browser.send_as("/console/payouts", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(words(&answer).contains("This path does not support this method."));
}

#[tokio::test]
async fn a_build_is_activated_and_rolled_back_with_a_history() {
    let portal = slices::portal();
    let app = slices::start(&portal).await;
    let browser = Browser::sign_in(&app).await;
    let page = browser.read("/console/slices").await;
    for shown in ["shell 0.1.0 with mfe-kit 0.1.0", "With the portal", "No deployments yet"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    slices::publish(&app, &slices::build("mfe-loans", "0.2.0")).await;
    let page = browser.read("/console/slices").await;
    for shown in ["0.2.0", "by ci", "Published"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    let loans = ("name", "mfe-loans");
    let page = browser.done("/console/slices", "roll-back", &[loans]).await;
    assert!(page.contains("Rolled back: mfe-loans 0.1.0 is live."), "{page}");
    let page = browser.done("/console/slices", "activate", &[loans, ("version", "0.2.0")]).await;
    assert!(page.contains("mfe-loans 0.2.0 is live."), "{page}");
    assert!(page.contains("the console"), "{page}");

    let unknown = browser.send("/console/slices", "activate", &[loans, ("version", "0.9.0")]).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(words(&unknown).contains("0.9.0"), "{}", words(&unknown));
    let nobody = browser.send("/console/slices", "roll-back", &[("name", "../etc")]).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
    assert!(browser.read("/console/slices").await.contains("mfe-loans"), "the live build is untouched");
}

#[tokio::test]
async fn sign_in_accepts_only_post() {
    let app = TestApp::start().await;
    let answer = app.send(get("/console/sign-in", None)).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.headers[header::ALLOW], "POST");
    assert!(words(&answer).contains("Sign in to the console"));
}
