//! Requests that nobody sends by mistake, as many as are asked for: no 5xx, no hang, no growth.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, Request},
};
use proptest::{prelude::*, sample::select, strategy::ValueTree, test_runner::TestRunner};
use serde_json::Value;
use tower::ServiceExt;

use crate::{
    parsing::{encoded, json_value, text},
    test_app::TestApp,
};

const METHODS: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"];

const PATHS: [&str; 21] = [
    "/",
    "/api/v1/auth/login",
    "/api/v1/auth/me",
    "/api/v1/auth/request-signin-otp",
    "/api/v1/auth/verify-signin-otp",
    "/api/v1/auth/request-password-reset",
    "/api/v1/auth/reset-password",
    "/api/v1/disbursements/pending",
    "/api/v1/disbursements/LN-1/disburse",
    "/api/v1/disbursement-records",
    "/api/v1/openapi.json",
    "/slices.json",
    "/slices/mfe-auth/1.0.0/mf-manifest.json",
    "/assets/x.js",
    "/docs/",
    "/healthz",
    "/readyz",
    "/loans/1",
    "/console",
    "/console/api/traffic",
    "/console/api/events",
];

/// The request headers that the server reads.
pub const HEADERS: [&str; 13] = [
    "content-length",
    "authorization",
    "content-type",
    "accept",
    "accept-encoding",
    "if-none-match",
    "idempotency-key",
    "cookie",
    "x-forwarded-for",
    "origin",
    "sec-fetch-site",
    "expect",
    "range",
];

fn requests() -> impl Strategy<Value = Request<()>> {
    let more = (select(vec!["/", "?", "?limit=", "?cursor=", "//"]), text());
    let path = (select(&PATHS[..]), prop::option::weighted(0.3, more)).prop_map(|(path, more)| match more {
        Some((mark, text)) => format!("{path}{mark}{}", encoded(&text)),
        None => path.to_owned(),
    });
    let headers = prop::collection::vec((select(&HEADERS[..]), text()), 0..4);
    (select(&METHODS[..]), path, headers).prop_map(|(method, path, headers)| {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let mut request = request.body(()).unwrap();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap_or(HeaderValue::from_static("x"));
            request.headers_mut().append(name, value);
        }
        request
    })
}

fn bodies() -> impl Strategy<Value = String> {
    let fields =
        select(vec!["email", "password", "otp", "new_password", "amount", "phone_number", "agent_id"]);
    let object = prop::collection::vec((fields, json_value()), 2);
    let object = object.prop_map(|fields| fields.into_iter().collect::<Value>().to_string());
    prop_oneof![
        1 => Just(String::new()),
        1 => (1..4000_usize).prop_map(|depth| "[".repeat(depth)),
        1 => (text(), 1..80_usize).prop_map(|(text, times)| text.repeat(times)),
        2 => object,
    ]
}

/// The memory of this process in bytes.
fn resident() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The maximum growth of memory, in bytes, once the caches are full: after the first tenth of the requests.
const MAX_GROWTH: u64 = 64 << 20;

async fn attack(count: u64) {
    let app = TestApp::start().await;
    let listeners = mkopo::routers(&app.sandbox);
    let agent = app.sign_in("agent").await;
    let lists = async || (agent.pending().await, agent.records().await);
    let lists_before = lists().await;
    let (mut runner, hostile) = (TestRunner::deterministic(), (requests(), bodies()));
    let mut early = None;
    for number in 0..count {
        if number == count / 10 {
            early = resident();
        }
        let (request, body) = hostile.new_tree(&mut runner).unwrap().current();
        let call = format!("{} {}", request.method(), request.uri());
        let router = listeners[usize::from(request.uri().path().starts_with("/console"))].clone();
        let answer = router.oneshot(request.map(|()| Body::from(body)));
        let status = tokio::time::timeout(Duration::from_secs(30), answer).await.unwrap().unwrap().status();
        assert!(!status.is_server_error(), "{call}: {status}");
    }
    assert_eq!(lists().await, lists_before);
    app.assert_every_shilling_is_accounted_for().await;
    if let (Some(early), Some(last)) = (early, resident()) {
        println!("resident after a tenth: {} MB, after all: {} MB", early >> 20, last >> 20);
        // In a shorter run, other tests of this process grow, too.
        assert!(count < 1_000_000 || last < early + MAX_GROWTH, "grew from {early} to {last} bytes");
    }
}

// S-8, S-113
#[tokio::test]
async fn hostile_requests_are_answered_and_change_nothing() {
    attack(3_000).await;
}

/// As many as `MKOPO_TEST_REQUESTS`, by default a million.
#[tokio::test]
#[ignore = "takes minutes"]
async fn a_million_hostile_requests_are_answered_change_nothing_and_take_no_memory() {
    let requests = std::env::var("MKOPO_TEST_REQUESTS").ok().and_then(|requests| requests.parse().ok());
    attack(requests.unwrap_or(1_000_000)).await;
}
