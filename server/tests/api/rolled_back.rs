//! Builds that are taken back by themselves, and rollouts that go on by their plan.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use mkopo::slices::{archive, watch};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    browser::{Browser, html, words},
    rollouts::publish_for,
    slice_reports::{crashed, loaded, not_loaded, report},
    slices::{activate, build, portal, publication, publish, roll_back, start, versions},
    test_app::TestApp,
};

/// The network address of the nth visitor.
fn address(n: usize) -> String {
    format!("198.51.{}.{}", n / 200, n % 200)
}

async fn started() -> (TestApp, TempDir) {
    let portal = portal();
    (start(&portal).await, portal)
}

/// So many pages load a build, each of another visitor, and the screens of some crash.
async fn pages(app: &TestApp, version: &str, loads: usize, failed: usize) {
    for n in 0..loads {
        let reports = [loaded(version), crashed(version)];
        let reports = if n < failed { &reports[..] } else { &reports[..1] };
        assert_eq!(report(app, &address(n), None, reports).await.status, StatusCode::NO_CONTENT);
    }
}

async fn look(app: &TestApp) {
    watch::look(&app.sandbox).await.unwrap();
}

/// The rollout of mfe-loans.
async fn rollout(app: &TestApp) -> Value {
    app.console(Method::GET, "/slices", None).await.json()["slices"][0]["rollout"].clone()
}

/// What the trail says last: the act, the version, the note, and who.
async fn last(app: &TestApp) -> Value {
    let event = app.console(Method::GET, "/slices", None).await.json()["trail"][0].clone();
    json!([event["act"], event["version"], event["note"], event["by"]])
}

#[tokio::test]
async fn a_build_that_fails_more_often_is_taken_back_and_the_trail_says_why() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=10").await;
    pages(&app, "0.1.0", 210, 0).await;
    pages(&app, "0.2.0", 31, 7).await;
    look(&app).await;
    assert_eq!(rollout(&app).await, Value::Null);
    assert_eq!(versions(&app).await.0, "0.1.0");
    let sentence = "rolled back: 7 of 31 pages failed, 0 of 210 before";
    assert_eq!(last(&app).await, json!(["rolled_back", "0.2.0", sentence, "the service"]));
    let event = app.console(Method::GET, "/events?kind=slice_rolled_back", None).await.json()[0].clone();
    assert_eq!((&event["who"], &event["about"]), (&json!("the service"), &json!("mfe-loans")));
    assert_eq!(event["details"], format!("0.2.0, {sentence}"));
    look(&app).await;
    let trail = app.console(Method::GET, "/slices", None).await.json()["trail"].as_array().unwrap().len();
    assert_eq!(trail, 2, "once");
}

#[tokio::test]
async fn the_page_shows_what_pages_reported_in_charts_and_numbers() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=25").await;
    pages(&app, "0.1.0", 30, 0).await;
    pages(&app, "0.2.0", 10, 1).await;
    look(&app).await;
    app.clock.advance(Duration::from_hours(2));
    pages(&app, "0.2.0", 10, 0).await;
    look(&app).await;
    let browser = Browser::sign_in(&app).await;
    let page = browser.get("/console/slices").await;
    let words = words(&page);
    for shown in [
        "25% of browsers have 0.2.0; the others have 0.1.0.",
        "0.2.0 100% 10 0 431 ms 20 1 431 ms",
        "0.1.0 0% 0 0 – 30 0 431 ms",
    ] {
        assert!(words.contains(shown), "{shown}: {words}");
    }
    for label in [
        "Loads of mfe-loans, last hour: 10 pages, 0 failed",
        "Loads of mfe-loans, last day: 50 pages, 1 failed",
        "Median load time of mfe-loans, last day: 431 ms",
    ] {
        assert!(html(&page).contains(&format!("aria-label=\"{label}\"")), "{label}");
    }
}

#[tokio::test]
async fn a_build_is_not_judged_by_fewer_than_20_pages_or_by_one_witness() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=10").await;
    pages(&app, "0.1.0", 200, 0).await;
    pages(&app, "0.2.0", 19, 9).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 10, "19 pages");
    pages(&app, "0.2.0", 1, 0).await;
    look(&app).await;
    assert_eq!(rollout(&app).await, Value::Null);

    publish(&app, &build("mfe-loans", "0.3.0")).await;
    for n in 0..40 {
        report(&app, &address(n), None, &[loaded("0.3.0")]).await;
        report(&app, "203.0.113.1", None, &[not_loaded("0.3.0")]).await;
    }
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.3.0", "one witness");
    report(&app, "203.0.113.2", None, &[not_loaded("0.3.0"), not_loaded("0.3.0"), not_loaded("0.3.0")]).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn a_build_that_went_live_at_once_is_taken_back_in_its_first_hour_only() {
    let (app, _portal) = started().await;
    pages(&app, "0.1.0", 200, 2).await;
    look(&app).await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    app.clock.advance(Duration::from_mins(59));
    pages(&app, "0.2.0", 40, 12).await;
    look(&app).await;
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    let sentence = "rolled back: 12 of 40 pages failed, 2 of 200 before";
    assert_eq!(last(&app).await, json!(["rolled_back", "0.1.0", sentence, "the service"]));

    publish(&app, &build("mfe-loans", "0.3.0")).await;
    app.clock.advance(Duration::from_mins(61));
    pages(&app, "0.3.0", 40, 12).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.3.0");
}

#[tokio::test]
async fn without_a_watch_and_after_a_roll_back_by_hand_nothing_is_taken_back() {
    let (app, _portal) = started().await;
    pages(&app, "0.1.0", 200, 0).await;
    look(&app).await;
    let files = archive::write(&build("mfe-loans", "0.2.0")).unwrap();
    app.send(publication("?watch=false", files)).await;
    pages(&app, "0.2.0", 40, 20).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0");

    activate(&app, "mfe-loans", "0.1.0").await;
    activate(&app, "mfe-loans", "0.2.0").await;
    roll_back(&app, "mfe-loans").await;
    app.clock.advance(Duration::from_mins(1));
    pages(&app, "0.1.0", 40, 20).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0", "somebody chose it");

    let body = json!({"version": "0.2.0", "percent": 50, "watch": false});
    app.console(Method::POST, "/slices/mfe-loans/rollout", Some(body)).await;
    app.clock.advance(Duration::from_mins(1));
    pages(&app, "0.2.0", 40, 20).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 50);
}

#[tokio::test]
async fn where_nobody_loaded_the_build_before_10_percent_decide() {
    let (app, _portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    pages(&app, "0.2.0", 60, 8).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.2.0", "13% may be chance");
    app.clock.advance(Duration::from_mins(2));
    pages(&app, "0.2.0", 60, 40).await;
    look(&app).await;
    assert_eq!(last(&app).await[2], "rolled back: 48 of 120 pages failed, none before");
}

#[tokio::test]
async fn thresholds_are_settings() {
    let portal = portal();
    let folder = portal.path().to_str().unwrap();
    let app = TestApp::start_with(&[
        "--portal-dir",
        folder,
        "--rollback-pages",
        "10",
        "--rollback-witnesses",
        "4",
        "--rollback-excess",
        "40",
    ])
    .await;
    publish_for(&app, "percent=10").await;
    pages(&app, "0.1.0", 200, 0).await;
    pages(&app, "0.2.0", 12, 4).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 10, "33 percentage points");
    app.clock.advance(Duration::from_mins(2));
    for n in 0..3 {
        report(&app, &address(n), None, &[not_loaded("0.2.0"), not_loaded("0.2.0")]).await;
    }
    look(&app).await;
    assert_eq!(rollout(&app).await, Value::Null);
}

/// Reports that somebody who wants a healthy build taken back sends, as much as the limits allow.
async fn attack(app: &TestApp, session: Option<&str>, minutes: usize) {
    for _ in 0..minutes {
        for n in 0..60 {
            let session = session.filter(|_| n % 2 == 0);
            let forged = [not_loaded("0.2.0"), not_loaded("0.2.0"), crashed("0.2.0"), crashed("0.2.0")];
            report(app, "203.0.113.66", session, &forged).await;
            report(app, "203.0.113.66", session, &[loaded("0.1.0")]).await;
        }
        app.clock.advance(Duration::from_mins(1));
        look(app).await;
    }
}

#[tokio::test]
async fn forged_doubled_lost_and_flooded_reports_do_not_take_a_healthy_build_back() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=10").await;
    let agent = app.sign_in("agent").await.token;
    attack(&app, Some(&agent), 5).await;
    for n in 0..300 {
        let version = if n % 10 == 0 { "0.2.0" } else { "0.1.0" };
        // A tenth is lost, and a tenth comes twice.
        for _ in 0..[0, 1, 1, 1, 1, 1, 1, 1, 1, 2][n / 10 % 10] {
            report(&app, &address(n), None, &[loaded(version)]).await;
        }
    }
    attack(&app, Some(&agent), 5).await;
    attack(&app, None, 5).await;
    assert_eq!(rollout(&app).await["percent"], 10);
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn a_plan_goes_on_while_the_build_is_healthy_and_waits_for_20_pages() {
    let (app, _portal) = started().await;
    publish_for(&app, "plan=5:10m,25:30m,100").await;
    let percent = async || {
        look(&app).await;
        rollout(&app).await["percent"].clone()
    };
    app.clock.advance(Duration::from_hours(2));
    assert_eq!(percent().await, 5, "nobody has loaded it");
    pages(&app, "0.2.0", 19, 0).await;
    assert_eq!(percent().await, 5, "19 pages");
    pages(&app, "0.2.0", 1, 0).await;
    assert_eq!(percent().await, 25);
    assert_eq!(last(&app).await, json!(["rolled_out", "0.2.0", "to 25%, by its plan", "the service"]));
    app.clock.advance(Duration::from_mins(2));
    pages(&app, "0.2.0", 40, 0).await;
    assert_eq!(percent().await, 25, "the step lasts 30 minutes");
    app.clock.advance(Duration::from_mins(28));
    assert_eq!(percent().await, Value::Null);
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(last(&app).await, json!(["promoted", "0.2.0", null, "the service"]));

    pages(&app, "0.1.0", 100, 0).await;
    pages(&app, "0.2.0", 60, 30).await;
    look(&app).await;
    assert_eq!(versions(&app).await.0, "0.1.0", "it is watched for another hour");
}

#[tokio::test]
async fn a_plan_waits_while_failures_exceed_and_does_not_go_on_when_it_is_held() {
    let (app, _portal) = started().await;
    publish_for(&app, "plan=5:10m,25").await;
    pages(&app, "0.1.0", 60, 0).await;
    pages(&app, "0.2.0", 20, 2).await;
    app.clock.advance(Duration::from_mins(10));
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 5, "10% of the pages failed, which may be chance");
    pages(&app, "0.2.0", 40, 0).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 25);
    app.console(
        Method::POST,
        "/slices/mfe-loans/rollout",
        Some(json!({"version": "0.2.0", "plan": "5:1m,100"})),
    )
    .await;
    app.console(Method::POST, "/slices/mfe-loans/hold", None).await;
    app.clock.advance(Duration::from_hours(1));
    pages(&app, "0.2.0", 40, 0).await;
    look(&app).await;
    assert_eq!(rollout(&app).await["percent"], 5);
}

#[tokio::test]
async fn three_servers_judge_by_the_reports_of_all_and_one_of_them_acts() {
    let (app, portal) = started().await;
    let options = ["--portal-dir", portal.path().to_str().unwrap()];
    let (one, two) = (app.another_server(&options).await, app.another_server(&options).await);
    publish_for(&app, "percent=10").await;
    pages(&app, "0.1.0", 90, 0).await;
    pages(&one, "0.1.0", 60, 0).await;
    pages(&one, "0.2.0", 16, 4).await;
    for n in 0..15 {
        let failed = [loaded("0.2.0"), crashed("0.2.0")];
        report(&two, &address(300 + n), None, if n < 3 { &failed } else { &failed[..1] }).await;
    }
    for server in [&app, &one, &two] {
        mkopo::slices::reports::write(&server.sandbox).await.unwrap();
    }
    tokio::join!(look(&app), look(&one), look(&two));
    for server in [&app, &one, &two] {
        assert_eq!(rollout(server).await, Value::Null);
        assert_eq!(last(server).await[2], "rolled back: 7 of 31 pages failed, 0 of 150 before");
    }
    let trail = app.console(Method::GET, "/slices", None).await.json()["trail"].as_array().unwrap().len();
    assert_eq!(trail, 2, "published and taken back, once");
}
