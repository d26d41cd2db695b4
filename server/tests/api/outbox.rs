use std::time::{Duration, Instant};

use axum::http::Method;
use lending::outbox;
use serde_json::json;
use store::query_as;
use tokio::task::JoinHandle;
use worlds::retention;

use crate::{
    mail_server::{Behaviour, MailServer},
    test_app::{Message, TestApp, wait_until},
};

const AGENT: &str = "agent@mkopo.test";
const AGENTS_PHONE: &str = "+254711000003";
const BUSY: Behaviour = Behaviour::Refuses("451 try again later");

fn options(mail_server: &MailServer) -> [&str; 4] {
    ["--smtp-url", &mail_server.url, "--smtp-from", "portal@mkopo.test"]
}

async fn app_with(mail_server: &MailServer) -> TestApp {
    TestApp::start_with(&options(mail_server)).await
}

/// Waits until the newest message to the agent satisfies `done`.
async fn until(app: &TestApp, done: impl Fn(&Message) -> bool) {
    wait_until("the newest message is as expected", async || done(&app.newest_message(AGENT).await)).await;
}

/// Adds e-mails without a code, which are due.
async fn add_notices(app: &TestApp, to: &str, count: u32) {
    let now = app.clock.now().0;
    let add = format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})
         INSERT INTO outbox_message
             (message_id, channel, recipient, subject, body, created_at, next_attempt_at)
         SELECT 'notice-' || n, 'email', '{to}', 'Paid', 'Your payout was completed.', {now}, {now} FROM number"
    );
    app.write(add).await.unwrap();
}

fn deliver(app: &TestApp) -> JoinHandle<()> {
    tokio::spawn(outbox::keep_delivering(app.sandbox.outbox.clone()))
}

#[tokio::test]
async fn an_email_is_sent() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(app.request_code(AGENT).await.status, 200);
    let mail = mail_server.received(1).await.remove(0);
    let code = app.newest_code(AGENT).await;
    assert!(mail.data.contains(&code));
    assert!(mail.header("Message-ID").ends_with("@mkopo.test>"));
    assert_eq!((mail.from.as_str(), mail.to.as_str()), ("FROM:<portal@mkopo.test>", "TO:<agent@mkopo.test>"));
    let headers = ["From", "To", "Subject", "Date"].map(|name| mail.header(name));
    let (subject, date) = ("Your Mkopo verification code", "Sat, 14 Nov 2026 09:00:00 +0000");
    assert_eq!(headers, ["Mkopo <portal@mkopo.test>", "agent@mkopo.test", subject, date]);
    until(&app, |message| message.is_sent).await;
}

/// A mail server may refuse a name that is no domain (RFC 5321, 4.1.4).
#[tokio::test]
async fn a_mail_server_is_told_the_name_of_the_portal_or_the_domain_of_the_sender() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let mut hellos = Vec::new();
    for public_url in ["https://portal.example.com:8443", "http://192.0.2.7:8080", "http://localhost"] {
        let app =
            TestApp::start_with(&[&options(&mail_server)[..], &["--public-url", public_url]].concat()).await;
        app.request_code(AGENT).await;
        outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
        hellos.push(mail_server.received(hellos.len() + 1).await.pop().unwrap().hello);
    }
    assert_eq!(hellos, ["portal.example.com", "mkopo.test", "mkopo.test"]);
}

#[tokio::test]
async fn a_sandbox_sends_to_the_named_domains_only_through_the_deployments_mail_server() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    for (domains, attempts, is_sent) in
        [(None, 0, false), (Some("example.com"), 1, false), (Some("example.com,Mkopo.TEST"), 1, true)]
    {
        let named = domains.map(|domains| ["--sandbox-mail-domains", domains]);
        let options = options(&mail_server).into_iter().chain(named.into_iter().flatten());
        let app = TestApp::start_with(&options.collect::<Vec<_>>()).await;
        let one = app.make_sandbox(json!({})).await;
        one.request_code(AGENT).await;
        let sandbox = one.named_sandbox().await;
        outbox::deliver_due(&sandbox.outbox).await.unwrap();
        outbox::deliver_due(&sandbox.outbox).await.unwrap();
        // The sandbox's own round may have claimed the message first.
        wait_until(&format!("{attempts} attempts of a sandbox with the domains {domains:?}"), async || {
            let mut reader = sandbox.database.read().await.unwrap();
            let stored: (i64, Option<i64>) = query_as("SELECT attempts, sent_at FROM outbox_message")
                .fetch_one(&mut reader)
                .await
                .unwrap();
            (stored.0, stored.1.is_some()) == (attempts, is_sent)
        })
        .await;
    }
    assert_eq!(mail_server.received(1).await.len(), 1);
}

#[tokio::test]
async fn a_mail_server_that_refuses_temporarily_gets_the_email_later_without_delaying_the_call() {
    let mail_server = MailServer::start(BUSY).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(app.request_code(AGENT).await.status, 200);
    mail_server.refused(1).await;
    until(&app, |message| message.last_error.is_some()).await;
    app.clock.advance(Duration::from_secs(1));
    app.sandbox.outbox.wake();
    mail_server.refused(2).await;
    // During an attempt, the next one is a lease away; after it failed, 2 s.
    let next = app.clock.now().plus(Duration::from_secs(2));
    until(&app, |message| message.next_attempt_at == Some(next)).await;
    let error = app.newest_message(AGENT).await.last_error.unwrap();
    assert!(error.contains("451") || error.contains("try again later"), "{error}");

    mail_server.set(Behaviour::Accepts);
    app.clock.advance(Duration::from_secs(2));
    app.sandbox.outbox.wake();
    assert_eq!(mail_server.received(1).await.len(), 1);
    until(&app, |message| message.is_sent && message.last_error.is_none()).await;
}

#[tokio::test]
async fn codes_are_sent_at_once_while_the_mail_server_hangs_at_another_recipient() {
    let supervisor = "supervisor@mkopo.test";
    let mail_server = MailServer::start(Behaviour::HangsAt(supervisor)).await;
    let app = app_with(&mail_server).await;
    // More than are sent at a time.
    add_notices(&app, supervisor, 40).await;
    assert_eq!(app.request_code(supervisor).await.status, 200);
    deliver(&app);
    mail_server.refused(9).await;

    let asked = Instant::now();
    assert_eq!(app.request_code(AGENT).await.status, 200);
    assert_eq!(mail_server.received(1).await[0].to, "TO:<agent@mkopo.test>");
    // An attempt at which the mail server hangs takes 30 s.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    until(&app, |message| message.is_sent).await;
}

#[tokio::test]
async fn an_email_that_is_refused_permanently_is_given_up_and_deleted_after_90_days() {
    let mail_server = MailServer::start(Behaviour::Refuses("550 5.1.1 no such user")).await;
    let app = app_with(&mail_server).await;
    add_notices(&app, AGENT, 1).await;
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    let message = app.newest_message(AGENT).await;
    let error = message.last_error.unwrap_or_default();
    let outcome = (message.is_sent, message.attempts, message.next_attempt_at);
    assert_eq!(outcome, (false, 1, None), "{error}");
    assert!(error.contains("no such user"), "{error}");
    app.sandbox.server.metrics.refresh(&app.sandbox.slices).await;
    assert!(app.metrics().await.contains("mkopo_outbox_waiting 0\n"));

    app.clock.advance(Duration::from_hours(24 * 90));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert_eq!(app.texts_to(AGENT).await, 0);
}

#[tokio::test]
async fn an_email_is_not_given_up_because_the_mail_server_refuses_the_credentials() {
    let mail_server = MailServer::start(Behaviour::Refuses("530 5.7.0 authentication required")).await;
    let app = app_with(&mail_server).await;
    add_notices(&app, AGENT, 1).await;
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();

    mail_server.set(Behaviour::Accepts);
    app.clock.advance(Duration::from_secs(1));
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    assert!(app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn an_email_is_tried_every_30_minutes_and_given_up_after_five_days() {
    let mail_server = MailServer::start(BUSY).await;
    let app = app_with(&mail_server).await;
    add_notices(&app, AGENT, 1).await;
    // As they are after five days, less two attempts.
    app.write("UPDATE outbox_message SET attempts = 249").await.unwrap();
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    let half_an_hour = Duration::from_mins(30);
    let next = app.newest_message(AGENT).await.next_attempt_at;
    assert_eq!(next, Some(app.clock.now().plus(half_an_hour)));
    app.clock.advance(half_an_hour);
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    let message = app.newest_message(AGENT).await;
    assert_eq!((message.is_sent, message.attempts, message.next_attempt_at), (false, 251, None));
}

#[tokio::test]
async fn an_email_that_was_tried_while_the_clock_was_ahead_is_tried_again_when_it_is_set_back() {
    let mail_server = MailServer::start(BUSY).await;
    let app = app_with(&mail_server).await;
    add_notices(&app, AGENT, 1).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "365d"})).await;
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    assert_eq!(app.newest_message(AGENT).await.attempts, 1);

    app.set_console(Method::DELETE, "/clock", json!({})).await;
    mail_server.set(Behaviour::Accepts);
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    assert!(app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn a_server_that_has_not_noticed_that_the_clock_was_set_back_sends_the_code() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let app = TestApp::start().await;
    let sender = app.another_server_at(app.clock.of_another_sandbox(), &options(&mail_server)).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d"})).await;
    sender.console(Method::GET, "/clock", None).await;

    app.set_console(Method::DELETE, "/clock", json!({})).await;
    assert_eq!(app.request_code(AGENT).await.status, 200);
    outbox::deliver_due(&sender.sandbox.outbox).await.unwrap();

    assert_eq!(mail_server.received(1).await.len(), 1);
    sender.sandbox.close(Duration::ZERO).await;
}

#[tokio::test]
async fn a_server_that_has_not_noticed_that_the_clock_was_set_back_redacts_no_valid_code() {
    let app = TestApp::start().await;
    let outside_demo_mode = ["--demo", "false", "--tools", "true"];
    let other = app.another_server_at(app.clock.of_another_sandbox(), &outside_demo_mode).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d"})).await;
    other.console(Method::GET, "/clock", None).await;

    app.set_console(Method::DELETE, "/clock", json!({})).await;
    assert_eq!(app.request_code(AGENT).await.status, 200);
    outbox::deliver_due(&other.sandbox.outbox).await.unwrap();

    assert_eq!(app.newest_code(AGENT).await.len(), 6);
    other.sandbox.close(Duration::ZERO).await;
}

// S-108
#[tokio::test]
async fn an_unreachable_mail_server_loses_no_email() {
    let app = TestApp::start_with(&["--smtp-url", "smtp://127.0.0.1:9"]).await;
    deliver(&app);
    assert_eq!(app.request_code(AGENT).await.status, 200);
    until(&app, |message| message.last_error.is_some()).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn an_email_whose_sender_was_killed_is_sent_again_with_the_same_message_id() {
    let mail_server = MailServer::start(Behaviour::Hangs).await;
    let app = app_with(&mail_server).await;
    let killed = deliver(&app);
    assert_eq!(app.request_code(AGENT).await.status, 200);
    mail_server.received(1).await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    assert!(!app.newest_message(AGENT).await.is_sent);

    mail_server.set(Behaviour::Accepts);
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    assert_eq!(mail_server.received(1).await.len(), 1, "the first sender still holds the lease");
    app.clock.advance(Duration::from_mins(1));
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    let mails = mail_server.received(2).await;
    assert_eq!(mails.len(), 2);
    assert_eq!(mails[0].header("Message-ID"), mails[1].header("Message-ID"));
    assert!(app.newest_message(AGENT).await.is_sent);
}

#[tokio::test]
async fn two_senders_send_each_email_once() {
    let mail_server = MailServer::start(Behaviour::Accepts).await;
    let app = app_with(&mail_server).await;
    let other = app.another_server(&options(&mail_server)).await;
    // More than one sender claims at once.
    for _ in 0..4 {
        for email in [AGENT, "supervisor@mkopo.test", "admin@mkopo.test"] {
            assert_eq!(app.request_code(email).await.status, 200);
        }
        app.clock.advance(Duration::from_secs(30));
    }
    let mut asked: Vec<[String; 3]> = Vec::new();
    for message in app.read_console("/outbox").await.as_array().unwrap() {
        let text = |field: &str| message[field].as_str().unwrap().to_owned();
        asked.push([format!("<{}@mkopo.test>", text("id")), text("to"), text("code")]);
    }
    assert_eq!(asked.len(), 12);

    let (one, two) =
        tokio::join!(outbox::deliver_due(&app.sandbox.outbox), outbox::deliver_due(&other.sandbox.outbox));
    assert!(one.is_ok() && two.is_ok());
    let mut sent: Vec<[String; 3]> = Vec::new();
    for mail in mail_server.received(12).await {
        let (_, body) = mail.data.split_once("\n\n").unwrap();
        let code = asked.iter().map(|message| &message[2]).find(|code| body.contains(*code));
        sent.push([mail.header("Message-ID"), mail.header("To"), code.unwrap().clone()]);
    }
    asked.sort();
    sent.sort();
    assert_eq!(sent, asked, "each message is sent once, to its recipient, with its code");
}

#[tokio::test]
async fn an_email_with_an_expired_code_is_not_sent() {
    let mail_server = MailServer::start(BUSY).await;
    let app = app_with(&mail_server).await;
    deliver(&app);
    assert_eq!(app.request_code(AGENT).await.status, 200);
    mail_server.refused(1).await;
    until(&app, |message| message.last_error.is_some()).await;
    app.clock.advance(Duration::from_mins(6));
    until(&app, |message| message.last_error.as_deref() == Some("Not sent: its code has expired.")).await;
    assert!(!app.newest_message(AGENT).await.is_sent);
}

// S-50
#[tokio::test]
async fn outside_demo_mode_an_expired_code_is_redacted() {
    let app = TestApp::start().await;
    let app = app.restart_with(&["--demo", "false"]).await;
    assert_eq!(app.request_code(AGENT).await.status, 200);
    app.request_reset_code(AGENT).await;
    let codes = [app.newest_code(AGENT).await, app.newest_code(AGENTS_PHONE).await];
    app.clock.advance(Duration::from_mins(5));
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    for (recipient, code) in [AGENT, AGENTS_PHONE].iter().zip(codes) {
        let message = app.newest_message(recipient).await;
        assert_eq!(message.code, None);
        assert!(!message.body.contains(&code) && message.body.contains("••••••"), "{}", message.body);
    }
}

#[tokio::test]
async fn in_demo_mode_expired_codes_stay_readable() {
    let app = TestApp::start().await;
    assert_eq!(app.request_code(AGENT).await.status, 200);
    app.clock.advance(Duration::from_mins(5));
    outbox::deliver_due(&app.sandbox.outbox).await.unwrap();
    assert!(app.newest_message(AGENT).await.code.is_some());
}
