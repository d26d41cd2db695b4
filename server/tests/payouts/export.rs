//! Traces that are exported: a payout is one trace wherever it goes on, and no receiver delays or loses one.

use std::{
    fs::{self, File},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use axum::{Json, Router, http::StatusCode, routing::post};
use serde_json::{Value, json};

use crate::{
    server::{Server, sign_in, try_call},
    servers::{console, get, wait_until},
    test_app::{disbursement_of, payout_path, waiting},
    test_store,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PAGE: &str = "00f067aa0ba902b7";

/// The span of the call that signs in.
const SIGN_IN: &str = "POST /api/v1/auth/login";

/// The behaviour of a receiver when it gets an export.
#[derive(Clone, Copy)]
enum Behaviour {
    Takes,
    /// All but one, as it says.
    TakesMost,
    Refuses,
    NeverAnswers,
}

/// A receiver of traces (OTLP over HTTP, as JSON).
struct Receiver {
    url: String,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    fn start(behaviour: Behaviour) -> Self {
        let spans = Arc::<Mutex<Vec<Value>>>::default();
        let received = Arc::clone(&spans);
        let take = async move |Json(export): Json<Value>| match behaviour {
            Behaviour::Takes => {
                received.lock().unwrap_or_else(PoisonError::into_inner).extend(spans_of(&export));
                (StatusCode::OK, Json(json!({})))
            }
            Behaviour::TakesMost => (
                StatusCode::OK,
                Json(json!({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}})),
            ),
            Behaviour::Refuses => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({}))),
            Behaviour::NeverAnswers => std::future::pending().await,
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, Router::new().route("/v1/traces", post(take))).await.unwrap();
            });
        });
        Self { url, spans }
    }

    /// One on a port that nobody listens on.
    fn gone() -> Self {
        Self { url: "http://127.0.0.1:9".to_owned(), spans: Arc::default() }
    }

    fn variables(&self) -> [(&str, &str); 5] {
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &self.url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            // Longer than any call waits for its answer.
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "60000"),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "64"),
        ]
    }

    /// The spans, once one of them `is_there`.
    fn spans_with(&self, what: &str, is_there: impl Fn(&Value) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if spans.iter().any(&is_there) {
                return spans;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "no {what}: {spans:#?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn spans_of(export: &Value) -> Vec<Value> {
    let each = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let of_resource = |of: Value| {
        let spans = each(&of, "scopeSpans").into_iter().flat_map(|scope| each(&scope, "spans"));
        let with_resource = |mut span: Value| {
            span["resource"] = of["resource"]["attributes"].clone();
            span
        };
        spans.map(with_resource).collect::<Vec<_>>()
    };
    each(export, "resourceSpans").into_iter().flat_map(of_resource).collect()
}

/// What an exported span tells of its server.
fn of_server<'s>(span: &'s Value, name: &str) -> &'s Value {
    let attributes = span["resource"].as_array().unwrap();
    &attributes.iter().find(|one| one["key"] == name).unwrap()["value"]["stringValue"]
}

/// A loan that waits to be paid.
fn waiting_loan(server: &Server, token: &str) -> Value {
    let pending = get(server, "/api/v1/disbursements/pending", token).body;
    waiting(pending.as_array().unwrap()).next().unwrap().clone()
}

fn pay(server: &Server, token: &str, loan: &Value) -> u16 {
    let bearer = format!("Bearer {token}");
    let traceparent = format!("00-{TRACE}-{PAGE}-01");
    let headers = [("authorization", &*bearer), ("traceparent", &*traceparent)];
    let body = disbursement_of(loan);
    try_call(&server.address, "POST", &payout_path(loan), &headers, Some(&body)).unwrap().status
}

/// Reports what a person did on a page.
fn report_page(server: &Server) {
    let page = json!({"spans": [{
        "trace_id": TRACE, "span_id": PAGE, "name": "confirm a payout", "screen": "/loans/:id", "ago_ms": 9000,
        "ms": 8500, "failed": false,
    }]});
    let origin = format!("http://{}", server.address);
    let reported = try_call(&server.address, "POST", "/spans", &[("origin", &origin)], Some(&page)).unwrap();
    assert_eq!(reported.status, 204);
}

#[test]
fn an_exported_payout_is_one_trace_and_what_settles_it_after_a_kill_links_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = test_store::options(folder.path());
    let receiver = Receiver::start(Behaviour::Takes);
    let first = Server::start_with(&receiver.variables(), &store);
    let token = sign_in(&first.address);
    let loan = waiting_loan(&first, &token);
    console(&first, "PUT", "/scenario", Some(&json!({"next": ["paid_answer_lost"]})));
    let is_named = |name: &'static str| move |span: &Value| span["name"] == name;
    let paid = thread::scope(|scope| {
        let paying = scope.spawn(|| pay(&first, &token, &loan));
        receiver.spans_with("claim", is_named("claim"));
        report_page(&first);
        receiver.spans_with("span of the page", is_named("confirm a payout"));
        paying.join().unwrap()
    });
    // At once: seconds later, it would settle the payout itself.
    drop(first);
    assert_eq!(paid, 202);

    let named =
        [receiver.variables().as_slice(), &[("OTEL_RESOURCE_ATTRIBUTES", "service.name=second")]].concat();
    let second = Server::start_with(&named, &store);
    receiver.spans_with("settlement", is_named("settle"));
    // What it is a part of ends later.
    let spans = receiver.spans_with("asking again", is_named("ask again"));
    let span = |name| spans.iter().find(|span| is_named(name)(span)).unwrap();
    assert_eq!(span("confirm a payout")["traceId"], TRACE);
    assert_eq!(span("claim")["traceId"], TRACE);
    assert_eq!(span("ask again")["links"][0]["traceId"], TRACE);
    assert_eq!(span("settle")["traceId"], span("ask again")["traceId"]);
    let is_status = |one: &&Value| one["key"] == "http.response.status_code";
    let status = span(SIGN_IN)["attributes"].as_array().unwrap().iter().find(is_status).unwrap();
    assert_eq!(status["value"], json!({"intValue": "200"}));
    let both = |name| [of_server(span("claim"), name), of_server(span("settle"), name)];
    assert_eq!(both("service.name"), ["mkopo", "second"]);
    assert_eq!(both("service.version"), [env!("CARGO_PKG_VERSION"); 2]);
    let [first, again] = both("service.instance.id");
    assert!(first.is_string() && first != again, "{first}");
    drop(second);
}

#[test]
fn no_receiver_delays_or_loses_a_call_and_what_is_dropped_is_counted() {
    let there = [Behaviour::NeverAnswers, Behaviour::Refuses, Behaviour::TakesMost].map(Receiver::start);
    for (number, receiver) in there.into_iter().chain([Receiver::gone()]).enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start_with(&receiver.variables(), &test_store::options(folder.path()));
        check_calls(&server, &format!("receiver {number}"));
    }
}

#[test]
fn the_log_joins_the_lines_of_a_call_to_its_trace_and_says_why_traces_are_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("log");
    let log = File::create(&written).unwrap();
    let server =
        Server::start_with_log(&Receiver::gone().variables(), log, &test_store::options(folder.path()));
    let token = sign_in(&server.address);
    assert_eq!(pay(&server, &token, &waiting_loan(&server, &token)), 200);
    let line = |message: &str, about: &str| -> Value {
        let mut found = None;
        wait_until(message, Duration::from_secs(30), || {
            let log = fs::read_to_string(&written).unwrap();
            let line = log.lines().find(|line| line.contains(message) && line.contains(about));
            found = line.map(|line| serde_json::from_str(line).unwrap());
            found.is_some()
        });
        found.unwrap()
    };
    let answered = line("\"answered\"", "/disburse\"");
    assert_eq!(answered["span"]["trace_id"], TRACE);
    for message in ["payout.claimed", "payout.settled"] {
        assert_eq!(line(message, "")["span"], answered["span"], "{message}");
    }
    let opened = line("\"answered\"", "/login\"");
    for message in ["session.opened", "\"event\""] {
        assert_eq!(line(message, "")["span"], opened["span"], "{message}");
    }
    let failed = line("traces.not_exported", "");
    assert!(failed["fields"]["cause"].as_str().unwrap().contains("Connection refused"), "{failed}");
}

#[test]
fn the_span_of_a_page_whose_trace_is_not_taken_is_not_counted_as_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let none = [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0")];
    let server = Server::start_with(&none, &test_store::options(folder.path()));
    let token = sign_in(&server.address);
    assert_eq!(pay(&server, &token, &waiting_loan(&server, &token)), 200);
    report_page(&server);
    assert_eq!(dropped(&server), 0);
}

/// More calls than the queue has room for are answered, and the spans of some are dropped.
fn check_calls(server: &Server, receiver: &str) {
    let token = sign_in(&server.address);
    let loan = waiting_loan(server, &token);
    assert_eq!(pay(server, &token, &loan), 200, "{receiver}");
    for _ in 0..100 {
        assert_eq!(get(server, "/api/v1/auth/me", &token).status, 200, "{receiver}");
    }
    wait_until(&format!("{receiver}: some are dropped"), Duration::from_secs(30), || dropped(server) > 0);
}

fn dropped(server: &Server) -> u64 {
    let metrics = ureq::get(format!("http://{}/metrics", server.console)).call().unwrap();
    let metrics = metrics.into_body().read_to_string().unwrap();
    let line = metrics.lines().find_map(|line| line.strip_prefix("mkopo_spans_dropped_total "));
    line.unwrap().parse().unwrap()
}
