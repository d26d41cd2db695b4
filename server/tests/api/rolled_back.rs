//! Builds that are taken back by themselves, and rollouts that go on by their plan.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use slices::watch;
use worlds::retention;

use crate::{
    browser::{Browser, html, words},
    rollouts::publish_for,
    slice_reports::{crashed, loaded, not_loaded, report},
    slices::{
        activate, build, build_of, hold, manifest, publish, publish_with, roll_back, started, versions,
    },
    test_app::{TestApp, account},
};

/// The network address of the nth visitor.
fn address(n: usize) -> String {
    format!("198.51.{}.{}", n / 200, n % 200)
}

/// So many people, each with an account of their own, who sign in. Returns their tokens.
pub async fn people(app: &TestApp, count: usize) -> Vec<String> {
    let mut tokens = Vec::new();
    for n in 0..count {
        let email = format!("person{n}@mkopo.test");
        let mut account = account(&email);
        account["phone_number"] = json!(format!("+2547120000{n:02}"));
        let opened = app.console(Method::POST, "/staff", account).await.status;
        assert!([StatusCode::CREATED, StatusCode::CONFLICT].contains(&opened), "{opened}");
        tokens.push(app.sign_in(&format!("person{n}")).await.token().to_owned());
    }
    tokens
}

/// A page loads a build, and its screen crashes if it `failed`.
async fn visit(app: &TestApp, address: &str, session: Option<&str>, version: &str, failed: bool) {
    let reports = [loaded(version), crashed(version)];
    assert_eq!(report(app, address, session, &reports[..if failed { 2 } else { 1 }]).await.status, 204);
}

/// All of those people load a build, and the screens of the first `failed` crash.
async fn visits(app: &TestApp, people: &[String], version: &str, failed: usize) {
    for (n, token) in people.iter().enumerate() {
        visit(app, &address(n), Some(token), version, n < failed).await;
    }
}

/// So many pages that nobody is signed in on load a build, and the screens of some crash.
async fn strangers(app: &TestApp, version: &str, loads: usize, failed: usize) {
    for n in 0..loads {
        visit(app, &address(100 + n), None, version, n < failed).await;
    }
}

pub async fn look(app: &TestApp) {
    watch::look(&app.sandbox.slices).await.unwrap();
}

/// The rollout of mfe-loans.
async fn rollout(app: &TestApp) -> Value {
    app.read_console("/slices").await["slices"][0]["rollout"].clone()
}

/// The last entry of the trail: its act, version, note and author.
pub async fn last(app: &TestApp) -> Value {
    let event = app.read_console("/slices").await["trail"][0].clone();
    json!([event["act"], event["version"], event["note"], event["by"]])
}

#[tokio::test]
async fn a_build_that_fails_for_5_people_is_taken_back_and_the_trail_says_why() {
    let (app, _portal) = started().await;
    let people = people(&app, 8).await;
    publish_for(&app, "percent=10").await;
    visits(&app, &people, "0.1.0", 0).await;
    visits(&app, &people, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(rollout(&app).await, Value::Null);
    assert_eq!(versions(&app).await.0, "0.1.0");
    let sentence = "rolled back: 5 people saw it fail, in 5 of 8 pages, 0 of 8 before";
    assert_eq!(last(&app).await, json!(["rolled_back", "0.2.0", sentence, "the service"]));
    let event = app.read_console("/events?kind=slice_rolled_back").await[0].clone();
    assert_eq!((&event["who"], &event["about"]), (&json!("the service"), &json!("mfe-loans")));
    assert_eq!(event["details"], format!("0.2.0, {sentence}"));
    look(&app).await;
    let trail = app.read_console("/slices").await["trail"].as_array().unwrap().len();
    assert_eq!(trail, 2, "once");
    let words = Browser::sign_in(&app).await.read("/console/slices").await;
    let rule = "A build is taken back by itself when at least 5 signed-in people have seen it fail, it fails in \
                over 20% of their pages, and in at least twice the share of the build before.";
    for shown in [rule, sentence] {
        assert!(words.contains(shown), "{shown}: {words}");
    }
}

#[tokio::test]
async fn the_page_shows_what_pages_reported_in_charts_and_numbers() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=25").await;
    strangers(&app, "0.1.0", 30, 0).await;
    strangers(&app, "0.2.0", 10, 1).await;
    look(&app).await;
    app.clock.advance(Duration::from_hours(2));
    strangers(&app, "0.2.0", 10, 0).await;
    look(&app).await;
    let page = Browser::sign_in(&app).await.get("/console/slices").await;
    let words = words(&page);
    for shown in [
        "25% of browsers have 0.2.0; the others have 0.1.0.",
        "0.2.0 100% 10 0 431 ms 20 1 431 ms",
        "0.1.0 0% 0 0 – 30 0 431 ms",
        ": 10 loads, 0 failed. Live build",
        "up to 40 loads",
    ] {
        assert!(words.contains(shown), "{shown}: {words}");
    }
    for label in [
        "Loads of mfe-loans, last day: 50 pages, 1 failed",
        "Median load time of mfe-loans, last day: 431 ms",
    ] {
        assert!(html(&page).contains(&format!("aria-label=\"{label}\"")), "{label}");
    }
    let cells = html(&page).split("<td").skip(1).map(|cell| cell.split('>').next().unwrap().to_owned());
    let labelled: Vec<String> = cells.filter(|cell| cell.contains("data-label")).collect();
    assert!(labelled.len() > 7, "{labelled:?}");
    for cell in labelled {
        assert!(cell.contains("more") || cell.contains("right"), "no label where tables are lists: {cell}");
    }
}

#[tokio::test]
async fn four_people_do_not_take_a_build_back_however_often_they_see_it_fail() {
    let (app, _portal) = started().await;
    let people = people(&app, 5).await;
    publish_for(&app, "percent=10").await;
    for n in 0..30 {
        for token in &people[..4] {
            report(&app, &address(n), Some(token), &[not_loaded("0.2.0"), crashed("0.2.0")]).await;
        }
        look(&app).await;
    }
    assert_eq!(rollout(&app).await["percent"], 10);
    report(&app, &address(0), Some(&people[4]), &[not_loaded("0.2.0")]).await;
    look(&app).await;
    assert_eq!(last(&app).await[2], "rolled back: 5 people saw it fail, in 5 of 5 pages, none before");
}

#[tokio::test]
async fn it_must_fail_in_over_20_percent_of_the_pages_one_for_each_person_and_screen() {
    let (app, _portal) = started().await;
    let people = people(&app, 5).await;
    let mut brings = manifest("mfe-loans", "0.2.0");
    let screens = ["/loans", "/due", "/paid", "/late", "/written-off"];
    brings["brings"]["screens"] =
        screens.iter().map(|path| json!({"path": path, "title": "A screen"})).collect::<Value>();
    publish(&app, &build_of(&brings)).await;
    let on = |mut report: Value, screen: &str| {
        report["route"] = json!(screen);
        report
    };
    for _ in 0..3 {
        for (n, token) in people.iter().enumerate() {
            let opened = screens.map(|screen| on(loaded("0.2.0"), screen));
            report(&app, &address(n), Some(token), &opened).await;
            report(&app, &address(n), Some(token), &[on(crashed("0.2.0"), "/loans")]).await;
        }
    }
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0", "5 of 25 pages are 20%");
    report(&app, &address(0), Some(&people[0]), &[on(crashed("0.2.0"), "/due")]).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0");
    assert_eq!(last(&app).await[2], "rolled back: 5 people saw it fail, in 6 of 25 pages, none before");
}

#[tokio::test]
async fn it_must_fail_in_twice_the_share_of_the_build_before() {
    let (app, _portal) = started().await;
    let people = people(&app, 8).await;
    visits(&app, &people, "0.1.0", 3).await;
    look(&app).await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    visits(&app, &people, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0", "5 of 8 is not twice 3 of 8");
    report(&app, &address(5), Some(&people[5]), &[crashed("0.2.0")]).await;
    look(&app).await;
    assert_eq!(last(&app).await[2], "rolled back: 6 people saw it fail, in 6 of 8 pages, 3 of 8 before");
}

#[tokio::test]
async fn a_build_that_went_live_at_once_is_taken_back_in_its_first_hour_only() {
    let (app, _portal) = started().await;
    visits(&app, &people(&app, 8).await, "0.1.0", 0).await;
    look(&app).await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    app.clock.advance(Duration::from_mins(59));
    visits(&app, &people(&app, 8).await, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    let sentence = "rolled back: 5 people saw it fail, in 5 of 8 pages, 0 of 8 before";
    assert_eq!(last(&app).await, json!(["rolled_back", "0.1.0", sentence, "the service"]));

    publish(&app, &build("mfe-loans", "0.3.0")).await;
    app.clock.advance(Duration::from_mins(61));
    visits(&app, &people(&app, 8).await, "0.3.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.3.0");
}

#[tokio::test]
async fn a_roll_back_goes_to_no_build_that_was_taken_back_aborted_or_never_live() {
    let (app, _portal) = started().await;
    let publish = async |version: &str| publish(&app, &build("mfe-loans", version)).await;
    publish_for(&app, "percent=10").await;
    app.console(Method::POST, "/slices/mfe-loans/abort", None).await;
    publish("0.3.0").await;
    publish("0.4.0").await;
    visits(&app, &people(&app, 8).await, "0.4.0", 8).await;
    look(&app).await;
    assert_eq!(versions(&app).await, (json!("0.3.0"), json!("0.1.0")));
    hold(&app, "mfe-loans", "0.4.5").await;
    publish("0.5.0").await;
    publish("0.6.0").await;
    for (live, previous) in [("0.5.0", json!("0.3.0")), ("0.3.0", json!("0.1.0")), ("0.1.0", json!(null))] {
        assert_eq!(roll_back(&app, "mfe-loans").await.json()["live"], live);
        assert_eq!(versions(&app).await, (json!(live), previous));
    }
    assert_eq!(roll_back(&app, "mfe-loans").await.failure().1, "no_previous_build");
    assert_eq!(activate(&app, "mfe-loans", "0.6.0").await.json()["previous"], "0.1.0");
}

#[tokio::test]
async fn what_people_saw_before_a_build_went_live_again_does_not_count() {
    let (app, _portal) = started().await;
    let people = people(&app, 8).await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    visits(&app, &people, "0.2.0", 8).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0");
    app.clock.advance(Duration::from_mins(1));
    activate(&app, "mfe-loans", "0.2.0").await;
    look(&app).await;
    visits(&app, &people, "0.2.0", 0).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0");
    visits(&app, &people, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn without_a_watch_and_after_a_roll_back_by_hand_nothing_is_taken_back() {
    let (app, _portal) = started().await;
    let people = people(&app, 8).await;
    visits(&app, &people, "0.1.0", 0).await;
    look(&app).await;
    publish_with(&app, &build("mfe-loans", "0.2.0"), "?watch=false").await;
    visits(&app, &people, "0.2.0", 8).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0");

    activate(&app, "mfe-loans", "0.1.0").await;
    activate(&app, "mfe-loans", "0.2.0").await;
    roll_back(&app, "mfe-loans").await;
    app.clock.advance(Duration::from_mins(1));
    visits(&app, &people, "0.1.0", 8).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0", "somebody chose it");

    let body = json!({"version": "0.2.0", "percent": 50, "watch": false});
    app.console(Method::POST, "/slices/mfe-loans/rollout", body).await;
    app.clock.advance(Duration::from_mins(1));
    visits(&app, &people, "0.2.0", 8).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 50);
}

#[tokio::test]
async fn reports_without_a_live_session_neither_take_a_build_back_nor_hide_that_it_fails() {
    let (app, _portal) = started().await;
    let mut people = people(&app, 14).await;
    visits(&app, &people, "0.1.0", 0).await;
    look(&app).await;
    publish_for(&app, "percent=10").await;
    for token in people.drain(8..) {
        app.with(&token).post("/api/v1/auth/logout", None).await;
        report(&app, &address(50), Some(&token), &[not_loaded("0.2.0")]).await;
    }
    for n in 0..200 {
        let forged = [not_loaded("0.2.0"), crashed("0.2.0"), loaded("0.1.0")];
        report(&app, &address(100 + n), [None, Some("eyJ.forged.token")][n % 2], &forged).await;
    }
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 10, "nobody who is signed in has seen it fail");

    visits(&app, &people, "0.2.0", 5).await;
    for n in 0..200 {
        report(&app, &address(300 + n), None, &[loaded("0.2.0"), not_loaded("0.1.0")]).await;
    }
    look(&app).await;
    assert_eq!(last(&app).await[2], "rolled back: 5 people saw it fail, in 5 of 8 pages, 0 of 14 before");
}

#[tokio::test]
async fn which_screens_people_have_opened_is_kept_for_7_days() {
    let (app, _portal) = started().await;
    visits(&app, &people(&app, 2).await, "0.1.0", 1).await;
    look(&app).await;
    let kept = async || app.count("SELECT count(*) FROM slice_page").await;
    app.clock.advance(Duration::from_hours(7 * 24 - 1));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert_eq!(kept().await, 2);
    app.clock.advance(Duration::from_hours(1));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert_eq!(kept().await, 0);
}

#[tokio::test]
async fn a_plan_goes_on_while_the_build_is_healthy_and_waits_until_5_people_have_seen_it() {
    let (app, _portal) = started().await;
    publish_for(&app, "plan=5:10m,25:30m,100").await;
    let percent = async || {
        look(&app).await;
        rollout(&app).await["percent"].clone()
    };
    app.clock.advance(Duration::from_mins(20));
    let people = people(&app, 8).await;
    strangers(&app, "0.2.0", 40, 0).await;
    assert_eq!(percent().await, 5, "nobody who is signed in has loaded it");
    visits(&app, &people[..4], "0.2.0", 0).await;
    assert_eq!(percent().await, 5, "4 people");
    visits(&app, &people[..5], "0.2.0", 0).await;
    assert_eq!(percent().await, 25);
    assert_eq!(last(&app).await, json!(["rolled_out", "0.2.0", "to 25%, by its plan", "the service"]));
    app.clock.advance(Duration::from_mins(2));
    visits(&app, &people, "0.2.0", 0).await;
    assert_eq!(percent().await, 25, "the step lasts 30 minutes");
    app.clock.advance(Duration::from_mins(28));
    assert_eq!(percent().await, Value::Null);
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(last(&app).await, json!(["promoted", "0.2.0", null, "the service"]));

    visits(&app, &people, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0", "it is watched for another hour");
}

#[tokio::test]
async fn a_plan_waits_while_the_build_fails_and_does_not_go_on_when_it_is_held() {
    let (app, _portal) = started().await;
    let people = people(&app, 10).await;
    publish_for(&app, "plan=5:10m,25").await;
    visits(&app, &people[..5], "0.2.0", 2).await;
    app.clock.advance(Duration::from_mins(10));
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 5, "2 of 5 pages failed");
    visits(&app, &people, "0.2.0", 0).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 25, "2 of 10 pages are 20%");
    let plan = json!({"version": "0.2.0", "plan": "5:1m,100"});
    app.console(Method::POST, "/slices/mfe-loans/rollout", plan).await;
    app.console(Method::POST, "/slices/mfe-loans/hold", None).await;
    app.clock.advance(Duration::from_mins(10));
    visits(&app, &people, "0.2.0", 0).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 5);
}

#[tokio::test]
async fn a_failing_build_is_taken_back_also_after_the_consoles_clock_was_moved_on_and_back() {
    let (app, _portal) = started().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1d"})).await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    visits(&app, &people(&app, 8).await, "0.2.0", 5).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn a_plan_follows_the_consoles_clock_and_begins_its_step_again_when_that_goes_back() {
    let (app, _portal) = started().await;
    let percent = async || {
        look(&app).await;
        rollout(&app).await["percent"].clone()
    };
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    publish_for(&app, "plan=5:10m,25:30m,100").await;
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    let people = people(&app, 5).await;
    visits(&app, &people, "0.2.0", 0).await;
    assert_eq!(percent().await, 5);
    app.clock.advance(Duration::from_mins(9));
    assert_eq!(percent().await, 5);
    app.clock.advance(Duration::from_mins(1));
    assert_eq!(percent().await, 25, "10 minutes after the clock went back");
    visits(&app, &people, "0.2.0", 0).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "30m"})).await;
    assert_eq!(percent().await, Value::Null);
    assert_eq!(versions(&app).await.0, "0.2.0");
}

#[tokio::test]
async fn the_trail_says_once_why_a_failing_build_can_not_be_taken_back_and_who_must_act() {
    let (app, _portal) = started().await;
    let with_screen = |name: &str, version: &str, path: &str| {
        let mut brings = manifest(name, version);
        brings["brings"]["screens"] = json!([{"path": path, "title": "A screen"}]);
        build_of(&brings)
    };
    publish(&app, &with_screen("mfe-loans", "0.2.0", "/reports")).await;
    publish(&app, &with_screen("mfe-loans", "0.3.0", "/loans")).await;
    assert_eq!(publish(&app, &with_screen("mfe-late", "1.0.0", "/reports")).await.status, 201);
    visits(&app, &people(&app, 8).await, "0.3.0", 7).await;
    for _ in 0..3 {
        look(&app).await;
    }
    assert_eq!(versions(&app).await.0, "0.3.0");
    let sentence = "not rolled back, because 0.2.0 is refused: mfe-loans wants the path /reports, which mfe-late \
                    has. The team of mfe-loans must publish a build that works, or activate another: 7 people saw \
                    it fail, in 7 of 8 pages, none before";
    assert_eq!(last(&app).await, json!(["not_rolled_back", "0.3.0", sentence, "the service"]));
    let trail = app.read_console("/slices").await["trail"].as_array().unwrap().len();
    assert_eq!(trail, 4, "three were published, and one is not taken back: once");
    let events = app.read_console("/events?kind=slice_not_rolled_back").await;
    assert_eq!(events.as_array().unwrap().len(), 1);
    let words = Browser::sign_in(&app).await.read("/console/slices").await;
    assert!(words.contains(sentence), "{words}");
}

#[tokio::test]
async fn three_servers_judge_by_the_reports_of_all_and_one_of_them_acts() {
    let (app, portal) = started().await;
    let options = ["--portal-dir", portal.path().to_str().unwrap()];
    let (one, two) = (app.another_server(&options).await, app.another_server(&options).await);
    let people = people(&app, 9).await;
    publish_for(&app, "percent=10").await;
    visits(&app, &people[..4], "0.1.0", 0).await;
    visits(&one, &people[4..], "0.1.0", 0).await;
    visits(&one, &people[..4], "0.2.0", 3).await;
    visits(&two, &people[4..], "0.2.0", 2).await;
    for server in [&app, &one, &two] {
        slices::reports::write(&server.sandbox.slices).await.unwrap();
    }
    tokio::join!(look(&app), look(&one), look(&two));
    for server in [&app, &one, &two] {
        assert_eq!(rollout(server).await, Value::Null);
        let sentence = "rolled back: 5 people saw it fail, in 5 of 9 pages, 0 of 9 before";
        assert_eq!(last(server).await[2], sentence);
    }
    let trail = app.read_console("/slices").await["trail"].as_array().unwrap().len();
    assert_eq!(trail, 2, "published and taken back, once");
}
