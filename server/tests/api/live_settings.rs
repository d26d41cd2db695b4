//! The settings that the live screens keep, of the portal and of each person, and the permissions of roles for them.

use axum::http::Method;
use insta::assert_snapshot;
use lending::mobile_money::Outcome;
use serde_json::{Value, json};

use crate::{
    console_faults::{add_fault, over_the_wire, raw_request},
    profile::put,
    test_app::{Answer, Listener, TestApp, request},
};

pub const LIVE: [&str; 2] = ["--screens", "live"];

/// The preferences that everybody has at first.
fn preferences() -> Value {
    json!({"language": "en", "time_zone": null, "notify_by_email": false, "notify_by_sms": false})
}

/// The rules that [`set_rules`] sets, with some of them changed.
fn rules(change: &Value) -> Value {
    let mut rules = json!({
        "session_minutes": 480, "maximum_amount": null, "confirmation_required": true, "auto_retry": false,
        "retry_attempts": 3,
    });
    rules.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    rules
}

/// Other preferences than those at first, and the rules with some of them changed.
fn others(change: &Value) -> Value {
    json!({
        "preferences": {"language": "sw", "time_zone": "UTC", "notify_by_email": true, "notify_by_sms": false},
        "rules": rules(change),
    })
}

async fn set_rules(admin: &TestApp, change: Value) -> Answer {
    put(admin, "/settings", json!({"preferences": preferences(), "rules": rules(&change)})).await
}

/// Sets what is a person's own, which must be valid.
pub async fn set_preferences(staff: &TestApp, preferences: Value) -> Value {
    let answer = put(staff, "/settings", json!({"preferences": preferences, "rules": null})).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["preferences"].take()
}

/// The preferences of `admin`, and the settings of everybody.
async fn kept(admin: &TestApp) -> [Value; 2] {
    [admin.get("/api/v1/preferences").await.json(), admin.get("/api/v1/settings").await.json()]
}

/// Changes of preferences and of rules, as the audit trail has them.
async fn changes(app: &TestApp) -> Vec<Value> {
    let mut changes = Vec::new();
    for kind in ["settings_changed", "preferences_changed"] {
        let events = app.read_console(&format!("/events?kind={kind}")).await;
        for event in events.as_array().unwrap() {
            changes.push(json!([event["kind"], event["who"], event["details"]]));
        }
    }
    changes
}

/// Sets that a person is told of their payouts by e-mail and SMS.
pub async fn be_notified(staff: &TestApp, language: &str) {
    let all =
        json!({"language": language, "time_zone": null, "notify_by_email": true, "notify_by_sms": true});
    set_preferences(staff, all).await;
}

#[tokio::test]
async fn the_calls_of_live_screens_exist_only_where_screens_are_live() {
    let specified = TestApp::start().await;
    let admin = specified.sign_in("admin").await;
    for path in ["/preferences", "/settings", "/profile", "/sessions"] {
        assert_eq!(admin.get(&format!("/api/v1{path}")).await.kind(), "404 not_found", "{path}");
    }
    let portal = specified.get("/slices.json").await.json();
    assert_eq!(portal["portal"]["screens"], Value::Null);

    let live = TestApp::start_with(&LIVE).await;
    assert_eq!(live.get("/slices.json").await.json()["portal"]["screens"], "live");
    let admin = live.sign_in("admin").await;
    for path in ["/preferences", "/settings", "/profile", "/sessions"] {
        assert_eq!(admin.get(&format!("/api/v1{path}")).await.status, 200, "{path}");
        assert_eq!(live.get(&format!("/api/v1{path}")).await.status, 401, "{path}");
    }
}

// S-67
#[tokio::test]
async fn only_administrators_see_and_change_the_settings() {
    let app = TestApp::start_with(&LIVE).await;
    for who in ["agent", "supervisor"] {
        let staff = app.sign_in(who).await;
        assert_eq!(staff.get("/api/v1/settings").await.failure().1, "role_not_allowed");
        let answer = put(&staff, "/settings", others(&json!({"maximum_amount": 1}))).await;
        assert_eq!(answer.refusal(), "403 role_not_allowed: Your role does not allow rules to be set.");
        assert_eq!(answer.body()["field"], "rules");
        let kept = staff.get("/api/v1/preferences").await.json();
        assert_eq!((&kept["language"], &kept["rules"]["maximum_amount"]), (&json!("en"), &Value::Null));
        assert_eq!(staff.get("/api/v1/auth/me").await.json()["role"], who);
    }
    let admin = app.sign_in("admin").await;
    let expected = json!({
        "session_minutes": 480, "longest_session_minutes": 480, "confirmation_required": true, "maximum_amount": null,
        "auto_retry": false, "retry_attempts": 3,
    });
    assert_eq!(admin.get("/api/v1/settings").await.json(), expected);
    // A role that is taken away counts at once, in sessions that are open.
    app.set_console(Method::PATCH, "/staff/admin@mkopo.test", json!({"role": "agent"})).await;
    assert_eq!(admin.get("/api/v1/settings").await.status, 403);
}

#[tokio::test]
async fn a_payout_above_the_maximum_that_another_server_has_set_is_refused_until_the_maximum_is_raised() {
    let app = TestApp::start_with(&LIVE).await;
    let other = app.another_server(&LIVE).await;
    let (admin, agent) = (other.sign_in("admin").await, app.sign_in("agent").await);
    let loan = app.approve_loan(20_001, "+254712000111").await;
    let small = app.approve_loan(20_000, "+254712000112").await;
    assert_eq!(set_rules(&admin, json!({"maximum_amount": 20_000})).await.status, 200);

    let refused = agent.disburse_with_key(&loan, "first").await;
    assert_snapshot!(refused.refusal(), @"422 amount_above_maximum: A payout may have at most KES 20000. An administrator can change this in Settings.");
    assert!(agent.records_of(&loan).await.is_empty());
    assert_eq!(agent.disburse(&loan).await.failure().1, "amount_above_maximum");
    assert_eq!(agent.disburse(&small).await.status, 200);

    set_rules(&admin, json!({"maximum_amount": null})).await;
    assert!(agent.disburse_with_key(&loan, "first").await.is_replay(), "the same call has the same answer");
    assert_eq!(agent.disburse_with_key(&loan, "second").await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_maximum_holds_nobody_up_where_screens_are_as_specified() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    set_rules(&admin, json!({"maximum_amount": 1})).await;
    let app = app.restart().await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    assert_eq!(agent.disburse(loan).await.status, 200);
}

#[tokio::test]
async fn a_session_is_as_long_as_was_set_when_it_was_opened() {
    const HALF_AN_HOUR: std::time::Duration = std::time::Duration::from_mins(30);
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    set_rules(&admin, json!({"session_minutes": 30})).await;
    let agent = app.sign_in("agent").await;
    app.clock.advance(HALF_AN_HOUR);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(admin.get("/api/v1/auth/me").await.status, 200);
}

#[tokio::test]
async fn everybody_has_preferences_of_their_own() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, admin) = (app.sign_in("agent").await, app.sign_in("admin").await);
    set_rules(&admin, json!({"maximum_amount": 70_000, "auto_retry": true})).await;
    let new = json!({"language": "sw", "time_zone": "UTC", "notify_by_email": true, "notify_by_sms": false});
    let set = set_preferences(&agent, new).await;
    let expected = json!({
        "language": "sw", "time_zone": "UTC", "notify_by_email": true, "notify_by_sms": false,
        "rules": {
            "confirmation_required": true, "maximum_amount": 70_000, "auto_retry": true, "retry_attempts": 3,
        },
    });
    assert_eq!(set, expected);
    assert_eq!(agent.get("/api/v1/preferences").await.json(), set);
    let of_admin = admin.get("/api/v1/preferences").await.json();
    assert_eq!((&of_admin["language"], &of_admin["time_zone"]), (&json!("en"), &Value::Null));
}

#[tokio::test]
async fn preferences_and_rules_are_saved_in_one_call() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    let new = others(&json!({"session_minutes": 45, "maximum_amount": 90_000}));
    let saved = put(&admin, "/settings", new).await.json();
    let expected = json!({
        "preferences": {
            "language": "sw", "time_zone": "UTC", "notify_by_email": true, "notify_by_sms": false,
            "rules": {
                "confirmation_required": true, "maximum_amount": 90_000, "auto_retry": false, "retry_attempts": 3,
            },
        },
        "rules": {
            "session_minutes": 45, "longest_session_minutes": 480, "confirmation_required": true,
            "maximum_amount": 90_000, "auto_retry": false, "retry_attempts": 3,
        },
    });
    assert_eq!(saved, expected);
    assert_eq!(json!(kept(&admin).await), json!([saved["preferences"], saved["rules"]]));

    let agent = app.sign_in("agent").await;
    let saved = put(&agent, "/settings", json!({"preferences": preferences(), "rules": null})).await.json();
    assert_eq!(saved["rules"], Value::Null);
    assert_eq!(saved["preferences"]["rules"]["maximum_amount"], 90_000);
}

#[tokio::test]
async fn one_wrong_field_saves_nothing_and_is_named() {
    let (app, admin) =
        TestApp::start_for_with("admin", &[&LIVE[..], &["--session-minutes", "60"]].concat()).await;
    let before = kept(&admin).await;
    let mut refusals = Vec::new();
    for (part, field, value) in [
        ("preferences", "time_zone", json!("Mars/Olympus")),
        // Browsers do not know these, though operating systems do.
        ("preferences", "time_zone", json!("localtime")),
        ("preferences", "time_zone", json!("Factory")),
        ("rules", "session_minutes", json!(61)),
        ("rules", "session_minutes", json!(4)),
        ("rules", "maximum_amount", json!(0)),
        ("rules", "retry_attempts", json!(11)),
        ("rules", "retry_attempts", json!(-1)),
    ] {
        let mut new = others(&json!({
            "session_minutes": 30, "maximum_amount": 90_000, "confirmation_required": false, "auto_retry": true,
            "retry_attempts": 1,
        }));
        new[part][field] = value;
        let answer = put(&admin, "/settings", new).await;
        assert_eq!(answer.body()["field"], field);
        assert_eq!(kept(&admin).await, before, "{field}");
        refusals.push(answer.refusal());
    }
    assert_snapshot!(refusals.join("\n"), @"
    422 invalid_request: time_zone must be the name of a time zone such as Africa/Nairobi, or null.
    422 invalid_request: time_zone must be the name of a time zone such as Africa/Nairobi, or null.
    422 invalid_request: time_zone must be the name of a time zone such as Africa/Nairobi, or null.
    422 invalid_request: session_minutes must be from 5 to 60.
    422 invalid_request: session_minutes must be from 5 to 60.
    422 invalid_request: maximum_amount must be between 1 and 2^53 - 1, or null.
    422 invalid_request: retry_attempts must be from 0 to 10.
    422 invalid_request: retry_attempts must be from 0 to 10.
    ");
    let without = json!({"preferences": preferences(), "rules": {"session_minutes": 60}});
    assert_eq!(put(&admin, "/settings", without).await.failure().1, "invalid_request");
    assert!(changes(&app).await.is_empty());
}

#[tokio::test]
async fn a_time_zone_is_kept_by_its_name() {
    let (_, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let mut new = preferences();
    new["time_zone"] = json!(" africa/Nairobi\n");
    assert_eq!(set_preferences(&agent, new).await["time_zone"], "Africa/Nairobi");
}

#[tokio::test]
async fn a_failure_between_preferences_and_rules_saves_neither() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    let before = kept(&admin).await;
    let new = others(&json!({"maximum_amount": 90_000}));
    app.write("ALTER TABLE portal_rules RENAME TO away").await.unwrap();
    let save = request(Method::PUT, "/api/v1/settings", Some(admin.token()), Some(new.clone()));
    assert_eq!(app.send_to(Listener::Portal, save).await.status, 500);
    app.write("ALTER TABLE away RENAME TO portal_rules").await.unwrap();
    assert_eq!(kept(&admin).await, before);
    assert!(changes(&app).await.is_empty());
    assert_eq!(put(&admin, "/settings", new).await.status, 200);
}

#[tokio::test]
async fn saving_again_after_a_lost_answer_changes_nothing_more() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    let new = others(&json!({"maximum_amount": 90_000}));
    add_fault(&app, json!({"path": "/api/v1/settings", "kind": "drop", "times": 1})).await;
    let save = raw_request("PUT", "/api/v1/settings", admin.token(), &new.to_string());
    assert_eq!(over_the_wire(&app, &save).await.0, "");
    let after_first = kept(&admin).await;
    assert_eq!(after_first[1]["maximum_amount"], 90_000);

    let again = put(&admin, "/settings", new).await;
    assert_eq!(again.status, 200);
    assert_eq!(json!([again.json()["preferences"], again.json()["rules"]]), json!(after_first));
    assert_eq!(changes(&app).await.len(), 2, "one of preferences and one of rules");
}

#[tokio::test]
async fn each_change_of_settings_and_preferences_is_an_event() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    for _ in 0..2 {
        set_rules(&admin, json!({"maximum_amount": 90_000, "session_minutes": 45})).await;
    }
    be_notified(&admin, "sw").await;
    let who = "admin@mkopo.test";
    let settings = "session minutes: 45, maximum amount: KES 90000";
    let preferences = "language: Swahili, notifications by e-mail: on, notifications by SMS: on";
    let expected = json!([["settings_changed", who, settings], ["preferences_changed", who, preferences]]);
    assert_eq!(json!(changes(&app).await), expected);
}

#[tokio::test]
async fn whoever_wants_it_is_told_by_e_mail_and_sms_of_a_payout_that_settled_later() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    be_notified(&agent, "en").await;
    let slow = app.approve_loan(12_500, "+254712000113").await;
    app.next_outcomes(&[Outcome::Slow]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&slow)).await.status, 202);
    assert_eq!(app.texts_to("+254711000003").await, 0);
    agent.until_settled(&slow).await;
    let email = app.newest_message("agent@mkopo.test").await;
    let receipt = agent.records_of(&slow).await[0]["mpesa_ref"].as_str().unwrap().to_owned();
    let loan_id = slow["loan_id"].as_str().unwrap();
    assert_eq!(email.subject.unwrap(), format!("Paid: loan {loan_id}"));
    assert!(email.body.contains("KES 12500") && email.body.contains(&receipt), "{}", email.body);
    let sms = app.newest_message("+254711000003").await;
    assert!(sms.body.contains(loan_id) && sms.body.contains(&receipt), "{}", sms.body);
}

#[tokio::test]
async fn nobody_is_told_twice_of_a_payout_that_was_answered_at_once() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    be_notified(&agent, "sw").await;
    let loan = &agent.waiting_loan().await;
    assert_eq!(agent.disburse(loan).await.status, 200);
    assert_eq!(app.texts_to("agent@mkopo.test").await + app.texts_to("+254711000003").await, 0);
}

#[tokio::test]
async fn a_reset_puts_the_settings_back_and_a_snapshot_keeps_them() {
    let (app, admin) = TestApp::start_for_with("admin", &LIVE).await;
    set_rules(&admin, json!({"maximum_amount": 90_000})).await;
    be_notified(&admin, "sw").await;
    app.console(Method::POST, "/data/snapshots/with-settings", None).await;
    app.console(Method::POST, "/data/reset", None).await;
    let admin = app.sign_in("admin").await;
    assert_eq!(admin.get("/api/v1/settings").await.json()["maximum_amount"], Value::Null);
    assert_eq!(admin.get("/api/v1/preferences").await.json()["language"], "en");
    app.console(Method::PUT, "/data/snapshots/with-settings", None).await;
    let admin = app.sign_in("admin").await;
    assert_eq!(admin.get("/api/v1/settings").await.json()["maximum_amount"], 90_000);
    assert_eq!(admin.get("/api/v1/preferences").await.json()["language"], "sw");
}
