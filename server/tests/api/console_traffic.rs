use axum::{
    body::Body,
    http::{Method, Request, header},
};
use lending::demo;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    test_app::{CONSOLE_TOKEN, TestApp, request},
};

async fn traffic(app: &TestApp) -> Vec<Value> {
    app.read_console("/traffic").await.as_array().unwrap().clone()
}

// S-90
#[tokio::test]
async fn a_call_is_listed_with_masked_secrets() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.get("/api/v1/auth/me").await;
    let calls = traffic(&app).await;
    let (me, login) = (&calls[0], &calls[1]);
    let expected = json!([
        {
            "id": 2, "at": "2026-11-14T09:00:00.000Z", "method": "GET", "path": "/api/v1/auth/me", "status": 200,
            "user": "agent@mkopo.test", "ms": me["ms"], "request_id": me["request_id"], "fault": null,
            "request_body": null,
            "response_body": {
                "id": me["response_body"]["id"], "username": "Wanjiru", "name": "Wanjiru Maina",
                "email": "agent@mkopo.test", "phone_number": "+25471•••••03", "role": "agent",
                "created_at": "2025-10-10T09:00:00.000Z",
            },
        },
        {
            "id": 1, "at": "2026-11-14T09:00:00.000Z", "method": "POST", "path": "/api/v1/auth/login", "status": 200,
            "user": null, "ms": login["ms"], "request_id": login["request_id"], "fault": null,
            "request_body": {"email": "agent@mkopo.test", "password": "•••"},
            "response_body": {"user": {
                "id": login["response_body"]["user"]["id"], "username": "Wanjiru", "name": "Wanjiru Maina",
                "email": "agent@mkopo.test", "role": "agent", "token": "•••",
            }},
        },
    ]);
    assert_eq!(json!(calls), expected);
    let all = json!(calls).to_string();
    for secret in [demo::PASSWORD, agent.token(), "711000003"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_payout_is_listed_with_masked_phone_numbers_and_its_user() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let answer = agent.disburse(&loan).await;
    let call = &traffic(&app).await[0];
    assert_eq!(call["user"], "agent@mkopo.test");
    assert_eq!(call["request_id"], answer.headers["x-request-id"].to_str().unwrap());
    assert_eq!(call["request_body"]["amount"], loan["total_loan_amount"]);
    assert_eq!(call["response_body"]["status"], "COMPLETED");
    let phone = loan["customer_phone_number"].as_str().unwrap();
    assert!(!call.to_string().contains(&phone[4..]), "{call}");

    let typed = json!({
        "email": "a@b.c", "password": "x", "phone_number": "0722 111 333", "phone": "(0722) 111.333",
        "notes": "call +254-753-104376",
    });
    app.post("/api/v1/auth/login", typed).await;
    let expected = json!({
        "email": "a@b.c", "password": "•••", "phone_number": "+25472•••••33", "phone": "•••",
        "notes": "call +25475•••••76",
    });
    assert_eq!(traffic(&app).await[0]["request_body"], expected);
}

#[tokio::test]
async fn failures_and_faults_are_listed() {
    let app = TestApp::start().await;
    app.get("/api/v1/auth/me").await;
    let fault = json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503});
    app.set_console(Method::POST, "/faults", fault).await;
    app.get("/api/v1/auth/me").await;
    app.delete("/api/v1/auth/login").await;
    let calls = traffic(&app).await;
    let listed =
        calls.iter().map(|call| json!([call["status"], call["response_body"]["code"], call["fault"]]));
    assert_eq!(
        listed.collect::<Value>(),
        json!([
            [405, "method_not_allowed", null],
            [503, "injected_fault", "status"],
            [401, "no_session", null]
        ])
    );
}

#[tokio::test]
async fn the_latest_thousand_calls_are_kept_until_they_are_cleared() {
    let app = TestApp::start().await;
    for _ in 0..1005 {
        app.get("/api/v1/auth/me").await;
    }
    let calls = traffic(&app).await;
    assert_eq!(calls.len(), 1000);
    assert_eq!((&calls[0]["id"], &calls[999]["id"]), (&json!(1005), &json!(6)));
    let browser = Browser::sign_in(&app).await;
    let says_so = async || browser.read("/console").await.contains("Only the latest 1,000 calls are kept");
    assert!(says_so().await);
    app.clock.advance(std::time::Duration::from_mins(30));
    assert!(!says_so().await, "those that are gone are not of the last 30 minutes");
    assert_eq!(app.console(Method::DELETE, "/traffic", None).await.status, 204);
    assert_eq!(traffic(&app).await, Vec::<Value>::new());
    app.get("/api/v1/auth/me").await;
    assert!(!says_so().await, "all since then are kept");
}

#[tokio::test]
async fn the_page_filters_and_downloads_traffic() {
    let (app, browser) = Browser::start().await;
    let agent = app.sign_in("agent").await;
    agent.get("/api/v1/auth/me").await;
    agent.get("/api/v1/nothing").await;
    assert!(browser.read("/console/traffic").await.contains("3 calls"));
    for (query, found) in [
        ("path=auth", "2 calls"),
        ("method=POST", "1 call;"),
        ("status=4xx", "1 call;"),
        ("status=none", "No matching calls"),
        ("user=agent%40", "1 call;"),
        ("path=auth&method=GET&status=2xx&user=agent", "1 call;"),
        ("since=2026-11-14T12:00&until=2026-11-14T09:00:00Z", "3 calls"),
        ("until=2026-11-14T11:59", "No matching calls"),
    ] {
        let read = browser.read(&format!("/console/traffic?{query}")).await;
        assert!(read.contains(found), "{query}: {read}");
    }
    assert!(browser.read("/console/traffic").await.contains("Download as HAR"));
    let file = browser.get("/console/traffic?as=har").await;
    assert_eq!(file.headers[header::CONTENT_DISPOSITION], "attachment; filename=\"main.har\"");
    assert_eq!(file.json()["log"]["entries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn calls_are_filtered() {
    let (app, agent) = TestApp::start_for("agent").await;
    agent.get("/api/v1/auth/me").await;
    app.clock.advance(std::time::Duration::from_mins(1));
    agent.get("/api/v1/nothing").await;
    app.post("/api/v1/auth/login", json!({"email": "agent@mkopo.test", "password": "wrong"})).await;
    let ids = async |query: &str| {
        let answer = app.read_console(&format!("/traffic?{query}")).await;
        answer.as_array().unwrap().iter().map(|call| call["id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, [4, 3, 2, 1]);
    assert_eq!(ids("method=post").await, [4, 1]);
    assert_eq!(ids("path=/auth/").await, [4, 2, 1]);
    assert_eq!(ids("status=4xx").await, [4, 3]);
    assert_eq!(ids("status=404").await, [3]);
    assert_eq!(ids("status=none").await, [0_u64; 0]);
    assert_eq!(ids("user=agent@").await, [2]);
    assert_eq!(ids("user=%20Agent@Mkopo").await, [2], "as somebody may type it");
    assert_eq!(ids("since=2026-11-14T09:01:00Z").await, [4, 3]);
    assert_eq!(ids("until=2026-11-14T12:00:00%2B03:00&method=GET").await, [2]);
    for wrong in ["status=odd", "status=4", "since=yesterday", "colour=blue"] {
        let refused = app.console(Method::GET, &format!("/traffic?{wrong}"), None).await;
        assert_eq!(refused.failure().0, 400, "{wrong}");
    }
    app.open_account("grace+ci@mkopo.test").await;
    app.sign_in("grace+ci").await.get("/api/v1/auth/me").await;
    for user in ["grace%2Bci@mkopo.test", "grace+ci@mkopo.test"] {
        assert_eq!(ids(&format!("user={user}")).await, [6], "{user}");
    }
}

/// The calls as an HTTP Archive; the test app checks it against its schema.
async fn log(app: &TestApp) -> Value {
    app.read_console("/traffic.har").await["log"].clone()
}

#[tokio::test]
async fn a_har_file_has_all_calls_oldest_first() {
    let app = TestApp::start().await;
    let start = json!({"seed": 7, "now": "2026-11-14T09:00:00Z", "frozen": true});
    app.set_console(Method::POST, "/data/reset", start).await;
    let agent = app.sign_in("agent").await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    let fault = json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503});
    app.set_console(Method::POST, "/faults", fault).await;
    agent.get("/api/v1/auth/me?period=today").await;
    let log = log(&app).await;
    let comment = log["comment"].as_str().unwrap();
    let (state, faults) = comment.split_once(" Faults: ").unwrap();
    assert_eq!(
        state,
        "Sandbox main. Seed: 7. Start: 2026-11-14T09:00:00.000Z, clock stopped. Clock: 2026-11-14T10:00:00.000Z, \
         stopped. Mobile money: {\"default\":\"success\",\"float\":50000000,\"latency_ms\":0,\"next\":[],\"seed\":1,\"spread_percent\":0}."
    );
    assert!(faults.contains(r#""kind":"status""#), "{faults}");
    let sent = &log["entries"][0]["request"]["postData"];
    assert_eq!(sent["text"], r#"{"email":"agent@mkopo.test","password":"•••"}"#);
    let content = &log["entries"][0]["response"]["content"];
    assert!(content["text"].as_str().unwrap().contains(r#""token":"•••""#), "{content}");
    let entry = &log["entries"][1];
    let (_, comment) = entry["comment"].as_str().unwrap().split_once(". ").unwrap();
    assert_eq!(comment, "Fault: status.");
    let content = &entry["response"]["content"];
    let failure: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
    assert_eq!(failure["code"], "injected_fault");
    let request = json!({
        "method": "GET", "url": "http://127.0.0.1:8080/api/v1/auth/me?period=today", "httpVersion": "HTTP/1.1",
        "cookies": [], "headers": [{"name": "authorization", "value": "Bearer •••"}],
        "queryString": [{"name": "period", "value": "today"}], "headersSize": -1, "bodySize": 0,
    });
    let response = json!({
        "status": 503, "statusText": "Service Unavailable", "httpVersion": "HTTP/1.1", "cookies": [],
        "headers": [
            {"name": "content-type", "value": "application/json"},
            {"name": "retry-after", "value": "1"},
        ],
        "content": {"size": 249, "mimeType": "application/json", "text": content["text"], "comment": ""},
        "redirectURL": "", "headersSize": -1, "bodySize": 249,
    });
    let expected = json!({
        "startedDateTime": "2026-11-14T10:00:00.000Z", "time": entry["time"], "request": request,
        "response": response, "cache": {},
        "timings": {"send": 0, "wait": entry["timings"]["wait"], "receive": 0}, "comment": entry["comment"],
    });
    assert_eq!(*entry, expected);
}

#[tokio::test]
async fn a_har_file_says_what_was_not_kept_and_what_was_not_answered() {
    let (app, agent) = TestApp::start_for("agent").await;
    let list = agent.get("/api/v1/disbursement-records").await;
    app.post("/api/v1/auth/login", json!("not an object")).await;
    app.set_console(Method::POST, "/faults", json!({"path": "/api/v1/auth/me", "kind": "drop"})).await;
    app.get("/api/v1/auth/me").await;
    let log = log(&app).await;
    let contents: Vec<_> = [1, 2, 3].map(|n| &log["entries"][n]["response"]["content"]).into();
    assert_eq!(contents[0]["size"], list.bytes.len());
    assert_eq!(contents[0]["text"], "");
    assert_eq!(contents[0]["comment"], "Only the size is kept.");
    assert_eq!(log["entries"][2]["request"]["postData"]["text"], "");
    assert_eq!(log["entries"][3]["response"]["status"], 0);
    assert!(log["entries"][3]["comment"].as_str().unwrap().ends_with("Fault: drop. There was no response."));
    app.set_console(Method::POST, "/data/reset", json!({"seed": "empty"})).await;
    assert_eq!(self::log(&app).await["entries"], json!([]), "a reset empties it");
}

#[tokio::test]
async fn the_seed_of_data_that_a_snapshot_has_replaced_is_not_known() {
    let app = TestApp::start().await;
    app.set_console(Method::POST, "/data/snapshots/before", json!(null)).await;
    app.set_console(Method::POST, "/data/reset", json!({"seed": 7})).await;
    app.set_console(Method::PUT, "/data/snapshots/before", json!(null)).await;
    let log = log(&app).await;
    assert!(log["comment"].as_str().unwrap().starts_with("Sandbox main. Seed: not known, "), "{log}");
}

#[tokio::test]
async fn a_sandbox_has_a_har_file_of_its_own() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12", "seed": 3, "now": "2026-11-14T09:00:00Z"})).await;
    one.get("/api/v1/auth/me").await;
    let log = one.read_console("/traffic.har").await["log"].clone();
    let comment = log["comment"].as_str().unwrap();
    let start = "Sandbox pr-12. Seed: 3. Start: 2026-11-14T09:00:00.000Z. Clock: ";
    assert!(comment.starts_with(start), "{comment}");
    let url = log["entries"][0]["request"]["url"].as_str().unwrap();
    assert!(url.starts_with("http://pr-12.localhost") && url.ends_with("/api/v1/auth/me"), "{url}");
}

#[tokio::test]
async fn a_code_that_was_sent_is_masked_before_anybody_has_used_it() {
    let app = TestApp::start().await;
    app.post("/api/v1/auth/request-password-reset", json!({"email": "agent@mkopo.test"})).await;
    let code = app.newest_code("+254711000003").await;
    app.get(&format!("/api/v1/auth/{code}")).await;
    let shown = json!(traffic(&app).await).to_string();
    assert!(shown.contains("/api/v1/auth/•••") && !shown.contains(&code), "{shown}");
}

// S-90
#[tokio::test]
async fn secrets_are_masked_wherever_they_stand() {
    const OWN: &str = "Kahawa & chai 2026";
    const EMAIL: &str = "agent@mkopo.test";
    let app = TestApp::start().await;
    app.post("/api/v1/auth/request-password-reset", json!({"email": EMAIL})).await;
    let code = app.newest_code("+254711000003").await;
    // In each other's fields, as a number, and in fields that are not in the contract.
    let number: u32 = code.parse().unwrap();
    for body in [
        json!({"email": OWN, "password": EMAIL, "note": OWN}),
        json!({"email": format!("{code}@mkopo.test"), "password": "x", "amount": code}),
        json!({"email": EMAIL, "password": "x", "amount": number, "name": OWN}),
        json!({"email": EMAIL, "password": "x", "title": demo::PASSWORD}),
    ] {
        app.post("/api/v1/auth/login", body).await;
    }
    let new = json!({"email": EMAIL, "otp": code, "new_password": OWN});
    app.post("/api/v1/auth/reset-password", new).await;
    let signed_in = app.post("/api/v1/auth/login", json!({"email": EMAIL, "password": OWN})).await.json();
    let token = signed_in["user"]["token"].as_str().unwrap().to_owned();
    // In the address and in headers.
    for secret in ["Kahawa%20%26%20chai%202026", "Kahawa+%26+chai+2026", &code, &token, CONSOLE_TOKEN] {
        for address in [format!("/auth/{secret}"), format!("/auth/me?type={secret}&{secret}=1")] {
            app.get(&format!("/api/v1{address}")).await;
        }
    }
    for secret in [OWN, &code, &token, CONSOLE_TOKEN] {
        let mut call = request(Method::GET, "/api/v1/auth/me", Some(secret), None);
        for name in ["idempotency-key", "if-none-match", "accept", "content-type", "cookie"] {
            call.headers_mut().insert(name, secret.parse().unwrap());
        }
        app.send(call).await;
    }
    let raw = Request::get("/api/v1/auth/me").header("authorization", OWN).body(Body::empty()).unwrap();
    app.send(raw).await;

    let har = log(&app).await;
    let page = Browser::sign_in(&app).await.read("/console/traffic").await;
    assert_eq!(har["entries"].as_array().unwrap().len(), 22);
    for shown in [har.to_string(), json!(traffic(&app).await).to_string(), page] {
        for secret in [OWN, "Kahawa", &code, &token, CONSOLE_TOKEN, demo::PASSWORD] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }
    let last = &har["entries"][21]["request"];
    assert_eq!(last["headers"], json!([{"name": "authorization", "value": "•••"}]));
    assert_eq!(har["entries"][0]["response"]["status"], 200);
}

/// In memory, a value takes many times its size in a body.
#[tokio::test]
async fn a_read_shows_the_bodies_of_the_newest_calls_as_far_as_there_is_room() {
    let app = TestApp::start().await;
    let body = json!({"email": "agent@mkopo.test", "notes": vec![json!({}); 490]});
    for _ in 0..210 {
        app.post("/api/v1/auth/login", body.clone()).await;
    }
    let size = body.to_string().len();
    let calls = traffic(&app).await;
    assert!(calls[0]["request_body"].is_object());
    assert_eq!(calls[209]["request_body"], format!("[{size} bytes, too many values]"));
    let har = log(&app).await;
    let text = |at: usize| har["entries"][at]["request"]["postData"]["text"].as_str().unwrap().to_owned();
    assert!(text(209).contains("agent@mkopo.test"));
    assert!(!text(0).contains("agent@mkopo.test"), "{}", text(0));
}

#[tokio::test]
async fn the_token_of_the_console_is_masked_in_a_sandbox_too() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let login = json!({"email": CONSOLE_TOKEN, "password": "x"});
    one.post("/api/v1/auth/login", login).await;
    one.get(&format!("/api/v1/auth/{CONSOLE_TOKEN}")).await;
    let shown = one.read_console("/traffic").await.to_string();
    assert!(shown.contains("/api/v1/auth/") && !shown.contains(CONSOLE_TOKEN), "{shown}");
}
