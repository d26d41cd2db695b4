use std::time::Duration;

use insta::assert_snapshot;
use lending::demo;
use serde_json::json;

use crate::{
    browser::cookie_of,
    test_app::{Status, TestApp},
};

const AGENT: &str = "agent@mkopo.test";
const AGENTS_PHONE: &str = "+254711000003";
const NEW: &str = "Kahawa-2026";

async fn login(app: &TestApp, password: &str) -> Status {
    app.login(AGENT, password).await.status
}

async fn requested_code(app: &TestApp) -> String {
    assert_eq!(app.request_reset_code(AGENT).await.status, 200);
    app.newest_code(AGENTS_PHONE).await
}

// S-52
#[tokio::test]
async fn a_reset_code_goes_out_by_sms() {
    let app = TestApp::start().await;
    let answer = app.request_reset_code(AGENT).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"message": "A password reset code was sent to your phone."}));
    let message = app.newest_message(AGENTS_PHONE).await;
    let text = message.body.replace(message.code.as_deref().unwrap(), "[code]");
    let sent = json!([message.channel, message.recipient, message.subject]);
    assert_eq!(sent, json!(["sms", AGENTS_PHONE, null]));
    assert_eq!(
        text,
        "[code] is your Mkopo password reset code. It can be used once, within 5 minutes. If you did not ask for it, \
         ignore this message. Never pass it on."
    );
}

// S-39
#[tokio::test]
async fn a_reset_sets_the_password() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    let answer = app.reset_password(AGENT, &code, NEW).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"message": "Your password was reset. Sign in with the new one."}));
    assert_eq!(login(&app, demo::PASSWORD).await, 400);
    assert_eq!(login(&app, NEW).await, 200);
}

// S-48, S-62
#[tokio::test]
async fn a_reset_ends_all_sessions_of_the_user_and_no_others() {
    let app = TestApp::start().await;
    let sessions = [app.sign_in("agent").await, app.sign_in("agent").await];
    let supervisor = app.sign_in("supervisor").await;
    let code = requested_code(&app).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW).await.status, 200);
    for session in &sessions {
        assert_eq!(session.get("/api/v1/auth/me").await.status, 401);
    }
    assert_eq!(supervisor.get("/api/v1/auth/me").await.status, 200);
}

// S-62
#[tokio::test]
async fn a_reset_ends_the_sign_in_code_that_was_sent_before_it() {
    let app = TestApp::start().await;
    app.request_code(AGENT).await;
    let sign_in_code = app.newest_code(AGENT).await;
    let code = requested_code(&app).await;
    app.reset_password(AGENT, &code, NEW).await;
    assert_eq!(app.verify_code(AGENT, NEW, &sign_in_code).await.failure().1, "invalid_code");
}

// S-48
#[tokio::test]
async fn a_reset_code_works_once_and_for_five_minutes() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW).await.status, 200);
    let again = app.reset_password(AGENT, &code, "Another-1").await;
    assert_eq!(again.refusal(), "400 invalid_code: invalid or expired code");
    assert_eq!(login(&app, NEW).await, 200);

    app.clock.advance(Duration::from_secs(30));
    let code = requested_code(&app).await;
    app.clock.advance(Duration::from_mins(5));
    assert_eq!(app.reset_password(AGENT, &code, "Another-1").await.failure().1, "invalid_code");
}

// S-38, S-41
#[tokio::test]
async fn a_new_password_that_is_refused_does_not_use_the_code_up() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    for _ in 0..6 {
        assert_eq!(app.reset_password(AGENT, &code, "12345").await.status, 422);
    }
    let short = app.reset_password(AGENT, &code, "Käse5").await;
    assert_snapshot!(short.refusal(), @"422 password_too_short: Password must be at least 6 characters long.");
    let long = app.reset_password(AGENT, &code, &"x".repeat(1025)).await;
    assert_snapshot!(long.refusal(), @"422 invalid_request: The request body is invalid: new_password: a password has at most 1024 characters at line 1 column 1070.");
    assert_eq!(login(&app, demo::PASSWORD).await, 200);
    assert_eq!(app.reset_password(AGENT, &code, "kahawa").await.status, 200, "6 are enough");
}

// S-40, S-43
#[tokio::test]
async fn a_password_that_is_easy_to_guess_is_refused_and_does_not_use_the_code_up() {
    let app = TestApp::start_with(&["--brand", "Pesa Mbele"]).await;
    app.request_reset_code("supervisor@mkopo.test").await;
    let code = app.newest_code("+254711000002").await;
    let refused = app.reset_password("supervisor@mkopo.test", &code, "password").await;
    assert_snapshot!(refused.refusal(), @"422 password_too_easy: Password is too easy to guess. Choose one that is not common, and not your email address or the name of this portal.");
    for easy in [
        "123456",
        "Password1",
        "QWERTY123",
        " iloveyou ",
        "trustno1",
        "supervisor@mkopo.test",
        "Supervisor",
        "PESA MBELE",
    ] {
        let refused = app.reset_password("supervisor@mkopo.test", &code, easy).await;
        assert_eq!(refused.failure().1, "password_too_easy", "{easy}");
    }
    // What is easy for one user is not for another.
    assert_eq!(app.reset_password("supervisor@mkopo.test", &code, "agent@mkopo.test").await.status, 200);
}

/// A code that is not `code`.
fn other_than(code: &str) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}

/// A device on which the agent signed in.
async fn known_device(app: &TestApp) -> TestApp {
    app.with_header("cookie", &cookie_of(&app.login(AGENT, demo::PASSWORD).await))
}

/// Whoever knows an e-mail address must not be able to lock its owner out.
// S-44
#[tokio::test]
async fn strangers_use_up_neither_the_code_nor_the_attempts_of_a_device_that_signed_in_before() {
    let app = TestApp::start().await;
    let device = known_device(&app).await;
    let code = requested_code(&app).await;
    let wrong = other_than(&code);
    // The limit for the account, from any address.
    for n in 0..50 {
        app.from(&format!("203.0.113.{}", n % 20)).reset_password(AGENT, wrong, NEW).await;
    }
    assert_eq!(app.reset_password(AGENT, &code, NEW).await.failure().1, "too_many_requests");
    for _ in 0..8 {
        assert_eq!(device.reset_password(AGENT, wrong, NEW).await.failure().1, "invalid_code");
    }
    assert_eq!(device.reset_password(AGENT, &code, NEW).await.status, 200);
}

/// Whoever knows the password can make any number of such devices.
// S-54
#[tokio::test]
async fn all_devices_that_signed_in_before_have_nine_attempts_at_a_code_together() {
    let app = TestApp::start().await;
    let devices = [known_device(&app).await, known_device(&app).await, known_device(&app).await];
    let code = requested_code(&app).await;
    for device in devices.iter().cycle().take(9) {
        assert_eq!(device.reset_password(AGENT, other_than(&code), NEW).await.failure().1, "invalid_code");
    }
    for device in &devices {
        assert_eq!(device.reset_password(AGENT, &code, NEW).await.failure().1, "too_many_requests");
    }
}

#[tokio::test]
async fn a_refused_request_for_a_reset_code_says_why_but_the_reset_itself_does_not() {
    let app = TestApp::start().await;
    let mut answers = Vec::new();
    for email in ["nobody@mkopo.test", "inactive@mkopo.test"] {
        answers.push(app.request_reset_code(email).await.refusal());
        answers.push(app.reset_password(email, "123456", NEW).await.refusal());
    }
    assert_snapshot!(answers.join("\n"), @"
    404 user_not_found: user not found
    400 invalid_code: invalid or expired code
    403 account_inactive: account is inactive
    400 invalid_code: invalid or expired code
    ");
}

// S-12
#[tokio::test]
async fn a_sign_in_code_does_not_reset_the_password() {
    let app = TestApp::start().await;
    app.request_code(AGENT).await;
    let code = app.newest_code(AGENT).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW).await.failure().1, "invalid_code");
}

#[tokio::test]
async fn a_reset_ends_a_lockout_for_wrong_passwords() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        login(&app, "wrong").await;
    }
    assert_eq!(login(&app, demo::PASSWORD).await, 429);
    let code = requested_code(&app).await;
    assert_eq!(app.reset_password(AGENT, &code, NEW).await.status, 200);
    assert_eq!(login(&app, NEW).await, 200);
}
