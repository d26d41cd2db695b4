//! Sandboxes: made, reached, kept apart, closed and removed.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use futures::future::join_all;
use lending::demo;
use serde_json::{Value, json};
use worlds::sandboxes;

use crate::{
    browser::{Browser, cookie_of, csrf, get, html, post, words},
    command_line, slices,
    test_app::{
        Answer, CONSOLE_TOKEN, NOON, TestApp, account, payout, request, wait_until, waiting, with_headers,
    },
};

/// A sandbox as somebody sees it who was given its name and token.
pub struct Given<'a> {
    app: &'a TestApp,
    pub name: String,
    pub token: String,
}

impl<'a> Given<'a> {
    /// A new sandbox.
    pub async fn make(app: &'a TestApp, wish: Value) -> Given<'a> {
        let made = app.set_console(Method::POST, "/sandboxes", wish).await;
        assert_eq!(made.status, StatusCode::CREATED);
        let text = |field: &str| made.json()[field].as_str().unwrap().to_owned();
        Self { app, name: text("name"), token: text("token") }
    }

    /// A sandbox that somebody else has made.
    pub fn known(app: &'a TestApp, name: &str, token: &str) -> Given<'a> {
        Self { app, name: name.to_owned(), token: token.to_owned() }
    }

    /// The request, to it by header.
    pub fn to(&self, request: Request<Body>) -> Request<Body> {
        with_headers(request, &[("mkopo-sandbox", &self.name)])
    }

    /// Sends a request to it.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        self.app.send(self.to(request)).await
    }

    pub async fn call(&self, method: Method, path: &str, token: Option<&str>, body: Option<Value>) -> Answer {
        self.send(request(method, path, token, body)).await
    }

    /// A call of its console.
    pub async fn console(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.call(method, &format!("/console/api{path}"), Some(&self.token), body).await
    }

    /// The token of a session of a demo account.
    pub async fn sign_in(&self, who: &str) -> String {
        let credentials = json!({"email": format!("{who}@mkopo.test"), "password": demo::PASSWORD});
        let answer = self.call(Method::POST, "/api/v1/auth/login", None, Some(credentials)).await;
        assert_eq!(answer.status, StatusCode::OK);
        answer.json()["user"]["token"].as_str().unwrap().to_owned()
    }

    pub async fn pending(&self, session: &str) -> Vec<Value> {
        let answer = self.call(Method::GET, "/api/v1/disbursements/pending", Some(session), None).await;
        assert_eq!(answer.status, StatusCode::OK);
        answer.json().as_array().unwrap().clone()
    }

    pub async fn disburse(&self, session: &str, loan: &Value) -> Answer {
        self.send(payout(session, loan)).await
    }
}

/// A round of the scheduler.
async fn tend(app: &TestApp) {
    sandboxes::tend(&app.sandbox.server).await.unwrap();
}

/// The number of databases, with or without a row.
fn stored(app: &TestApp) -> usize {
    let files = std::fs::read_dir(app.data_dir().join("sandboxes")).unwrap();
    let is_database = |file: &std::fs::DirEntry| file.path().extension().is_some_and(|ending| ending == "db");
    files.filter(|file| is_database(file.as_ref().unwrap())).count()
}

#[tokio::test]
async fn a_sandbox_has_data_of_its_own() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let other = Given::make(&app, json!({})).await;
    assert!(other.name.starts_with("sandbox-"), "{}", other.name);

    let session = one.sign_in("agent").await;
    let loans = one.pending(&session).await;
    let loan = waiting(&loans).next().unwrap();
    let paid = one.disburse(&session, loan).await;
    assert_eq!(paid.status, StatusCode::OK);
    assert_eq!(one.pending(&session).await.len(), loans.len() - 1);

    let elsewhere = other.sign_in("agent").await;
    assert_eq!(other.pending(&elsewhere).await.len(), loans.len());
    assert_eq!(app.sign_in("agent").await.pending().await.len(), loans.len());
    for (given, token) in [(&one, &elsewhere), (&other, &session)] {
        let answer = given.call(Method::GET, "/api/v1/auth/me", Some(token), None).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(app.with(&session).get("/api/v1/auth/me").await.status, StatusCode::UNAUTHORIZED);
    let headers = [("host", "pr-12.localhost:8080"), ("mkopo-sandbox", "pr-13")];
    let both = app.with(&session).get_with("/api/v1/auth/me", &headers).await.refusal();
    assert!(
        both.starts_with("400 bad_parameter: ") && both.contains("mkopo-sandbox names another"),
        "{both}"
    );
}

#[tokio::test]
async fn a_browser_that_asks_for_an_unknown_sandbox_gets_a_page() {
    let app = TestApp::start().await;
    for path in ["/", "/login", "/console"] {
        let headers = [("host", "gone.localhost:8080"), ("accept", "text/html,*/*;q=0.8")];
        let answer = app.get_with(path, &headers).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let page = String::from_utf8_lossy(&answer.bytes);
        assert!(page.contains("There is no sandbox gone."), "{page}");
    }
}

#[tokio::test]
async fn a_sandbox_that_is_not_used_is_closed_and_opens_by_itself() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let session = one.sign_in("agent").await;
    let loans = one.pending(&session).await;
    assert_eq!(one.disburse(&session, waiting(&loans).next().unwrap()).await.status, StatusCode::OK);
    let clock = json!({"frozen": true});
    assert_eq!(one.console(Method::PUT, "/clock", Some(clock)).await.status, StatusCode::OK);
    app.clock.advance(sandboxes::IDLE_TIMEOUT);
    // What is due in it is done first.
    wait_until("the sandbox is closed", async || {
        tend(&app).await;
        app.sandbox.server.sandboxes.count_open() == 0
    })
    .await;

    assert_eq!(one.pending(&session).await.len(), loans.len() - 1);
    assert_eq!(app.sandbox.server.sandboxes.count_open(), 1);
    assert_eq!(one.console(Method::GET, "/clock", None).await.json()["frozen"], true);
    let traffic = one.console(Method::GET, "/traffic", None).await.json();
    assert_eq!(traffic.as_array().unwrap().len(), 4, "what was recorded is kept");
}

#[tokio::test]
async fn a_sandbox_expires_when_it_was_not_used_for_long_enough() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12", "expires_in": "10m"})).await;
    app.clock.advance(Duration::from_mins(9));
    let session = one.sign_in("agent").await;
    app.clock.advance(Duration::from_mins(9));
    tend(&app).await;
    assert_eq!(one.pending(&session).await.len(), 24);
    // Its own clock does not count.
    let moved = one.console(Method::PUT, "/clock", Some(json!({"advance": "2d"}))).await;
    assert_eq!(moved.status, StatusCode::OK);
    tend(&app).await;
    assert_eq!(app.console(Method::GET, "/sandboxes/pr-12", None).await.status, StatusCode::OK);

    app.clock.advance(Duration::from_mins(10));
    let gone = one.call(Method::GET, "/api/v1/auth/me", Some(&session), None).await;
    assert_eq!(gone.failure().1, "sandbox_not_found");
    tend(&app).await;
    assert_eq!(app.console(Method::GET, "/sandboxes/pr-12", None).await.status, StatusCode::NOT_FOUND);
    wait_until("the data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn several_servers_may_remove_the_same_sandboxes_at_once() {
    let app = TestApp::start().await;
    for _ in 0..4 {
        Given::make(&app, json!({"expires_in": "10m"})).await;
    }
    let servers = [app.another_server(&[]).await, app.another_server(&[]).await];
    app.clock.advance(Duration::from_mins(11));
    for done in join_all([&app, &servers[0], &servers[1]].map(|on| sandboxes::tend(&on.sandbox.server))).await
    {
        done.unwrap();
    }
    wait_until("the data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn of_calls_that_remove_a_sandbox_at_once_one_does() {
    let app = TestApp::start().await;
    Given::make(&app, json!({"name": "pr-12"})).await;
    let remove = || app.console(Method::DELETE, "/sandboxes/pr-12", None);
    let answers = join_all((0..4).map(|_| remove())).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 404, 404, 404]);
    let events = app.console(Method::GET, "/events?kind=sandbox_removed", None).await.json();
    assert_eq!(events.as_array().unwrap().len(), 1, "{events:#}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_sandbox_whose_data_is_lost_is_removed_some_time_after_it_has_expired_on_postgresql() {
    const ONE: [&str; 2] = ["--sandboxes", "1"];
    let app = TestApp::start_with(&ONE).await;
    let wish = json!({"name": "pr-12", "expires_in": "10m"});
    Given::make(&app, wish.clone()).await;
    let app = app.restart_with(&ONE).await;
    std::fs::remove_dir_all(app.data_dir().join("sandboxes")).unwrap();
    app.clock.advance(Duration::from_mins(19));
    tend(&app).await;
    let taken = app.console(Method::POST, "/sandboxes", Some(wish.clone())).await;
    assert_eq!(taken.failure().1, "sandbox_exists", "another server may have it");
    app.clock.advance(Duration::from_mins(1));
    tend(&app).await;
    Given::make(&app, wish).await;
}

#[tokio::test]
async fn old_data_of_a_closed_sandbox_is_deleted_when_it_is_opened() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"expires_in": "365d"})).await;
    let forgotten = json!({"email": "agent@mkopo.test"});
    one.call(Method::POST, "/api/v1/auth/request-password-reset", None, Some(forgotten)).await;
    let texts = async || {
        let sent = one.console(Method::GET, "/outbox?to=0711000003", None).await.json();
        sent.as_array().unwrap().len()
    };
    assert_eq!(texts().await, 1);
    app.clock.advance(sandboxes::IDLE_TIMEOUT);
    wait_until("the sandbox is closed", async || {
        tend(&app).await;
        app.sandbox.server.sandboxes.count_open() == 0
    })
    .await;
    app.clock.advance(Duration::from_hours(24 * 90));
    wait_until("the message is deleted", async || {
        tend(&app).await;
        texts().await == 0
    })
    .await;
}

#[tokio::test]
async fn a_removed_sandbox_with_calls_in_progress_is_gone_for_them_too() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let mut waiting = std::pin::pin!(one.console(Method::GET, "/outbox?wait=20s", None));
    // One that begins later and does not wait has its answer: the other one has found nothing, too.
    tokio::select! {
        biased;
        answer = &mut waiting => panic!("answered before there was a message: {}", answer.status),
        now = one.console(Method::GET, "/outbox", None) => assert_eq!(now.json(), json!([])),
    }
    let removed = app.console(Method::DELETE, "/sandboxes/pr-12", None);
    let answered = tokio::time::timeout(Duration::from_secs(10), waiting);
    let (removed, answered) = tokio::join!(removed, answered);
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    let answered = answered.unwrap().status;
    assert!(matches!(answered.as_u16(), 404 | 503), "{answered}");
    wait_until("its data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn a_sandbox_can_be_removed_by_a_call_of_its_own() {
    let app = TestApp::start().await;
    let given = Given::make(&app, json!({"name": "pr-12"})).await;
    // By the operator: a sandbox's token can't remove it.
    let remove = request(Method::DELETE, "/console/api/sandboxes/pr-12", Some(CONSOLE_TOKEN), None);
    assert_eq!(given.send(remove).await.status, StatusCode::NO_CONTENT);
    wait_until("its data is deleted", async || stored(&app) == 0).await;
    let gone = given.call(Method::GET, "/api/v1/auth/me", None, None).await;
    assert_eq!(gone.kind(), "404 sandbox_not_found");
}

#[tokio::test]
async fn a_payout_that_ends_with_its_sandbox_is_told_that_the_sandbox_is_gone() {
    let app = TestApp::start().await;
    let given = Given::make(&app, json!({"name": "pr-12"})).await;
    let session = given.sign_in("agent").await;
    let loan = given.pending(&session).await.swap_remove(0);
    let slow = given.console(Method::PUT, "/scenario", Some(json!({"latency_ms": 60_000}))).await;
    assert!(slow.status.is_success(), "{}", slow.status);
    let remove = async {
        wait_until("the payout runs", async || {
            let payouts = given.console(Method::GET, "/payouts", None).await.json();
            payouts.to_string().contains("PENDING")
        })
        .await;
        app.console(Method::DELETE, "/sandboxes/pr-12", None).await
    };
    let (paid, removed) = tokio::join!(given.disburse(&session, &loan), remove);
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(paid.kind(), "404 sandbox_not_found");
}

#[tokio::test]
async fn data_without_a_row_is_deleted_once_nobody_can_be_making_it_any_more() {
    let app = TestApp::start().await;
    let sandboxes = &app.sandbox.server.sandboxes;
    Given::make(&app, json!({})).await;
    let made = std::fs::read_dir(app.data_dir().join("sandboxes")).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.extension().is_some_and(|extension| extension == "db").then_some(path)
    });
    // As if a process had died before it wrote the row. Ids begin with the time.
    let made = made.unwrap();
    let mut orphan = made.file_stem().unwrap().to_str().unwrap().to_owned();
    orphan.replace_range(orphan.len() - 4.., "dead");
    let orphan = made.with_file_name(orphan).with_extension("db");
    std::fs::copy(&made, &orphan).unwrap();
    app.clock.advance(Duration::from_mins(9));
    sandboxes.delete_orphans().await.unwrap();
    assert_eq!(stored(&app), 2);
    app.clock.advance(Duration::from_mins(1));
    sandboxes.delete_orphans().await.unwrap();
    assert_eq!(stored(&app), 1, "the other has its row");

    // As if the data folder were given to another database.
    std::fs::copy(&made, &orphan).unwrap();
    app.write("DELETE FROM sandbox").await.unwrap();
    sandboxes.delete_orphans().await.unwrap();
    assert!(orphan.exists());
}

#[tokio::test]
async fn the_same_seed_and_time_give_the_same_bytes() {
    let app = TestApp::start().await;
    let start = json!({"seed": 7, "now": "2026-03-01T09:00:00Z", "frozen": true});
    let one = Given::make(&app, start.clone()).await;
    app.clock.advance(Duration::from_hours(3));
    let other = Given::make(&app, start.clone()).await;
    let third = Given::make(&app, json!({})).await;
    let reset = third.console(Method::POST, "/data/reset", Some(start)).await;
    assert_eq!(reset.status, StatusCode::NO_CONTENT);
    let mut bodies = Vec::new();
    for given in [&one, &other, &third] {
        let session = given.sign_in("agent").await;
        let get = |path| given.call(Method::GET, path, Some(&session), None);
        let pending = get("/api/v1/disbursements/pending").await;
        bodies.push((pending.bytes, get("/api/v1/disbursement-records").await.bytes));
        let clock = given.console(Method::GET, "/clock", None).await.json();
        assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2026-03-01T09:00:00.000Z"), &json!(true)));
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn the_token_of_a_sandbox_opens_its_console_and_nothing_else() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({})).await;
    let other = Given::make(&app, json!({})).await;
    let outbox = "/console/api/outbox";
    assert_eq!(one.call(Method::GET, outbox, Some(&one.token), None).await.status, StatusCode::OK);
    assert_eq!(one.call(Method::GET, outbox, Some(CONSOLE_TOKEN), None).await.status, StatusCode::OK);
    for token in [&other.token, "a-token-of-nobody"] {
        assert_eq!(one.call(Method::GET, outbox, Some(token), None).await.status, StatusCode::UNAUTHORIZED);
    }
    for refused in [
        app.send(request(Method::GET, outbox, Some(&one.token), None)).await,
        one.console(Method::GET, "/sandboxes", None).await,
        one.console(Method::DELETE, &format!("/sandboxes/{}", one.name), None).await,
    ] {
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn wrong_console_tokens_are_counted_over_all_sandboxes() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({})).await;
    let other = Given::make(&app, json!({})).await;
    for number in 0..99 {
        let given = [&one, &other][number % 2];
        let answer =
            given.call(Method::GET, "/console/api/clock", Some("a-wrong-token-of-nobody"), None).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    for answer in
        [one.console(Method::GET, "/clock", None).await, app.console(Method::GET, "/clock", None).await]
    {
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    }
}

#[tokio::test]
async fn a_name_is_taken_once_and_must_be_a_name() {
    let app = TestApp::start_with(&["--sandboxes", "2"]).await;
    Given::make(&app, json!({"name": "pr-12"})).await;
    let make = |wish: Value| app.console(Method::POST, "/sandboxes", Some(wish));
    for (wish, kind) in [
        (json!({"name": "pr-12"}), "409 sandbox_exists"),
        (json!({"name": "main"}), "409 sandbox_exists"),
        (json!({"name": "PR-12"}), "422 invalid_request"),
        (json!({"name": "a.b"}), "422 invalid_request"),
        (json!({"name": "-"}), "422 invalid_request"),
        (json!({"expires_in": "4s"}), "422 invalid_request"),
        (json!({"expires_in": "soon"}), "422 invalid_request"),
        (json!({"seed": -1}), "422 invalid_request"),
        (json!({"now": "1999-01-01T00:00:00Z"}), "422 invalid_request"),
        (json!({"size": 3}), "422 invalid_request"),
    ] {
        assert_eq!(make(wish.clone()).await.kind(), kind, "{wish}");
    }
    Given::make(&app, json!({"name": "pr-13"})).await;
    let full = make(json!({})).await;
    assert_eq!(full.status, StatusCode::TOO_MANY_REQUESTS);
    let sentence = "There are already 2 sandboxes, as many as MKOPO_SANDBOXES allows. Remove one first.";
    assert_eq!(full.failure().2, sentence);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, StatusCode::NOT_FOUND);
    Given::make(&app, json!({"name": "pr-12"})).await;
}

#[tokio::test]
async fn of_calls_that_make_one_name_at_once_one_does_and_the_others_leave_nothing() {
    let app = TestApp::start().await;
    let make = || app.console(Method::POST, "/sandboxes", Some(json!({"name": "pr-12"})));
    let answers = join_all((0..4).map(|_| make())).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    assert_eq!(stored(&app), 1);
}

#[tokio::test]
async fn main_is_listed_not_counted_and_never_removed() {
    let app = TestApp::start().await;
    Given::make(&app, json!({"name": "pr-12"})).await.sign_in("agent").await;
    let list = app.console(Method::GET, "/sandboxes", None).await.json();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "pr-12"]);
    assert_eq!(list[1]["calls"], 1);
    assert_eq!(list[1]["url"], "http://pr-12.localhost:8080");
    assert_eq!(list[1]["console_url"], "http://pr-12.localhost:8081/console");
    assert!(list[1]["size"].as_u64().unwrap() > 100_000, "{list:#}");
    // Once its use is stored, the calls are still the same.
    app.clock.advance(Duration::from_mins(2));
    tend(&app).await;
    assert_eq!(app.console(Method::GET, "/sandboxes", None).await.json()[1]["calls"], 1);
    let removed = app.console(Method::DELETE, "/sandboxes/main", None).await;
    assert_eq!(removed.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn metrics_have_the_calls_of_the_20_busiest_and_of_the_rest_together() {
    let app = TestApp::start().await;
    let sandbox_metrics = async || {
        let answer = app.send(request(Method::GET, "/metrics", Some(CONSOLE_TOKEN), None)).await;
        let metrics = String::from_utf8(answer.bytes).unwrap();
        let lines = metrics.lines().filter(|line| line.starts_with("mkopo_sandbox"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    for number in 1..=22 {
        let one = Given::make(&app, json!({"name": format!("pr-{number:02}"), "seed": "empty"})).await;
        // The first two are the busiest; the last three have one call each, and only the first of them is named.
        for _ in 0..if number <= 2 { 4 } else { 1 + usize::from(number < 20) } {
            one.call(Method::GET, "/healthz", None, None).await;
        }
    }
    let lines = sandbox_metrics().await;
    assert_eq!(lines.len(), 1 + 1 + 20 + 1, "{lines:#?}");
    for line in [
        r#"mkopo_sandbox_calls{sandbox="main"} 23"#,
        r#"mkopo_sandbox_calls{sandbox="pr-02"} 4"#,
        r#"mkopo_sandbox_calls{sandbox="pr-19"} 2"#,
        r#"mkopo_sandbox_calls{sandbox="pr-20"} 1"#,
        r#"mkopo_sandbox_calls{sandbox="(others)"} 2"#,
        "mkopo_sandboxes_open 22",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line} is not in {lines:#?}");
    }
    let app = TestApp::start_with(&["--sandboxes", "0"]).await;
    let metrics = app.metrics().await;
    assert!(!metrics.contains("sandbox"), "{metrics}");
}

#[tokio::test]
async fn where_sandboxes_are_off_nothing_shows_of_them() {
    let app = TestApp::start_with(&["--sandboxes", "0"]).await;
    for (method, path) in
        [(Method::GET, "/sandboxes"), (Method::POST, "/sandboxes"), (Method::DELETE, "/sandboxes/a")]
    {
        assert_eq!(app.console(method, path, None).await.status, StatusCode::NOT_FOUND);
    }
    let agent = app.sign_in("agent").await;
    let headers = [("mkopo-sandbox", "pr-12"), ("host", "pr-12.localhost")];
    let me = agent.get_with("/api/v1/auth/me", &headers).await;
    if app.sandbox.database.is_shared() {
        assert_eq!(me.kind(), "404 sandbox_not_found", "another server may have sandboxes");
    } else {
        assert_eq!(me.status, StatusCode::OK, "the header is ignored");
    }
}

#[tokio::test]
async fn sandboxes_survive_a_restart() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let session = one.sign_in("agent").await;
    let (name, token) = (one.name.clone(), one.token.clone());
    let app = app.restart().await;
    let one = Given { app: &app, name, token };
    assert_eq!(one.pending(&session).await.len(), 24);
    assert_eq!(one.console(Method::GET, "/outbox", None).await.status, StatusCode::OK);
}

#[tokio::test]
async fn outside_demo_mode_a_sandbox_is_empty_and_has_the_tools_of_a_demo() {
    let app = TestApp::start_with(&["--demo", "false", "--sandboxes", "5"]).await;
    let one = Given::make(&app, json!({})).await;
    assert_eq!(app.console(Method::GET, "/outbox", None).await.status, StatusCode::FORBIDDEN);
    assert_eq!(one.console(Method::GET, "/outbox", None).await.status, StatusCode::OK);
    assert_eq!(one.console(Method::GET, "/staff", None).await.json(), json!([]));
    let opened = one.console(Method::POST, "/staff", Some(account("agent@mkopo.test"))).await;
    assert_eq!(opened.status, StatusCode::CREATED);
    let session = one.sign_in("agent").await;
    assert!(one.pending(&session).await.is_empty());
}

/// A sandbox with one payout, whose answer is lost, and the session of the agent who made it.
async fn with_an_open_payout(app: &TestApp) -> (Given<'_>, String) {
    let one = Given::make(app, json!({"name": "pr-12", "seed": "empty"})).await;
    let loan = json!({"loan": {"total_loan_amount": 500, "customer_phone_number": "0700009001"}});
    let loan = one.console(Method::POST, "/loans", Some(loan)).await.json()[0].clone();
    let session = one.sign_in("agent").await;
    let paid = app.as_time_passes(one.disburse(&session, &loan)).await;
    assert_eq!(paid.status, StatusCode::ACCEPTED, "its answer is lost");
    (one, session)
}

#[tokio::test]
async fn a_payout_that_was_left_open_is_settled_without_a_call() {
    let app = TestApp::start().await;
    let (one, session) = with_an_open_payout(&app).await;
    // Closed for the first time, it may open again by itself.
    let sandboxes = &app.sandbox.server.sandboxes;
    // Until it is settled, and nothing is due in its sandbox any more.
    app.as_time_passes_by(Duration::from_secs(5), async {
        while sandboxes.count_open() > 0 || app.clock.now().since(NOON) < Duration::from_mins(15) {
            tend(&app).await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    let records = one.call(Method::GET, "/api/v1/disbursement-records", Some(&session), None).await.json();
    assert_eq!(records[0]["status"], "COMPLETED");
}

/// The first server is never told to stop, as if it was killed, and does nothing any more.
#[tokio::test]
async fn a_payout_whose_server_was_killed_is_settled_by_the_next_one_without_a_call() {
    let app = TestApp::start().await;
    let (one, _) = with_an_open_payout(&app).await;
    let next = app.another_server(&[]).await;
    wait_until("the next server takes the sandbox over, before any time has passed", async || {
        tend(&next).await;
        next.sandbox.server.sandboxes.count_open() == 1
    })
    .await;
    let settled = next.as_time_passes(async {
        let one = Given { app: &next, ..one };
        one.console(Method::GET, "/payouts?settled=true&wait=25s", None).await.json()
    });
    assert_eq!(settled.await[0]["status"], "COMPLETED");
}

#[tokio::test]
async fn an_operator_goes_from_one_console_to_another_without_the_token() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let browser = Browser::sign_in(&app).await;
    assert!(html(&browser.get("/console/clock").await).contains("Sandbox <b>main</b>"));
    let opened = browser.get("/console/open?sandbox=pr-12").await;
    assert_eq!(opened.status, StatusCode::SEE_OTHER);
    let location = opened.headers[header::LOCATION].to_str().unwrap().to_owned();
    let ticket = location.strip_prefix("http://pr-12.localhost:8081/console?token=").unwrap();

    let at = |request: Request<Body>, host: &str| app.send(with_headers(request, &[("host", host)]));
    let sign_in = || post("/console/sign-in", None, &[("token", ticket), ("page", "/console/clock")]);
    let elsewhere = at(sign_in(), "localhost:8081").await;
    assert_eq!(elsewhere.status, StatusCode::UNAUTHORIZED, "it opens one console only");
    let other = post("/console/sign-in", None, &[("token", &one.token)]);
    let other = at(other, "pr-12.localhost:8081").await;
    assert_eq!(other.status, StatusCode::SEE_OTHER, "somebody else signs in meanwhile");
    let signed_in = at(sign_in(), "pr-12.localhost:8081").await;
    assert_eq!(signed_in.status, StatusCode::SEE_OTHER);
    let again = at(sign_in(), "pr-12.localhost:8081").await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED, "it opens it once");

    let cookie = cookie_of(&signed_in);
    let page = at(get("/console/clock", Some(&cookie)), "pr-12.localhost:8081").await;
    assert!(html(&page).contains("Sandbox <b>pr-12</b>"), "{}", html(&page));
    assert!(html(&page).contains("href=\"/console/open?sandbox=main\""));
    let stop = post("/console/clock", Some(&cookie), &[("csrf", &csrf(&page)), ("act", "stop")]);
    let moved = at(stop, "pr-12.localhost:8081").await;
    assert_eq!(moved.status, StatusCode::SEE_OTHER);
    assert_eq!(one.console(Method::GET, "/clock", None).await.json()["frozen"], true);
    assert_eq!(app.console(Method::GET, "/clock", None).await.json()["frozen"], false);
    let elsewhere = at(get("/console/clock", Some(&cookie)), "localhost:8081").await;
    assert_eq!(elsewhere.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_page_of_sandboxes_makes_and_removes_them_for_the_operator_only() {
    let app = TestApp::start().await;
    let browser = Browser::sign_in(&app).await;
    let fields = [("name", "pr-12"), ("seed", "empty"), ("expires_in", "2d")];
    let made = browser.send("/console/sandboxes", "make", &fields).await;
    assert_eq!(made.status, StatusCode::OK);
    let page = html(&made);
    assert!(page.contains("http://pr-12.localhost:8080"), "{page}");
    let token = page.split("id=\"sandbox-token\">").nth(1).unwrap().split('<').next().unwrap();
    let one = Given { app: &app, name: "pr-12".to_owned(), token: token.to_owned() };
    assert_eq!(one.console(Method::GET, "/loans?limit=1", None).await.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(one.pending(&one.sign_in("agent").await).await.is_empty());
    let again = browser.send("/console/sandboxes", "make", &fields).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(words(&again).contains("There is already a sandbox pr-12."));

    let sign_in = post("/console/sign-in", None, &[("token", token), ("page", "/console")]);
    let cookie = cookie_of(&one.send(sign_in).await);
    let overview = one.send(get("/console", Some(&cookie))).await;
    assert_eq!(overview.status, StatusCode::OK);
    assert!(!html(&overview).contains("/console/sandboxes"), "it opens nothing else");
    for path in ["/console/sandboxes", "/console/open?sandbox=main"] {
        assert_eq!(one.send(get(path, Some(&cookie))).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let removed = browser.send("/console/sandboxes", "remove", &[("name", "pr-12")]).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER);
    assert_eq!(one.send(get("/console", Some(&cookie))).await.status, StatusCode::NOT_FOUND);
}

/// Its own console would be gone with it, and guests would not get its builds.
#[tokio::test]
async fn in_the_console_of_a_sandbox_the_operator_removes_others_and_makes_no_links() {
    let app = TestApp::start().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    Given::make(&app, json!({"name": "pr-13"})).await;
    let sign_in = post("/console/sign-in", None, &[("token", CONSOLE_TOKEN)]);
    let cookie = cookie_of(&one.send(sign_in).await);
    let page = one.send(get("/console/sandboxes", Some(&cookie))).await;
    assert!(html(&page).contains("Remove pr-13") && !html(&page).contains("Remove pr-12"));
    assert!(html(&page).contains("2 sandboxes of") && !html(&page).contains("Make a link"));

    let link = [("csrf", csrf(&page)), ("act", "link".to_owned()), ("story", "refused".to_owned())];
    let link = link.each_ref().map(|(name, value)| (*name, value.as_str()));
    let made = one.send(post("/console/sandboxes", Some(&cookie), &link)).await;
    assert_eq!(made.status, StatusCode::NOT_FOUND);
    let story = Some(json!({"story": "refused"}));
    let made = one.call(Method::POST, "/console/api/story-links", Some(CONSOLE_TOKEN), story).await;
    assert_eq!(made.status, StatusCode::NOT_FOUND);
}

/// The live version of mfe-loans in a sandbox, and the one before it.
async fn live_in(given: &Given<'_>) -> (Value, Value) {
    let list = given.call(Method::GET, "/slices.json", None, None).await.json();
    let loans = &list["slices"]["mfe-loans"];
    (loans["version"].clone(), loans["previous"]["version"].clone())
}

pub async fn publish_in(given: &Given<'_>, build: &slices::Files) -> Answer {
    let bearer = format!("Bearer {}", given.token);
    given.send(with_headers(slices::publication_of(build), &[("authorization", &bearer)])).await
}

/// The path of the script of mfe-loans that is live in a sandbox.
async fn script_in(given: &Given<'_>) -> String {
    let list = given.call(Method::GET, "/slices.json", None, None).await.json();
    list["slices"]["mfe-loans"]["entry"].as_str().unwrap().replace("mf-manifest.json", "slice.js")
}

#[tokio::test]
async fn the_portal_of_a_sandbox_knows_its_name() {
    let (app, _portal) = slices::started().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let list = one.call(Method::GET, "/slices.json", None, None).await.json();
    assert_eq!(list["portal"]["sandbox"], "pr-12");
    let list = app.call(Method::GET, "/slices.json", None).await.json();
    assert_eq!(list["portal"]["sandbox"], Value::Null);
}

#[tokio::test]
async fn a_sandbox_follows_the_live_slices_of_main_until_one_is_chosen_there() {
    let (app, _portal) = slices::started().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let other = Given::make(&app, json!({"name": "pr-13"})).await;
    slices::publish(&app, &slices::build("mfe-loans", "0.2.0")).await;
    assert_eq!(live_in(&one).await.0, "0.2.0", "it follows main");

    let own = slices::build("mfe-loans", "0.3.0-pr.12");
    assert_eq!(publish_in(&one, &own).await.status, StatusCode::CREATED);
    assert_eq!(live_in(&one).await, (json!("0.3.0-pr.12"), json!("0.2.0")));
    assert_eq!(live_in(&other).await.0, "0.2.0");
    let trail = one.console(Method::GET, "/slices", None).await.json()["trail"].clone();
    assert_eq!(trail.as_array().unwrap().len(), 1, "{trail:#}");

    slices::publish(&app, &slices::build("mfe-loans", "0.4.0")).await;
    assert_eq!(live_in(&one).await.0, "0.3.0-pr.12", "it no longer follows main");
    assert_eq!(live_in(&other).await.0, "0.4.0");
    assert_eq!(one.console(Method::POST, "/slices/mfe-loans/rollback", None).await.status, StatusCode::OK);
    assert_eq!(live_in(&one).await.0, "0.2.0");
    let version = json!({"version": "0.2.0"});
    let activated = other.console(Method::POST, "/slices/mfe-loans/activate", Some(version)).await;
    assert_eq!(activated.status, StatusCode::OK);
    assert_eq!(live_in(&other).await.0, "0.2.0");

    assert_eq!(one.console(Method::DELETE, "/slices/mfe-loans", None).await.status, StatusCode::OK);
    slices::publish(&app, &slices::build("mfe-loans", "0.5.0")).await;
    assert_eq!(live_in(&one).await.0, "0.5.0", "it follows main again");
    assert_eq!(live_in(&other).await.0, "0.2.0");
}

/// Whoever has the token of one sandbox could run a script on the pages of `main` and of the others.
#[tokio::test]
async fn a_build_that_is_published_in_a_sandbox_exists_nowhere_else() {
    let (app, _portal) = slices::started().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let other = Given::make(&app, json!({"name": "pr-13"})).await;
    let hostile = slices::build_with("mfe-loans", "0.2.0", "slice.js", b"steal()".to_vec());
    assert_eq!(publish_in(&one, &hostile).await.status, StatusCode::CREATED);
    let (own, plain) = (script_in(&one).await, "/slices/mfe-loans/0.2.0/slice.js");
    assert_ne!(own, plain, "browsers may have the version of main");
    for path in [&*own, plain] {
        assert_eq!(one.call(Method::GET, path, None, None).await.bytes, b"steal()"[..], "{path}");
        assert_eq!(app.call(Method::GET, path, None).await.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(other.call(Method::GET, path, None, None).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let version = Some(json!({"version": "0.2.0"}));
    for refused in [
        app.console(Method::POST, "/slices/mfe-loans/activate", version.clone()).await,
        other.console(Method::POST, "/slices/mfe-loans/activate", version).await,
    ] {
        assert_eq!(refused.failure().1, "build_not_found");
    }
    let of_main = app.console(Method::GET, "/slices", None).await.json();
    assert!(!of_main.to_string().contains("0.2.0"), "{of_main:#}");

    // Version numbers are not taken from `main`, and its own are not replaced where a browser has them.
    let good = slices::build("mfe-loans", "0.2.0");
    assert_eq!(slices::publish(&app, &good).await.status, StatusCode::CREATED);
    assert_ne!(app.call(Method::GET, plain, None).await.bytes, b"steal()"[..]);
    assert_eq!(one.call(Method::GET, &own, None, None).await.bytes, b"steal()"[..]);
    assert_ne!(one.call(Method::GET, plain, None, None).await.bytes, b"steal()"[..]);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, StatusCode::NO_CONTENT);
    let again = Given::make(&app, json!({"name": "pr-12"})).await;
    assert_eq!(again.call(Method::GET, &own, None, None).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_builds_of_a_sandbox_have_room_for_64_mib_and_the_oldest_make_way() {
    let (app, _portal) = slices::started().await;
    let one = Given::make(&app, json!({"name": "pr-12"})).await;
    let large = |name: &str, version: &str| {
        slices::build_with(name, version, "filler.txt", vec![b'x'; 15 * 1024 * 1024])
    };
    for number in 1..=5 {
        let published = publish_in(&one, &large("mfe-loans", &format!("0.2.0-pr.{number}"))).await;
        assert_eq!(published.status, StatusCode::CREATED);
    }
    let list = one.console(Method::GET, "/slices", None).await.json();
    let builds = list["slices"][0]["builds"].as_array().unwrap();
    let versions: Vec<&str> = builds.iter().map(|build| build["version"].as_str().unwrap()).collect();
    assert_eq!(versions, ["0.2.0-pr.5", "0.2.0-pr.4", "0.2.0-pr.3", "0.2.0-pr.2", "0.1.0"]);
    assert_eq!(publish_in(&one, &large("mfe-plans", "0.1.0")).await.failure().1, "sandbox_full");
    assert_eq!(one.console(Method::DELETE, "/slices/mfe-loans", None).await.status, StatusCode::OK);
    assert_eq!(publish_in(&one, &large("mfe-plans", "0.1.0")).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn the_command_line_makes_lists_and_removes_sandboxes_of_a_running_service() {
    let app = TestApp::start().await;
    let mkopo =
        async |arguments: &[&str]| command_line::command(&app, &[&["sandbox"], arguments].concat()).await;
    let made = mkopo(&["add", "pr-12", "--seed", "empty", "--expires-in", "2d"]).await;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    let one = Given { app: &app, name: text("name"), token: text("token") };
    let session = one.sign_in("agent").await;
    assert!(one.pending(&session).await.is_empty());
    assert_eq!(one.console(Method::GET, "/outbox", None).await.status, StatusCode::OK);

    let listed = mkopo(&["list"]).await;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.starts_with("main\t") && listed.contains("\npr-12\t"), "{listed}");
    let again = mkopo(&["add", "pr-12"]).await;
    assert_eq!(command_line::error_line(&again), "mkopo: There is already a sandbox pr-12.");
    let removed = mkopo(&["remove", "pr-12"]).await;
    assert_eq!(String::from_utf8_lossy(&removed.stdout), "pr-12 is removed.\n");
    tend(&app).await;
    let gone = one.call(Method::GET, "/api/v1/auth/me", Some(&session), None).await;
    assert_eq!(gone.failure().1, "sandbox_not_found");
}
