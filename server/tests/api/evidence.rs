//! What happened in a sandbox, as one file.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use insta::assert_json_snapshot;
use mkopo::demo;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    sandboxes::Given,
    test_app::{Answer, TestApp, disbursement_of, request, waiting},
};

async fn evidence(app: &TestApp) -> Value {
    let answer = app.console(Method::GET, "/evidence", None).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
    answer.json()
}

/// Why it can't be played again.
async fn reasons(app: &TestApp) -> Vec<String> {
    let evidence = evidence(app).await;
    let reasons: Vec<String> = serde_json::from_value(evidence["reasons"].clone()).unwrap();
    assert_eq!(evidence["replayable"], reasons.is_empty());
    reasons
}

/// A service that begins with a known start.
async fn begun() -> TestApp {
    let app = TestApp::start().await;
    let start = json!({"seed": 1, "now": "2026-11-14T09:00:00Z", "frozen": true});
    app.set_console(Method::POST, "/data/reset", start).await;
    app
}

async fn log_in(app: &TestApp, password: &str) -> Answer {
    app.post("/api/v1/auth/login", json!({"email": "agent@mkopo.test", "password": password})).await
}

#[tokio::test]
async fn it_has_the_start_the_calls_and_the_acts_in_order() {
    let app = begun().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    let agent = app.sign_in("agent").await;
    agent.get("/api/v1/auth/me?because=1").await;
    let evidence = evidence(&app).await;
    let entries = evidence["entries"].as_array().unwrap();
    let calls: Vec<_> =
        entries.iter().map(|one| (&one["began"], &one["at"], &one["request"]["path"])).collect();
    assert_eq!(
        json!(calls),
        json!([
            [1, "2026-11-14T09:00:00.000Z", "/console/api/clock"],
            [3, "2026-11-14T10:00:00.000Z", "/api/v1/auth/login"],
            [5, "2026-11-14T10:00:00.000Z", "/api/v1/auth/me"],
        ])
    );
    let chance = evidence["start"]["chance"].clone();
    assert_eq!(chance.as_str().unwrap().len(), 64);
    assert_eq!(
        evidence["start"],
        json!({"seed": 1, "now": "2026-11-14T09:00:00.000Z", "frozen": true, "chance": chance})
    );
    assert_eq!(evidence["clock"], json!({"now": "2026-11-14T10:00:00.000Z", "frozen": true}));
    assert_json_snapshot!(entries[2], {".ms" => "[ms]", ".response.body.id" => "[id]"}, @r#"
    {
      "at": "2026-11-14T10:00:00.000Z",
      "began": 5,
      "ended": 6,
      "frozen": true,
      "kind": "call",
      "ms": "[ms]",
      "number": 3,
      "request": {
        "body": null,
        "headers": {},
        "method": "GET",
        "path": "/api/v1/auth/me",
        "query": "because=1",
        "token": "the token of session 1",
        "user": "agent@mkopo.test"
      },
      "response": {
        "body": {
          "created_at": "2025-10-10T09:00:00.000Z",
          "email": "agent@mkopo.test",
          "id": "[id]",
          "name": "Wanjiru Maina",
          "phone_number": "+254711000003",
          "role": "agent",
          "username": "Wanjiru"
        },
        "fault": null,
        "status": 200
      },
      "settled": 0
    }
    "#    );
}

#[tokio::test]
async fn no_password_code_or_token_is_in_it() {
    const NEW: &str = "a-new-password-of-mine";
    let app = begun().await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    let code = app.newest_code("agent@mkopo.test").await;
    let verify = |code: &str| {
        let body = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD, "otp": code});
        app.post("/api/v1/auth/verify-signin-otp", body)
    };
    let wrong = if code == "111111" { "222222" } else { "111111" };
    assert_eq!(verify(wrong).await.status, StatusCode::BAD_REQUEST);
    let token = verify(&code).await.json()["user"]["token"].as_str().unwrap().to_owned();
    app.with(&token).get("/api/v1/auth/me").await;
    app.with("invalid").get("/api/v1/auth/me").await;
    log_in(&app, "another").await;
    let grace = json!({
        "email": "grace@example.com", "first_name": "Grace", "last_name": "Wekesa",
        "phone_number": "0712345678", "role": "agent", "password": NEW,
    });
    app.set_console(Method::POST, "/staff", grace).await;
    app.post("/api/v1/auth/login", json!({"email": "grace@example.com", "password": NEW})).await;

    let evidence = evidence(&app).await;
    assert_eq!(evidence["reasons"], json!([]));
    let shown = |entry: &Value| {
        let sent = &entry["request"];
        let got = &entry["response"]["body"];
        json!([
            sent["token"],
            sent["body"]["password"],
            sent["body"]["otp"],
            got["user"]["token"],
            got["request_id"]
        ])
    };
    let shown: Vec<Value> = evidence["entries"].as_array().unwrap().iter().map(shown).collect();
    assert_json_snapshot!(shown, @r#"
    [
      [
        null,
        null,
        null,
        null,
        null
      ],
      [
        null,
        "the demo password",
        "a wrong code",
        null,
        "the id of request 2"
      ],
      [
        null,
        "the demo password",
        "the code of message 1",
        "the token of session 1",
        null
      ],
      [
        "the token of session 1",
        null,
        null,
        null,
        null
      ],
      [
        "an invalid token",
        null,
        null,
        null,
        "the id of request 5"
      ],
      [
        null,
        "a wrong password",
        null,
        null,
        "the id of request 6"
      ],
      [
        null,
        "the password of grace@example.com",
        null,
        null,
        null
      ],
      [
        null,
        "the password of grace@example.com",
        null,
        "the token of session 2",
        null
      ]
    ]
    "#);
    let text = evidence.to_string();
    for secret in [demo::PASSWORD, NEW, "another", wrong, code.as_str(), token.as_str()] {
        assert!(!text.contains(&format!("\"{secret}\"")), "{secret}");
    }
}

#[tokio::test]
async fn bodies_are_whole_however_they_were_sent() {
    let app = begun().await;
    let agent = app.sign_in("agent").await;
    let plain = agent.pending().await;
    for encoding in ["zstd", "br", "gzip"] {
        agent.get_with("/api/v1/disbursements/pending", &[("accept-encoding", encoding)]).await;
    }
    let evidence = evidence(&app).await;
    for entry in &evidence["entries"].as_array().unwrap()[1..] {
        assert_eq!(entry["response"]["body"], json!(plain));
    }
}

#[tokio::test]
async fn forms_of_the_console_are_in_it_too() {
    let app = begun().await;
    let browser = Browser::sign_in(&app).await;
    browser.done("/console/clock", "stop", &[]).await;
    app.console(Method::DELETE, "/traffic", None).await;
    let evidence = evidence(&app).await;
    let entries = evidence["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["request"]["body"], json!({"act": "stop"}));
    let file = browser.get("/console/evidence").await;
    assert_eq!(file.headers["content-disposition"], "attachment; filename=\"evidence-main.json\"");
    assert_eq!(file.json(), evidence);
    assert!(browser.read("/console/traffic").await.contains("Download evidence"));
}

#[tokio::test]
async fn outside_demo_mode_there_is_none() {
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let refused = app.console(Method::GET, "/evidence", None).await;
    assert_eq!((refused.status, &refused.json()["code"]), (StatusCode::FORBIDDEN, &json!("tools_off")));
    let app = TestApp::start_with(&["--demo", "false", "--tools", "true"]).await;
    let refused = app.console(Method::GET, "/evidence", None).await;
    assert_eq!((refused.status, &refused.json()["code"]), (StatusCode::CONFLICT, &json!("not_in_demo_mode")));
    let browser = Browser::sign_in(&app).await;
    assert_eq!(browser.get("/console/evidence").await.status, StatusCode::CONFLICT);
    assert!(!browser.read("/console/traffic").await.contains("Download evidence"));
}

#[tokio::test]
async fn a_start_that_is_not_known_can_t_be_played_again() {
    let app = TestApp::start().await;
    let unknown = "The start is not known: the data was there before this server was started, was copied from \
                   elsewhere, or was made on another server. Reset it to begin again.";
    assert_eq!(reasons(&app).await, [unknown]);
    app.set_console(Method::POST, "/data/reset", json!({})).await;
    assert_eq!(reasons(&app).await, Vec::<String>::new());
    let app = app.restart().await;
    assert_eq!(reasons(&app).await, [unknown]);
    let recording = json!({"pending_loans": [], "disbursement_records": []});
    let copied = Given::make(&app, json!({"recording": recording})).await;
    assert_eq!(copied.console(Method::GET, "/evidence", None).await.json()["reasons"], json!([unknown]));
}

#[tokio::test]
async fn calls_for_which_there_was_no_room_can_t_be_played_again() {
    let app = begun().await;
    for _ in 0..2003 {
        app.call(Method::GET, "/api/v1/auth/me", None).await;
    }
    let evidence = evidence(&app).await;
    assert_eq!(
        evidence["reasons"],
        json!(["The first 3 of the calls and acts are missing: there was no more room for them."])
    );
    assert_eq!(evidence["entries"][0]["number"], 4);
    assert_eq!(evidence["entries"].as_array().unwrap().len(), 2000);
}

#[tokio::test]
async fn what_had_to_be_masked_or_cut_can_t_be_played_again() {
    let app = begun().await;
    let easy = json!({
        "email": "grace@example.com", "first_name": "Grace", "last_name": "Wekesa",
        "phone_number": "0712345678", "role": "agent", "password": "easy",
    });
    app.console(Method::POST, "/staff", Some(easy)).await;
    let mut no_json = request(Method::POST, "/api/v1/auth/login", None, Some(json!({})));
    *no_json.body_mut() = Body::from(format!("{{\"password\": \"{}\"", demo::PASSWORD));
    app.send(no_json).await;
    app.call(Method::GET, &format!("/api/v1/{}", "a".repeat(300)), None).await;
    app.post("/api/v1/auth/login", json!({"email": demo::PASSWORD, "password": demo::PASSWORD})).await;
    assert_eq!(
        reasons(&app).await,
        [
            "Number 1 has a password that is not known.",
            "Number 2 has a body that is not JSON.",
            "Number 3 has an address or a header that is too long to be kept.",
            "Number 4 has a password, a code or a token where none belongs.",
        ]
    );
    assert!(!evidence(&app).await.to_string().contains(demo::PASSWORD));
}

#[tokio::test]
async fn what_goes_back_before_the_start_can_t_be_played_again() {
    let app = begun().await;
    let agent = app.sign_in("agent").await;
    app.set_console(Method::POST, "/data/snapshots/first", json!({})).await;
    app.set_console(Method::PUT, "/data/snapshots/first", json!({})).await;
    agent.get("/api/v1/auth/me").await;
    assert_eq!(reasons(&app).await, Vec::<String>::new());
    app.set_console(Method::POST, "/data/reset", json!({})).await;
    app.set_console(Method::PUT, "/data/snapshots/first", json!({})).await;
    assert_eq!(agent.get("/api/v1/auth/me").await.status, StatusCode::OK);
    assert_eq!(
        reasons(&app).await,
        [
            "Number 1 restores a snapshot from before the start.",
            "Number 2 is of a session that was not opened in a recorded call.",
        ]
    );
}

#[tokio::test]
async fn calls_of_other_servers_are_missing() {
    let app = begun().await;
    let other = app.another_server(&[]).await;
    assert_eq!(reasons(&app).await, ["Other servers run on the same data, and have calls of their own."]);
    other.sandbox.close(std::time::Duration::ZERO).await;
    assert_eq!(reasons(&app).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_same_chance_gives_the_same_ids_and_codes() {
    let app = TestApp::start().await;
    let chance = "5".repeat(64);
    let start = json!({"seed": 7, "now": "2026-11-14T09:00:00Z", "frozen": true, "chance": chance});
    let mut ids = Vec::new();
    for _ in 0..2 {
        let given = Given::make(&app, start.clone()).await;
        let session = given.sign_in("agent").await;
        let pending = given.pending(&session).await;
        let loan = waiting(&pending).next().unwrap();
        let path = format!("/api/v1/disbursements/{}/disburse", loan["loan_id"].as_str().unwrap());
        let paid = given.call(Method::POST, &path, Some(&session), Some(disbursement_of(loan))).await.json();
        let messages = given.console(Method::GET, "/outbox", None).await.json();
        ids.push((paid, messages));
    }
    assert_eq!(ids[0], ids[1]);
    let wrong = app.console(Method::POST, "/sandboxes", Some(json!({"chance": "luck"}))).await;
    assert_eq!(
        (wrong.status, &wrong.json()["error"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("chance must be 64 hexadecimal digits."))
    );
}
