//! Open pages hear of what has changed, and of nothing else.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, Method},
};
use http_body_util::BodyExt;
use lending::mobile_money::Outcome;
use mkopo::http::connections::Limits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    connections::{read_to_end, served_by},
    contract,
    live_settings::{LIVE, be_notified},
    profile::put,
    test_app::{Listener, TestApp, patiently, request},
};

const PATH: &str = "/api/v1/events";

/// An open stream.
pub struct Stream {
    body: Body,
    text: String,
    /// The id of the latest event.
    pub id: String,
}

impl Stream {
    /// Opens one that has heard everything until the event `after`.
    pub async fn open(app: &TestApp, token: &str, after: Option<&str>) -> Self {
        let mut request = request(Method::GET, PATH, Some(token), None);
        if let Some(after) = after {
            request.headers_mut().insert("last-event-id", HeaderValue::from_str(after).unwrap());
        }
        let response = app.response_to(request).await;
        assert_eq!(response.status(), 200);
        let (parts, body) = response.into_parts();
        contract::check(&Method::GET, PATH, parts.status, &parts.headers, b"");
        Self { body, text: String::new(), id: String::new() }
    }

    /// The name and the topics of the next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<(String, Vec<String>)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
                };
                let Some(name) = field("event") else { continue };
                self.id = field("id").unwrap();
                let data: Value = serde_json::from_str(&field("data").unwrap()).unwrap();
                return Some((name, serde_json::from_value(data["changed"].clone()).unwrap()));
            }
            let frame = patiently("the next event", self.body.frame()).await;
            let bytes = frame.transpose().unwrap()?.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// The topics of the next events, until `topic` is among them.
    async fn until(&mut self, topic: &str) -> Vec<String> {
        let mut all = Vec::new();
        while !all.iter().any(|one| one == topic) {
            let (name, topics) = self.next().await.unwrap();
            assert_eq!(name, "changed");
            all.extend(topics);
        }
        all
    }

    /// Reads until it ends, whatever is told before.
    async fn read_to_end(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// A stream of `staff` that has begun.
async fn begun(app: &TestApp, staff: &TestApp) -> Stream {
    let mut stream = Stream::open(app, staff.token(), None).await;
    let everything = ["loans", "notifications", "settings", "session"].map(str::to_owned).to_vec();
    assert_eq!(stream.next().await, Some(("ready".to_owned(), everything)));
    stream
}

#[tokio::test]
async fn an_open_page_hears_of_a_payout_that_somebody_else_made() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, supervisor) = (app.sign_in("agent").await, app.sign_in("supervisor").await);
    let mut stream = begun(&app, &supervisor).await;
    let loan = &agent.waiting_loan().await;
    assert_eq!(agent.disburse(loan).await.status, 200);
    assert!(!stream.until("loans").await.contains(&"settings".to_owned()));
}

#[tokio::test]
async fn an_open_page_hears_what_another_server_did() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let mut stream = begun(&app, &agent).await;
    let other = app.another_server(&LIVE).await;
    other.approve_loan(20_000, "+254712000141").await;
    let told = stream.until("notifications").await;
    assert!(told.contains(&"loans".to_owned()), "{told:?}");
    other.sandbox.close(Duration::ZERO).await;
}

#[tokio::test]
async fn a_page_that_was_hidden_while_a_payout_settled_hears_of_it_when_it_comes_back() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, supervisor) = (app.sign_in("agent").await, app.sign_in("supervisor").await);
    let (of_agent, mut watching) = (begun(&app, &agent).await, begun(&app, &supervisor).await);
    let left_at = of_agent.id.clone();
    drop(of_agent);
    let loan = agent.waiting_loan().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    app.as_time_passes_by(Duration::from_secs(1), agent.disburse(&loan)).await;
    for _ in 0..6 {
        app.later(Duration::from_mins(1)).await;
    }
    assert_eq!(agent.status_of(&loan).await, "FAILED");
    // A later change, by which the other stream has told everything before it.
    app.set_console(Method::PATCH, "/staff/supervisor@mkopo.test", json!({"role": "admin"})).await;
    watching.until("session").await;
    let mut back = Stream::open(&app, agent.token(), Some(&left_at)).await;
    let missed = ["loans", "notifications"].map(str::to_owned).to_vec();
    assert_eq!(back.next().await, Some(("ready".to_owned(), missed)));
}

#[tokio::test]
async fn a_page_that_comes_back_hears_only_what_it_missed() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let mut watching = begun(&app, &admin).await;
    let left = begun(&app, &agent).await;
    let after = left.id.clone();
    drop(left);
    let mut nothing = Stream::open(&app, agent.token(), Some(&after)).await;
    assert_eq!(nothing.next().await, Some(("ready".to_owned(), Vec::new())));
    drop(nothing);

    be_notified(&agent, "sw").await;
    watching.until("settings").await;
    let mut back = Stream::open(&app, agent.token(), Some(&after)).await;
    let missed = ["notifications", "settings"].map(str::to_owned).to_vec();
    assert_eq!(back.next().await, Some(("ready".to_owned(), missed)));

    for unknown in ["", "1", "elsewhere.3", &format!("{}0", back.id)] {
        let mut stream = Stream::open(&app, agent.token(), Some(unknown)).await;
        assert_eq!(stream.next().await.unwrap().1.len(), 4, "{unknown}");
    }
}

#[tokio::test]
async fn only_who_has_another_role_or_name_hears_of_it_also_after_a_pause() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let (mut of_agent, mut of_admin) = (begun(&app, &agent).await, begun(&app, &admin).await);
    let mut name = agent.get("/api/v1/profile").await.json();
    name = json!({"first_name": "Grace", "last_name": "Odhiambo", "phone_number": name["phone_number"]});
    assert_eq!(put(&app.sign_in("agent").await, "/profile", name).await.status, 200);
    of_agent.until("session").await;

    let after = of_agent.id.clone();
    drop(of_agent);
    app.set_console(Method::PATCH, "/staff/agent@mkopo.test", json!({"role": "supervisor"})).await;
    be_notified(&admin, "sw").await;
    assert!(!of_admin.until("settings").await.contains(&"session".to_owned()));
    let mut back = Stream::open(&app, agent.token(), Some(&after)).await;
    assert!(back.next().await.unwrap().1.contains(&"session".to_owned()));
}

#[tokio::test]
async fn a_stream_ends_with_its_session_and_no_other() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let (mut of_agent, mut of_admin) = (begun(&app, &agent).await, begun(&app, &admin).await);
    agent.post("/api/v1/auth/logout", None).await;
    of_agent.read_to_end().await;
    app.approve_loan(20_000, "+254712000144").await;
    of_admin.until("loans").await;
    let again = app.response_to(request(Method::GET, PATH, Some(agent.token()), None)).await;
    assert_eq!(again.status(), 401);
    // All data is replaced, and with it all sessions.
    app.console(Method::POST, "/data/reset", None).await;
    of_admin.read_to_end().await;
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let mut stream = begun(&app, &agent).await;
    app.sandbox.server.stopping.cancel();
    stream.read_to_end().await;
}

#[tokio::test]
async fn a_session_has_at_most_ten_streams_and_the_metrics_count_them() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(begun(&app, &agent).await);
    }
    assert_eq!(agent.get(PATH).await.kind(), "429 too_many_streams");
    streams.push(begun(&app, &admin).await);
    let metrics = app.metrics().await;
    assert!(metrics.contains("mkopo_event_streams 11"), "{metrics}");
    streams.remove(0);
    begun(&app, &agent).await;
}

#[tokio::test]
async fn a_person_has_at_most_a_hundred_streams_in_all_sessions() {
    let app = TestApp::start_with(&LIVE).await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        let agent = app.sign_in("agent").await;
        for _ in 0..10 {
            streams.push(Stream::open(&app, agent.token(), None).await);
        }
    }
    let another = app.sign_in("agent").await;
    assert_eq!(another.get(PATH).await.failure().1, "too_many_streams");
    begun(&app, &app.sign_in("admin").await).await;
}

#[tokio::test]
async fn there_are_no_streams_where_calls_are_forwarded_or_screens_are_as_specified() {
    let (_, agent) = TestApp::start_for("agent").await;
    assert_eq!(agent.get(PATH).await.failure().1, "not_found");
    let forwards = ["--provider-url", "http://127.0.0.1:9", "--demo", "false"];
    let app = TestApp::start_with(&[&LIVE[..], &forwards].concat()).await;
    let forwarded = app.send_to(Listener::Portal, request(Method::GET, PATH, Some("x"), None)).await;
    assert_eq!(forwarded.failure().0, 404);
}

#[tokio::test]
async fn streams_take_no_connections_from_others_and_end_when_the_server_stops() {
    let limits = Limits { connections: 2, per_address: 2, ..Limits::default() };
    let served = served_by(TestApp::start_with(&LIVE).await, limits).await;
    let token = served.app.sign_in("agent").await.token().to_owned();
    let open = format!("GET {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
    let mut streams = Vec::new();
    for _ in 0..5 {
        let mut stream = served.connect().await;
        stream.write_all(open.as_bytes()).await.unwrap();
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        streams.push(stream);
    }
    let answer = served.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    served.app.sandbox.server.stopping.cancel();
    for stream in &mut streams {
        let rest = read_to_end(stream).await;
        assert!(rest.to_lowercase().contains("connection: close"), "{rest}");
        assert!(rest.ends_with("0\r\n\r\n"), "the body is complete: {rest}");
    }
}

#[tokio::test]
async fn the_streams_of_a_sandbox_hear_of_nothing_else() {
    let app = TestApp::start_with(&[&LIVE[..], &["--sandboxes", "3"]].concat()).await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let admin = app.sign_in("admin").await;
    let mut of_main = begun(&app, &admin).await;
    let approved = one.console(Method::POST, "/loans", json!({"count": 1})).await;
    assert!(approved.status.is_success());
    be_notified(&admin, "sw").await;
    assert!(!of_main.until("settings").await.contains(&"loans".to_owned()));
}
