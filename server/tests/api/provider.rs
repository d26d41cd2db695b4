//! Calls that are forwarded to another provider.

use std::{cell::Cell, io::Write};

use axum::http::Method;
use base::{clock::Clock, randomness::Randomness};
use http_body_util::BodyExt;
use insta::assert_snapshot;
use mkopo::Sandbox;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    browser::Browser,
    console_faults::{address_of, exchange, kept_connection, raw_payout},
    provider_stub::{NOBODY, OwnProvider, Reply, Stub, answer},
    subscriber,
    test_app::{Listener, NOON, TestApp, payout_path, request, settings, wait_until, waiting},
};

const ME: &str = "/api/v1/auth/me";

/// The options of a portal in front of a provider that never answers.
const IMPATIENT: [&str; 2] = ["--provider-timeout", "1"];

/// A portal in front of the provider at `url`.
async fn portal(url: &str, options: &[&str]) -> TestApp {
    let fixed = ["--demo", "false", "--tools", "true", "--provider-url", url];
    let timeout =
        if options.contains(&"--provider-timeout") { &[][..] } else { &["--provider-timeout", "20"] };
    TestApp::start_with(&[&fixed, timeout, options].concat()).await
}

/// A stub that always gives the same reply, and a portal in front of it.
async fn in_front_of(reply: Reply, options: &[&str]) -> (Stub, TestApp) {
    let stub = Stub::start(move |_| reply.clone()).await;
    let app = portal(&stub.url, options).await;
    (stub, app)
}

#[tokio::test]
async fn the_portal_works_on_another_provider() {
    let provider = OwnProvider::start().await;
    let app = portal(&provider.url, &[]).await;
    let staff = app.sign_in("agent").await;
    assert_eq!(staff.get(ME).await.json()["email"], "agent@mkopo.test");

    let loan = &staff.waiting_loan().await;
    let paid = staff.disburse_with_key(loan, "a-key").await;
    assert_eq!(paid.status, 200);
    assert_eq!(paid.json()["status"], "COMPLETED");
    let again = staff.disburse_with_key(loan, "a-key").await;
    assert!(again.is_replay());
    assert_eq!(again.bytes, paid.bytes);
    assert_eq!(staff.records_of(loan).await.len(), 1);

    // The provider has it, and this service has nothing of it.
    assert_eq!(provider.app.sign_in("agent").await.records_of(loan).await.len(), 1);
    assert_eq!(app.with("").get(ME).await.status, 401);
    provider.app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(staff.post("/api/v1/auth/logout", None).await.status, 204);
}

#[tokio::test]
async fn a_list_that_the_browser_has_is_not_sent_again() {
    let provider = OwnProvider::start().await;
    let app = portal(&provider.url, &[]).await;
    let staff = app.sign_in("agent").await;
    let path = "/api/v1/disbursements/pending";
    for encoding in ["identity", "gzip", "zstd"] {
        let list = staff.get_with(path, &[("accept-encoding", encoding)]).await;
        assert!(!list.json().as_array().unwrap().is_empty());
        let tag = list.headers["etag"].to_str().unwrap();
        let same = staff.get_with(path, &[("accept-encoding", encoding), ("if-none-match", tag)]).await;
        assert_eq!(same.status, 304);
    }
}

#[tokio::test]
async fn the_contract_and_everything_outside_the_api_stay_here() {
    let (stub, app) = in_front_of(Reply::Closes(Vec::new()), &[]).await;
    for path in ["/api/v1/openapi.json", "/healthz", "/readyz", "/docs/"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    assert_eq!(stub.received(), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_passes_either_way_but_the_headers_of_the_contract() {
    let body = r#"{"error":"x","message":"x","code":"no_session","request_id":"theirs"}"#;
    let theirs = [
        "content-type: application/json",
        "x-request-id: theirs",
        "www-authenticate: Bearer",
        "cache-control: public, max-age=9",
        "link: <https://cdn.example.com/x>; rel=preload, <https://own.example.com/l?cursor=b>; rel=next",
        "set-cookie: mkopo_console=forged",
        "clear-site-data: \"*\"",
        "refresh: 0; url=https://elsewhere.example.com",
        "location: https://elsewhere.example.com",
        "access-control-allow-origin: *",
        "service-worker-allowed: /",
        "nel: {}",
        "report-to: {}",
        "x-accel-redirect: /etc/passwd",
        "x-sendfile: /etc/passwd",
        "server: theirs",
        "keep-alive: timeout=5",
    ];
    let (stub, app) = in_front_of(Reply::Closes(answer("401 Unauthorized", &theirs, body)), &[]).await;
    let sent = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-host", "elsewhere"),
        ("forwarded", "for=10.0.0.9"),
        ("x-real-ip", "10.0.0.9"),
        ("x-original-url", "/admin"),
        ("x-http-method-override", "DELETE"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("idempotency-key", "a-key"),
        ("cookie", "mkopo_console=secret; mkopo_device=1.a.b"),
        ("connection", "close, X-Mine"),
        ("x-mine", "1"),
        ("x-request-id", "forged"),
    ];
    let answer = app.with("a-token").get_with("/api/v1/auth/me?a=b", &sent).await;
    assert_eq!(answer.status, 401);
    let passed = ["x-provider-request-id", "cache-control", "link"].map(|name| answer.headers[name].clone());
    assert_eq!(passed, ["theirs", "no-store", "</api/v1/auth/me?cursor=b>; rel=\"next\""]);
    for line in &theirs[5..] {
        let (name, _) = line.split_once(':').unwrap();
        assert!(!answer.headers.contains_key(name), "{name}");
    }

    let received = stub.received().remove(0);
    let (call, headers) = received.split_once("\r\n").unwrap();
    assert_eq!(call, "GET /api/v1/auth/me?a=b HTTP/1.1");
    let mut headers: Vec<&str> = headers.lines().filter(|line| !line.is_empty()).collect();
    headers.sort_unstable();
    let ours = answer.headers["x-request-id"].to_str().unwrap();
    let traced = headers.iter().position(|line| line.starts_with("traceparent: ")).unwrap();
    let traceparent = headers.remove(traced);
    assert_eq!(
        headers,
        [
            "authorization: Bearer a-token",
            "cookie: mkopo_device=1.a.b; __Host-mkopo_device=1.a.b",
            &format!("host: {}", stub.url.strip_prefix("http://").unwrap()),
            "idempotency-key: a-key",
            "x-forwarded-for: 127.0.0.1",
            &format!("x-request-id: {ours}"),
        ]
    );
    // The same trace, and a span of ours.
    assert!(traceparent.contains("00-0af7651916cd43dd8448eb211c80319c-"), "{traceparent}");
    assert!(!traceparent.contains("b7ad6b7169203331"), "{traceparent}");
}

/// A provider may be behind a proxy that decodes a path and follows it elsewhere.
// S-119, S-121
#[tokio::test]
async fn a_call_that_is_not_in_the_contract_is_not_found_and_not_forwarded() {
    let (stub, app) = in_front_of(Reply::Closes(Vec::new()), &[]).await;
    for path in [
        "/api/v1/admin",
        "/api/v1/../../admin",
        "/api/v1/%2e%2e/%2e%2e/admin",
        "/api/v1/disbursements/../disburse",
        "/api/v1/disbursements/%2e%2e/disburse",
        "/api/v1/disbursements/..%2f..%2fadmin/disburse",
        "/api/v1/disbursements/..%5cadmin/disburse",
        "/api/v1/disbursements/%252e%252e/disburse",
        "/api/v1/disbursements/..;/disburse",
        "/api/v1/disbursements//disburse",
        "/api/v1/disbursements/LN-1%00/disburse",
    ] {
        for method in [Method::GET, Method::POST] {
            let answer = app.call(method.clone(), path, None).await;
            assert!(matches!(answer.status.as_u16(), 404 | 405), "{method} {path}: {}", answer.status);
        }
    }
    assert_eq!(stub.received(), Vec::<String>::new());
}

/// A proxy in front that goes by the length would take the rest of the body for the answer to the next call.
#[tokio::test]
async fn an_answer_of_two_lengths_is_sent_with_one() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\
                   transfer-encoding: chunked\r\n\r\n\
                   2c\r\n[\"HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\"]\r\n0\r\n\r\n";
    let (_stub, app) = in_front_of(Reply::Closes(answer.to_vec()), &[]).await;
    let url = app.serve(Listener::Portal).await;
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    let call = format!("GET {ME} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(call.as_bytes()).await.unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).await.unwrap();
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{received}");
    assert_eq!(
        (head.contains("content-length: 44"), head.contains("transfer-encoding"), body.len()),
        (true, false, 44),
        "{received}"
    );
}

#[tokio::test]
async fn a_provider_that_is_away_is_a_502_and_one_that_is_slow_a_504() {
    subscriber::capture();
    let app = portal(NOBODY, &[]).await;
    let away = app.get(ME).await;
    assert_snapshot!(away.refusal(), @"502 provider_away: The provider can't be reached. Nothing was done; try again in a moment.");

    let (_stub, app) = in_front_of(Reply::Hangs(Vec::new()), &IMPATIENT).await;
    let slow = app.get(ME).await;
    assert_snapshot!(slow.refusal(), @"504 provider_slow: The provider did not answer in time. It may still have been done.");
    let logged = subscriber::captured();
    assert!(logged.contains("provider.failed") && logged.contains("provider.slow"), "{logged}");
}

// S-78
#[tokio::test]
async fn a_provider_is_trusted_by_its_certificate_and_its_name() {
    const SIGN_OUT: &str = "/api/v1/auth/logout";
    let reply = answer("204 No Content", &["cache-control: no-store", "clear-site-data: \"cache\""], "");
    let (stub, certificate) = Stub::start_with_tls(move |_| Reply::Closes(reply.clone())).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, certificate).unwrap();
    let authority = ["--provider-ca", file.to_str().unwrap()];

    let app = portal(&stub.url, &authority).await;
    assert_eq!(app.post(SIGN_OUT, None).await.status, 204);
    assert_eq!(stub.received().len(), 1);

    let other_name = stub.url.replace("localhost", "127.0.0.1");
    for (url, options) in [(&stub.url, &[][..]), (&other_name, &authority[..])] {
        let app = portal(url, options).await;
        assert_eq!(app.post(SIGN_OUT, None).await.kind(), "502 provider_away");
    }
    assert_eq!(stub.received().len(), 1, "nothing was sent to a provider that is not trusted");
}

// S-118, S-120
#[tokio::test]
async fn an_answer_that_is_none_of_the_contracts_is_a_502() {
    let json = ["content-type: application/json"];
    for (reply, reason) in [
        (answer("302 Found", &["location: https://elsewhere.example.com"], ""), "its status is 302"),
        (answer("200 OK", &["content-type: text/html"], "<h1>Down</h1>"), "it is not JSON"),
        (answer("503 Service Unavailable", &["content-type: text/html"], "<h1>Down</h1>"), "it is not JSON"),
        (answer("200 OK", &[], "{}"), "it does not say that it is JSON"),
        (
            answer("200 OK", &["content-type: application/json", "content-type: text/html"], "{}"),
            "more than one content type",
        ),
        (answer("404 Not Found", &["content-type: text/html"], "<h1>None</h1>"), "it is not JSON"),
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n{}".to_vec(), "it does not say that it is JSON"),
        (answer("200 OK", &json, &"x".repeat(3000)), "it is larger than 2048 bytes"),
    ] {
        let (_stub, app) = in_front_of(Reply::Closes(reply), &["--provider-body-limit", "2KiB"]).await;
        let refusal = app.get(ME).await.refusal();
        assert!(refusal.starts_with("502 provider_answer: ") && refusal.contains(reason), "{refusal}");
    }
}

#[tokio::test]
async fn an_answer_without_a_body_is_passed_on_however_its_end_is_told() {
    for end in ["content-length: 0\r\n\r\n", "\r\n", "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"] {
        let reply = format!("HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n{end}").into_bytes();
        let (_stub, app) = in_front_of(Reply::Closes(reply), &[]).await;
        // Without a body it is not the contract's, and still tells that the session has ended.
        let ended = app.response_to(request(Method::GET, ME, Some("a-token"), None)).await;
        assert_eq!(ended.status(), 401, "{end}");
        assert!(ended.into_body().collect().await.unwrap().to_bytes().is_empty(), "{end}");
    }
}

#[tokio::test]
async fn a_call_of_live_screens_that_the_provider_does_not_know_is_a_404() {
    let reply = answer("404 Not Found", &["content-type: text/html"], "Cannot GET it");
    let (_stub, app) = in_front_of(Reply::Closes(reply), &[]).await;
    assert_eq!(app.get("/api/v1/preferences").await.kind(), "404 not_found");
}

#[tokio::test]
async fn a_post_without_a_body_is_sent_with_its_length() {
    let (stub, app) = in_front_of(Reply::Closes(answer("204 No Content", &[], "")), &[]).await;
    assert_eq!(app.post("/api/v1/auth/logout", None).await.status, 204);
    let received = stub.received().remove(0);
    assert!(received.contains("content-length: 0\r\n"), "{received}");
}

#[tokio::test]
async fn a_provider_that_closes_in_the_middle_is_a_502() {
    for reply in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\ncontent-ty",
        b"not HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"id\":",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"id\"",
    ] {
        let (_stub, app) = in_front_of(Reply::Closes(reply.to_vec()), &[]).await;
        assert_eq!(app.get(ME).await.kind(), "502 provider_broke", "{}", String::from_utf8_lossy(reply));
    }
}

#[tokio::test]
async fn an_answer_that_stops_in_the_middle_is_a_504() {
    let start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"id\":";
    subscriber::capture();
    let (_stub, app) = in_front_of(Reply::Hangs(start.to_vec()), &IMPATIENT).await;
    assert_eq!(app.get(ME).await.kind(), "504 provider_slow");
    assert!(subscriber::captured().contains("provider.cut_off"));
}

/// Calls `path`, and returns how many bytes of the answer arrived, and whether it was cut off.
async fn received(app: &TestApp, path: &str) -> (usize, bool) {
    let response = app.response_to(request(Method::GET, path, None, None)).await;
    assert_eq!(response.status(), 200);
    let (mut body, mut length) = (response.into_body(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return (length, true) };
        length += frame.data_ref().map_or(0, axum::body::Bytes::len);
    }
    (length, false)
}

// S-118
#[tokio::test]
async fn an_endless_answer_is_cut_off_at_the_limit_and_nothing_of_it_is_kept() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = [b"4000\r\n".to_vec(), vec![b' '; 0x4000], b"\r\n".to_vec()].concat();
    let reply = Reply::Repeats { head: head.to_vec(), chunk };
    let (_stub, app) = in_front_of(reply, &["--provider-body-limit", "8MiB"]).await;
    let (length, is_cut) = received(&app, ME).await;
    assert!(is_cut && (7 << 20..=8 << 20).contains(&length), "{length}");
    assert_eq!(app.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_large_answer_is_passed_on_whole() {
    let text = format!("[\"{}\"]", "x".repeat(3 << 20));
    let reply = Reply::Closes(answer("200 OK", &["content-type: application/json"], &text));
    let (_stub, app) = in_front_of(reply, &[]).await;
    assert_eq!(received(&app, ME).await, (text.len(), false));
}

#[tokio::test]
async fn a_payout_is_sent_once_whatever_happens() {
    for reply in [Reply::Closes(Vec::new()), Reply::Hangs(Vec::new())] {
        let (stub, app) = in_front_of(reply, &IMPATIENT).await;
        let body = json!({"agent_id": 1, "amount": 1, "phone_number": "0712345678"});
        let answer = app.post("/api/v1/disbursements/LN-1/disburse", body).await;
        assert!(matches!(answer.status.as_u16(), 502 | 504), "{}", answer.status);
        // A call that follows, which is not repeated either.
        app.get(ME).await;
        let received = stub.received();
        assert_eq!(received.iter().filter(|head| head.starts_with("POST ")).count(), 1, "{received:?}");
    }
}

#[tokio::test]
async fn a_slow_provider_does_not_hold_up_the_portal() {
    const MAX_CALLS: usize = 256;
    // As long as it may: all places are to be taken before a call has timed out.
    let (stub, app) = in_front_of(Reply::Hangs(Vec::new()), &["--provider-timeout", "25"]).await;
    let timed_out = Cell::new(0);
    let calls = (0..400).map(async |_| {
        let answer = app.get(ME).await;
        timed_out.update(|number| number + i32::from(answer.status == 504));
        answer
    });
    let all = futures::future::join_all(calls);
    let mut all = std::pin::pin!(all);
    tokio::select! {
        _ = &mut all => panic!("answered"),
        () = wait_until("all places are taken", async || stub.received().len() >= MAX_CALLS) => {}
    }
    tokio::select! {
        _ = &mut all => panic!("answered"),
        ready = app.get("/readyz") => assert_eq!(ready.status, 200),
    }
    assert_eq!(timed_out.get(), 0, "calls that have ended since");
    assert_eq!(stub.received().len(), MAX_CALLS, "those that found no place are not sent");
    tokio::time::pause();
    for answer in all.await {
        assert!(matches!(answer.status.as_u16(), 503 | 504), "{}", answer.status);
    }
}

// S-77
#[tokio::test]
async fn it_does_not_start_in_demo_mode_or_without_tls() {
    for (demo, protocol, more, reason) in [
        ("true", "https", &[][..], "MKOPO_DEMO"),
        ("false", "http", &[], "--insecure"),
        ("false", "https", &["--provider-ca", "/none.pem"], "MKOPO_PROVIDER_CA"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{protocol}://provider.example.com");
        let options = [&["--demo", demo, "--provider-url", &url], more].concat();
        let settings = settings(folder.path().to_str().unwrap(), &options);
        let opened = Sandbox::open(settings, Clock::held_at(NOON), Randomness::seeded(1)).await;
        let Err(error) = opened else { panic!("started with {options:?}") };
        assert!(format!("{error:#}").contains(reason), "{error:#}");
    }
}

/// The console's report on the provider once `count` calls were checked.
async fn report(app: &TestApp, count: u64) -> Value {
    let mut report = Value::Null;
    wait_until("the calls are checked", async || {
        report = app.read_console("/contract").await;
        report["checked"].as_u64().unwrap() + report["skipped"].as_u64().unwrap() >= count
    })
    .await;
    report
}

#[tokio::test]
async fn calls_to_our_own_provider_keep_to_the_contract() {
    let provider = OwnProvider::start().await;
    let app = portal(&provider.url, &[]).await;
    let staff = app.sign_in("agent").await;
    let loan = &staff.waiting_loan().await;
    staff.disburse(loan).await;
    staff.disburse(loan).await;
    for encoding in ["gzip", "br", "zstd"] {
        staff.get_with("/api/v1/disbursement-records", &[("accept-encoding", encoding)]).await;
    }
    app.post("/api/v1/auth/login", json!({"email": "nobody@mkopo.test", "password": "x"})).await;
    app.get(ME).await;
    let report = report(&app, 9).await;
    assert_eq!((&report["violations"], &report["unknown_fields"]), (&json!([]), &json!([])));
    assert_ne!(report["checked"], 0, "a check that takes too long is given up");
}

/// An answer to `GET /auth/me`, with changes.
fn user(change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut user = json!({
        "id": "1", "username": "wanjiru", "name": "Wanjiru Kamau", "email": "wanjiru@example.com", "role": "agent",
        "phone_number": "+254712345678", "created_at": "2026-11-12T08:15:30.000Z",
    });
    change(&mut user);
    let headers = ["content-type: application/json", "x-request-id: 1", "cache-control: no-store"];
    answer("200 OK", &headers, &user.to_string())
}

#[tokio::test]
async fn what_differs_from_the_contract_is_listed_by_place_and_kind_with_a_masked_example() {
    let answer = user(|user| {
        user.as_object_mut().unwrap().remove("email");
        user["id"] = json!(4711);
        user["role"] = json!("boss");
        user["branch"] = json!("Kisumu 2");
        user["+254712345678"] = json!({"Wanjiru K 1": 1});
    });
    let (_stub, app) = in_front_of(Reply::Closes(answer), &[]).await;
    for _ in 0..2 {
        app.response_to(request(Method::GET, ME, Some("a-token"), None)).await;
    }
    let report = report(&app, 2).await;
    let found = |list: &str| -> Vec<String> {
        let line = |found: &Value| {
            let text = |field: &str| found[field].as_str().unwrap();
            assert_eq!((text("operation"), text("side")), ("GET /api/v1/auth/me", "answer"));
            format!("{} {} {}", text("place"), text("kind"), found["count"])
        };
        report[list].as_array().unwrap().iter().map(line).collect()
    };
    assert_eq!(found("violations"), ["/email missing 2", "/id type 2", "/role value 2"]);
    assert_eq!(found("unknown_fields"), ["/+999999999999 unknown 2", "/branch unknown 2"]);
    let shown = report.to_string();
    for value in ["Wanjiru", "wanjiru", "4711", "Kisumu", "712345678", "boss"] {
        assert!(!shown.contains(value), "{value} is in {shown}");
    }
    assert_eq!(report["violations"][1]["example"]["phone_number"], "+999999999999");
    assert_eq!(report["unknown_fields"][0]["example"], json!({"Xxxxxxx X 9": 9}));
    assert_eq!(report["unknown_fields"][1]["example"], "Xxxxxx 9");

    let metrics = app.metrics().await;
    for line in [
        r#"mkopo_contract_differences_total{kind="type",operation="GET /api/v1/auth/me"} 2"#,
        r#"mkopo_provider_calls_total{checked="yes"} 2"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }

    let browser = Browser::sign_in(&app).await;
    let page = browser.read("/console/contract").await;
    for words in ["2 calls to http://127.0.0.1", "/role in the answer", "Wrong type", "Unknown fields"] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    assert_eq!(browser.get("/console/contract?as=json").await.json()["violations"], report["violations"]);
}

#[tokio::test]
async fn a_request_of_the_portal_is_held_to_the_contract_too() {
    let user =
        json!({"token": "t", "id": "1", "username": "a", "name": "a", "email": "a@b.c", "role": "agent"});
    let body = json!({"user": user}).to_string();
    let headers = ["content-type: application/json", "x-request-id: 1", "cache-control: no-store"];
    let (_stub, app) = in_front_of(Reply::Closes(answer("200 OK", &headers, &body)), &[]).await;
    let sent = json!({"email": "a@b.c", "password": 5});
    let sent = request(Method::POST, "/api/v1/auth/login?from=here", None, sent);
    app.response_to(sent).await;
    let report = report(&app, 1).await;
    let violation = &report["violations"][0];
    assert_eq!(violation["side"], "request");
    assert_eq!(violation["place"], "/password");
    assert_eq!(report["unknown_fields"][0]["place"], "query from");
}

/// Answers that are small on the way and cost gigabytes to check as a whole.
#[tokio::test]
async fn an_answer_that_differs_in_millions_of_places_is_checked_in_part() {
    let zeros = |count: usize| "0,".repeat(count);
    let fields = (0..9000).fold(String::new(), |fields, n| fields + &format!("\"f{n}\":0,"));
    for (text, most) in [
        (format!("[{}0]", zeros(16 << 20)), 1),
        (format!("[[{}0]]", zeros(1 << 20)), 0),
        (format!("[{{\"a\":[{}0]}}]", zeros(1 << 20)), 0),
        (format!("[{{{fields}\"z\":0}}]"), 100),
    ] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let body = gzip.finish().unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: 1\r\ncache-control: no-store\r\n\
             etag: 1\r\nvary: accept-encoding\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let reply = Reply::Closes([head.into_bytes(), body].concat());
        let (_stub, app) = in_front_of(reply, &[]).await;
        received(&app, "/api/v1/disbursements/pending").await;
        let report = report(&app, 1).await;
        assert_eq!((&report["checked"], &report["skipped"]), (&json!(0), &json!(1)), "{report:#}");
        assert!(report["violations"].as_array().unwrap().len() <= most, "{report:#}");
        assert!(report.to_string().len() < 100_000);
        if most == 1 {
            assert_eq!(report["violations"][0]["place"], "/*");
            assert!(report["violations"][0]["count"].as_u64().unwrap() > 1, "{report:#}");
        }
    }
}

#[tokio::test]
async fn faults_hit_forwarded_calls_and_payouts_only_if_that_is_allowed() {
    let provider = OwnProvider::start().await;
    for (options, is_hit) in [(&[][..], false), (&["--provider-faults", "payouts"], true)] {
        let app = portal(&provider.url, options).await;
        let staff = app.sign_in("agent").await;
        let pending = staff.pending().await;
        let fault = json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503, "times": 1});
        app.set_console(Method::POST, "/faults", fault).await;
        assert_eq!(staff.get(ME).await.failure().1, "injected_fault");
        assert_eq!(staff.get(ME).await.status, 200);
        for path in ["/api/v1/disbursements/*/disburse", "/api/v1/*/*/*"] {
            let fault = json!({"path": path, "kind": "status", "status": 503, "when": "before"});
            app.set_console(Method::POST, "/faults", fault).await;
        }
        let paid = staff.disburse(waiting(&pending).next().unwrap()).await;
        assert_eq!(paid.status == 503, is_hit, "{}", paid.status);
    }
}

#[tokio::test]
async fn what_was_set_before_and_can_not_be_removed_any_more_is_put_back() {
    let provider = OwnProvider::start().await;
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d"})).await;
    app.set_console(Method::POST, "/faults", json!({"path": ME, "kind": "status", "status": 503})).await;
    let in_front = ["--demo", "false", "--provider-url", &provider.url];
    let app = app.restart_with(&[&in_front[..], &["--tools", "true"]].concat()).await;
    assert_eq!(app.sandbox.clock.now(), NOON);
    assert_eq!(app.sign_in("agent").await.get(ME).await.failure().1, "injected_fault");
    let app = app.restart_with(&in_front).await;
    assert_eq!(app.sign_in("agent").await.get(ME).await.status, 200);
}

#[tokio::test]
async fn a_payout_of_a_browser_that_is_spared_keeps_its_connection() {
    let provider = OwnProvider::start().await;
    let app = portal(&provider.url, &[]).await;
    let staff = app.sign_in("agent").await;
    let loan = &staff.waiting_loan().await;
    let fault = json!({"method": "POST", "path": payout_path(loan), "kind": "drop"});
    app.set_console(Method::POST, "/faults", fault).await;
    let browser = "\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64)\r\nhost";
    let mut kept = kept_connection(&address_of(&app).await, browser, staff.token()).await;
    let paid = exchange(&mut kept, &raw_payout(&staff, loan).replace("\r\nhost", browser)).await;
    assert!(paid.starts_with("HTTP/1.1 200 "), "{paid}");
}

#[tokio::test]
async fn what_makes_no_sense_with_another_provider_is_not_offered_and_says_why() {
    let (_stub, app) = in_front_of(Reply::Closes(Vec::new()), &[]).await;
    for (method, path) in [
        (Method::GET, "/outbox"),
        (Method::DELETE, "/outbox"),
        (Method::GET, "/scenario"),
        (Method::PUT, "/clock"),
        (Method::GET, "/staff"),
        (Method::POST, "/staff/expire"),
        (Method::POST, "/loans"),
        (Method::POST, "/payouts"),
        (Method::POST, "/data/reset"),
        (Method::GET, "/invariant"),
    ] {
        let (status, code, text) = app.console(method.clone(), path, None).await.failure();
        assert_eq!((status, code.as_str()), (403, "not_with_provider"), "{method} {path}: {text}");
    }
    for path in ["/faults", "/traffic", "/contract", "/events", "/slices", "/data/snapshots"] {
        assert_ne!(app.console(Method::GET, path, None).await.status, 403, "{path}");
    }
    let browser = Browser::sign_in(&app).await;
    for page in ["outbox", "loans", "payouts", "scenario", "staff", "clock"] {
        let text = browser.read(&format!("/console/{page}")).await;
        assert!(text.contains("the portal's calls are forwarded to another provider"), "{page}: {text}");
    }
    let overview = browser.read("/console").await;
    assert!(overview.contains("accounts are those of the provider at http://127.0.0.1"), "{overview}");
    assert!(!overview.contains("accounted for") && !overview.contains("Float"), "{overview}");
    let faults = browser.read("/console/faults").await;
    assert!(faults.contains("Payouts are spared"), "{faults}");
}
