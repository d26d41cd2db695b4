//! The traces of calls: what is in them, what is not, and whom they are shown to.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use lending::mobile_money::Outcome;
use serde_json::{Value, json};
use store::query_as;

use crate::{
    browser::{Browser, html},
    provider_stub::OwnProvider,
    slice_reports::of_page,
    test_app::{self, CONSOLE_TOKEN, TestApp, request, wait_until, waiting, with_headers},
};

pub const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// The header of a page's call.
fn traceparent(trace: &str) -> String {
    format!("00-{trace}-{SPAN}-01")
}

/// A request that goes on with a trace.
fn traced(request: Request<Body>, traceparent: &str) -> Request<Body> {
    with_headers(request, &[("traceparent", traceparent)])
}

/// A payout that goes on with a trace.
fn payout(loan: &Value, traceparent: &str) -> Request<Body> {
    traced(test_app::payout(loan), traceparent)
}

/// The traces that belong to an id, once there are as many.
async fn traces(app: &TestApp, id: &str, number: usize) -> Vec<Value> {
    let mut found = Vec::new();
    // A trace is complete when its last task has ended, just after the answer.
    wait_until(&format!("{number} traces of {id}"), async || {
        let answer = app.console(Method::GET, &format!("/traces?id={id}"), None).await;
        found.clone_from(answer.json().as_array().unwrap());
        found.len() >= number
    })
    .await;
    assert_eq!(found.len(), number, "{found:#?}");
    found
}

/// The first trace that belongs to an id and `is_it`, once there is one: what happens as time passes has traces, too.
async fn trace(app: &TestApp, id: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let mut found = None;
    wait_until(&format!("the trace of {id}"), async || {
        let all = app.read_console(&format!("/traces?id={id}")).await;
        found = all.as_array().unwrap().iter().find(|trace| is_it(trace)).cloned();
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// Returns whether a trace is of what settled a payout later.
fn settles_later(trace: &Value) -> bool {
    trace["name"] == "ask again" && steps(trace).contains(&".settle".to_owned())
}

/// The names of a trace's spans, with as many dots before them as they are parts of others, and without the statements.
fn steps(trace: &Value) -> Vec<String> {
    let spans = trace["spans"].as_array().unwrap();
    let steps = spans.iter().filter(|span| span["attributes"]["db.query.text"].is_null());
    let dots = |span: &Value| ".".repeat(usize::try_from(span["depth"].as_u64().unwrap()).unwrap());
    steps.map(|span| format!("{}{}", dots(span), span["name"].as_str().unwrap())).collect()
}

/// The statements of a trace, each in one line.
fn statements(trace: &Value) -> Vec<String> {
    let spans = trace["spans"].as_array().unwrap();
    spans.iter().filter_map(|span| Some(in_one_line(span["attributes"]["db.query.text"].as_str()?))).collect()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_payout_is_one_trace_from_the_click_to_the_last_statement() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let paid = agent.send(payout(&loan, &traceparent(TRACE))).await;
    assert_eq!(paid.status, 200);

    let trace = traces(&app, TRACE, 1).await.remove(0);
    assert_eq!(
        steps(&trace),
        [
            "POST /api/v1/disbursements/{loan_id}/disburse",
            ".claim",
            "..wait for the writer",
            "..commit",
            ".pay",
            "..ask mobile money",
            "...wait for the writer",
            "...commit",
            "..settle",
            "...wait for the writer",
            "...commit",
        ]
    );
    let request = &trace["spans"][0]["attributes"];
    assert_eq!(request["http.response.status_code"], "200");
    let statements = statements(&trace);
    for begin in [
        "INSERT INTO payout",
        "INSERT INTO mobile_money_payment",
        "WITH asked AS MATERIALIZED",
        "INSERT INTO outbox_message",
    ] {
        assert!(statements.iter().any(|statement| statement.starts_with(begin)), "{begin}: {statements:#?}");
    }

    // It is found by each of its ids.
    let request_id = paid.headers["x-request-id"].to_str().unwrap();
    let payout_id = paid.json()["id"].as_str().unwrap().to_owned();
    for id in [request_id, &payout_id] {
        assert_eq!(traces(&app, id, 1).await[0]["id"], TRACE);
    }
    assert_eq!(traces(&app, "no-such-id", 0).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_payout_that_hangs_is_a_trace_that_ends_with_its_answer_and_its_payment_follows() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    let accepted = app.as_time_passes(agent.disburse(&loan)).await;
    assert_eq!(accepted.status, 202);
    let request_id = accepted.headers["x-request-id"].to_str().unwrap();
    let is_there = |trace: &Value, step: &str| steps(trace).iter().any(|one| one.trim_matches('.') == step);
    let click = trace(&app, request_id, |trace| trace["request_ids"] == json!([request_id])).await;
    assert_eq!(click["spans"][0]["attributes"]["http.response.status_code"], "202");
    assert!(!is_there(&click, "pay"), "{:?}", steps(&click));

    app.clock.advance(Duration::from_secs(30));
    let is_paid =
        |trace: &Value| is_there(trace, "ask mobile money") && steps(trace).contains(&".pay".to_owned());
    trace(&app, request_id, |trace| trace["id"] == click["id"] && is_paid(trace)).await;
}

#[tokio::test]
async fn what_settles_a_payout_later_is_a_trace_of_its_own_that_is_linked_to_the_click() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::PaidAnswerLost]).await;
    assert_eq!(app.as_time_passes(agent.send(payout(&loan, &traceparent(TRACE)))).await.status, 202);
    app.later(Duration::from_mins(1)).await;
    assert_eq!(agent.records_of(&loan).await[0]["status"], "COMPLETED");

    assert_eq!(trace(&app, TRACE, settles_later).await["links"], json!([TRACE]));
}

#[tokio::test]
async fn what_another_server_settles_is_found_there_by_the_payout_and_by_the_click() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let (_held, _call) = agent.claimed(&loan, agent.send(payout(&loan, &traceparent(TRACE)))).await;
    let payout_id = agent.records_of(&loan).await[0]["id"].as_str().unwrap().to_owned();
    // The first server ends before mobile money hears of the payout, and its request expires.
    app.sandbox.close(Duration::ZERO).await;
    app.clock.advance(Duration::from_mins(1));
    let other = app.another_server(&[]).await;
    other.later(Duration::ZERO).await;
    for id in [TRACE, &payout_id] {
        assert_eq!(trace(&other, id, settles_later).await["links"], json!([TRACE]));
    }
}

#[tokio::test]
async fn a_result_that_is_delivered_is_linked_to_the_click() {
    for outcome in [Outcome::ResultBeforeAnswer, Outcome::ResultTwice] {
        let app = TestApp::start().await;
        let other = app.make_sandbox(json!({})).await;
        for sandbox in [app, other] {
            let agent = sandbox.sign_in("agent").await;
            let loan = agent.waiting_loan().await;
            sandbox.set_console(Method::PUT, "/scenario", json!({"next": [outcome.name()]})).await;
            assert_eq!(agent.send(payout(&loan, &traceparent(TRACE))).await.status, 200);
            let result = trace(&sandbox, TRACE, |trace| trace["name"] == "receive the result").await;
            assert_eq!(result["links"], json!([TRACE]), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_traceparent_that_names_no_trace_changes_nothing() {
    let (app, agent) = TestApp::start_for("agent").await;
    let long = format!("00-{TRACE}-{SPAN}-01-{}", "x".repeat(4000));
    for hostile in [
        "",
        "00",
        "00-1-2-01",
        &format!("00-{}-{SPAN}-01", "0".repeat(32)),
        &format!("00-{TRACE}-{}-01", "0".repeat(16)),
        &format!("ff-{TRACE}-{SPAN}-01"),
        &format!("00-{}-{SPAN}-01", &TRACE[2..]),
        &format!("00-+{}-{SPAN}-01", &TRACE[1..]),
        &format!("00-{TRACE}-{SPAN}-1"),
        &format!("0-{TRACE}-{SPAN}-01"),
        &format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        "00-'; DROP TABLE payout; --",
        &long,
    ] {
        let answer = agent.get_with("/api/v1/auth/me", &[("traceparent", hostile)]).await;
        assert_eq!(answer.status, 200, "{hostile}");
        let own = traces(&app, answer.headers["x-request-id"].to_str().unwrap(), 1).await;
        assert_ne!(own[0]["id"], TRACE, "{hostile}");
    }
    let mut two = traced(request(Method::GET, "/api/v1/auth/me", None, None), &traceparent(TRACE));
    two.headers_mut().append("traceparent", traceparent(TRACE).parse().unwrap());
    let answer = agent.send(two).await;
    let own = traces(&app, answer.headers["x-request-id"].to_str().unwrap(), 1).await;
    assert_ne!(own[0]["id"], TRACE, "two headers name none");
}

#[tokio::test]
async fn a_traceparent_of_a_later_version_may_have_more_fields() {
    let (app, agent) = TestApp::start_for("agent").await;
    for later in ["", "-what-the-future-will-be"] {
        let trace = format!("{:032x}", later.len() + 1);
        agent.get_with("/api/v1/auth/me", &[("traceparent", &format!("01-{trace}-{SPAN}-01{later}"))]).await;
        traces(&app, &trace, 1).await;
    }
}

#[tokio::test]
async fn a_caller_that_takes_no_trace_has_none() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.get_with("/api/v1/auth/me", &[("traceparent", &format!("00-{TRACE}-{SPAN}-00"))]).await;
    assert_eq!(traces(&app, TRACE, 0).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_sandbox_has_only_its_own_spans_though_a_caller_names_one_trace_in_two() {
    let app = TestApp::start().await;
    let other = app.make_sandbox(json!({"name": "other"})).await;
    let agent = app.sign_in("agent").await;
    agent.get_with("/api/v1/auth/me", &[("traceparent", &traceparent(TRACE))]).await;
    other.get_with("/api/v1/disbursements/pending", &[("traceparent", &traceparent(TRACE))]).await;
    let of_main = traces(&app, TRACE, 1).await.remove(0);
    assert_eq!(of_main["request_ids"].as_array().unwrap().len(), 1);
    assert_eq!(of_main["name"], "GET /api/v1/auth/me");
    let of_other = other.read_console(&format!("/traces?id={TRACE}")).await;
    assert_eq!(of_other[0]["name"], "GET /api/v1/disbursements/pending");
    assert_eq!(of_other[0]["request_ids"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn no_span_has_a_value_of_the_data() {
    let (app, supervisor) = TestApp::start_for("supervisor").await;
    let agent = app.sign_in("agent").await;
    app.post("/api/v1/auth/login", json!({"email": "stranger@example.com", "password": "Not-the-password"}))
        .await;
    app.post("/api/v1/auth/request-password-reset", json!({"email": "agent@mkopo.test"})).await;
    let code = app.newest_code("+254711000003").await;
    for loan in waiting(&agent.pending().await).take(3) {
        agent.send(payout(loan, &traceparent(TRACE))).await;
    }
    app.set_console(Method::POST, "/loans", json!({"loan": {"customer_first_name": "Wanjirũ"}})).await;
    supervisor.records().await;
    let method = Method::from_bytes(b"0254712345678").unwrap();
    app.call(method, "/api/v1/auth/me", None).await;
    let all = app.console(Method::GET, "/traces", None).await;
    let spans = |trace: &Value| trace["spans"].as_array().unwrap().len();
    let spans: usize = all.json().as_array().unwrap().iter().map(spans).sum();
    assert!(spans > 100, "{spans}");
    let all = String::from_utf8(all.bytes).unwrap();
    let mut values = vec![code, agent.token().to_owned(), CONSOLE_TOKEN.to_owned()];
    assert!(all.contains("HTTP /api/v1/auth/me") && all.contains("_OTHER"));
    values.extend(
        ["0254712345678", "agent@mkopo.test", "stranger", "Not-the-password", "Wanjirũ"].map(str::to_owned),
    );
    let people = "SELECT first_name, last_name, phone_number, id_number FROM customer";
    let mut reader = app.sandbox.database.read().await.unwrap();
    let people: Vec<(String, String, String, String)> =
        query_as(people).fetch_all(&mut reader).await.unwrap();
    assert!(people.len() > 20);
    for (first, last, phone, id_number) in people {
        values.extend([first, last, phone, id_number]);
    }
    let staff = "SELECT email, phone_number FROM staff";
    let staff: Vec<(String, String)> = query_as(staff).fetch_all(&mut reader).await.unwrap();
    values.extend(staff.into_iter().flat_map(|(email, phone)| [email, phone]));
    for value in values {
        assert!(!all.contains(&value), "{value} is in a span");
    }
}

#[tokio::test]
async fn a_fault_that_hits_a_call_is_a_step_of_it() {
    let (app, agent) = TestApp::start_for("agent").await;
    let fault = json!({"kind": "status", "status": 503, "path": "/api/v1/auth/me"});
    app.set_console(Method::POST, "/faults", fault).await;
    assert_eq!(agent.get_with("/api/v1/auth/me", &[("traceparent", &traceparent(TRACE))]).await.status, 503);
    let trace = traces(&app, TRACE, 1).await.remove(0);
    let spans = trace["spans"].as_array().unwrap();
    let fault = spans.iter().find(|span| span["name"] == "fault").unwrap();
    assert_eq!(fault["attributes"]["fault.kind"], "Status");
    assert_eq!(json!([trace["failed"], spans[0]["failed"]]), json!([true, true]));
}

#[tokio::test]
async fn calls_that_wait_for_one_set_link_to_the_trace_with_its_statements() {
    let (app, agent) = TestApp::start_for("agent").await;
    let numbered = |number: usize| format!("{number:032x}");
    let loans = &agent.waiting_loans::<4>().await;
    let calls = loans
        .iter()
        .enumerate()
        .map(|(number, loan)| agent.send(payout(loan, &traceparent(&numbered(number + 1)))));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.status, 200);
    }
    let mut inserted = 0;
    for number in 1..=4 {
        let own = trace(&app, &numbered(number), |trace| trace["id"] == *numbered(number)).await;
        let here =
            statements(&own).iter().filter(|statement| statement.starts_with("INSERT INTO payout")).count();
        inserted += here;
        assert!(here == 1 || !own["links"].as_array().unwrap().is_empty(), "{own:#?}");
    }
    assert!((1..=4).contains(&inserted), "{inserted}");
}

#[tokio::test]
async fn a_call_that_is_forwarded_is_one_trace_on_both_servers() {
    let provider = OwnProvider::start().await;
    let options = ["--demo", "false", "--tools", "true", "--provider-url", &provider.url];
    let (app, agent) = TestApp::start_for_with("agent", &options).await;
    agent.get_with("/api/v1/auth/me", &[("traceparent", &traceparent(TRACE))]).await;
    let here = traces(&app, TRACE, 1).await.remove(0);
    let there = traces(&provider.app, TRACE, 1).await.remove(0);
    let spans = here["spans"].as_array().unwrap();
    let forward = spans.iter().find(|span| span["name"] == "forward").unwrap();
    assert_eq!(forward["attributes"]["http.request.method"], "GET");
    assert_eq!(forward["attributes"]["http.response.status_code"], "200");
    assert_eq!(here["spans"][0]["name"], there["spans"][0]["name"]);
    // The parent is on the other server, so it is not there.
    assert_eq!(there["spans"][0]["parent_id"], Value::Null);
    let stored = format!("SELECT count(*) FROM event WHERE traceparent LIKE '%{TRACE}%'");
    assert_eq!(provider.app.count(stored).await, 0, "reading is no event");
    assert!(forward["id"].is_string());

    let unknown = request(Method::GET, "/api/v1/auth/me", Some("no-token"), None);
    assert_eq!(app.send(traced(unknown, &traceparent(&"1".repeat(32)))).await.status, 401);
    let here = traces(&app, &"1".repeat(32), 1).await.remove(0);
    let forward = here["spans"].as_array().unwrap().iter().find(|span| span["name"] == "forward").unwrap();
    assert_eq!(
        json!([forward["attributes"]["http.response.status_code"], forward["failed"]]),
        json!(["401", true])
    );
}

/// Prometheus asks for this format, and shows the trace beside the durations.
#[tokio::test]
async fn the_duration_of_a_traced_call_names_its_trace_as_an_example() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.get_with("/api/v1/auth/me", &[("traceparent", &traceparent(TRACE))]).await;
    let metrics = async |accepted: &str| {
        let answer = app.get_with("/metrics", &[("accept", accepted)]).await;
        (answer.headers[header::CONTENT_TYPE].clone(), String::from_utf8(answer.bytes).unwrap())
    };

    let (content_type, open) =
        metrics("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3").await;
    assert_eq!(content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(open.ends_with("\n# EOF\n"), "{open}");
    let example = format!(" # {{trace_id=\"{TRACE}\"}} ");
    let lines: Vec<&str> = open.lines().filter(|line| line.contains(&example)).collect();
    let [line] = lines[..] else { panic!("{open}") };
    assert!(line.starts_with("mkopo_http_request_duration_seconds_bucket{"), "{line}");
    assert!(line.contains("route=\"/api/v1/auth/me\""), "{line}");

    for accepted in ["text/plain", "text/plain,application/openmetrics-text;q=0.5"] {
        let (content_type, plain) = metrics(accepted).await;
        assert_eq!(content_type, "text/plain; version=0.0.4; charset=utf-8");
        assert!(!plain.contains(TRACE) && !plain.contains("# EOF"), "{plain}");
    }
}

#[tokio::test]
async fn an_event_links_to_the_trace_of_its_call() {
    let app = TestApp::start().await;
    let login = json!({"email": "agent@mkopo.test", "password": "Not-the-password"});
    let call = request(Method::POST, "/api/v1/auth/login", None, login);
    app.send(traced(call, &traceparent(TRACE))).await;
    let events = Browser::sign_in(&app).await.get("/console/events").await;
    let link = format!("href=\"/console/traces?id={TRACE}\"");
    assert!(html(&events).contains(&link), "{}", html(&events));
}

/// What a page at this machine reports of what people did.
pub fn report(spans: &Value) -> Request<Body> {
    of_page("127.0.0.1", "/spans", spans)
}

/// A payout that a person confirmed.
pub fn span(trace: &str) -> Value {
    json!({
        "trace_id": trace, "span_id": SPAN, "name": "confirm a payout", "screen": "/loans/:id",
        "ago_ms": 2000, "ms": 1900, "failed": false,
    })
}

#[tokio::test]
async fn what_a_person_did_on_a_page_is_the_beginning_of_its_trace() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    agent.send(payout(&loan, &traceparent(TRACE))).await;
    traces(&app, TRACE, 1).await;
    assert_eq!(app.send(report(&json!({"spans": [span(TRACE), span(&"1".repeat(32))]}))).await.status, 204);
    let trace = traces(&app, TRACE, 1).await.remove(0);
    assert_eq!(trace["name"], "confirm a payout");
    assert_eq!(steps(&trace)[..2], ["confirm a payout", ".POST /api/v1/disbursements/{loan_id}/disburse"]);
    assert_eq!(trace["spans"][0]["attributes"]["mkopo.screen"], "/loans/:id");
    assert_eq!(traces(&app, &"1".repeat(32), 0).await, Vec::<Value>::new(), "no call had this trace");
    let shown = Browser::sign_in(&app).await.read(&format!("/console/traces?id={TRACE}")).await;
    for text in ["confirm a payout", "ask mobile money", "commit", "Level 2: ", "INSERT INTO payout"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[tokio::test]
async fn a_page_can_report_nothing_else_and_no_more() {
    let app = TestApp::start().await;
    let changed = |name: &str, value: Value| {
        let mut span = span(TRACE);
        span[name] = value;
        json!({"spans": [span]})
    };
    for body in [
        json!({"spans": []}),
        json!({"spans": vec![span(TRACE); 21]}),
        changed("name", json!("read the mail of agent@mkopo.test")),
        changed("screen", json!("/loans/?q=Wanjiru Kamau")),
        changed("screen", json!("x".repeat(201))),
        changed("screen", json!("/loans/0254712345678")),
        changed("screen", json!("/loans/LN-100")),
        changed("trace_id", json!("0".repeat(32))),
        changed("span_id", json!("00F067AA0BA902B7")),
        changed("ms", json!(600_001)),
        changed("note", json!("hello")),
    ] {
        assert_eq!(app.send(report(&body)).await.kind(), "422 invalid_request", "{body}");
    }
    let large = json!({"spans": [span(TRACE)], "note": "x".repeat(9000)});
    assert_eq!(app.send(report(&large)).await.status, 413);
    let mut elsewhere = report(&json!({"spans": [span(TRACE)]}));
    elsewhere.headers_mut().insert(header::ORIGIN, "http://elsewhere".parse().unwrap());
    assert_eq!(app.send(elsewhere).await.failure().1, "cross_site");
    for _ in 0..60 {
        app.send(report(&json!({"spans": [span(TRACE)]}))).await;
    }
    assert_eq!(app.send(report(&json!({"spans": [span(TRACE)]}))).await.status, 429);
}

#[tokio::test]
async fn the_latest_traces_are_kept_and_older_ones_are_forgotten() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.get_with("/api/v1/auth/me", &[("traceparent", &traceparent(TRACE))]).await;
    traces(&app, TRACE, 1).await;
    for _ in 0..200 {
        agent.get("/api/v1/auth/me").await;
    }
    assert_eq!(traces(&app, TRACE, 0).await, Vec::<Value>::new());
    assert!(app.read_console("/traces").await.as_array().unwrap().len() <= 200);
}

/// The statements in the log of the engine, by connection.
fn logged(log: &str) -> BTreeMap<String, Vec<String>> {
    let mut by_connection = BTreeMap::<String, Vec<String>>::new();
    let mut last = None;
    for line in log.lines() {
        let begins = line.split_once("LOG:  ").filter(|_| !line.starts_with('\t'));
        match (begins, &last) {
            (Some((prefix, entry)), _) => {
                let pid = prefix.split_once('[').unwrap().1.split_once(']').unwrap().0.to_owned();
                let statement = entry
                    .strip_prefix("statement: ")
                    .or_else(|| Some(entry.strip_prefix("execute ")?.split_once(": ")?.1));
                last = statement.map(|statement| {
                    by_connection.entry(pid.clone()).or_default().push(statement.to_owned());
                    pid
                });
            }
            (None, Some(pid)) if line.starts_with('\t') => {
                let statement = by_connection.get_mut(pid).unwrap().last_mut().unwrap();
                statement.push_str(line);
            }
            _ => last = None,
        }
    }
    for statement in by_connection.values_mut().flatten() {
        *statement = in_one_line(statement);
    }
    by_connection
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_trace_has_every_statement_that_the_engine_saw_on_postgresql() {
    let app = TestApp::start().await;
    let name: (String, String) = query_as("SELECT current_database(), current_setting('data_directory')")
        .fetch_one(&mut app.sandbox.database.read().await.unwrap())
        .await
        .unwrap();
    let alter = format!("ALTER DATABASE {} SET log_statement = 'all'", name.0);
    app.write(alter).await.unwrap();
    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    let loan = agent.waiting_loan().await;
    let log = format!("{}/log", name.1);
    let before = std::fs::read(&log).unwrap().len();
    assert_eq!(agent.send(payout(&loan, &traceparent(TRACE))).await.status, 200);
    let trace = traces(&app, TRACE, 1).await.remove(0);
    let log = std::fs::read(&log).unwrap();
    let seen = logged(&String::from_utf8_lossy(&log[before..]));
    // Payouts have connections of their own to write; on the other one, work that nobody asked for may be done.
    let of_payout = |statements: &&Vec<String>| {
        let has = |text: &str| statements.iter().any(|one| one.contains(text));
        has("SAVEPOINT work") && !has("write_turn")
    };
    let mut seen: Vec<String> = seen.values().filter(of_payout).flatten().cloned().collect();
    let mut traced: Vec<String> =
        statements(&trace).into_iter().filter(|statement| seen.contains(statement)).collect();
    seen.sort();
    traced.sort();
    assert!(seen.len() > 15, "{seen:#?}");
    assert_eq!(seen, traced);
}
