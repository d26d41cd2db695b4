//! One's own account: name and phone, password, sign-in codes and sessions.

use std::{pin::pin, time::Duration};

use axum::http::Method;
use lending::demo;
use serde_json::{Value, json};

use crate::{
    live_settings::LIVE,
    test_app::{Answer, TestApp, column},
};

const AGENT: &str = "agent@mkopo.test";
const RIGHT: Option<&str> = Some(demo::PASSWORD);
const NEW_PASSWORD: &str = "Kahawa-chungu-2026";

/// Changes something with the session of `staff`.
pub async fn put(staff: &TestApp, path: &str, body: Value) -> Answer {
    staff.put(&format!("/api/v1{path}"), body).await
}

async fn login(app: &TestApp, password: &str) -> (u16, Value) {
    let answer = app.login(AGENT, password).await;
    (answer.status.as_u16(), answer.body()["code"].clone())
}

/// The newest reset code of the agent, which must go to `phone`.
async fn reset_code(app: &TestApp, phone: &str) -> String {
    assert_eq!(app.request_reset_code(AGENT).await.status, 200);
    app.newest_code(phone).await
}

/// Changes the phone number of `staff`.
async fn set_phone(staff: &TestApp, phone: &str, password: Option<&str>) -> Answer {
    let change = json!({
        "first_name": "Wanjiru", "last_name": "Maina", "phone_number": phone, "current_password": password,
    });
    put(staff, "/profile", change).await
}

#[tokio::test]
async fn name_and_phone_number_can_be_changed() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let change = json!({
        "first_name": " Wanjirū", "last_name": "Otieno", "phone_number": "0712 999 888",
        "current_password": demo::PASSWORD,
    });
    let changed = put(&agent, "/profile", change).await.json();
    let expected = json!({
        "id": changed["id"], "username": "Wanjiru", "first_name": "Wanjirū", "last_name": "Otieno",
        "name": "Wanjirū Otieno", "email": "agent@mkopo.test", "phone_number": "+254712999888", "role": "agent",
        "created_at": "2025-10-10T09:00:00.000Z", "password_changed_at": "2025-10-10T09:00:00.000Z",
        "sign_in_code_required": false,
    });
    assert_eq!(changed, expected);
    assert_eq!(agent.get("/api/v1/auth/me").await.json()["name"], "Wanjirū Otieno");
    for wrong in [
        json!({"first_name": " ", "last_name": "Otieno", "phone_number": "0712999888"}),
        json!({"first_name": "W".repeat(65), "last_name": "Otieno", "phone_number": "0712999888"}),
        json!({"first_name": "Wanjiru\u{202e}", "last_name": "Otieno", "phone_number": "0712999888"}),
        json!({"first_name": "Wanjiru", "last_name": "Oti\u{200b}eno", "phone_number": "0712999888"}),
        json!({"first_name": "Wanjiru", "last_name": "Otieno", "phone_number": "12"}),
    ] {
        assert_eq!(put(&agent, "/profile", wrong).await.failure().1, "invalid_request");
    }
    let events = app.read_console("/events?kind=profile_changed").await;
    assert_eq!(events[0]["details"], "name and phone number");
    assert_eq!(events.as_array().unwrap().len(), 1);
}

// S-39, S-62, S-65
#[tokio::test]
async fn a_new_password_needs_the_old_one_and_ends_the_other_sessions() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, elsewhere) = (app.sign_in("agent").await, app.sign_in("agent").await);
    let change = |current: &str, new: &str| json!({"current_password": current, "new_password": new});
    for (current, new, kind) in [
        ("wrong", NEW_PASSWORD, "400 invalid_password"),
        (demo::PASSWORD, "short", "422 password_too_short"),
        (demo::PASSWORD, "password1", "422 password_too_easy"),
    ] {
        assert_eq!(put(&agent, "/profile/password", change(current, new)).await.kind(), kind);
    }
    assert_eq!(login(&app, demo::PASSWORD).await.0, 200);
    app.clock.advance(std::time::Duration::from_mins(1));
    let code = reset_code(&app, "+254711000003").await;

    assert_eq!(put(&agent, "/profile/password", change(demo::PASSWORD, NEW_PASSWORD)).await.status, 204);
    assert_eq!(elsewhere.get("/api/v1/auth/me").await.status, 401);
    let changed_at = agent.get("/api/v1/profile").await.json()["password_changed_at"].clone();
    assert_eq!(changed_at, "2026-11-14T09:01:00.000Z");
    assert_eq!(login(&app, demo::PASSWORD).await, (400, json!("invalid_password")));
    assert_eq!(login(&app, NEW_PASSWORD).await.0, 200);
    let events = app.read_console("/events?kind=password_changed").await;
    assert_eq!(events[0]["details"], "2 other sessions ended");
    // Whoever knew the old password may have read the code.
    assert_eq!(app.reset_password(AGENT, &code, NEW_PASSWORD).await.failure().1, "invalid_code");
}

// S-44
#[tokio::test]
async fn wrong_passwords_in_the_profile_are_limited_for_each_session_and_those_at_sign_in_do_not_count() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, other) = (app.sign_in("agent").await, app.sign_in("agent").await);
    for n in 0..60 {
        app.from(&format!("127.0.0.{}", 1 + n % 20)).login(AGENT, "wrong").await;
    }
    assert_eq!(login(&app, demo::PASSWORD).await.0, 429);
    for attempt in 0..9 {
        let wrong = json!({"required": true, "password": "wrong"});
        assert_eq!(put(&agent, "/profile/sign-in-code", wrong).await.status, 400, "{attempt}");
    }
    let right = json!({"current_password": demo::PASSWORD, "new_password": NEW_PASSWORD});
    assert_eq!(put(&agent, "/profile/password", right.clone()).await.status, 429);
    assert_eq!(put(&other, "/profile/password", right).await.status, 204);
}

/// The number before would otherwise come back, without the password.
#[tokio::test]
async fn a_change_of_the_name_alone_keeps_a_phone_number_that_was_changed_meanwhile() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let before = agent.get("/api/v1/auth/me").await.json()["phone_number"].clone();
    let change = "UPDATE staff SET phone_number = '+254712999888' WHERE email = 'agent@mkopo.test'";
    let free = app.occupy_writer_and(change).await;
    let name = json!({"first_name": "Grace", "last_name": "Maina", "phone_number": before});
    let mut save = pin!(put(&agent, "/profile", name));
    app.run_until_it_waits(&mut save).await;
    free.send(()).unwrap();
    let saved = save.await.json();
    assert_eq!((&saved["first_name"], &saved["phone_number"]), (&json!("Grace"), &json!("+254712999888")));
}

/// Whoever has the session of somebody else must not get their account.
// S-65
#[tokio::test]
async fn a_new_phone_number_needs_the_password_is_told_and_gets_reset_codes_after_24_hours_only() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let before = agent.get("/api/v1/auth/me").await.json()["phone_number"].as_str().unwrap().to_owned();
    let new = "+254712999888";
    let missing = set_phone(&agent, new, None).await;
    assert_eq!((missing.failure().0, missing.body()["field"].clone()), (422, json!("current_password")));
    assert_eq!(set_phone(&agent, new, Some("wrong")).await.failure().1, "invalid_password");
    let supervisor = app.sign_in("supervisor").await.get("/api/v1/auth/me").await.json();
    let taken = set_phone(&agent, supervisor["phone_number"].as_str().unwrap(), RIGHT).await;
    assert_eq!((taken.failure().0, taken.body()["field"].clone()), (422, json!("phone_number")));
    assert_eq!(set_phone(&agent, &before, None).await.status, 200);
    assert_eq!(set_phone(&agent, new, RIGHT).await.status, 200);
    assert!(app.newest_message(AGENT).await.body.contains("phone number"));
    assert!(app.newest_message(&before).await.body.contains("was changed"));

    let reset = async || app.request_reset_code(AGENT).await.status;
    assert_eq!(reset().await, 200);
    assert_eq!((app.texts_to(new).await, app.texts_to(&before).await), (0, 2));
    app.clock.advance(Duration::from_hours(23));
    let agent = app.sign_in("agent").await;
    let third = "+254712999777";
    assert_eq!(set_phone(&agent, third, RIGHT).await.status, 200);
    let texts = async || [app.texts_to(third).await, app.texts_to(new).await, app.texts_to(&before).await];
    assert_eq!(texts().await, [0, 1, 3], "both numbers are told");
    let gets_the_code = async |phone: &str| app.newest_message(phone).await.body.contains("to this number");
    assert_eq!((gets_the_code(new).await, gets_the_code(&before).await), (false, true));
    app.clock.advance(Duration::from_hours(2));
    assert_eq!(reset().await, 200);
    assert_eq!(texts().await, [0, 1, 4], "the second number has never got codes");
    app.clock.advance(Duration::from_hours(22));
    assert_eq!(reset().await, 200);
    assert_eq!(texts().await, [1, 1, 4]);
}

/// Whoever had it would get the codes of somebody else.
// S-65
#[tokio::test]
async fn a_phone_number_that_still_gets_the_reset_codes_of_somebody_can_not_be_taken() {
    let app = TestApp::start_with(&LIVE).await;
    let before = "+254711000003";
    assert_eq!(set_phone(&app.sign_in("agent").await, "+254712999888", RIGHT).await.status, 200);
    let taken = set_phone(&app.sign_in("supervisor").await, before, RIGHT).await;
    assert_eq!((taken.failure().0, taken.body()["field"].clone()), (422, json!("phone_number")));
    let account = json!({
        "email": "new@mkopo.test", "first_name": "Otieno", "last_name": "Ouma", "phone_number": before,
        "role": "agent", "password": NEW_PASSWORD,
    });
    let refused = app.console(Method::POST, "/staff", account).await;
    assert_eq!((refused.failure().0, refused.body()["field"].clone()), (422, json!("phone_number")));
    app.clock.advance(Duration::from_hours(25));
    assert_eq!(set_phone(&app.sign_in("supervisor").await, before, RIGHT).await.status, 200);
}

/// The message about the change advises a reset to who has not made it.
// S-65
#[tokio::test]
async fn a_reset_within_24_hours_of_a_new_phone_number_brings_the_one_before_back() {
    let app = TestApp::start_with(&LIVE).await;
    let (before, of_thief) = ("+254711000003", "+254712999888");
    assert_eq!(set_phone(&app.sign_in("agent").await, of_thief, RIGHT).await.status, 200);
    let code = reset_code(&app, before).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW_PASSWORD).await.status, 200);
    let events = app.read_console("/events?kind=password_reset").await;
    assert_eq!(events[0]["details"], "all sessions ended, the phone number before its change is back");
    app.clock.advance(Duration::from_hours(25));
    reset_code(&app, before).await;
    assert_eq!(app.texts_to(of_thief).await, 0);

    // A change that has settled stays.
    let code = app.newest_code(before).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW_PASSWORD).await.status, 200);
    let events = app.read_console("/events?kind=password_reset").await;
    assert_eq!(events[0]["details"], "all sessions ended");
}

// S-46
#[tokio::test]
async fn with_sign_in_codes_on_a_password_alone_opens_no_session() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let set = |required: bool| json!({"required": required, "password": demo::PASSWORD});
    let on = put(&agent, "/profile/sign-in-code", set(true)).await;
    assert_eq!(on.json()["sign_in_code_required"], true);
    assert_eq!(login(&app, demo::PASSWORD).await, (403, json!("code_required")));
    let wrong = login(&app, "wrong").await;
    assert_eq!(wrong, (400, json!("invalid_password")), "only who knows it is told more");

    let ask = async |password: Option<&str>| {
        let request = json!({"email": "agent@mkopo.test", "password": password});
        app.post("/api/v1/auth/request-signin-otp", request).await
    };
    let missing = ask(None).await;
    assert_eq!((missing.failure().0, missing.body()["field"].clone()), (422, json!("password")));
    assert_eq!(ask(Some("wrong")).await.failure().1, "invalid_password");
    assert_eq!(ask(Some(demo::PASSWORD)).await.status, 200);
    let otp = app.newest_code(AGENT).await;
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &otp).await.status, 200);

    assert_eq!(put(&agent, "/profile/sign-in-code", set(false)).await.status, 200);
    assert_eq!(login(&app, demo::PASSWORD).await.0, 200);
    let events = app.read_console("/events?kind=sign_in_code_changed").await;
    assert_eq!(column(&events, "details"), ["turned off", "turned on"]);
}

/// They would lock out whoever turns them on.
#[tokio::test]
async fn sign_in_codes_can_not_be_turned_on_where_nobody_gets_them() {
    let without_tools = [&LIVE[..], &["--tools", "false"]].concat();
    let app = TestApp::start_with(&without_tools).await;
    let set = |required: bool| json!({"required": required, "password": demo::PASSWORD});
    let agent = app.sign_in("agent").await;
    let refused = put(&agent, "/profile/sign-in-code", set(true)).await;
    let sentence = "Sign-in codes are sent by e-mail, and this service sends none.";
    assert_eq!(refused.refusal(), format!("422 invalid_request: {sentence}"));
    assert_eq!(refused.body()["field"], "required");
    assert_eq!(put(&agent, "/profile/sign-in-code", set(false)).await.status, 200);
    assert_eq!(login(&app, demo::PASSWORD).await.0, 200);
    let mail_server = ["--smtp-url", "smtp://127.0.0.1:9", "--smtp-from", "portal@mkopo.test"];
    let app = app.restart_with(&[&without_tools[..], &mail_server].concat()).await;
    assert_eq!(put(&app.sign_in("agent").await, "/profile/sign-in-code", set(true)).await.status, 200);
}

#[tokio::test]
async fn a_required_code_is_not_asked_for_where_screens_are_as_specified() {
    let app = TestApp::start_with(&LIVE).await;
    let set = json!({"required": true, "password": demo::PASSWORD});
    put(&app.sign_in("agent").await, "/profile/sign-in-code", set).await;
    let app = app.restart().await;
    assert_eq!(login(&app, demo::PASSWORD).await.0, 200);
}

// S-66
#[tokio::test]
async fn sessions_are_listed_with_their_place_and_can_be_ended() {
    const PHONE: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                         Chrome/141.0.0.0 Mobile Safari/537.36";
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    app.clock.advance(std::time::Duration::from_mins(5));
    let on_phone = app.with_header("user-agent", PHONE).sign_in("agent").await;
    app.sign_in("admin").await;

    let sessions = agent.get("/api/v1/sessions").await.json();
    let expected = json!([
        {
            "id": sessions[0]["id"], "device": "Chrome on Android", "address": "127.0.0.1", "is_current": false,
            "created_at": "2026-11-14T09:05:00.000Z", "expires_at": "2026-11-14T17:05:00.000Z",
        },
        {
            "id": sessions[1]["id"], "device": null, "address": "127.0.0.1", "is_current": true,
            "created_at": "2026-11-14T09:00:00.000Z", "expires_at": "2026-11-14T17:00:00.000Z",
        },
    ]);
    assert_eq!(sessions, expected);
    let id = sessions[0]["id"].as_str().unwrap();
    assert_eq!(agent.delete(&format!("/api/v1/sessions/{id}")).await.status, 204);
    assert_eq!(on_phone.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(agent.delete(&format!("/api/v1/sessions/{id}")).await.failure().1, "session_not_found");
    assert_eq!(agent.delete("/api/v1/sessions/%00").await.failure().1, "session_not_found");
    assert_eq!(agent.get("/api/v1/sessions").await.json().as_array().unwrap().len(), 1);
}

// S-68, S-110
#[tokio::test]
async fn nobody_can_end_the_session_of_somebody_else() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    let id = agent.get("/api/v1/sessions").await.json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(admin.delete(&format!("/api/v1/sessions/{id}")).await.failure().1, "session_not_found");
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200);
    assert_eq!(agent.delete(&format!("/api/v1/sessions/{id}")).await.status, 204);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}
