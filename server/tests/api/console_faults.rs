use std::{collections::BTreeSet, time::Duration};

use axum::http::Method;
use insta::assert_snapshot;
use mkopo::http::connections::Limits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use worlds::faults::{self, NewFault};

use crate::{
    browser::{Browser, html, words},
    connections::served_by,
    contract::words_of,
    test_app::{Listener, TestApp, disbursement_of, payout_path},
};

pub async fn add_fault(app: &TestApp, fault: Value) -> Value {
    let answer = app.set_console(Method::POST, "/faults", fault).await;
    assert_eq!(answer.status, 201);
    answer.json()
}

async fn hits(app: &TestApp) -> Vec<i64> {
    let faults = app.read_console("/faults").await;
    faults.as_array().unwrap().iter().map(|fault| fault["hits"].as_i64().unwrap()).collect()
}

/// Sends `request` over a real connection; returns the answer and how the connection ended.
pub async fn over_the_wire(app: &TestApp, request: &str) -> (String, std::io::Result<()>) {
    let served = served_by(app.clone(), Limits::default()).await;
    let mut stream = served.connect().await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap();
    drop(stream);
    served.end().await;
    (String::from_utf8_lossy(&answer).into_owned(), read.map(|_| ()))
}

pub fn raw_request(method: &str, path: &str, token: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: mkopo\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The request that pays `loan` out, as it is sent.
pub fn raw_payout(agent: &TestApp, loan: &Value) -> String {
    raw_request("POST", &payout_path(loan), agent.token(), &disbursement_of(loan).to_string())
}

#[tokio::test]
async fn a_call_fails_with_the_given_status() {
    let (app, agent) = TestApp::start_for("agent").await;
    let path = "/api/v1/disbursements/pending";
    let fault =
        json!({"method": "get", "path": path, "kind": "status", "status": 503, "seed": 7, "times": 2});
    let fault = add_fault(&app, fault).await;
    let expected = json!({
        "id": fault["id"], "method": "GET", "path": path, "kind": "status", "status": 503, "ms": null,
        "probability": 1.0, "seed": 7, "times": 2, "hits": 0, "when": "before",
    });
    assert_eq!(fault, expected);
    let failed = agent.get(path).await;
    assert_snapshot!(failed.refusal(), @"503 injected_fault: This call failed on purpose because of a fault that is set in the console.");
    assert_eq!(failed.headers["retry-after"], "1");
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200, "other calls succeed");
    assert_eq!(agent.get(path).await.status, 503);
    assert_eq!(agent.get(path).await.status, 200, "it hits twice");
    assert_eq!(hits(&app).await, [2]);
}

#[tokio::test]
async fn a_star_matches_one_segment() {
    let (app, agent) = TestApp::start_for("agent").await;
    add_fault(&app, json!({"path": "/api/v1/auth/*", "kind": "status", "status": 503})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 503);
    assert_eq!(agent.get("/api/v1/disbursement-records").await.status, 200);
    assert_eq!(app.console(Method::GET, "/clock", None).await.status, 200, "the console is not affected");
    assert_eq!(app.console(Method::DELETE, "/faults", None).await.status, 204);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200);
}

#[tokio::test]
async fn a_delayed_call_takes_the_given_time() {
    let (app, agent) = TestApp::start_for("agent").await;
    add_fault(&app, json!({"path": "/api/v1/auth/me", "kind": "latency", "ms": 5000})).await;
    let before = app.clock.now();
    assert_eq!(app.as_time_passes(agent.get("/api/v1/auth/me")).await.status, 200);
    assert!(app.clock.now().since(before) >= Duration::from_secs(5));
}

#[tokio::test]
async fn a_lost_response_does_not_undo_the_payout_and_a_lost_call_does_nothing() {
    for (kind, when) in [("drop", "after"), ("reset", "after"), ("drop", "before")] {
        let (app, agent) = TestApp::start_for("agent").await;
        let loan = &agent.waiting_loan().await;
        let path = "/api/v1/disbursements/*/disburse";
        add_fault(&app, json!({"path": path, "kind": kind, "when": when, "times": 1})).await;
        let (answer, ended) = over_the_wire(&app, &raw_payout(&agent, loan)).await;
        assert_eq!(answer, "", "{kind}");
        match (kind, ended) {
            ("reset", Err(error)) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
            ("drop", Ok(())) => {}
            (kind, ended) => panic!("{kind}: {ended:?}"),
        }
        if when == "before" {
            assert!(agent.records_of(loan).await.is_empty());
            continue;
        }
        assert_eq!(agent.records_of(loan).await[0]["status"], "COMPLETED");
        assert_eq!(agent.disburse(loan).await.failure().1, "already_disbursed");
        app.assert_every_shilling_is_accounted_for().await;
    }
}

/// Sends `request` on `stream`, and returns what arrives until the answer is complete or the connection closes.
pub async fn exchange(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 64 * 1024];
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer[..read.unwrap_or(0)]).into_owned()
}

pub async fn address_of(app: &TestApp) -> String {
    app.serve(Listener::Portal).await.replace("http://", "")
}

/// A connection of `client`, which states its headers after the line of each request, that has answered before.
pub async fn kept_connection(address: &str, client: &str, token: &str) -> TcpStream {
    let mut kept = TcpStream::connect(address).await.unwrap();
    let first = raw_request("GET", "/api/v1/auth/me", token, "").replace("\r\nhost", client);
    assert!(exchange(&mut kept, &first).await.contains(" 200 "));
    kept
}

#[tokio::test]
async fn a_browser_that_repeats_a_call_by_itself_still_sees_that_the_answer_is_lost() {
    let browser = "\r\nsec-fetch-site: same-origin\r\nsec-fetch-mode: cors\r\nhost";
    // It states no site to a host name without TLS.
    let without_tls = "\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64)\r\nhost";
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let pay = raw_payout(&agent, &loan);
    let address = address_of(&app).await;
    for (kind, when, paid, browser) in [
        ("drop", "before", 0, browser),
        ("drop", "before", 0, without_tls),
        ("reset", "after", 1, without_tls),
    ] {
        let pay = pay.replace("\r\nhost", browser);
        let path = payout_path(&loan);
        let fault = json!({"method": "POST", "path": path, "kind": kind, "when": when, "times": 1});
        add_fault(&app, fault).await;
        let mut kept = kept_connection(&address, browser, agent.token()).await;
        // The kept connection closes, as if by chance, and the browser repeats the call on a new one.
        assert_eq!(exchange(&mut kept, &pay).await, "", "{kind}");
        assert_eq!(agent.records_of(&loan).await.len(), 0, "{kind}");
        let mut fresh = TcpStream::connect(&address).await.unwrap();
        assert_eq!(exchange(&mut fresh, &pay).await, "", "{kind}");
        assert_eq!(agent.records_of(&loan).await.len(), paid, "{kind}");
        assert_eq!(hits(&app).await.last(), Some(&1), "{kind}");
    }
}

/// Chromium takes a connection that it has opened ahead of a call for a kept one.
#[tokio::test]
async fn a_call_that_a_browser_repeats_on_another_new_connection_is_cut_again() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let path = payout_path(&loan);
    let fault = json!({"method": "POST", "path": path, "kind": "drop", "when": "before", "times": 1});
    add_fault(&app, fault).await;
    let address = address_of(&app).await;
    let of_act = |act: &str| {
        let browser = format!(
            "\r\nsec-fetch-site: same-origin\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-{act}-01\r\nhost"
        );
        raw_payout(&agent, &loan).replace("\r\nhost", &browser)
    };
    for _ in 0..3 {
        let mut new = TcpStream::connect(&address).await.unwrap();
        assert_eq!(exchange(&mut new, &of_act("00f067aa0ba902b7")).await, "");
        assert_eq!(agent.records_of(&loan).await.len(), 0);
    }
    assert_eq!(hits(&app).await, [1]);
    // The next click is another act.
    let mut new = TcpStream::connect(&address).await.unwrap();
    assert!(exchange(&mut new, &of_act("00f067aa0ba902b8")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_program_that_repeats_no_call_loses_the_answer_of_a_kept_connection_once() {
    let node = "\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\nhost";
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let fault = json!({"path": payout_path(&loan), "kind": "drop", "when": "after", "times": 1});
    add_fault(&app, fault).await;
    let address = address_of(&app).await;
    let mut kept = kept_connection(&address, node, agent.token()).await;
    let pay = raw_payout(&agent, &loan).replace("\r\nhost", node);
    assert_eq!(exchange(&mut kept, &pay).await, "");
    assert_eq!(agent.records_of(&loan).await[0]["status"], "COMPLETED");
    assert_eq!(agent.disburse(&loan).await.failure().1, "already_disbursed");
}

#[tokio::test]
async fn a_truncated_response_ends_after_half_of_the_body() {
    let (app, agent) = TestApp::start_for("agent").await;
    let whole = agent.get("/api/v1/disbursements/pending").await.bytes;
    add_fault(&app, json!({"path": "/api/v1/disbursements/pending", "kind": "truncate"})).await;
    let request = raw_request("GET", "/api/v1/disbursements/pending", agent.token(), "");
    let (answer, _) = over_the_wire(&app, &request).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains(&format!("content-length: {}", whole.len())), "{head}");
    assert_eq!(body.as_bytes(), &whole[..whole.len() / 2]);
}

#[tokio::test]
async fn a_malformed_response_is_complete_but_invalid_json() {
    let (app, agent) = TestApp::start_for("agent").await;
    add_fault(&app, json!({"path": "/api/v1/auth/me", "kind": "malformed"})).await;
    let request = raw_request("GET", "/api/v1/auth/me", agent.token(), "")
        .replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let (answer, ended) = over_the_wire(&app, &request).await;
    ended.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    assert!(serde_json::from_str::<Value>(body).is_err(), "{body}");
}

#[tokio::test]
async fn faults_apply_on_every_server() {
    let (app, agent) = TestApp::start_for("agent").await;
    let other = app.another_server(&[]).await;
    let status = async |server: &TestApp| server.with(agent.token()).get("/api/v1/auth/me").await.status;
    // Both have their faults in memory, and from now on nothing but the next call.
    assert_eq!((status(&app).await.as_u16(), status(&other).await.as_u16()), (200, 200));
    add_fault(&app, json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503, "times": 2})).await;
    assert_eq!(status(&other).await, 503, "from the next call");
    assert_eq!(status(&app).await, 503);
    assert_eq!(status(&other).await, 200, "its hits are counted together");
    assert_eq!((hits(&app).await, hits(&other).await), (vec![2], vec![2]));
    add_fault(&app, json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503})).await;
    assert_eq!(status(&other).await, 503);
    assert_eq!(other.console(Method::DELETE, "/faults", None).await.status, 204);
    assert_eq!(status(&app).await, 200, "until the call after it was removed");
}

#[tokio::test]
async fn an_invalid_fault_is_rejected() {
    let app = TestApp::start().await;
    let me = "/api/v1/auth/me";
    let mut failures = Vec::new();
    for fault in [
        json!({"path": "auth/me", "kind": "drop"}),
        json!({"path": "/api/v1/auth/m*", "kind": "drop"}),
        json!({"path": "/console/api/*", "kind": "drop"}),
        json!({"path": "/api/v1/disbursement/pending", "kind": "drop"}),
        json!({"path": "/api/v1/*/*/*/*", "kind": "drop"}),
        json!({"path": me, "kind": "explode"}),
        json!({"path": me, "kind": "status"}),
        json!({"path": me, "kind": "status", "status": 200}),
        json!({"path": me, "kind": "drop", "status": 500}),
        json!({"path": me, "kind": "latency"}),
        json!({"path": me, "kind": "drop", "ms": 5}),
        json!({"path": me, "kind": "drop", "probability": 0}),
        json!({"path": me, "kind": "drop", "times": 0}),
        json!({"path": me, "kind": "drop", "method": "FETCH"}),
        json!({"path": me, "kind": "drop", "method": "POST"}),
        json!({"path": me, "kind": "truncate", "when": "before"}),
    ] {
        failures.push(app.console(Method::POST, "/faults", fault).await.refusal());
    }
    assert_snapshot!(failures.join("\n"), @"
    422 invalid_request: path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as /api/v1/disbursements/*/disburse.
    422 invalid_request: path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as /api/v1/disbursements/*/disburse.
    422 invalid_request: path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as /api/v1/disbursements/*/disburse.
    422 invalid_request: path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as /api/v1/disbursements/*/disburse.
    422 invalid_request: path must be the whole path of a call under /api/v1/ (see /docs/), with * for one segment, such as /api/v1/disbursements/*/disburse.
    422 invalid_request: The request body is invalid: kind: unknown variant `explode`, expected one of `status`, `latency`, `drop`, `reset`, `truncate`, `malformed` at line 1 column 17.
    422 invalid_request: A fault of kind status needs a status from 400 to 599.
    422 invalid_request: A fault of kind status needs a status from 400 to 599.
    422 invalid_request: Only a fault of kind status has a status.
    422 invalid_request: A fault of kind latency needs ms from 1 to 25000.
    422 invalid_request: Only a fault of kind latency has ms.
    422 invalid_request: probability must be above 0 and at most 1.
    422 invalid_request: times must be between 1 and 1000000.
    422 invalid_request: method must be GET for this path; omit it for all methods.
    422 invalid_request: method must be GET for this path; omit it for all methods.
    422 invalid_request: A fault of kind truncate or malformed changes the response, so when must be after.
    ");
    assert_eq!(hits(&app).await, Vec::<i64>::new());
}

#[tokio::test]
async fn the_page_adds_and_removes_faults() {
    let (app, browser) = Browser::start().await;
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
    assert_eq!(gone.status, 404);
    assert!(words(&gone).contains(&format!("There is no fault {id}.")), "{}", words(&gone));
    browser.done("/console/faults", "add", &typed).await;
    assert!(browser.done("/console/faults", "end", &[]).await.contains("All faults are removed."));
}

#[test]
fn the_docs_describe_each_kind_and_field_of_a_fault_and_no_other() {
    let docs = include_str!("../../../docs/console.md");
    let (_, section) = docs.split_once("### All kinds of faults").unwrap();
    let (section, _) = section.split_once("To click:").unwrap();
    // The first cell of each row, and of the head of the table of kinds.
    let described = section.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let described: BTreeSet<String> = described.map(str::to_owned).collect();
    let refused = serde_json::from_value::<NewFault>(json!({"odd": 1})).unwrap_err().to_string();
    let fields = refused.split('`').skip(3).step_by(2).map(str::to_owned);
    let mut offered = words_of::<faults::FaultKind>();
    offered.extend(fields);
    // It belongs to one kind, in whose row it is described.
    assert!(offered.remove("ms") && section.contains("`ms`"));
    assert_eq!(described, offered, "Correct the tables of faults in docs/console.md.");
}
