use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use worlds::retention;

use crate::{
    slices::{build, hold, publish, started, started_with},
    test_app::TestApp,
};

const DAY: Duration = Duration::from_hours(24);

const SESSIONS: &str = "SELECT count(*) FROM session";
const TRIES: &str = "SELECT count(*) FROM try_count";

async fn after(app: &TestApp, time: Duration) {
    app.clock.advance(time);
    retention::delete_old(&app.sandbox.slices).await.unwrap();
}

// S-90
#[tokio::test]
async fn a_session_is_kept_for_30_days_after_its_end() {
    let (app, agent) = TestApp::start_for("agent").await;
    app.sign_in("supervisor").await;
    assert_eq!(agent.post("/api/v1/auth/logout", None).await.status, 204);
    after(&app, DAY * 29).await;
    assert_eq!(app.count(SESSIONS).await, 2);
    after(&app, DAY).await;
    assert_eq!(app.count(SESSIONS).await, 1, "the one that was not signed out ended 8 hours later");
    let admin = app.sign_in("admin").await;
    after(&app, Duration::from_hours(8)).await;
    assert_eq!(app.count(SESSIONS).await, 1);
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn a_clock_that_is_moved_on_and_back_loses_nothing() {
    let (app, agent) = TestApp::start_for("agent").await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "365d"})).await;
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200);
}

// S-90
#[tokio::test]
async fn a_sent_message_is_kept_for_90_days_and_a_waiting_one_until_it_is_sent() {
    let app = TestApp::start().await;
    app.request_code("agent@mkopo.test").await;
    app.request_reset_code("agent@mkopo.test").await;
    let messages = async || (app.texts_to("+254711000003").await, app.texts_to("agent@mkopo.test").await);
    after(&app, DAY * 89).await;
    assert_eq!(messages().await, (1, 1));
    after(&app, DAY).await;
    assert_eq!(messages().await, (0, 1), "the e-mail waits for a mail server");
}

#[tokio::test]
async fn how_long_is_a_setting() {
    let app = TestApp::start_with(&["--keep-sessions-days", "1", "--keep-messages-days", "2"]).await;
    app.sign_in("agent").await;
    app.request_reset_code("agent@mkopo.test").await;
    after(&app, DAY).await;
    assert_eq!((app.count(SESSIONS).await, app.texts_to("+254711000003").await), (1, 1));
    after(&app, DAY).await;
    assert_eq!((app.count(SESSIONS).await, app.texts_to("+254711000003").await), (0, 0));
}

#[tokio::test]
async fn counts_of_tries_are_deleted_though_nobody_tries_again() {
    let app = TestApp::start().await;
    app.request_code("agent@mkopo.test").await;
    assert_ne!(app.count(TRIES).await, 0);
    after(&app, Duration::from_hours(1)).await;
    assert_eq!(app.count(TRIES).await, 0);
}

/// The published versions of mfe-loans, the newest first.
async fn published(app: &TestApp) -> Vec<String> {
    let overview = app.read_console("/slices").await;
    let builds = overview["slices"][0]["builds"].as_array().unwrap();
    builds
        .iter()
        .filter(|build| build["origin"] == "published")
        .map(|build| build["version"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_build_that_is_published_after_the_clock_went_back_is_the_newest() {
    let (app, _portal) = started_with(&["--keep-builds", "1"]).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1d"})).await;
    hold(&app, "mfe-loans", "1.0.0").await;
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    app.clock.advance(Duration::from_mins(1));
    hold(&app, "mfe-loans", "1.1.0").await;
    after(&app, Duration::from_mins(1)).await;
    assert_eq!(published(&app).await, ["1.1.0"]);
}

#[tokio::test]
async fn ten_builds_of_a_slice_are_kept_besides_the_live_and_the_previous_one() {
    let (app, _portal) = started().await;
    for n in 0..14 {
        let published = publish(&app, &build("mfe-loans", &format!("1.{n}.0"))).await;
        assert!(published.status.is_success());
        app.clock.advance(Duration::from_mins(1));
    }
    let activate = json!({"version": "1.1.0"});
    app.set_console(Method::POST, "/slices/mfe-loans/activate", activate).await;
    after(&app, Duration::from_mins(1)).await;
    let kept = (1..14).rev().filter(|n| *n != 2).map(|n| format!("1.{n}.0"));
    assert_eq!(published(&app).await, kept.collect::<Vec<_>>());
    assert_eq!(app.count("SELECT count(DISTINCT version) FROM slice_file").await, 12);
    assert_eq!(app.get("/slices/mfe-loans/1.0.0/mf-manifest.json").await.status, 404);
    let live = app.get("/slices/mfe-loans/1.1.0/mf-manifest.json").await;
    assert_eq!(live.status, 200);
    let back = app.console(Method::POST, "/slices/mfe-loans/rollback?by=wanjiru", None).await;
    assert_eq!(back.json()["live"], "1.13.0");
}
