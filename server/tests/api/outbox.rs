use std::time::Duration;

use axum::http::StatusCode;
use insta::assert_json_snapshot;
use mkopo::outbox;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    mail_server::{MailServer, Mood},
    test_app::TestApp,
};

const AGENT: &str = "agent@mkopo.test";
const AGENTS_PHONE: &str = "+254711000003";

async fn app_with(mail_server: &MailServer) -> TestApp {
    TestApp::start_with(&["--smtp-url", &mail_server.url, "--smtp-from", "portal@mkopo.test"]).await
}

async fn ask(app: &TestApp) -> StatusCode {
    app.post("/api/v1/auth/request-signin-otp", json!({"email": AGENT})).await.status
}

/// Waits until the newest message to the agent says what is asked of it.
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
async fn an_email_really_goes_out() {
    let mail_server = MailServer::start(Mood::Takes).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    let mail = mail_server.got(1).await.remove(0);
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
async fn a_mail_server_that_refuses_for_a_while_gets_the_email_later_and_nobody_waits_for_it() {
    let mail_server = MailServer::start(Mood::Refuses).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    mail_server.refused(1).await;
    until(&app, |message| message.last_error.is_some()).await;
    app.clock.advance(Duration::from_secs(1));
    mail_server.refused(2).await;
    // While an attempt runs, the next one stands far off: it is over when that is 2 s away.
    let next = app.clock.now().plus(Duration::from_secs(2));
    until(&app, |message| message.next_attempt_at == Some(next)).await;
    let error = app.newest_message(AGENT).await.last_error.unwrap();
    assert!(error.contains("451") || error.contains("try again later"), "{error}");

    mail_server.set(Mood::Takes);
    app.clock.advance(Duration::from_secs(2));
    assert_eq!(mail_server.got(1).await.len(), 1);
    until(&app, |message| message.is_sent && message.last_error.is_none()).await;
}

#[tokio::test]
async fn a_mail_server_that_is_away_loses_no_email() {
    let gone = MailServer::start(Mood::Takes).await;
    let url = gone.url.clone();
    drop(gone);
    let app = TestApp::start_with(&["--smtp-url", &url]).await;
    deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    until(&app, |message| message.last_error.is_some()).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn an_email_whose_sender_was_killed_midway_goes_out_again_under_the_same_name() {
    let mail_server = MailServer::start(Mood::FallsSilent).await;
    let app = app_with(&mail_server).await;
    let killed = deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    mail_server.got(1).await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    assert!(!app.newest_message(AGENT).await.is_sent);

    mail_server.set(Mood::Takes);
    let next = deliver(&app);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(mail_server.got(1).await.len(), 1, "it is still the first sender's");
    app.clock.advance(Duration::from_mins(1));
    let mails = mail_server.got(2).await;
    assert_eq!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
    until(&app, |message| message.is_sent).await;
    next.abort();
}

#[tokio::test]
async fn two_senders_send_each_email_once() {
    let mail_server = MailServer::start(Mood::Takes).await;
    let app = app_with(&mail_server).await;
    for _ in 0..8 {
        assert_eq!(ask(&app).await, StatusCode::OK);
        app.clock.advance(Duration::from_secs(30));
    }
    let senders = [deliver(&app), deliver(&app)];
    let mut names: Vec<String> = Vec::new();
    until(&app, |message| message.is_sent).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    names.extend(mail_server.got(1).await.iter().map(|mail| mail.header("Message-ID")));
    let sent = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), sent);
    senders.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn an_email_whose_code_has_expired_is_not_sent_any_more() {
    let mail_server = MailServer::start(Mood::Refuses).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    mail_server.refused(1).await;
    app.clock.advance(Duration::from_mins(6));
    until(&app, |message| message.last_error.as_deref() == Some("Not sent: its code has expired.")).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn outside_demo_mode_a_code_can_not_be_read_when_its_life_is_over() {
    let app = TestApp::start().await;
    let app = app.restart_with(&["--demo", "false"]).await;
    deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
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
async fn in_demo_mode_codes_stay_to_be_looked_at() {
    let app = TestApp::start().await;
    let delivering = deliver(&app);
    assert_eq!(ask(&app).await, StatusCode::OK);
    app.clock.advance(Duration::from_mins(5));
    app.sandbox.outbox.wake();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(app.newest_message(AGENT).await.code.is_some());
    delivering.abort();
}
