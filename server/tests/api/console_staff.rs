use axum::http::Method;
use lending::demo;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    live_settings::LIVE,
    test_app::{TestApp, account},
};

// S-57, S-66
#[tokio::test]
async fn accounts_are_listed_with_their_open_sessions() {
    let app = TestApp::start().await;
    app.sign_in("agent").await;
    app.sign_in("agent").await;
    let staff = app.read_console("/staff").await;
    let one = |one: &Value| json!([one["email"], one["role"], one["is_active"], one["open_sessions"]]);
    assert_eq!(
        staff.as_array().unwrap().iter().map(one).collect::<Value>(),
        json!([
            ["admin@mkopo.test", "admin", true, 0],
            ["agent@mkopo.test", "agent", true, 2],
            ["inactive@mkopo.test", "agent", false, 0],
            ["supervisor@mkopo.test", "supervisor", true, 0],
        ])
    );
    let agent = app.read_console("/staff/agent@mkopo.test").await;
    assert_eq!(staff[1], agent);
}

// S-61
#[tokio::test]
async fn deactivating_an_account_ends_its_sessions_permanently() {
    let (app, agent) = TestApp::start_for("agent").await;
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

// S-64
#[tokio::test]
async fn the_sessions_of_one_account_or_of_all_are_ended() {
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
async fn unknown_accounts_and_invalid_changes_are_rejected() {
    let app = TestApp::start().await;
    let change = json!({"role": "agent"});
    for path in ["/staff/nobody@mkopo.test", "/staff/nobody"] {
        assert_eq!(app.console(Method::GET, path, None).await.failure().1, "user_not_found");
        assert_eq!(app.console(Method::PATCH, path, change.clone()).await.failure().0, 404);
        assert_eq!(app.console(Method::POST, &format!("{path}/expire"), None).await.failure().0, 404);
    }
    for change in [json!({"role": "boss"}), json!({"is_active": "no"}), json!({"email": "x@mkopo.test"})] {
        let answer = app.console(Method::PATCH, "/staff/agent@mkopo.test", change).await;
        assert_eq!(answer.failure().0, 422);
    }
}

// S-46
#[tokio::test]
async fn an_operator_can_turn_off_the_sign_in_codes_of_somebody_who_does_not_get_them() {
    let app = TestApp::start_with(&LIVE).await;
    let browser = Browser::sign_in(&app).await;
    let (path, email) = ("/staff/agent@mkopo.test", ("email", "agent@mkopo.test"));
    assert!(!browser.read("/console/staff").await.contains("Turn off sign-in codes"));
    let on = app.set_console(Method::PATCH, path, json!({"sign_in_code_required": true})).await.json();
    assert_eq!(on["sign_in_code_required"], true);
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    assert_eq!(app.post("/api/v1/auth/login", credentials).await.kind(), "403 code_required");
    browser.done("/console/staff", "codes_off", &[email]).await;
    app.sign_in("agent").await;
    let events = app.read_console("/events?kind=sign_in_code_changed").await;
    let of = |n: usize| (events[n]["about"].clone(), events[n]["details"].clone());
    assert_eq!(of(0), (json!(email.1), json!("required: false")));
    assert_eq!(of(1), (json!(email.1), json!("required: true")));

    let app = app.restart_with(&[&LIVE[..], &["--tools", "false"]].concat()).await;
    let refused = app.console(Method::PATCH, path, json!({"sign_in_code_required": true})).await;
    assert_eq!(refused.kind(), "422 invalid_request", "nobody would get the codes");
}

#[tokio::test]
async fn an_account_is_opened_and_can_sign_in() {
    let app = TestApp::start().await;
    let grace = json!({
        "email": "Grace@Example.com", "first_name": "Grace", "last_name": "Wekesa",
        "phone_number": "0712 345 678", "role": "supervisor", "password": "Kahawa-2026",
    });
    let opened = app.console(Method::POST, "/staff", grace.clone()).await;
    assert_eq!(opened.status, 201);
    let account = app.read_console("/staff/grace@example.com").await;
    assert_eq!(opened.json(), account);
    assert_eq!((&account["username"], &account["phone_number"]), (&json!("Grace"), &json!("+254712345678")));
    let credentials = json!({"email": "grace@example.com", "password": "Kahawa-2026"});
    assert_eq!(app.post("/api/v1/auth/login", credentials).await.status, 200);

    let again = app.console(Method::POST, "/staff", grace.clone()).await;
    assert_eq!(again.failure().1, "account_exists");
    for (field, value) in [
        ("email", "grace"),
        ("first_name", " "),
        ("last_name", &"a".repeat(65)),
        ("username", ""),
        ("phone_number", "12"),
        ("role", "boss"),
        ("password", "12345"),
    ] {
        let mut wrong = grace.clone();
        wrong[field] = json!(value);
        assert_eq!(app.console(Method::POST, "/staff", wrong).await.failure().0, 422, "{field}");
    }
}

#[tokio::test]
async fn an_account_that_could_be_mistaken_for_another_is_not_opened() {
    const HIDDEN: &str = "must have 1 to 64 characters that can be seen.";
    let app = TestApp::start().await;
    let before = app.read_console("/staff").await;
    let taken = "Another account has this phone number.";
    let undeliverable = "email must have only ASCII letters before the @, and a domain after it: few mail servers \
                         take others.";
    for (field, value, sentence) in [
        ("first_name", "Achieng\u{202e}", format!("first_name {HIDDEN}")),
        ("first_name", "Achieng\u{200e}", format!("first_name {HIDDEN}")),
        ("last_name", "Achi\neng", format!("last_name {HIDDEN}")),
        ("last_name", "Achi\u{2028}eng", format!("last_name {HIDDEN}")),
        ("username", "Achi\u{200b}eng", format!("username {HIDDEN}")),
        ("username", "Achi\u{200d}eng", format!("username {HIDDEN}")),
        ("phone_number", "0711 000 003", taken.to_owned()),
        ("phone_number", "\u{202a}+254711000003\u{202c}", taken.to_owned()),
        ("email", "wanjikũ@mkopo.test", undeliverable.to_owned()),
        ("email", "wanjiku@[127.0.0.1]", undeliverable.to_owned()),
    ] {
        let mut account = account("achieng@example.com");
        account[field] = json!(value);
        let refused = app.console(Method::POST, "/staff", account).await;
        assert_eq!(refused.refusal(), format!("422 invalid_request: {sentence}"), "{value:?}");
        assert_eq!(refused.body()["field"], field, "{value:?}");
    }
    assert_eq!(app.read_console("/staff").await, before);
}

#[tokio::test]
async fn a_name_of_any_script_and_a_phone_pasted_with_invisible_characters_are_accepted() {
    let app = TestApp::start().await;
    let [first, last] = ["می\u{200c}خواهم", "क्\u{200d}ष"];
    let mut account = account("grace@example.com");
    for (field, value) in
        [("first_name", first), ("last_name", last), ("phone_number", "\u{200e}0712\u{a0}345 678\u{202c}")]
    {
        account[field] = json!(value);
    }
    let opened = app.set_console(Method::POST, "/staff", account).await.json();
    let names = ["first_name", "last_name", "username"].map(|field| opened[field].clone());
    assert_eq!(names, [first, last, first]);
    assert_eq!(opened["phone_number"], "+254712345678");
}
