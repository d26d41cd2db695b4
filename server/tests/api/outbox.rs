use std::time::Duration;

use axum::http::StatusCode;
use insta::assert_json_snapshot;
use mkopo::outbox;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    mail_server::{Behaviour, MailServer},
    test_app::TestApp,
};

const AGENT: &str = "agent@mkopo.test";
const AGENTS_PHONE: &str = "+254711000003";

async fn app_with(mail_server: &MailServer) -> TestApp {
    TestApp::start_with(&["--smtp-url", &mail_server.url, "--smtp-from", "portal@mkopo.test"]).await
}

async fn request_code(app: &TestApp) -> StatusCode {
    app.post("/api/v1/auth/request-signin-otp", json!({"email": AGENT})).await.status
}

/// Waits until the newest message to the agent satisfies `done`.
async fn until(app: &TestApp, done: impl Fn(&crate::test_app::Message) -> bool) {
    let waiting = async {
        while !done(&app.newest_message(AGENT).await) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
}

fn deliver(app: &TestApp) -> JoinHandle<()> {
    tokio::spawn(outbox::keep_delivering(app.sandbox.clone()))
}

#[tokio::test]
async fn an_email_is_sent() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    let mail = mail_server.received(1).await.remove(0);
    let code = app.newest_code(AGENT).await;
    assert!(mail.data.contains(&code));
    assert!(mail.header("Message-ID").ends_with("@mkopo.test>"));
    assert_json_snapshot!(
        json!([mail.from, mail.to, mail.header("From"), mail.header("To"), mail.header("Subject"), mail.header("Date")]),
        @r#"
    [
      "FROM:<portal@mkopo.test>",
      "TO:<agent@mkopo.test>",
      "Mkopo <portal@mkopo.test>",
      "agent@mkopo.test",
      "Your Mkopo verification code",
      "Sat, 14 Nov 2026 09:00:00 +0000"
    ]
    "#
    );
    until(&app, |message| message.is_sent).await;
}

#[tokio::test]
async fn a_mail_server_that_refuses_temporarily_gets_the_email_later_without_delaying_the_call() {
    let mail_server = MailServer::start(Behaviour::Refuses).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    mail_server.refused(1).await;
    until(&app, |message| message.last_error.is_some()).await;
    app.clock.advance(Duration::from_secs(1));
    mail_server.refused(2).await;
    // During an attempt, the next one is a lease away; after it failed, 2 s.
    let next = app.clock.now().plus(Duration::from_secs(2));
    until(&app, |message| message.next_attempt_at == Some(next)).await;
    let error = app.newest_message(AGENT).await.last_error.unwrap();
    assert!(error.contains("451") || error.contains("try again later"), "{error}");

    mail_server.set(Behaviour::Accepts);
    app.clock.advance(Duration::from_secs(2));
    assert_eq!(mail_server.received(1).await.len(), 1);
    until(&app, |message| message.is_sent && message.last_error.is_none()).await;
}

#[tokio::test]
async fn an_unreachable_mail_server_loses_no_email() {
    let gone = MailServer::start(Behaviour::Accepts).await;
    let url = gone.url.clone();
    drop(gone);
    let app = TestApp::start_with(&["--smtp-url", &url]).await;
    deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    until(&app, |message| message.last_error.is_some()).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn an_email_whose_sender_was_killed_is_sent_again_with_the_same_message_id() {
    let mail_server = MailServer::start(Behaviour::Hangs).await;
    let app = app_with(&mail_server).await;
    let killed = deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    mail_server.received(1).await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    assert!(!app.newest_message(AGENT).await.is_sent);

    mail_server.set(Behaviour::Accepts);
    let next = deliver(&app);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(mail_server.received(1).await.len(), 1, "the first sender still holds the lease");
    app.clock.advance(Duration::from_mins(1));
    let mails = mail_server.received(2).await;
    assert_eq!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
    until(&app, |message| message.is_sent).await;
    next.abort();
}

#[tokio::test]
async fn two_senders_send_each_email_once() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let app = app_with(&mail_server).await;
    for _ in 0..8 {
        assert_eq!(request_code(&app).await, StatusCode::OK);
        app.clock.advance(Duration::from_secs(30));
    }
    let senders = [deliver(&app), deliver(&app)];
    let mut names: Vec<String> = Vec::new();
    until(&app, |message| message.is_sent).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    names.extend(mail_server.received(1).await.iter().map(|mail| mail.header("Message-ID")));
    let sent = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), sent);
    senders.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn an_email_with_an_expired_code_is_not_sent() {
    let mail_server = MailServer::start(Behaviour::Refuses).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    mail_server.refused(1).await;
    app.clock.advance(Duration::from_mins(6));
    until(&app, |message| message.last_error.as_deref() == Some("Not sent: its code has expired.")).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn outside_demo_mode_an_expired_code_is_redacted() {
    let app = TestApp::start().await;
    let app = app.restart_with(&["--demo", "false"]).await;
    deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    app.post("/api/v1/auth/request-password-reset", json!({"email": AGENT})).await;
    let codes = [app.newest_code(AGENT).await, app.newest_code(AGENTS_PHONE).await];
    app.clock.advance(Duration::from_mins(5));
    until(&app, |message| message.code.is_none()).await;
    for (recipient, code) in [AGENT, AGENTS_PHONE].iter().zip(codes) {
        let message = app.newest_message(recipient).await;
        assert_eq!(message.code, None);
        assert!(!message.body.contains(&code) && message.body.contains("••••••"), "{}", message.body);
    }
}

#[tokio::test]
async fn in_demo_mode_expired_codes_stay_readable() {
    let app = TestApp::start().await;
    let delivering = deliver(&app);
    assert_eq!(request_code(&app).await, StatusCode::OK);
    app.clock.advance(Duration::from_mins(5));
    app.sandbox.outbox.wake();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(app.newest_message(AGENT).await.code.is_some());
    delivering.abort();
}
