//! Sandboxes: made, reached, kept apart, closed and removed.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use futures::future::join_all;
use serde_json::{Value, json};
use worlds::sandboxes;

use crate::{
    browser::{Browser, cookie_of, csrf, get, html, post, words},
    command_line::{self, printed},
    slices,
    test_app::{Answer, CONSOLE_TOKEN, NOON, TestApp, column, request, wait_until, waiting, with_headers},
};

/// A round of the scheduler.
pub async fn tend(app: &TestApp) {
    sandboxes::tend(&app.sandbox.server).await.unwrap();
}

/// Waits until no sandbox besides `main` is open.
async fn until_closed(app: &TestApp) {
    wait_until("the sandboxes are closed", async || {
        tend(app).await;
        app.sandbox.server.sandboxes.count_open() == 0
    })
    .await;
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
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let other = app.make_sandbox(json!({})).await;
    assert!(other.name.starts_with("sandbox-"), "{}", other.name);

    let agent = one.sign_in("agent").await;
    let loans = agent.pending().await;
    let loan = waiting(&loans).next().unwrap();
    assert_eq!(agent.disburse(loan).await.status, 200);
    assert_eq!(agent.pending().await.len(), loans.len() - 1);

    let elsewhere = other.sign_in("agent").await;
    assert_eq!(elsewhere.pending().await.len(), loans.len());
    assert_eq!(app.sign_in("agent").await.pending().await.len(), loans.len());
    for (given, token) in [(&one, &elsewhere), (&other, &agent)] {
        assert_eq!(given.with(token.token()).get("/api/v1/auth/me").await.status, 401);
    }
    assert_eq!(app.with(agent.token()).get("/api/v1/auth/me").await.status, 401);
    let headers = [("host", "pr-12.localhost:8080"), ("mkopo-sandbox", "pr-13")];
    let both = app.with(agent.token()).get_with("/api/v1/auth/me", &headers).await.refusal();
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
        assert_eq!(answer.status, 404);
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let page = String::from_utf8_lossy(&answer.bytes);
        assert!(page.contains("There is no sandbox gone."), "{page}");
    }
}

#[tokio::test]
async fn a_sandbox_that_is_not_used_is_closed_and_opens_by_itself() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let agent = one.sign_in("agent").await;
    let loans = agent.pending().await;
    assert_eq!(agent.disburse(waiting(&loans).next().unwrap()).await.status, 200);
    let clock = json!({"frozen": true});
    assert_eq!(one.console(Method::PUT, "/clock", clock).await.status, 200);
    app.clock.advance(sandboxes::IDLE_TIMEOUT);
    // What is due in it is done first.
    until_closed(&app).await;

    assert_eq!(agent.pending().await.len(), loans.len() - 1);
    assert_eq!(app.sandbox.server.sandboxes.count_open(), 1);
    assert_eq!(one.read_console("/clock").await["frozen"], true);
    let traffic = one.read_console("/traffic").await;
    assert_eq!(traffic.as_array().unwrap().len(), 4, "what was recorded is kept");
}

#[tokio::test]
async fn a_sandbox_expires_when_it_was_not_used_for_long_enough() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12", "expires_in": "10m"})).await;
    app.clock.advance(Duration::from_mins(9));
    let agent = one.sign_in("agent").await;
    app.clock.advance(Duration::from_mins(9));
    tend(&app).await;
    assert_eq!(agent.pending().await.len(), 24);
    // Its own clock does not count.
    assert_eq!(one.console(Method::PUT, "/clock", json!({"advance": "2d"})).await.status, 200);
    tend(&app).await;
    assert_eq!(app.console(Method::GET, "/sandboxes/pr-12", None).await.status, 200);

    app.clock.advance(Duration::from_mins(10));
    assert_eq!(app.read_console("/sandboxes").await.as_array().unwrap().len(), 1, "main");
    assert_eq!(agent.get("/api/v1/auth/me").await.failure().1, "sandbox_not_found");
    tend(&app).await;
    assert_eq!(app.console(Method::GET, "/sandboxes/pr-12", None).await.status, 404);
    wait_until("the data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn several_servers_may_remove_the_same_sandboxes_at_once() {
    let app = TestApp::start().await;
    for _ in 0..4 {
        app.make_sandbox(json!({"expires_in": "10m"})).await;
    }
    let servers = [app.another_server(&[]).await, app.another_server(&[]).await];
    app.clock.advance(Duration::from_mins(11));
    join_all([&app, &servers[0], &servers[1]].map(tend)).await;
    wait_until("the data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn of_calls_that_remove_a_sandbox_at_once_one_does() {
    let app = TestApp::start().await;
    app.make_sandbox(json!({"name": "pr-12"})).await;
    let remove = || app.console(Method::DELETE, "/sandboxes/pr-12", None);
    let answers = join_all((0..4).map(|_| remove())).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 404, 404, 404]);
    let events = app.read_console("/events?kind=sandbox_removed").await;
    assert_eq!(events.as_array().unwrap().len(), 1, "{events:#}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn a_sandbox_whose_data_is_lost_is_removed_some_time_after_it_has_expired_on_postgresql() {
    const ONE: [&str; 2] = ["--sandboxes", "1"];
    let app = TestApp::start_with(&ONE).await;
    let wish = json!({"name": "pr-12", "expires_in": "10m"});
    app.make_sandbox(wish.clone()).await;
    let app = app.restart_with(&ONE).await;
    std::fs::remove_dir_all(app.data_dir().join("sandboxes")).unwrap();
    app.clock.advance(Duration::from_mins(19));
    tend(&app).await;
    let taken = app.console(Method::POST, "/sandboxes", wish.clone()).await;
    assert_eq!(taken.failure().1, "sandbox_exists", "another server may have it");
    app.clock.advance(Duration::from_mins(1));
    tend(&app).await;
    app.make_sandbox(wish).await;
}

#[tokio::test]
async fn old_data_of_a_closed_sandbox_is_deleted_when_it_is_opened() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"expires_in": "365d"})).await;
    let forgotten = json!({"email": "agent@mkopo.test"});
    one.post("/api/v1/auth/request-password-reset", forgotten).await;
    let texts = async || {
        let sent = one.read_console("/outbox?to=0711000003").await;
        sent.as_array().unwrap().len()
    };
    assert_eq!(texts().await, 1);
    app.clock.advance(sandboxes::IDLE_TIMEOUT);
    until_closed(&app).await;
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
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
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
    assert_eq!(removed.status, 204);
    let answered = answered.unwrap().status;
    assert!(matches!(answered.as_u16(), 404 | 503), "{answered}");
    wait_until("its data is deleted", async || stored(&app) == 0).await;
}

#[tokio::test]
async fn a_sandbox_can_be_removed_by_a_call_of_its_own() {
    let app = TestApp::start().await;
    let given = app.make_sandbox(json!({"name": "pr-12"})).await;
    // By the operator: a sandbox's token can't remove it.
    let remove = request(Method::DELETE, "/console/api/sandboxes/pr-12", Some(CONSOLE_TOKEN), None);
    assert_eq!(given.send(remove).await.status, 204);
    wait_until("its data is deleted", async || stored(&app) == 0).await;
    assert_eq!(given.get("/api/v1/auth/me").await.kind(), "404 sandbox_not_found");
}

/// Pays a loan out in `given` and runs `remove` while it is paid.
async fn pay_until_removed<T>(given: &TestApp, remove: impl Future<Output = T>) -> (Answer, T) {
    let agent = given.sign_in("agent").await;
    let loan = agent.pending().await.swap_remove(0);
    let slow = given.console(Method::PUT, "/scenario", json!({"latency_ms": 60_000})).await;
    assert!(slow.status.is_success(), "{}", slow.status);
    let remove = async {
        wait_until("the payout runs", async || {
            let payouts = given.read_console("/payouts").await;
            payouts.to_string().contains("PENDING")
        })
        .await;
        remove.await
    };
    tokio::join!(agent.disburse(&loan), remove)
}

#[tokio::test]
async fn a_payout_that_ends_with_its_sandbox_is_told_that_the_sandbox_is_gone() {
    let app = TestApp::start().await;
    let given = app.make_sandbox(json!({"name": "pr-12"})).await;
    let remove = app.console(Method::DELETE, "/sandboxes/pr-12", None);
    let (paid, removed) = pay_until_removed(&given, remove).await;
    assert_eq!(removed.status, 204);
    assert_eq!(paid.kind(), "404 sandbox_not_found");
}

/// Removes `pr-12` and makes it again, as another one with the same name.
async fn replace(server: &TestApp) {
    assert_eq!(server.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 204);
    server.make_sandbox(json!({"name": "pr-12"})).await;
}

#[tokio::test]
async fn a_sandbox_that_another_server_has_replaced_is_the_new_one_after_a_round() {
    let app = TestApp::start().await;
    let given = app.make_sandbox(json!({"name": "pr-12"})).await;
    let agent = given.sign_in("agent").await;
    replace(&app.another_server(&[]).await).await;
    tend(&app).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "the new one knows nothing of this session");
    assert_eq!(given.sign_in("agent").await.get("/api/v1/auth/me").await.status, 200);
}

#[tokio::test]
async fn a_sandbox_that_another_server_has_replaced_is_removed_with_its_data_before_a_round() {
    let app = TestApp::start().await;
    let given = app.make_sandbox(json!({"name": "pr-12"})).await;
    replace(&app.another_server(&[]).await).await;
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 204);
    assert_eq!(stored(&app), 0);
    assert_eq!(given.get("/api/v1/auth/me").await.kind(), "404 sandbox_not_found");
}

#[tokio::test]
async fn a_payout_whose_sandbox_another_server_has_replaced_is_told_that_it_is_gone() {
    let app = TestApp::start().await;
    let given = app.make_sandbox(json!({"name": "pr-12"})).await;
    let other = app.another_server(&[]).await;
    let replaced = Box::pin(async {
        replace(&other).await;
        tend(&app).await;
    });
    let (paid, ()) = pay_until_removed(&given, replaced).await;
    assert_eq!(paid.kind(), "404 sandbox_not_found");
}

#[tokio::test]
async fn data_without_a_row_is_deleted_once_nobody_can_be_making_it_any_more() {
    let app = TestApp::start().await;
    let sandboxes = &app.sandbox.server.sandboxes;
    app.make_sandbox(json!({})).await;
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
    let one = app.make_sandbox(start.clone()).await;
    app.clock.advance(Duration::from_hours(3));
    let other = app.make_sandbox(start.clone()).await;
    let third = app.make_sandbox(json!({})).await;
    assert_eq!(third.console(Method::POST, "/data/reset", start).await.status, 204);
    let mut bodies = Vec::new();
    for given in [&one, &other, &third] {
        let agent = given.sign_in("agent").await;
        let get = |path| agent.get(path);
        let pending = get("/api/v1/disbursements/pending").await;
        bodies.push((pending.bytes, get("/api/v1/disbursement-records").await.bytes));
        let clock = given.read_console("/clock").await;
        assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2026-03-01T09:00:00.000Z"), &json!(true)));
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn sandboxes_made_within_five_minutes_have_the_same_dates_and_later_ones_newer_ones() {
    let app = TestApp::start().await;
    let mut latest = Vec::new();
    for minutes in [0, 4, 1, 6] {
        app.clock.advance(Duration::from_mins(minutes));
        let agent = app.make_sandbox(json!({})).await.sign_in("agent").await;
        latest.push(agent.records().await[0]["created_at"].clone());
    }
    let [first, in_four, in_five, in_eleven] = &latest[..] else { unreachable!() };
    assert_eq!(first, in_four);
    assert!(in_four != in_five && in_five != in_eleven, "{latest:?}");
}

#[tokio::test]
async fn the_token_of_a_sandbox_opens_its_console_and_nothing_else() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({})).await;
    let other = app.make_sandbox(json!({})).await;
    let outbox = "/console/api/outbox";
    for (token, status) in [
        (&*one.console_token, 200),
        (CONSOLE_TOKEN, 200),
        (&other.console_token, 401),
        ("a-token-of-nobody", 401),
    ] {
        assert_eq!(one.with(token).get(outbox).await.status, status);
    }
    for refused in [
        app.with(&one.console_token).get(outbox).await,
        one.console(Method::GET, "/sandboxes", None).await,
        one.console(Method::DELETE, &format!("/sandboxes/{}", one.name), None).await,
    ] {
        assert_eq!(refused.status, 401);
    }
}

#[tokio::test]
async fn wrong_console_tokens_are_counted_over_all_sandboxes() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({})).await;
    let other = app.make_sandbox(json!({})).await;
    for number in 0..99 {
        let given = [&one, &other][number % 2];
        assert_eq!(given.with("a-wrong-token-of-nobody").get("/console/api/clock").await.status, 401);
    }
    for answer in
        [one.console(Method::GET, "/clock", None).await, app.console(Method::GET, "/clock", None).await]
    {
        assert_eq!(answer.status, 429);
    }
}

#[tokio::test]
async fn a_name_is_taken_once_and_must_be_a_name() {
    let app = TestApp::start_with(&["--sandboxes", "2"]).await;
    app.make_sandbox(json!({"name": "pr-12"})).await;
    let make = |wish: Value| app.console(Method::POST, "/sandboxes", wish);
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
    assert_eq!(make(json!({"name": "main"})).await.body()["field"], "name");
    app.make_sandbox(json!({"name": "pr-13"})).await;
    let full = make(json!({})).await;
    assert_eq!(full.status, 429);
    let sentence = "There are already 2 sandboxes, as many as MKOPO_SANDBOXES allows. Remove one first.";
    assert_eq!(full.failure().2, sentence);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 204);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 404);
    app.make_sandbox(json!({"name": "pr-12"})).await;
}

#[tokio::test]
async fn a_made_up_name_that_is_taken_is_made_up_again() {
    // Each service draws the same random numbers.
    let made_up_after = async |name: &str| {
        let app = TestApp::start().await;
        app.make_sandbox(json!({"name": name})).await;
        app.make_sandbox(json!({})).await.name
    };
    let first = made_up_after("pr-12").await;
    assert_eq!(made_up_after("pr-13").await, first);
    let second = made_up_after(&first).await;
    assert!(second != first && second.starts_with("sandbox-"), "{second}");
}

#[tokio::test]
async fn of_calls_that_make_one_name_at_once_one_does_and_the_others_leave_nothing() {
    let app = TestApp::start().await;
    let make = || app.console(Method::POST, "/sandboxes", json!({"name": "pr-12"}));
    let answers = join_all((0..4).map(|_| make())).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    assert_eq!(stored(&app), 1);
}

#[tokio::test]
async fn main_is_listed_not_counted_and_never_removed() {
    let app = TestApp::start().await;
    assert_eq!(app.sandbox.server.sandboxes.list().await.unwrap()[0].last_used_at, None);
    app.make_sandbox(json!({"name": "pr-12"})).await.sign_in("agent").await;
    let list = app.read_console("/sandboxes").await;
    assert_eq!(column(&list, "name"), ["main", "pr-12"]);
    assert_eq!(list[0]["last_used_at"], NOON.to_string());
    assert_eq!(list[1]["calls"], 1);
    assert_eq!(list[1]["url"], "http://pr-12.localhost:8080");
    assert_eq!(list[1]["console_url"], "http://pr-12.localhost:8081/console");
    assert!(list[1]["size"].as_u64().unwrap() > 100_000, "{list:#}");
    // Once its use is stored, the calls are still the same.
    app.clock.advance(Duration::from_mins(2));
    tend(&app).await;
    assert_eq!(app.read_console("/sandboxes").await[1]["calls"], 1);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/main", None).await.status, 403);
}

#[tokio::test]
async fn metrics_have_the_calls_of_the_20_busiest_and_of_the_rest_together() {
    let app = TestApp::start().await;
    let sandbox_metrics = async || {
        let metrics = app.with(CONSOLE_TOKEN).metrics().await;
        let lines = metrics.lines().filter(|line| line.starts_with("mkopo_sandbox"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    for number in 1..=22 {
        let one = app.make_sandbox(json!({"name": format!("pr-{number:02}"), "seed": "empty"})).await;
        // The first two are the busiest; the last three have one call each, and only the first of them is named.
        for _ in 0..if number <= 2 { 4 } else { 1 + usize::from(number < 20) } {
            one.get("/healthz").await;
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
        assert_eq!(app.console(method, path, None).await.status, 404);
    }
    let agent = app.sign_in("agent").await;
    let headers = [("mkopo-sandbox", "pr-12"), ("host", "pr-12.localhost")];
    let me = agent.get_with("/api/v1/auth/me", &headers).await;
    if app.sandbox.database.is_shared() {
        assert_eq!(me.kind(), "404 sandbox_not_found", "another server may have sandboxes");
    } else {
        assert_eq!(me.status, 200, "the header is ignored");
    }
}

#[tokio::test]
async fn sandboxes_survive_a_restart() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let agent = one.sign_in("agent").await;
    assert_eq!(app.read_console("/sandboxes/pr-12").await["calls"], 1);
    let app = app.restart().await;
    assert_eq!(app.read_console("/sandboxes/pr-12").await["calls"], 1);
    let (agent, one) = (app.given("pr-12", "").with(agent.token()), app.given("pr-12", &one.console_token));
    assert_eq!(agent.pending().await.len(), 24);
    let metrics = app.with(CONSOLE_TOKEN).metrics().await;
    assert!(metrics.contains("mkopo_sandbox_calls{sandbox=\"pr-12\"} 1\n"), "since the start: {metrics}");
    assert_eq!(one.console(Method::GET, "/outbox", None).await.status, 200);
}

/// The agent of a sandbox, who has made one payout, whose answer is lost.
async fn with_an_open_payout(app: &TestApp) -> TestApp {
    let one = app.make_sandbox(json!({"name": "pr-12", "seed": "empty"})).await;
    let loan = json!({"loan": {"total_loan_amount": 500, "customer_phone_number": "0700009001"}});
    let loan = one.console(Method::POST, "/loans", loan).await.json()[0].clone();
    let agent = one.sign_in("agent").await;
    // What is due when a sandbox is opened is done before the payout.
    for _ in 0..2 {
        tend(app).await;
        agent.pending().await;
    }
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202, "its answer is lost");
    agent
}

#[tokio::test]
async fn a_payout_that_was_left_open_is_settled_without_a_call() {
    let app = TestApp::start().await;
    let agent = with_an_open_payout(&app).await;
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
    assert_eq!(agent.records().await[0]["status"], "COMPLETED");
}

#[tokio::test]
async fn a_payout_that_is_left_open_after_a_round_is_settled_within_a_minute() {
    let app = TestApp::start().await;
    let agent = with_an_open_payout(&app).await;
    app.as_time_passes_by(Duration::from_secs(5), async {
        while agent.records().await[0]["status"] == "PENDING" {
            tend(&app).await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    let took = app.clock.now().since(NOON);
    assert!(took < Duration::from_mins(1), "{took:?}");
}

/// The first server is never told to stop, as if it was killed, and does nothing any more.
#[tokio::test]
async fn a_payout_whose_server_was_killed_is_settled_by_the_next_one_without_a_call() {
    let app = TestApp::start().await;
    let agent = with_an_open_payout(&app).await;
    let next = app.another_server(&[]).await;
    wait_until("the next server takes the sandbox over, before any time has passed", async || {
        tend(&next).await;
        next.sandbox.server.sandboxes.count_open() == 1
    })
    .await;
    let settled = next.as_time_passes(async {
        let one = next.given("pr-12", &agent.console_token);
        one.read_console("/payouts?settled=true&wait=25s").await
    });
    assert_eq!(settled.await[0]["status"], "COMPLETED");
}

#[tokio::test]
async fn an_operator_goes_from_one_console_to_another_without_the_token() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let browser = Browser::sign_in(&app).await;
    let page = browser.get("/console/clock").await;
    assert!(html(&page).contains("Sandbox <b>main</b>"));
    assert!(html(&page).contains("href=\"/console/open?sandbox=pr-12\""));
    let opened = browser.get("/console/open?sandbox=pr-12").await;
    assert_eq!(opened.status, 303);
    let location = opened.headers[header::LOCATION].to_str().unwrap().to_owned();
    let ticket = location.strip_prefix("http://pr-12.localhost:8081/console?token=").unwrap();

    let at = |request: Request<Body>, host: &str| app.send(with_headers(request, &[("host", host)]));
    let sign_in = || post("/console/sign-in", None, &[("token", ticket), ("page", "/console/clock")]);
    assert_eq!(at(sign_in(), "localhost:8081").await.status, 401, "it opens one console only");
    let other = post("/console/sign-in", None, &[("token", &*one.console_token)]);
    assert_eq!(at(other, "pr-12.localhost:8081").await.status, 303, "somebody else signs in meanwhile");
    let signed_in = at(sign_in(), "pr-12.localhost:8081").await;
    assert_eq!(signed_in.status, 303);
    assert_eq!(at(sign_in(), "pr-12.localhost:8081").await.status, 401, "it opens it once");

    let cookie = cookie_of(&signed_in);
    let page = at(get("/console/clock", Some(&cookie)), "pr-12.localhost:8081").await;
    assert!(html(&page).contains("Sandbox <b>pr-12</b>"), "{}", html(&page));
    assert!(html(&page).contains("href=\"/console/open?sandbox=main\""));
    let stop = post("/console/clock", Some(&cookie), &[("csrf", &csrf(&page)), ("act", "stop")]);
    assert_eq!(at(stop, "pr-12.localhost:8081").await.status, 303);
    assert_eq!(one.read_console("/clock").await["frozen"], true);
    assert_eq!(app.read_console("/clock").await["frozen"], false);
    assert_eq!(at(get("/console/clock", Some(&cookie)), "localhost:8081").await.status, 401);
}

#[tokio::test]
async fn the_page_of_sandboxes_makes_and_removes_them_for_the_operator_only() {
    let (app, browser) = Browser::start().await;
    let fields = [("name", "pr-12"), ("seed", "empty"), ("expires_in", "2d")];
    let made = browser.send("/console/sandboxes", "make", &fields).await;
    assert_eq!(made.status, 200);
    let page = html(&made);
    assert!(page.contains("http://pr-12.localhost:8080"), "{page}");
    let token = page.split("id=\"sandbox-token\">").nth(1).unwrap().split('<').next().unwrap();
    let one = app.given("pr-12", token);
    assert_eq!(one.console(Method::GET, "/loans?limit=1", None).await.status, 405);
    assert!(one.sign_in("agent").await.pending().await.is_empty());
    let again = browser.send("/console/sandboxes", "make", &fields).await;
    assert_eq!(again.status, 409);
    assert!(words(&again).contains("There is already a sandbox pr-12."));

    let own = Browser::sign_in(&one).await;
    let overview = own.get("/console").await;
    assert_eq!(overview.status, 200);
    assert!(!html(&overview).contains("/console/sandboxes"), "it opens nothing else");
    for path in ["/console/sandboxes", "/console/open?sandbox=main"] {
        assert_eq!(own.get(path).await.status, 404, "{path}");
    }
    assert_eq!(browser.send("/console/sandboxes", "remove", &[("name", "pr-12")]).await.status, 303);
    assert_eq!(own.get("/console").await.status, 404);
}

/// Its own console would be gone with it, and guests would not get its builds.
#[tokio::test]
async fn in_the_console_of_a_sandbox_the_operator_removes_others_and_makes_no_links() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    app.make_sandbox(json!({"name": "pr-13"})).await;
    let browser = Browser::sign_in(&app.given(&one.name, CONSOLE_TOKEN)).await;
    let page = browser.get("/console/sandboxes").await;
    assert!(html(&page).contains("Remove pr-13") && !html(&page).contains("Remove pr-12"));
    assert!(html(&page).contains("2 sandboxes of") && !html(&page).contains("Make a link"));
    assert_eq!(browser.send("/console/sandboxes", "link", &[("story", "refused")]).await.status, 404);
    let story = json!({"story": "refused"});
    assert_eq!(one.with(CONSOLE_TOKEN).post("/console/api/story-links", story).await.status, 404);
}

/// The live version of mfe-loans in a sandbox, and the one before it.
async fn live_in(given: &TestApp) -> (Value, Value) {
    let list = given.get("/slices.json").await.json();
    let loans = &list["slices"]["mfe-loans"];
    (loans["version"].clone(), loans["previous"]["version"].clone())
}

pub async fn publish_in(given: &TestApp, build: &slices::Files) -> Answer {
    given.with(&given.console_token).send(slices::publication_of(build)).await
}

/// The path of the script of mfe-loans that is live in a sandbox.
async fn script_in(given: &TestApp) -> String {
    let list = given.get("/slices.json").await.json();
    list["slices"]["mfe-loans"]["entry"].as_str().unwrap().replace("mf-manifest.json", "slice.js")
}

#[tokio::test]
async fn the_portal_of_a_sandbox_knows_its_name() {
    let (app, _portal) = slices::started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let list = one.get("/slices.json").await.json();
    assert_eq!(list["portal"]["sandbox"], "pr-12");
    let list = app.get("/slices.json").await.json();
    assert_eq!(list["portal"]["sandbox"], Value::Null);
}

#[tokio::test]
async fn a_sandbox_follows_the_live_slices_of_main_until_one_is_chosen_there() {
    let (app, _portal) = slices::started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let other = app.make_sandbox(json!({"name": "pr-13"})).await;
    slices::publish(&app, &slices::build("mfe-loans", "0.2.0")).await;
    assert_eq!(live_in(&one).await.0, "0.2.0", "it follows main");

    let own = slices::build("mfe-loans", "0.3.0-pr.12");
    assert_eq!(publish_in(&one, &own).await.status, 201);
    assert_eq!(live_in(&one).await, (json!("0.3.0-pr.12"), json!("0.2.0")));
    assert_eq!(live_in(&other).await.0, "0.2.0");
    let trail = one.read_console("/slices").await["trail"].clone();
    assert_eq!(trail.as_array().unwrap().len(), 1, "{trail:#}");

    slices::publish(&app, &slices::build("mfe-loans", "0.4.0")).await;
    assert_eq!(live_in(&one).await.0, "0.3.0-pr.12", "it no longer follows main");
    assert_eq!(live_in(&other).await.0, "0.4.0");
    assert_eq!(one.console(Method::POST, "/slices/mfe-loans/rollback", None).await.status, 200);
    assert_eq!(live_in(&one).await.0, "0.2.0");
    let version = json!({"version": "0.2.0"});
    assert_eq!(other.console(Method::POST, "/slices/mfe-loans/activate", version).await.status, 200);
    assert_eq!(live_in(&other).await.0, "0.2.0");

    assert_eq!(one.console(Method::DELETE, "/slices/mfe-loans", None).await.status, 200);
    slices::publish(&app, &slices::build("mfe-loans", "0.5.0")).await;
    assert_eq!(live_in(&one).await.0, "0.5.0", "it follows main again");
    assert_eq!(live_in(&other).await.0, "0.2.0");
}

/// Whoever has the token of one sandbox could run a script on the pages of `main` and of the others.
#[tokio::test]
async fn a_build_that_is_published_in_a_sandbox_exists_nowhere_else() {
    let (app, _portal) = slices::started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let other = app.make_sandbox(json!({"name": "pr-13"})).await;
    let hostile = slices::build_with("mfe-loans", "0.2.0", "slice.js", b"steal()".to_vec());
    assert_eq!(publish_in(&one, &hostile).await.status, 201);
    let (own, plain) = (script_in(&one).await, "/slices/mfe-loans/0.2.0/slice.js");
    assert_ne!(own, plain, "browsers may have the version of main");
    for path in [&*own, plain] {
        assert_eq!(one.get(path).await.bytes, b"steal()"[..], "{path}");
        assert_eq!(app.get(path).await.status, 404, "{path}");
        assert_eq!(other.get(path).await.status, 404, "{path}");
    }
    let version = Some(json!({"version": "0.2.0"}));
    for refused in [
        app.console(Method::POST, "/slices/mfe-loans/activate", version.clone()).await,
        other.console(Method::POST, "/slices/mfe-loans/activate", version).await,
    ] {
        assert_eq!(refused.failure().1, "build_not_found");
    }
    let of_main = app.read_console("/slices").await;
    assert!(!of_main.to_string().contains("0.2.0"), "{of_main:#}");

    // Version numbers are not taken from `main`, and its own are not replaced where a browser has them.
    let good = slices::build("mfe-loans", "0.2.0");
    assert_eq!(slices::publish(&app, &good).await.status, 201);
    assert_ne!(app.get(plain).await.bytes, b"steal()"[..]);
    assert_eq!(one.get(&own).await.bytes, b"steal()"[..]);
    assert_ne!(one.get(plain).await.bytes, b"steal()"[..]);
    assert_eq!(app.console(Method::DELETE, "/sandboxes/pr-12", None).await.status, 204);
    let again = app.make_sandbox(json!({"name": "pr-12"})).await;
    assert_eq!(again.get(&own).await.status, 404);
}

#[tokio::test]
async fn the_builds_of_a_sandbox_have_room_for_64_mib_and_the_oldest_make_way() {
    let (app, _portal) = slices::started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let large = |name: &str, version: &str| {
        slices::build_with(name, version, "filler.txt", vec![b'x'; 15 * 1024 * 1024])
    };
    for number in 1..=5 {
        assert_eq!(publish_in(&one, &large("mfe-loans", &format!("0.2.0-pr.{number}"))).await.status, 201);
    }
    let list = one.read_console("/slices").await;
    let versions = column(&list["slices"][0]["builds"], "version");
    assert_eq!(versions, ["0.2.0-pr.5", "0.2.0-pr.4", "0.2.0-pr.3", "0.2.0-pr.2", "0.1.0"]);
    assert_eq!(publish_in(&one, &large("mfe-plans", "0.1.0")).await.failure().1, "sandbox_full");
    assert_eq!(one.console(Method::DELETE, "/slices/mfe-loans", None).await.status, 200);
    assert_eq!(publish_in(&one, &large("mfe-plans", "0.1.0")).await.status, 201);
}

#[tokio::test]
async fn the_command_line_makes_lists_and_removes_sandboxes_of_a_running_service() {
    let app = TestApp::start().await;
    let mkopo =
        async |arguments: &[&str]| command_line::command(&app, &[&["sandbox"], arguments].concat()).await;
    let made = printed(mkopo(&["add", "pr-12", "--seed", "empty", "--expires-in", "2d"]).await);
    let made: Value = serde_json::from_str(&made).unwrap();
    let one = app.given("pr-12", made["token"].as_str().unwrap());
    let agent = one.sign_in("agent").await;
    assert!(agent.pending().await.is_empty());
    assert_eq!(one.console(Method::GET, "/outbox", None).await.status, 200);

    let listed = printed(mkopo(&["list"]).await);
    assert!(listed.starts_with("main\t") && listed.contains("\npr-12\t"), "{listed}");
    let again = mkopo(&["add", "pr-12"]).await;
    assert_eq!(command_line::error_line(&again), "mkopo: There is already a sandbox pr-12.");
    assert_eq!(printed(mkopo(&["remove", "pr-12"]).await), "pr-12 is removed.\n");
    tend(&app).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.failure().1, "sandbox_not_found");
}
