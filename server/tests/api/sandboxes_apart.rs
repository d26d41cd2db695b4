//! Acts in a sandbox: nothing of them shows in another.

use std::iter::repeat_n;

use axum::http::Method;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::test_app::{TestApp, account, disbursement_of, payout_path, waiting};

const LISTS: [&str; 9] =
    ["/clock", "/events", "/faults", "/invariant", "/outbox", "/payouts", "/scenario", "/staff", "/traffic"];

/// Everything that the console and the portal show to an agent.
async fn shown(agent: &TestApp) -> Value {
    let mut shown = json!({"pending": agent.pending().await});
    for list in LISTS {
        shown[list] = agent.read_console(list).await;
    }
    let mut calls = shown["/traffic"].take();
    let calls =
        calls.as_array_mut().unwrap().iter().filter(|call| call["path"] != "/api/v1/disbursements/pending");
    shown["/traffic"] =
        calls.map(|call| json!([call["method"], call["path"], call["status"], call["user"]])).collect();
    shown
}

/// The number of entries of each list, and the clock.
fn summary(shown: &Value) -> Value {
    let lists = shown.as_object().unwrap().values().filter_map(Value::as_array);
    json!([lists.map(Vec::len).collect::<Vec<_>>(), shown["/clock"]])
}

type Act = (Method, String, Option<Value>);

fn acts(pending: &[Value]) -> Vec<Act> {
    let portal = |call: &str, body: Value| (Method::POST, format!("/api/v1/auth/{call}"), Some(body));
    let console = |method, path: &str, body| (method, format!("/console/api{path}"), Some(body));
    let payouts = waiting(pending).take(3);
    let payouts = payouts.map(|loan| (Method::POST, payout_path(loan), Some(disbursement_of(loan))));
    let wrong_password =
        portal("login", json!({"email": "admin@mkopo.test", "password": "not-the-password"}));
    let mut acts: Vec<Act> = payouts.chain(repeat_n(wrong_password, 10)).collect();
    acts.extend([
        portal("request-signin-otp", json!({"email": "supervisor@mkopo.test"})),
        console(Method::POST, "/loans", json!({"count": 1})),
        console(Method::POST, "/staff", account("grace@mkopo.test")),
        console(Method::PUT, "/scenario", json!({"next": ["slow"]})),
        console(Method::POST, "/faults", json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503})),
        console(Method::PUT, "/clock", json!({"advance": "500s"})),
        (Method::DELETE, "/console/api/faults".to_owned(), None),
    ]);
    acts
}

async fn perform(agent: &TestApp, (method, path, body): &Act) {
    let (method, body) = (method.clone(), body.clone());
    match path.strip_prefix("/console/api") {
        Some(path) => agent.console(method, path, body).await,
        None => agent.call(method, path, body).await,
    };
}

#[tokio::test]
async fn nothing_of_one_sandbox_shows_in_another() {
    let (app, main) = TestApp::start_for("agent").await;
    let mut agents = Vec::new();
    for _ in 0..3 {
        let wish = json!({"seed": 7, "now": "2026-11-14T09:00:00Z", "frozen": true});
        agents.push(app.make_sandbox(wish).await.sign_in("agent").await);
    }
    let [one, other, third] = agents.try_into().ok().unwrap();
    let elsewhere = async || [shown(&other).await, shown(&third).await, shown(&main).await];
    let (unchanged, mut before) = (elsewhere().await, shown(&one).await);
    let acts = acts(&one.pending().await);
    for act in &acts {
        perform(&one, act).await;
        let now = shown(&one).await;
        assert_ne!(now, before, "{act:?}");
        assert_eq!(elsewhere().await, unchanged, "{act:?}");
        before = now;
    }
    one.set_console(Method::POST, "/data/reset", None).await;
    assert_eq!(elsewhere().await, unchanged);

    // The same acts in two others at once lead to as much in each.
    join_all([&other, &third].map(async |agent| {
        for act in &acts {
            perform(agent, act).await;
        }
    }))
    .await;
    for agent in [&other, &third] {
        assert_eq!(summary(&shown(agent).await), summary(&before));
    }
    assert_eq!(shown(&main).await, unchanged[2]);
}

// S-45, S-83
#[tokio::test]
async fn outside_demo_mode_there_are_no_sandboxes_by_default_and_allowed_ones_are_in_demo_mode_all_the_same()
{
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let refused = app.console(Method::POST, "/sandboxes", json!({})).await;
    assert!(refused.status.is_client_error(), "{}", refused.status);

    let app = app.restart_with(&["--demo", "false", "--sandboxes", "2"]).await;
    let (bare, seeded) = (app.make_sandbox(json!({})).await, app.make_sandbox(json!({"seed": 1})).await);
    assert_eq!(bare.read_console("/staff").await, json!([]), "without a seed it has no accounts");
    bare.set_console(Method::POST, "/staff", account("grace@mkopo.test")).await;
    assert!(bare.sign_in("grace").await.pending().await.is_empty(), "and no loans");
    seeded.sign_in("agent").await;
    for given in [&bare, &seeded] {
        given.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
        given.set_console(Method::POST, "/data/reset", None).await;
        given.sign_in("agent").await;
    }
    for (method, path) in [(Method::PUT, "/clock"), (Method::POST, "/data/reset")] {
        assert_eq!(app.console(method, path, json!({})).await.kind(), "403 tools_off", "{path}");
    }
}
