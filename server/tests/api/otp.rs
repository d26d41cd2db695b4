use std::time::Duration;

use insta::assert_snapshot;
use lending::demo;
use serde_json::json;

use crate::test_app::TestApp;

const AGENT: &str = "agent@mkopo.test";

async fn requested_code(app: &TestApp) -> String {
    assert_eq!(app.request_code(AGENT).await.status, 200);
    app.newest_code(AGENT).await
}

/// A wrong code, different for each `n`.
fn wrong(code: &str, n: u32) -> String {
    let number: u32 = code.parse().unwrap();
    format!("{:06}", (number + 1 + n) % 1_000_000)
}

#[tokio::test]
async fn a_sign_in_code_goes_out_by_email() {
    let app = TestApp::start().await;
    let answer = app.request_code(" Agent@Mkopo.test").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"message": "A verification code was sent to your email."}));
    let message = app.newest_message(AGENT).await;
    let code = message.code.clone().unwrap();
    assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
    assert!(message.body.contains(&code));
    let text = message.body.replace(&code, "[code]");
    let sent = json!([message.channel, message.recipient, message.subject]);
    assert_eq!(sent, json!(["email", AGENT, "Your Mkopo verification code"]));
    assert_eq!(
        text,
        "Dear Wanjiru,\n\nyour Mkopo verification code is [code]. It can be used once, within 5 minutes.\n\n\
         If you did not ask for it, ignore this message: nobody can sign in with the code alone. Never pass it on; \
         Mkopo will not ask you for it.\n"
    );
}

// S-50
#[tokio::test]
async fn the_code_is_not_in_the_answer_and_not_stored_in_plain_text() {
    let app = TestApp::start().await;
    let answer = app.request_code(AGENT).await;
    let code = app.newest_code(AGENT).await;
    assert!(!String::from_utf8(answer.bytes).unwrap().contains(&code));
    let mut reader = app.sandbox.database.read().await.unwrap();
    let fingerprint: String =
        store::query_scalar("SELECT fingerprint FROM one_time_code").fetch_one(&mut reader).await.unwrap();
    assert_eq!(fingerprint.len(), 64, "in hexadecimal");
    assert!(!fingerprint.contains(&code));
}

// S-46
#[tokio::test]
async fn password_and_code_open_a_session() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    let answer = app.verify_code(AGENT, demo::PASSWORD, &code).await;
    assert_eq!(answer.status, 200);
    let signed_in = answer.json();
    let user = &signed_in["user"];
    let expected = json!({"user": {
        "id": user["id"], "username": "Wanjiru", "name": "Wanjiru Maina", "email": AGENT, "role": "agent",
        "token": user["token"],
    }});
    assert_eq!(signed_in, expected);
    assert_eq!(app.with(user["token"].as_str().unwrap()).get("/api/v1/auth/me").await.status, 200);
}

// S-49
#[tokio::test]
async fn a_code_works_once() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.status, 200);
    let again = app.verify_code(AGENT, demo::PASSWORD, &code).await;
    assert_eq!(again.refusal(), "400 invalid_code: invalid or expired code");
}

// S-49
#[tokio::test]
async fn one_code_used_many_times_at_once_works_once() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    let calls = (0..8).map(|_| app.verify_code(AGENT, demo::PASSWORD, &code));
    let answers = futures::future::join_all(calls).await;
    let signed_in = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(signed_in, 1);
}

#[tokio::test]
async fn a_wrong_password_does_not_use_up_the_code() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    for _ in 0..6 {
        let answer = app.verify_code(AGENT, "wrong", &code).await;
        assert_eq!(answer.refusal(), "400 invalid_password: invalid password");
    }
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.status, 200);
}

// S-54
#[tokio::test]
async fn the_fifth_attempt_with_the_right_code_works_and_a_sixth_does_not() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    for n in 0..4 {
        let answer = app.verify_code(AGENT, demo::PASSWORD, &wrong(&code, n)).await;
        assert_eq!(answer.refusal(), "400 invalid_code: invalid or expired code");
    }
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.status, 200);

    app.clock.advance(Duration::from_secs(30));
    let code = requested_code(&app).await;
    for n in 0..5 {
        app.verify_code(AGENT, demo::PASSWORD, &wrong(&code, n)).await;
    }
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.failure().1, "invalid_code");
}

// S-51
#[tokio::test]
async fn a_code_expires_after_five_minutes() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    app.clock.advance(Duration::from_mins(5) - Duration::from_millis(1));
    let last = requested_code(&app).await;
    assert_ne!(last, code);
    app.clock.advance(Duration::from_mins(5));
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &last).await.failure().1, "invalid_code");

    let code = requested_code(&app).await;
    app.clock.advance(Duration::from_mins(5) - Duration::from_millis(1));
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.status, 200);
}

// S-53
#[tokio::test]
async fn a_newer_code_replaces_the_older_one_and_resets_its_attempts() {
    let app = TestApp::start().await;
    let older = requested_code(&app).await;
    for n in 0..5 {
        app.verify_code(AGENT, demo::PASSWORD, &wrong(&older, n)).await;
    }
    app.clock.advance(Duration::from_secs(30));
    let newer = requested_code(&app).await;
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &older).await.failure().1, "invalid_code");
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &newer).await.status, 200);
}

#[tokio::test]
async fn another_code_can_be_requested_after_30_seconds() {
    let app = TestApp::start().await;
    let first = requested_code(&app).await;
    app.clock.advance(Duration::from_millis(9_500));
    let refused = app.request_code(AGENT).await;
    let sentence = "A code was sent a moment ago. Another can be sent in 21 seconds.";
    assert_eq!(refused.refusal(), format!("429 too_many_requests: {sentence}"));
    assert_eq!(refused.headers["retry-after"], "21");
    assert_eq!(app.newest_code(AGENT).await, first, "nothing was sent");

    app.clock.advance(Duration::from_secs(20));
    assert_eq!(app.request_code(AGENT).await.headers["retry-after"], "1");
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.request_code(AGENT).await.status, 200);
}

// S-12
#[tokio::test]
async fn a_reset_code_does_not_sign_in() {
    let app = TestApp::start().await;
    assert_eq!(app.request_reset_code(AGENT).await.status, 200);
    let code = app.newest_code("+254711000003").await;
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.failure().1, "invalid_code");
}

// S-53, S-68, S-110
#[tokio::test]
async fn a_code_is_only_valid_for_its_user() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    let answer = app.verify_code("supervisor@mkopo.test", demo::PASSWORD, &code).await;
    assert_eq!(answer.failure().1, "invalid_code");
}

#[tokio::test]
async fn a_refused_request_for_a_code_says_why() {
    let app = TestApp::start().await;
    let mut answers = Vec::new();
    for email in ["nobody@mkopo.test", "inactive@mkopo.test", "no address"] {
        answers.push(app.request_code(email).await.refusal());
    }
    for (email, password) in [
        ("nobody@mkopo.test", demo::PASSWORD),
        ("inactive@mkopo.test", demo::PASSWORD),
        ("inactive@mkopo.test", "wrong"),
        (AGENT, demo::PASSWORD),
    ] {
        answers.push(app.verify_code(email, password, "000000").await.refusal());
    }
    assert_snapshot!(answers.join("\n"), @"
    404 user_not_found: user not found
    403 account_inactive: account is inactive
    422 invalid_request: The request body is invalid: email: not an e-mail address at line 1 column 22.
    404 user_not_found: user not found
    403 account_inactive: account is inactive
    400 invalid_password: invalid password
    400 invalid_code: invalid or expired code
    ");
}

#[tokio::test]
async fn a_malformed_code_counts_as_a_wrong_code() {
    let app = TestApp::start().await;
    requested_code(&app).await;
    for otp in ["", "12345", "1234567", "abcdef", "１２３４５６"] {
        assert_eq!(app.verify_code(AGENT, demo::PASSWORD, otp).await.failure().1, "invalid_code", "{otp:?}");
    }
}

#[tokio::test]
async fn codes_survive_a_restart() {
    let app = TestApp::start().await;
    let code = requested_code(&app).await;
    let app = app.restart().await;
    assert_eq!(app.verify_code(AGENT, demo::PASSWORD, &code).await.status, 200);
}
