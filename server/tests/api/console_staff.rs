use axum::http::Method;
use insta::assert_json_snapshot;
use mkopo::demo;
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn everybody_on_the_staff_is_listed_with_their_open_sessions() {
    let app = TestApp::start().await;
    app.sign_in("agent").await;
    app.sign_in("agent").await;
    let staff = app.console(Method::GET, "/staff", None).await.json();
    let told: Vec<_> = staff
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["email"], one["role"], one["is_active"], one["open_sessions"]]))
        .collect();
    assert_json_snapshot!(told, @r#"
    [
      [
        "admin@mkopo.test",
        "admin",
        true,
        0
      ],
      [
        "agent@mkopo.test",
        "agent",
        true,
        2
      ],
      [
        "inactive@mkopo.test",
        "agent",
        false,
        0
      ],
      [
        "supervisor@mkopo.test",
        "supervisor",
        true,
        0
      ]
    ]
    "#);
    let agent = app.console(Method::GET, "/staff/agent@mkopo.test", None).await.json();
    assert_eq!(staff[1], agent);
}

#[tokio::test]
async fn a_deactivated_account_is_signed_out_at_once_and_stays_so() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let path = "/staff/agent@mkopo.test";
    let changed = app.set_console(Method::PATCH, path, json!({"is_active": false})).await.json();
    assert_eq!((&changed["is_active"], &changed["open_sessions"]), (&json!(false), &json!(0)));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    assert_eq!(app.post("/api/v1/auth/login", credentials).await.status, 403);
    app.set_console(Method::PATCH, path, json!({"is_active": true})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    app.sign_in("agent").await;
}

#[tokio::test]
async fn another_role_shows_in_the_session_there_is() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    app.set_console(Method::PATCH, "/staff/Agent@mkopo.test", json!({"role": "supervisor"})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.json()["role"], "supervisor");
}

#[tokio::test]
async fn sessions_are_ended_of_one_or_of_everybody() {
    let app = TestApp::start().await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let ended = app.console(Method::POST, "/staff/agent@mkopo.test/expire", None).await.json();
    assert_eq!(ended, json!({"ended": 1}));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 200);
    app.sign_in("agent").await;
    assert_eq!(app.console(Method::POST, "/staff/expire", None).await.json(), json!({"ended": 2}));
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn who_is_not_on_the_staff_and_what_can_not_be_changed_is_said() {
    let app = TestApp::start().await;
    let change = json!({"role": "agent"});
    for path in ["/staff/nobody@mkopo.test", "/staff/nobody"] {
        assert_eq!(app.console(Method::GET, path, None).await.failure().1, "user_not_found");
        assert_eq!(app.console(Method::PATCH, path, Some(change.clone())).await.failure().0, 404);
        assert_eq!(app.console(Method::POST, &format!("{path}/expire"), None).await.failure().0, 404);
    }
    for change in [json!({"role": "boss"}), json!({"is_active": "no"}), json!({"email": "x@mkopo.test"})] {
        let answer = app.console(Method::PATCH, "/staff/agent@mkopo.test", Some(change)).await;
        assert_eq!(answer.failure().0, 422);
    }
}
