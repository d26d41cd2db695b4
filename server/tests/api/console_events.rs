use std::time::Duration;

use axum::http::Method;
use lending::demo;
use serde_json::{Value, json};
use worlds::retention;

use crate::{
    browser::{Browser, post},
    command_line::{self, mkopo},
    live_settings::LIVE,
    slices::{build, hold, publish, started},
    test_app::{CONSOLE_TOKEN, Listener, Status, TestApp, account, request, sent_from},
};

const DAY: Duration = Duration::from_hours(24);

/// The events that match `query`, the oldest first.
async fn events(app: &TestApp, query: &str) -> Vec<Value> {
    let answer = app.console(Method::GET, &format!("/events{query}"), None).await;
    assert_eq!(answer.status, 200, "{query}");
    let mut events = answer.json().as_array().unwrap().clone();
    events.reverse();
    events
}

/// Kind, what it is about and details of each, in a line.
fn lines(events: &[Value]) -> String {
    let text = |event: &Value, field: &str| event[field].as_str().unwrap_or("-").to_owned();
    let line = |event| ["kind", "about", "details"].map(|field| text(event, field)).join(" ");
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Kind, who and what it is about.
fn short(event: &Value) -> [&str; 3] {
    ["kind", "who", "about"].map(|field| event[field].as_str().unwrap_or("-"))
}

/// The kinds of the events that match `query`, the oldest first.
async fn kinds(app: &TestApp, query: &str) -> Vec<String> {
    events(app, query).await.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

async fn wrong_password(app: &TestApp, address: &str, email: &str) -> Status {
    app.from(address).login(email, "Not-the-password").await.status
}

// S-103, S-105
#[tokio::test]
async fn every_sign_in_sign_out_and_reset_is_an_event() {
    let app = TestApp::start_with(&LIVE).await;
    let email = "agent@mkopo.test";
    let agent = app.sign_in("agent").await;
    agent.post("/api/v1/auth/logout", None).await;
    assert_eq!(wrong_password(&app, "192.0.2.7", email).await, 400);
    assert_eq!(wrong_password(&app, "192.0.2.7", "nobody@example.com").await, 404);
    app.post("/api/v1/auth/request-password-reset", json!({"email": email})).await;
    let code = app.newest_code("+254711000003").await;
    let wrong = if code == "123456" { "654321" } else { "123456" };
    for otp in [wrong, &code] {
        let reset = json!({"email": email, "otp": otp, "new_password": "Kahawa-2026"});
        app.post("/api/v1/auth/reset-password", reset).await;
    }
    // The account requires codes, which are sent after the right password only.
    app.set_console(Method::PATCH, "/staff/agent@mkopo.test", json!({"sign_in_code_required": true})).await;
    for _ in 0..9 {
        let request = json!({"email": email, "password": "Not-the-password"});
        let refused = app.post("/api/v1/auth/request-signin-otp", request).await;
        assert_eq!(refused.kind(), "400 invalid_password");
    }
    let mut written = events(&app, "").await;
    let at_codes = written.split_off(7);
    assert_eq!(written.pop().unwrap()["kind"], "sign_in_code_changed");
    let hash = written[2]["who"].as_str().unwrap();
    assert_eq!(hash.len(), 16);
    assert_ne!(hash, written[3]["who"], "each account has its own");
    assert_eq!(
        written.iter().map(short).collect::<Vec<_>>(),
        [
            ["signed_in", email, "-"],
            ["signed_out", email, "-"],
            ["sign_in_failed", hash, "-"],
            ["sign_in_failed", written[3]["who"].as_str().unwrap(), "-"],
            ["password_reset_failed", hash, "-"],
            ["password_reset", email, "-"],
        ]
    );
    let details: Vec<&Value> = written.iter().map(|event| &event["details"]).collect();
    assert_eq!(
        json!(details),
        json!([
            "with password",
            null,
            "invalid password",
            "user not found",
            "invalid or expired code",
            "all sessions ended"
        ])
    );
    assert_eq!(written[2]["address"], "192.0.2.7");
    assert_eq!(written[2]["at"], "2026-11-14T09:00:00.000Z");
    assert_eq!(at_codes.len(), 9);
    assert!(at_codes.iter().all(|event| short(event) == ["sign_in_failed", hash, "-"]));
    assert_eq!(at_codes[7]["details"], "invalid password");
    assert_eq!(at_codes[8]["details"], "invalid password; further attempts are refused for now");

    let text = json!(events(&app, "?limit=1000").await).to_string();
    for secret in [demo::PASSWORD, "Not-the-password", "Kahawa-2026", &code, "711000003", agent.token()] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(!text.contains("nobody"), "a failed sign-in does not name the account");
}

// S-103
#[tokio::test]
async fn console_sign_ins_and_wrong_tokens_are_events() {
    let (app, browser) = Browser::start().await;
    app.send(post("/console/sign-in", None, &[("token", "wrong")])).await;
    browser.send("/console", "", &[]).await;
    let csrf = crate::browser::csrf(&browser.get("/console").await);
    browser.send_as("/console/sign-out", &[("csrf", &csrf)]).await;
    let written = events(&app, "").await;
    let operator = written[0]["who"].as_str().unwrap();
    assert!(operator.starts_with("operator ") && operator.len() == 17, "{operator}");
    assert_eq!(
        written.iter().map(short).collect::<Vec<_>>(),
        [
            ["console_signed_in", operator, "-"],
            ["console_sign_in_failed", "unknown", "-"],
            ["console_signed_out", operator, "-"],
        ]
    );
    assert!(!json!(written).to_string().contains(CONSOLE_TOKEN));
}

// S-103
#[tokio::test]
async fn every_call_that_changes_something_is_an_event_and_a_refused_one_is_not() {
    let (app, _portal) = started().await;
    let loan = json!({"loan": {"loan_id": "LN-1", "customer_phone_number": "+254711222333"}});
    let grace = account("Grace@example.com");
    let fault = json!({"path": "/api/v1/auth/me", "kind": "latency", "ms": 1});
    let both = json!({"role": "supervisor", "is_active": false});
    for (method, path, body) in [
        (Method::POST, "/staff", Some(grace.clone())),
        (Method::POST, "/staff", Some(grace)),
        (Method::PATCH, "/staff/GRACE@example.com", Some(both)),
        (Method::PATCH, "/staff/grace@example.com", Some(json!({"is_active": true}))),
        (Method::PATCH, "/staff/nobody@example.com", Some(json!({"role": "admin"}))),
        (Method::POST, "/staff/grace@example.com/expire", None),
        (Method::POST, "/staff/expire", None),
        (Method::POST, "/loans", Some(loan)),
        (Method::POST, "/payouts", None),
        (Method::PUT, "/scenario", Some(json!({"next": ["slow"]}))),
        (Method::DELETE, "/scenario", None),
        (Method::PUT, "/clock", Some(json!({"advance": "1m"}))),
        (Method::DELETE, "/clock", None),
        (Method::POST, "/faults", Some(fault)),
        (Method::DELETE, "/faults", None),
        (Method::DELETE, "/traffic", None),
        (Method::DELETE, "/outbox", None),
        (Method::POST, "/data/snapshots/first", None),
        (Method::PUT, "/data/snapshots/first", None),
        (Method::DELETE, "/data/snapshots/first", None),
        (Method::DELETE, "/data/snapshots/first", None),
        (Method::POST, "/data/reset", Some(json!({"seed": 3}))),
        (Method::DELETE, "/nothing", None),
        (Method::GET, "/staff", None),
    ] {
        app.console(method, path, body).await;
    }
    assert!(publish(&app, &build("mfe-loans", "0.2.0")).await.status.is_success());
    app.console(Method::POST, "/slices/mfe-loans/rollback?by=wanjiru", None).await;
    app.console(Method::POST, "/slices/mfe-loans/activate", json!({"version": "0.2.0"})).await;
    app.console(Method::DELETE, "/slices/mfe-loans", None).await;
    let written = events(&app, "").await;
    for event in &written {
        assert_eq!((&event["who"], &event["times"]), (&json!("operator"), &json!(1)));
    }
    insta::assert_snapshot!(lines(&written), @"
    account_opened grace@example.com role: agent
    account_deactivated grace@example.com -
    role_changed grace@example.com role: supervisor
    account_activated grace@example.com -
    sessions_ended grace@example.com -
    sessions_ended - -
    loans_approved LN-1 count: 1
    payout_made - -
    scenario_changed - -
    scenario_changed - -
    clock_set - advance: 1m
    clock_set - -
    fault_added - kind: latency, ms: 1
    faults_removed - -
    traffic_cleared - -
    messages_deleted - -
    snapshot_saved first -
    snapshot_restored first -
    snapshot_removed first -
    data_reset - seed: 3
    slice_published mfe-loans version: 0.2.0, by: ci
    slice_rolled_back mfe-loans by: wanjiru
    slice_activated mfe-loans version: 0.2.0
    slice_removed mfe-loans -
    ");
}

// S-103
#[tokio::test]
async fn a_call_about_a_slice_that_changes_nothing_is_no_event() {
    let (app, _portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    hold(&app, "mfe-loans", "0.3.0").await;
    let ten = json!({"version": "0.3.0", "percent": 10});
    app.set_console(Method::POST, "/slices/mfe-loans/rollout", ten.clone()).await;
    let before = events(&app, "").await.len();
    assert_eq!(publish(&app, &build("mfe-loans", "0.2.0")).await.status, 200);
    app.set_console(Method::POST, "/slices/mfe-loans/activate", json!({"version": "0.2.0"})).await;
    app.set_console(Method::POST, "/slices/mfe-loans/rollout", ten).await;
    assert_eq!(app.console(Method::POST, "/slices/mfe-loans/hold", None).await.status, 200);
    let unwatched = json!({"version": "0.3.0", "percent": 10, "watch": false});
    app.set_console(Method::POST, "/slices/mfe-loans/rollout", unwatched).await;
    assert_eq!(
        lines(&events(&app, "").await[before..]),
        "slice_rolled_out mfe-loans version: 0.3.0, percent: 10",
        "the watch ended"
    );
}

/// Page, form, input, and what the next page shows.
const FORMS: [(&str, &str, &str, &str); 26] = [
    ("staff", "role", "email=agent@mkopo.test&role=admin", "agent@mkopo.test is updated."),
    ("staff", "expire", "email=agent@mkopo.test", "1 session ended."),
    ("staff", "expire", "", "1 session ended."),
    ("staff", "deactivate", "email=agent@mkopo.test", "agent@mkopo.test is deactivated"),
    ("staff", "activate", "email=agent@mkopo.test", "agent@mkopo.test can sign in again."),
    ("scenario", "clear", "", "No queued outcomes"),
    ("faults", "end", "", "No faults"),
    ("traffic", "forget", "", "No calls yet"),
    ("outbox", "empty", "", "No messages yet"),
    ("data", "save", "name=second", "Saved as second."),
    ("loans", "make", "count=2", "2 loans approved."),
    ("data", "restore", "name=second", "second is restored"),
    ("data", "remove", "name=second", "No snapshots yet"),
    ("data", "reset", "seed=7&confirmed=yes", "The demo data is restored."),
    ("slices", "roll-out", "build=mfe-loans 0.2.0&share=5:10m,100", "5% of browsers have 0.2.0, by the plan"),
    ("slices", "hold", "name=mfe-loans", "mfe-loans is held at its percentage."),
    ("slices", "abort", "name=mfe-loans", "everybody gets mfe-loans 0.1.0."),
    ("slices", "roll-out", "build=mfe-loans 0.2.0&share=10%", "10% of browsers have 0.2.0"),
    ("slices", "promote", "name=mfe-loans", "mfe-loans 0.2.0 is live for everybody."),
    ("clock", "advance", "advance=1d", "The time is now 15 Nov 2026, 12:00:00."),
    ("clock", "go", "now=2026-11-01T08:30", "behind the real time"),
    ("clock", "go", "now=2026-12-24T06:00:00Z", "24 Dec 2026, 09:00:00"),
    ("clock", "stop", "", "Stopped 39 d 21 h ahead"),
    ("clock", "run", "", "Running"),
    ("clock", "stop", "", "Stopped"),
    ("clock", "real", "", "Running The real time"),
];

// S-103
#[tokio::test]
async fn every_form_says_what_it_did_and_is_an_event_with_its_operator_and_a_rejected_one_is_not() {
    let (app, _portal) = started().await;
    hold(&app, "mfe-loans", "0.2.0").await;
    app.sign_in("agent").await;
    app.sign_in("supervisor").await;
    app.post("/api/v1/auth/request-password-reset", json!({"email": "agent@mkopo.test"})).await;
    let before = events(&app, "").await.len();
    let browser = Browser::sign_in(&app).await;
    for (page, act, input, shown) in FORMS {
        let typed: Vec<_> = input.split('&').filter_map(|part| part.split_once('=')).collect();
        let read = browser.done(&format!("/console/{page}"), act, &typed).await;
        assert!(read.contains(shown), "{page} {act} {input}: {read}");
    }
    browser.send("/console/data", "reset", &[]).await;
    browser.send("/console/loans", "make", &[("count", "0")]).await;
    let forged = [("csrf", "forged"), ("act", "expire"), ("confirmed", "yes")];
    assert_eq!(browser.send_as("/console/staff", &forged).await.status, 403);
    let written = events(&app, "").await.split_off(before);
    let operator = &written[0]["who"];
    assert!(written.iter().all(|event| event["who"] == *operator));
    insta::assert_snapshot!(lines(&written), @"
    console_signed_in - -
    role_changed agent@mkopo.test role: admin
    sessions_ended agent@mkopo.test -
    sessions_ended - -
    account_deactivated agent@mkopo.test -
    account_activated agent@mkopo.test -
    scenario_changed - -
    faults_removed - -
    traffic_cleared - -
    messages_deleted - -
    snapshot_saved second -
    loans_approved - count: 2
    snapshot_restored second -
    snapshot_removed second -
    data_reset - seed: 7
    slice_rolled_out mfe-loans version: 0.2.0, percent: 5, plan: 5:10m,100
    slice_rollout_held mfe-loans -
    slice_rollout_aborted mfe-loans -
    slice_rolled_out mfe-loans version: 0.2.0, percent: 10
    slice_promoted mfe-loans -
    clock_set - advance: 24h
    clock_set - now: 2026-11-01T05:30:00.000Z
    clock_set - now: 2026-12-24T06:00:00.000Z
    clock_set - frozen: true
    clock_set - frozen: false
    clock_set - frozen: true
    clock_set - -
    ");
}

// S-106
#[tokio::test]
async fn nothing_on_the_console_empties_the_trail_or_changes_its_times() {
    let app = TestApp::start().await;
    app.sign_in("agent").await;
    app.set_console(Method::POST, "/data/snapshots/empty", json!({})).await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "900d"})).await;
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    app.sign_in("supervisor").await;
    app.set_console(Method::POST, "/data/reset", json!({})).await;
    app.console(Method::PUT, "/data/snapshots/empty", None).await;
    for method in [Method::DELETE, Method::POST, Method::PUT, Method::PATCH] {
        assert_eq!(app.console(method, "/events", json!({})).await.status, 405);
    }
    let written = events(&app, "").await;
    assert!(written.iter().all(|event| event["at"] == "2026-11-14T09:00:00.000Z"));
    assert_eq!(
        kinds(&app, "?limit=1000").await,
        ["signed_in", "snapshot_saved", "clock_set", "signed_in", "data_reset", "snapshot_restored"]
    );
}

// S-90
#[tokio::test]
async fn events_are_kept_for_400_days() {
    let app = TestApp::start().await;
    app.sign_in("agent").await;
    app.clock.advance(DAY * 399);
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    app.sign_in("supervisor").await;
    assert_eq!(kinds(&app, "?limit=1000").await.len(), 2);
    app.clock.advance(DAY);
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert_eq!(
        events(&app, "").await.iter().map(short).collect::<Vec<_>>(),
        [["signed_in", "supervisor@mkopo.test", "-"]]
    );
}

#[tokio::test]
async fn refused_attempts_write_nothing_and_the_last_allowed_one_says_so() {
    let app = TestApp::start().await;
    for _ in 0..30 {
        wrong_password(&app, "192.0.2.7", "agent@mkopo.test").await;
    }
    let written = events(&app, "").await;
    assert_eq!(written.len(), 9);
    assert_eq!(written[8]["details"], "invalid password; further attempts are refused for now");
    for _ in 0..120 {
        app.send(post("/console/sign-in", None, &[("token", "wrong")])).await;
    }
    // Until then, the right token is refused too.
    app.clock.advance(Duration::from_mins(16));
    let wrong = events(&app, "?kind=console_sign_in_failed&limit=1000").await;
    assert_eq!(wrong.len(), 99);
    assert_eq!(wrong[98]["details"], "further attempts are refused for now");
}

// S-106
#[tokio::test]
async fn a_flood_from_many_addresses_is_listed_a_thousand_times_an_hour_and_counted_then() {
    let app = TestApp::start().await;
    let attempt = async |n: u32| {
        let wrong = request(Method::GET, "/console/api/staff", Some("wrong"), None);
        app.send(sent_from(&format!("198.51.100.{}", n / 90), wrong)).await.status
    };
    for n in 0..1010 {
        assert_eq!(attempt(n).await, 401);
    }
    app.sign_in("agent").await;
    let latest = events(&app, "?limit=3").await;
    let latest_kinds: Vec<&Value> = latest.iter().map(|event| &event["kind"]).collect();
    assert_eq!(latest_kinds, ["console_sign_in_failed", "failures_not_listed", "signed_in"]);
    assert_eq!(latest[1]["times"], 10);
    app.clock.advance(Duration::from_mins(61));
    attempt(1011).await;
    assert_eq!(events(&app, "?limit=1").await[0]["kind"], "console_sign_in_failed");
}

#[tokio::test]
async fn events_are_searched_by_kind_person_address_and_time() {
    let app = TestApp::start().await;
    let email = "agent@mkopo.test";
    app.sign_in("agent").await;
    app.clock.advance(Duration::from_mins(1));
    wrong_password(&app, "192.0.2.7", email).await;
    app.clock.advance(Duration::from_mins(1));
    app.set_console(Method::PATCH, &format!("/staff/{email}"), json!({"role": "admin"})).await;
    app.sign_in("supervisor").await;
    let found = async |query: &str| kinds(&app, query).await;
    assert_eq!(found("?kind=sign_in_failed").await, ["sign_in_failed"]);
    assert_eq!(found(&format!("?who={email}")).await, ["signed_in", "sign_in_failed", "role_changed"]);
    assert_eq!(found("?who=agent").await, ["signed_in", "role_changed"]);
    assert_eq!(found("?who=%20Agent").await, ["signed_in", "role_changed"], "as somebody may type it");
    assert_eq!(found("?who=age_t").await, [""; 0], "the text is no pattern");
    assert_eq!(found("?who=operator").await, ["role_changed"]);
    assert_eq!(found("?address=192.0.2").await, ["sign_in_failed"]);
    assert_eq!(found("?since=2026-11-14T09:01:00Z&until=2026-11-14T09:01:30Z").await, ["sign_in_failed"]);
    let newest = events(&app, "?limit=2").await;
    let before = newest[0]["id"].as_i64().unwrap();
    assert_eq!(found(&format!("?limit=1&before={before}")).await, ["sign_in_failed"]);
    for wrong in ["?kind=odd", "?since=yesterday", "?limit=0", "?limit=1001", "?before=x", "?odd=1"] {
        let answer = app.console(Method::GET, &format!("/events{wrong}"), None).await;
        assert_eq!(answer.failure().1, "bad_parameter", "{wrong}");
    }
    app.open_account("grace+ci@mkopo.test").await;
    app.sign_in("grace+ci").await;
    for who in ["grace%2Bci@mkopo.test", "grace+ci@mkopo.test"] {
        assert_eq!(found(&format!("?who={who}")).await, ["account_opened", "signed_in"], "{who}");
    }

    let browser = Browser::sign_in(&app).await;
    let page = browser.read(&format!("/console/events?who={email}&kind=role_changed")).await;
    assert!(page.contains("Role changed role: admin operator about agent@mkopo.test"), "{page}");
    assert!(!page.contains("supervisor"), "{page}");
    // The time zone is Nairobi's.
    for query in ["kind=data_copied", "until=2026-11-14T11:59", "since=2026-11-14T12:03"] {
        let nothing = browser.read(&format!("/console/events?{query}")).await;
        assert!(nothing.contains("No matching events"), "{query}: {nothing}");
    }
}

#[tokio::test]
async fn older_events_are_a_click_away_with_the_same_filter() {
    let app = TestApp::start().await;
    for _ in 0..102 {
        app.set_console(Method::POST, "/staff/expire", json!({})).await;
    }
    let browser = Browser::sign_in(&app).await;
    let answer = browser.get("/console/events?kind=sessions_ended").await;
    let page = crate::browser::html(&answer);
    let link = page.split("href=\"").find(|part| part.contains("before=")).unwrap();
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    assert!(link.contains("kind=sessions_ended"), "{link}");
    let older = browser.read(&link).await;
    assert!(older.contains("2 events"), "{older}");
}

// S-106
#[tokio::test]
async fn an_act_whose_event_can_not_be_written_is_not_done() {
    let app = TestApp::start_on_file().await;
    // A full disk would do the same to both.
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no'); END";
    app.write(refuse).await.unwrap();
    let path = "/staff/agent@mkopo.test";
    let (call, admin) = (format!("/console/api{path}"), json!({"role": "admin"}));
    let change = request(Method::PATCH, &call, Some(CONSOLE_TOKEN), Some(admin));
    assert_eq!(app.send_to(Listener::Console, change).await.status, 500);
    assert_eq!(app.read_console(path).await["role"], "agent");
}

// S-103
#[tokio::test]
async fn commands_write_events_and_a_restored_backup_keeps_those_since() {
    let app = TestApp::start_on_file().await;
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup.db");
    let (data_dir, backup) = (app.data_dir().to_path_buf(), backup.to_str().unwrap().to_owned());
    let run = async |arguments: &[&str]| {
        let mut command = mkopo();
        command.args(arguments).env("MKOPO_DATA_DIR", &data_dir);
        let done = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    assert!(command_line::command(&app, &["user", "deactivate", "agent@mkopo.test"]).await.status.success());
    run(&["data", "backup", &backup]).await;
    assert!(command_line::command(&app, &["user", "activate", "agent@mkopo.test"]).await.status.success());
    run(&["seed", "--loans", "2"]).await;
    // Its clock is behind that of the commands.
    app.sign_in("admin").await;
    let clock = app.clock.clone();
    app.sandbox.close(Duration::ZERO).await;
    run(&["data", "restore", &backup]).await;
    let url = format!("sqlite:{}", app.data_dir().join("mkopo.db").display());
    let restored = TestApp::start_at(&url, clock).await;
    let written = events(&restored, "?limit=1000").await;
    let mut of_commands = written.iter().filter(|event| event["who"] == "command line");
    assert!(of_commands.all(|event| event["address"].is_null()));
    assert_eq!(
        written.iter().map(short).collect::<Vec<_>>(),
        [
            ["account_deactivated", "operator", "agent@mkopo.test"],
            ["account_activated", "operator", "agent@mkopo.test"],
            ["data_seeded", "command line", "-"],
            ["signed_in", "admin@mkopo.test", "-"],
            ["data_restored", "command line", "-"],
        ]
    );
}
