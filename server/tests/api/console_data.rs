use std::time::Duration;

use axum::http::Method;
use lending::{demo, payouts};
use serde_json::{Value, json};
use store::Connection;
use worlds::sandboxes::Name;

use crate::{
    browser::{Browser, form, words},
    test_app::{Answer, TestApp, waiting},
};

/// The pending loans and the records.
async fn lists(agent: &TestApp) -> (Vec<Value>, Vec<Value>) {
    (agent.pending().await, agent.records().await)
}

/// The names of the snapshots in a list of them.
fn names_in(snapshots: &Answer) -> Vec<Value> {
    snapshots.json().as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
}

async fn reset(app: &TestApp, body: Option<Value>) {
    assert_eq!(app.console(Method::POST, "/data/reset", body).await.status, 204);
}

#[tokio::test]
async fn a_reset_restores_the_demo_data() {
    let (app, agent) = TestApp::start_for("agent").await;
    let initial = lists(&agent).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2h"})).await;
    app.set_console(Method::PUT, "/scenario", json!({"default": "slow", "float": 0, "latency_ms": 9})).await;
    app.set_console(Method::PUT, "/scenario", json!({"next": ["bad_number"], "latency_ms": 0})).await;
    agent.disburse(waiting(&initial.0).next().unwrap()).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    assert_ne!(lists(&agent).await, initial);

    reset(&app, None).await;

    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "all sessions are ended");
    let agent = app.sign_in("agent").await;
    assert_eq!(lists(&agent).await, initial);
    assert_eq!(app.read_console("/outbox").await, json!([]));
    assert_eq!(app.read_console("/clock").await["offset_ms"], 0);
    let scenario = app.read_console("/scenario").await;
    assert_eq!((&scenario["default"], &scenario["float"]), (&json!("success"), &json!(50_000_000)));
    assert_eq!(agent.disburse(waiting(&initial.0).next().unwrap()).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_server_that_has_not_noticed_a_reset_settles_nothing_by_the_clock_before_it() {
    let app = TestApp::start().await;
    let other = app.another_server_at(app.clock.of_another_sandbox(), &[]).await;
    app.set_console(Method::PUT, "/clock", json!({"now": "2037-01-01T00:00:00Z", "frozen": true})).await;
    let clock_of_other = other.read_console("/clock").await;
    assert_eq!(clock_of_other["now"], "2037-01-01T00:00:00.000Z");

    reset(&app, None).await;
    payouts::reconcile(&other.sandbox.payouts).await.unwrap();

    assert_eq!(app.read_console("/outbox").await, json!([]));
    let audit = app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(audit.pending, 2, "the demo's two are due tomorrow");
    other.sandbox.close(Duration::ZERO).await;
}

#[tokio::test]
async fn a_reset_clears_the_limits() {
    let app = TestApp::start().await;
    let wrong = json!({"email": "agent@mkopo.test", "password": "wrong"});
    for _ in 0..10 {
        app.post("/api/v1/auth/login", wrong.clone()).await;
    }
    assert_eq!(app.post("/api/v1/auth/login", wrong).await.status, 429);
    reset(&app, None).await;
    let right = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    assert_eq!(app.post("/api/v1/auth/login", right).await.status, 200);
}

#[tokio::test]
async fn the_seed_determines_the_data() {
    let app = TestApp::start().await;
    reset(&app, Some(json!({"seed": 7}))).await;
    let seventh = lists(&app.sign_in("agent").await).await;
    reset(&app, Some(json!({}))).await;
    assert_ne!(lists(&app.sign_in("agent").await).await, seventh);
    reset(&app, Some(json!({"seed": 7}))).await;
    assert_eq!(lists(&app.sign_in("agent").await).await, seventh);
    let wrong = app.console(Method::POST, "/data/reset", json!({"seed": "seven"})).await;
    assert_eq!(wrong.failure().0, 422);
}

// S-45, S-83
#[tokio::test]
async fn real_data_is_never_replaced_by_demo_data() {
    let app = TestApp::start().await;
    let before = lists(&app.sign_in("agent").await).await;
    let app = app.restart_with(&["--demo", "false", "--tools", "true"]).await;
    let answer = app.console(Method::POST, "/data/reset", None).await;
    assert_eq!(answer.failure().0, 409);
    assert_eq!(lists(&app.sign_in("agent").await).await, before);
}

#[tokio::test]
async fn a_snapshot_is_restored_exactly() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.disburse(&agent.waiting_loan().await).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "admin@mkopo.test"})).await;
    app.set_console(Method::PUT, "/scenario", json!({"next": ["slow"], "float": 7_000_000})).await;
    let fault = json!({"path": "/api/v1/auth/login", "kind": "status", "status": 503});
    app.set_console(Method::POST, "/faults", fault).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    // What is pending would settle in the background while the test runs.
    app.reconcile().await;
    let state = async |staff: &TestApp| {
        let mut state = vec![json!(lists(staff).await)];
        for path in ["/outbox", "/scenario", "/faults", "/clock", "/invariant"] {
            state.push(app.read_console(path).await);
        }
        state
    };
    let before = state(&agent).await;
    let saved = app.console(Method::POST, "/data/snapshots/one-paid", None).await;
    assert_eq!(saved.status, 201);
    assert_eq!(saved.json(), json!({"name": "one-paid", "saved_at": "2026-11-14T10:00:00.000Z"}));

    reset(&app, Some(json!({"seed": 9}))).await;
    let admin = app.sign_in("admin").await;
    app.set_console(Method::PUT, "/clock", json!({"now": "2027-01-01T00:00:00Z", "frozen": true})).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;

    assert_eq!(app.console(Method::PUT, "/data/snapshots/one-paid", None).await.status, 204);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "the reset has ended it");
    app.console(Method::DELETE, "/faults", None).await;
    let agent = app.sign_in("agent").await;
    assert_eq!(app.console(Method::PUT, "/data/snapshots/one-paid", None).await.status, 204);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401, "it is later than the snapshot");
    app.console(Method::DELETE, "/faults", None).await;
    let agent = app.sign_in("agent").await;
    let mut now = state(&agent).await;
    now[3] = before[3].clone();
    assert_eq!(now, before);
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 401, "later sessions are gone");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_restored_snapshot_revives_no_ended_session_or_used_code_and_gives_no_code_new_tries() {
    const VERIFY: &str = "/api/v1/auth/verify-signin-otp";
    let app = TestApp::start().await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let with_code = async |email: &str| {
        app.post("/api/v1/auth/request-signin-otp", json!({"email": email})).await;
        json!({"email": email, "password": demo::PASSWORD, "otp": app.newest_code(email).await})
    };
    let (used, tried) = (with_code("agent@mkopo.test").await, with_code("admin@mkopo.test").await);
    let unused = with_code("supervisor@mkopo.test").await;
    app.console(Method::POST, "/data/snapshots/before", None).await;

    assert_eq!(app.post(VERIFY, used.clone()).await.status, 200);
    let mut wrong = tried.clone();
    wrong["otp"] = json!(if tried["otp"] == "000000" { "111111" } else { "000000" });
    for _ in 0..5 {
        assert_eq!(app.post(VERIFY, wrong.clone()).await.failure().1, "invalid_code");
    }
    agent.post("/api/v1/auth/logout", None).await;
    assert_eq!(app.console(Method::PUT, "/data/snapshots/before", None).await.status, 204);

    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 200, "it has not ended");
    assert_eq!(app.post(VERIFY, used).await.failure().1, "invalid_code");
    assert_eq!(app.post(VERIFY, tried).await.failure().1, "invalid_code");
    assert_eq!(app.post(VERIFY, unused).await.status, 200);
}

#[tokio::test]
async fn the_snapshots_of_a_sandbox_are_bounded() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"seed": "empty"})).await;
    for n in 0..20 {
        let path = format!("/data/snapshots/number-{n}");
        assert_eq!(one.console(Method::POST, &path, None).await.status, 201);
    }
    let refused = one.console(Method::POST, "/data/snapshots/one-more", None).await.failure();
    assert_eq!((refused.0, refused.2.as_str()), (422, "There are already 20 snapshots; remove one first."));
    assert_eq!(one.console(Method::POST, "/data/snapshots/number-3", None).await.status, 201);
}

/// A snapshot of 64 MiB. The databases of sandboxes are `SQLite` files, whichever engine `main` is on.
const LARGE_SNAPSHOT: &str = "
    INSERT INTO snapshot (name, saved_at) VALUES ('large', 0);
    INSERT INTO snapshot_table (name, table_name, content) VALUES ('large', 'loan', hex(zeroblob(33554432)))";

#[tokio::test]
async fn a_snapshot_for_which_a_sandbox_has_no_room_is_not_saved() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"seed": "empty"})).await;
    let server = &app.sandbox.server;
    let in_use = server.sandboxes.find(server, &Name::parse(&one.name).unwrap()).await.unwrap();
    // In the database, because making this much data through the API would take the test too long.
    let fill = in_use
        .sandbox
        .database
        .write(async |connection: &mut Connection| Ok(connection.command(LARGE_SNAPSHOT).await?));
    fill.await.unwrap();
    drop(in_use);
    let names = async || names_in(&one.console(Method::GET, "/data/snapshots", None).await);
    let refused = one.console(Method::POST, "/data/snapshots/one-more", None).await.failure();
    assert_eq!(
        (refused.0, refused.2.as_str()),
        (422, "There is no room: snapshots take at most 64 MiB; remove one first.")
    );
    assert_eq!(names().await, ["large"]);
    assert_eq!(one.console(Method::DELETE, "/data/snapshots/large", None).await.status, 204);
    assert_eq!(one.console(Method::POST, "/data/snapshots/one-more", None).await.status, 201);
    assert_eq!(names().await, ["one-more"]);
}

#[tokio::test]
async fn snapshots_are_listed_replaced_and_removed() {
    let app = TestApp::start().await;
    for name in ["b", "a", "b"] {
        assert_eq!(app.console(Method::POST, &format!("/data/snapshots/{name}"), None).await.status, 201);
    }
    reset(&app, None).await;
    let names = async || names_in(&app.console(Method::GET, "/data/snapshots", None).await);
    assert_eq!(names().await, ["a", "b"], "a reset keeps them");
    assert_eq!(app.console(Method::DELETE, "/data/snapshots/a", None).await.status, 204);
    assert_eq!(names().await, ["b"]);
}

// S-36
#[tokio::test]
async fn unknown_and_invalid_snapshot_names_are_rejected() {
    let app = TestApp::start().await;
    let before = lists(&app.sign_in("agent").await).await;
    for method in [Method::PUT, Method::DELETE] {
        let answer = app.console(method, "/data/snapshots/gone", None).await;
        assert_eq!(answer.refusal(), "404 snapshot_not_found: There is no snapshot gone.");
    }
    for name in ["..", ".hidden", "a%2Fb", "..%2F..%2Fetc", "a%20b", "%00", &"a".repeat(65), "k%C3%A4se"] {
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let answer = app.console(method, &format!("/data/snapshots/{name}"), None).await;
            assert_eq!(answer.failure().0, 422, "{name}");
        }
    }
    assert_eq!(lists(&app.sign_in("agent").await).await, before);
}

#[tokio::test]
async fn a_reset_is_confirmed_on_a_page_once_its_seed_is_valid() {
    let (app, browser) = Browser::start().await;
    let page = browser.get("/console/data").await;
    let fields = form(&page, "value=\"reset\"");
    assert!(fields.iter().all(|field| field.0 != "question"), "the script does not ask first");
    let refused = browser.send("/console/data", "reset", &[("seed", "-1")]).await;
    assert_eq!(refused.status, 422);
    assert!(!words(&refused).contains("Reset to the demo data?"), "{}", words(&refused));
    let agent = app.sign_in("agent").await;
    let asked = browser.send("/console/data", "reset", &[("seed", "7")]).await;
    assert_eq!(asked.status, 200);
    for shown in ["Reset to the demo data?", "All current data is lost", "Cancel"] {
        assert!(words(&asked).contains(shown), "{shown}: {}", words(&asked));
    }
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200, "nothing is done yet");

    let fields = form(&asked, "confirmed");
    assert!(fields.contains(&("seed", "7")), "{fields:?}");
    assert_eq!(browser.send_as("/console/data", &fields).await.status, 303);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn a_browser_without_scripts_confirms_on_a_page_what_loses_data() {
    let (app, browser) = Browser::start().await;
    let address = "/console/data";
    browser.done(address, "save", &[("name", "before")]).await;
    let agent = app.sign_in("agent").await;
    let page = browser.get(address).await;
    let asked = browser.send_as(address, &form(&page, "aria-label=\"Restore before\"")).await;
    assert_eq!(asked.status, 200);
    for shown in ["Restore before?", "It replaces all current data.", "Cancel"] {
        assert!(words(&asked).contains(shown), "{shown}: {}", words(&asked));
    }
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200, "nothing is done yet");
    assert_eq!(browser.send_as(address, &form(&asked, "confirmed")).await.status, 303);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn an_empty_world_has_accounts_and_nothing_else() {
    let app = TestApp::start().await;
    app.sign_in("agent").await;
    reset(&app, Some(json!({"seed": "empty"}))).await;
    assert_eq!(app.read_console("/traffic").await, json!([]), "a reset empties it");
    let agent = app.sign_in("agent").await;
    assert_eq!(lists(&agent).await, (vec![], vec![]));
    app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(app.read_console("/traffic").await.as_array().unwrap().len(), 3);
    let browser = Browser::sign_in(&app).await;
    reset(&app, None).await;
    let page = browser.done("/console/data", "empty", &[]).await;
    assert!(page.contains("There are no loans and no payouts"), "{page}");
}
