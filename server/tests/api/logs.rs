use axum::http::Method;
use lending::{demo, outbox};
use serde_json::{Value, json};

use crate::{
    mail_server::{Behaviour, MailServer},
    subscriber,
    test_app::{Listener, TestApp, request},
};

// S-90, S-105
#[tokio::test]
async fn logs_contain_no_password_code_token_or_full_phone_number() {
    subscriber::capture();
    let mail_server = MailServer::start(Behaviour::Refuses("451 <agent@mkopo.test> try again later")).await;
    let secret = "0123456789abcdef0123456789abcdef";
    let app =
        TestApp::start_with(&["--screens", "live", "--smtp-url", &mail_server.url, "--jwt-secret", secret])
            .await;
    let delivering = tokio::spawn(outbox::keep_delivering(app.sandbox.outbox.clone()));
    let email = "agent@mkopo.test";

    let token = app.sign_in("agent").await.token().to_owned();
    app.login(email, "Not-the-password").await;
    app.login("stranger@example.com", "Not-the-password").await;
    app.request_code(email).await;
    let sign_in_code = app.newest_code(email).await;
    mail_server.refused(1).await;
    app.verify_code(email, demo::PASSWORD, "918273").await;
    let answer = app.verify_code(email, demo::PASSWORD, &sign_in_code).await;
    let other_token = answer.json()["user"]["token"].as_str().unwrap().to_owned();
    app.request_reset_code(email).await;
    let reset_code = app.newest_code("+254711000003").await;
    assert_eq!(app.reset_password(email, &reset_code, "Kahawa-2026").await.status, 200);
    app.post("/api/v1/auth/login", json!({"email": email, "password": ["Kahawa-2026"]})).await;
    let supervisor = app.sign_in("supervisor").await;
    let pending = supervisor.pending().await;
    let loan = pending.iter().find(|loan| loan["disbursement_status"] == "NOT_STARTED").unwrap();
    assert_eq!(supervisor.disburse(loan).await.status, 200);
    let customers_phone = loan["customer_phone_number"].as_str().unwrap();
    delivering.abort();
    // Typed where it does not belong.
    for secret in [demo::PASSWORD, "918273", &other_token, email] {
        app.get(&format!("/api/v1/{secret}?{secret}={secret}")).await;
        app.call(Method::POST, &format!("/open/{secret}"), None).await;
        if let Ok(method) = Method::from_bytes(secret.as_bytes()) {
            app.call(method, "/api/v1/auth/me", None).await;
        }
        app.console(Method::GET, &format!("/staff/{secret}"), None).await;
        app.get_with("/api/v1/auth/me", &[("idempotency-key", secret)]).await;
    }
    let sessions = supervisor.get("/api/v1/sessions").await.json();
    let current = sessions.as_array().unwrap().iter().find(|one| one["is_current"] == true).unwrap();
    let id = current["id"].as_str().unwrap();
    assert_eq!(supervisor.delete(&format!("/api/v1/sessions/{id}")).await.status, 204);
    let admin = app.sign_in("admin").await;
    admin.post("/api/v1/auth/logout", None).await;

    let logged = subscriber::captured();
    for event in [
        "session.opened",
        "password.reset",
        "outbox.not_sent",
        "payout.settled",
        "sign_in_failed",
        "signed_in",
        "signed_out",
    ] {
        assert!(logged.contains(event), "{event} was not captured");
    }
    assert!(logged.contains("\"error\":\"transient error (451): @mkopo.test> try again later\""), "{logged}");
    for secret in [
        demo::PASSWORD,
        "Not-the-password",
        "Kahawa-2026",
        &sign_in_code,
        "918273",
        "stranger",
        email,
        "supervisor@mkopo.test",
        "admin@mkopo.test",
        &reset_code,
        &token,
        &other_token,
        token.rsplit('.').next().unwrap(),
        secret,
        "711000003",
        customers_phone,
        customers_phone.trim_start_matches("+254"),
    ] {
        let line = logged.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} was logged");
    }
    for line in logged.lines().filter(|line| line.contains("signed_out")) {
        assert!(!line.contains("mkopo.test"), "{line}");
    }
}

/// What repeats is logged once a minute, so that a line of another call or payout must be another one.
#[tokio::test]
async fn the_cause_of_a_failed_call_and_of_a_payout_left_open_is_logged_with_its_id() {
    subscriber::capture();
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.write("ALTER TABLE outbox_message RENAME TO away").await.unwrap();
    assert_eq!(agent.disburse(&loan).await.status, 202);
    let transaction_id = agent.records_of(&loan).await[0]["transaction_id"].clone();
    app.write("ALTER TABLE customer RENAME TO renamed").await.unwrap();
    let pending = request(Method::GET, "/api/v1/disbursements/pending", Some(agent.token()), None);
    let failed = app.send_to(Listener::Portal, pending).await;
    assert_eq!(failed.status, 500);
    let request_id = failed.headers["x-request-id"].to_str().unwrap();

    let logged = subscriber::captured();
    let fields = |message: &str| -> Value {
        let mut lines = logged.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.find(|line| line["fields"]["message"] == message).unwrap()["fields"].clone()
    };
    assert_eq!(fields("payout.left_pending")["transaction.id"], transaction_id);
    assert_eq!(fields("failed")["request_id"], request_id);
    assert!(fields("failed")["error"].as_str().unwrap().contains("customer"));
}
