//! The console's pages in a browser without JavaScript.

use std::time::Duration;

use axum::http::{Method, header};
use lending::mobile_money::{Outcome, Refusal};
use serde_json::json;

use crate::{
    browser::{Browser, csrf, form, get, html, words},
    test_app::TestApp,
};

// S-5, S-23
#[tokio::test]
async fn pages_run_only_their_own_script_and_cannot_be_framed() {
    let (app, browser) = Browser::start().await;
    for (address, name) in browser.pages().await {
        let answer = browser.get(&address).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(
            policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert!(html(&answer).starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(html(&answer).contains(&format!("<title>{name} · Mkopo console</title>")), "{name}");
        for forbidden in
            [" onclick=", " onsubmit=", "style=\"", "javascript:", "<style", "http://", "https://"]
        {
            assert!(!html(&answer).contains(forbidden), "{address}: {forbidden}");
        }
    }
    for (file, media_type) in [
        ("console.css", "text/css; charset=utf-8"),
        ("console.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml; charset=utf-8"),
    ] {
        let answer = app.send(get(&format!("/console/assets/{file}"), None)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.headers[header::CONTENT_TYPE], media_type);
    }
}

// S-45
#[tokio::test]
async fn every_page_shows_its_empty_filled_and_failed_states() {
    let empty = TestApp::start_with(&["--demo", "false", "--tools", "true"]).await;
    let browser = Browser::sign_in(&empty).await;
    for (address, shown) in [
        ("/console", "Loans to pay out 0"),
        ("/console/outbox", "No messages yet"),
        ("/console/loans", "No pending loans"),
        ("/console/payouts", "No payouts yet"),
        ("/console/scenario", "No queued outcomes"),
        ("/console/faults", "No faults"),
        ("/console/traffic", "No calls yet"),
        ("/console/staff", "No accounts yet"),
        ("/console/data", "No snapshots yet"),
        ("/console/data", "In demo mode only"),
        ("/console/clock", "The real time"),
    ] {
        let read = browser.read(address).await;
        assert!(read.contains(shown), "{address}: {read}");
    }
    empty.set_console(Method::POST, "/loans", json!({"loan": {"customer_first_name": "Zuri"}})).await;
    assert!(browser.read("/console/loans").await.contains("1 loan to pay out"));

    let (app, browser) = Browser::start().await;
    let agent = app.sign_in("agent").await;
    app.next_outcomes(&[Outcome::Refused(Refusal::InsufficientFunds)]).await;
    agent.disburse(&agent.waiting_loan().await).await;
    app.post("/api/v1/auth/request-signin-otp", json!({"email": "agent@mkopo.test"})).await;
    app.clock.advance(Duration::from_mins(1));
    app.next_outcomes(&[Outcome::Slow]).await;
    let fault = json!({"path": "/api/v1/auth/me", "kind": "latency", "ms": 9});
    app.set_console(Method::POST, "/faults", fault).await;
    app.console(Method::POST, "/data/snapshots/first", None).await;
    let code = app.newest_code("agent@mkopo.test").await;
    for (address, shown) in [
        ("/console", "Every shilling is accounted for"),
        ("/console", "in the last minute"),
        ("/console/outbox", code.as_str()),
        ("/console/outbox", "1 message "),
        ("/console/loans", "Failed"),
        ("/console/payouts", "The balance is insufficient for the transaction. (code 1)"),
        ("/console/payouts", "Completed"),
        ("/console/scenario", "one per payout Clear slow"),
        ("/console/faults", "any /api/v1/auth/me waits 9 ms before processing every call"),
        ("/console/traffic", "POST /api/v1/auth/login"),
        ("/console/traffic", "\"password\": \"•••\""),
        ("/console/staff", "4 accounts, 1 open session"),
        ("/console/data", "1 snapshot"),
        ("/console/clock", "14 Nov 2026, 12:01:00"),
    ] {
        let read = browser.read(address).await;
        assert!(read.contains(shown), "{address}: {shown}: {read}");
    }

    let pages = browser.pages().await;
    app.sandbox.database.close().await;
    // Calls, their traces, what differs from the contract, and the clock are in memory.
    let in_memory = ["/console/traffic", "/console/traces", "/console/contract", "/console/clock"];
    for (address, _) in pages.iter().filter(|page| !in_memory.contains(&page.0.as_str())) {
        let answer = browser.get(address).await;
        assert_eq!(answer.status, 503, "{address}");
        assert!(words(&answer).contains("Something went wrong The service is busy."), "{address}");
    }
}

#[tokio::test]
async fn long_lists_are_paginated() {
    let (app, browser) = Browser::start().await;
    app.set_console(Method::POST, "/loans", json!({"count": 60})).await;
    let first = browser.get("/console/loans").await;
    assert!(words(&first).contains("The latest 50 loans to pay out"));
    let (_, next) = html(&first).split_once("href=\"/console/loans?after=").unwrap();
    let next = format!("/console/loans?after={}", next.split_once('"').unwrap().0);
    assert!(browser.read(&next).await.contains("approved earlier"));
    assert_eq!(browser.get("/console/loans?after=nonsense").await.status, 400);
}

// S-2, S-18
#[tokio::test]
async fn input_is_escaped() {
    let (_, browser) = Browser::start().await;
    let name = "<script>alert(1)</script>";
    browser.done("/console/loans", "approve", &[("customer_first_name", name)]).await;
    let page = browser.get("/console/loans").await;
    assert!(!html(&page).contains(name) && html(&page).contains("&lt;script&gt;"));
    let page = browser.get("/console/outbox?to=%22%3E%3Cscript%3E&channel=sms").await;
    assert!(!html(&page).contains("<script>"));
    assert!(words(&page).contains("No matching messages"));
    let page = browser.get("/console/data?done=saved&what=%3Cb%3Ex").await;
    assert!(html(&page).contains("Saved as &lt;b&gt;x."));
}

/// Page, form, input, the invalid field, and its error message.
const INVALID: [(&str, &str, &str, &str, &str); 21] = [
    ("scenario", "queue", "next=no_such_outcome&count=1", "next", "unknown outcome no_such_outcome."),
    ("scenario", "queue", "next=slow&count=0", "count", "Enter a number from 1 to 100."),
    ("scenario", "change", "default=odd&seed=4", "default", "unknown outcome odd."),
    (
        "scenario",
        "change",
        "default=slow&latency_ms=soon",
        "latency_ms",
        "\"soon\" is not a whole number of ms.",
    ),
    ("scenario", "change", "default=slow&float=1e9", "float", "\"1e9\" is not a whole number of shillings."),
    (
        "scenario",
        "change",
        "default=slow&float=-5",
        "float",
        "'Float, in KES' must be between 0 and 2^53 - 1.",
    ),
    (
        "faults",
        "add",
        "path=/api/v2/x&kind=latency&ms=5",
        "path",
        "'Path' must be the whole path of a call under /api/v1/",
    ),
    (
        "faults",
        "add",
        "path=/api/v1/a**&kind=latency&ms=5",
        "path",
        "'Path' must be the whole path of a call under /api/v1/",
    ),
    ("faults", "add", "path=/api/v1/auth/me&kind=explode", "kind", "unknown variant `explode`"),
    (
        "faults",
        "add",
        "path=/api/v1/auth/me&kind=status&status=200",
        "status",
        "needs a status from 400 to 599.",
    ),
    ("faults", "add", "path=/api/v1/auth/me&kind=latency&ms=30000", "ms", "needs ms from 1 to 25000."),
    (
        "faults",
        "add",
        "path=/api/v1/auth/me&kind=drop&probability=2",
        "probability",
        "'Probability' must be above 0 and at most 1.",
    ),
    ("faults", "add", "path=/api/v1/auth/me&kind=truncate&when=before", "when", "so when must be after."),
    ("data", "save", "name=../escape", "name", "A snapshot's name has 1 to 64 letters"),
    ("data", "reset", "seed=-1", "seed", "\"-1\" is not a whole number from 0 to 4294967295."),
    ("clock", "advance", "advance=-5m", "advance", "\"-5m\" is not a duration such as 90s, 15m, 12h or 2d."),
    ("clock", "advance", "advance=1000000d", "advance", "The clock can be set to the years 2006 to 2099."),
    ("clock", "go", "now=1999-01-01T00:00", "now", "The clock can be set to the years 2006 to 2099."),
    ("clock", "go", "now=yesterday", "now", "\"yesterday\" is not a date and time such as 2026-11-14T12:00."),
    ("loans", "make", "count=1001", "count", "'How many' must be between 1 and 1000."),
    (
        "loans",
        "approve",
        "customer_phone_number=0800 123&purpose=Stock",
        "customer_phone_number",
        "'Phone' must be a Kenyan mobile number",
    ),
];

#[tokio::test]
async fn a_rejected_form_keeps_its_input_and_shows_the_error_at_the_field() {
    let (_, browser) = Browser::start().await;
    for (page, act, input, field, wrong) in INVALID {
        let typed: Vec<_> = input.split('&').map(|part| part.split_once('=').unwrap()).collect();
        let answer = browser.send(&format!("/console/{page}"), act, &typed).await;
        let read = words(&answer);
        assert_eq!(answer.status, 422, "{page} {act} {input}: {read}");
        assert!(read.contains(wrong), "{page} {act} {input}: {read}");
        let html = html(&answer);
        let control = &html[html.find(&format!("id=\"{act}-{field}\"")).unwrap()..];
        let control = control.split_once('>').unwrap().0;
        assert!(control.contains("aria-invalid=\"true\""), "{control}");
        assert!(control.contains(&format!("aria-describedby=\"{act}-{field}-error")), "{control}");
        assert!(html.contains(&format!("id=\"{act}-{field}-error\" role=\"alert\"")), "{page} {act}");
        for (name, value) in typed {
            let control = &html[html.find(&format!("id=\"{act}-{name}\"")).unwrap()..];
            let control = control.split_once("</div>").unwrap().0;
            let is_selected = control.contains(&format!("value=\"{value}\" selected"));
            let is_kept = !control.contains("<select") && control.contains(&format!("value=\"{value}\""));
            assert!(is_selected || is_kept, "{page} {act} {name}: {control}");
        }
    }
    let unknown = browser.send("/console/clock", "explode", &[]).await;
    assert_eq!(unknown.status, 422);
    assert!(words(&unknown).contains("This page does not have this form."));
}

#[tokio::test]
async fn a_rejected_form_does_not_show_the_success_of_the_form_before() {
    let (_, browser) = Browser::start().await;
    let done = browser.send("/console/loans", "approve", &[("total_loan_amount", "74000")]).await;
    let address = done.headers[header::LOCATION].to_str().unwrap();
    let success = "is approved and ready to be paid out.";
    assert!(browser.read(address).await.contains(success));
    let rejected = browser.send(address, "approve", &[("total_loan_amount", "abc")]).await;
    assert_eq!(rejected.status, 422);
    assert!(!words(&rejected).contains(success), "{}", words(&rejected));
}

/// Page, filters, the invalid one, and its error message.
const INVALID_FILTERS: [(&str, &str, &str, &str); 5] = [
    (
        "traffic",
        "path=auth&since=10:30",
        "since",
        "\"10:30\" is not a date and time such as 2026-11-14T12:00.",
    ),
    (
        "traffic",
        "until=soon&method=GET",
        "until",
        "\"soon\" is not a date and time such as 2026-11-14T12:00.",
    ),
    (
        "traffic",
        "status=zz&user=agent",
        "status",
        "'Response' must be such as 422, 4xx, none or fault, not \"zz\".",
    ),
    (
        "events",
        "who=agent&until=10:30",
        "until",
        "\"10:30\" is not a date and time such as 2026-11-14T12:00.",
    ),
    ("events", "kind=zz&address=127", "kind", "\"zz\" is not a kind of event."),
];

#[tokio::test]
async fn an_invalid_filter_shows_its_error_at_the_field_and_the_others_are_kept() {
    let (_, browser) = Browser::start().await;
    for (page, query, field, wrong) in INVALID_FILTERS {
        let answer = browser.get(&format!("/console/{page}?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        let error = format!("id=\"find-{field}-error\" role=\"alert\"");
        assert!(html(&answer).contains(&error), "{query}: {}", html(&answer));
        let read = words(&answer);
        assert!(read.contains(wrong) && read.contains("No matching"), "{query}: {read}");
        let fields = form(&answer, "role=\"search\"");
        for filter in query.split('&') {
            assert!(fields.contains(&filter.split_once('=').unwrap()), "{query}: {fields:?}");
        }
    }
    let answer = browser.get("/console/events?who=agent&before=zz").await;
    assert_eq!(answer.status, 400);
    assert!(words(&answer).contains("before must be the id of an event."), "{}", words(&answer));
    assert!(form(&answer, "role=\"search\"").contains(&("who", "agent")));
}

#[tokio::test]
async fn errors_are_shown_as_pages() {
    let (_, browser) = Browser::start().await;
    let missing = browser.get("/console/nothing").await;
    assert_eq!(missing.status, 404);
    assert!(words(&missing).contains("Page not found"), "{}", words(&missing));
    let slash = browser.get("/console/").await;
    assert_eq!(slash.status, 303);
    assert_eq!(slash.headers[header::LOCATION], "/console");
    let csrf = csrf(&browser.get("/console").await);
    let answer = browser.send_as("/console/payouts", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 405);
    assert!(words(&answer).contains("This path does not support this method."));
}

/// A browser shows nothing in a field for a number whose value is none, and sends nothing.
#[tokio::test]
async fn each_field_for_a_number_is_drawn_with_one_or_empty() {
    let (_, browser) = Browser::start().await;
    let mut fields = 0;
    for (address, _) in browser.pages().await {
        let page = browser.get(&address).await;
        for input in html(&page).split("<input ").skip(1).map(|rest| rest.split('>').next().unwrap()) {
            let value = input.split_once(" value=\"").map(|(_, rest)| rest.split('"').next().unwrap());
            let Some(value) =
                value.filter(|value| !value.is_empty() && input.contains("inputmode=\"numeric\""))
            else {
                continue;
            };
            assert!(value.parse::<i64>().is_ok(), "{address}: {input}");
            fields += 1;
        }
    }
    assert!(fields >= 4, "{fields}");
}

/// PostgreSQL can't store it.
#[tokio::test]
async fn the_character_nul_is_left_out_of_what_is_typed_and_nothing_is_at_a_path_with_it() {
    let (app, browser) = Browser::start().await;
    for (path, kind) in [
        ("/faults/%00", "404 fault_not_found"),
        ("/story-links/%00", "404 link_not_found"),
        ("/deploy-tokens/%00/ci", "404 deploy_token_not_found"),
        ("/deploy-tokens/mfe-loans/%00", "404 deploy_token_not_found"),
        ("/staff/%00", "404 user_not_found"),
        ("/sandboxes/%00", "404 sandbox_not_found"),
    ] {
        let method = if path.starts_with("/staff") { Method::GET } else { Method::DELETE };
        assert_eq!(app.console(method, path, None).await.kind(), kind, "{path}");
    }
    assert_eq!(app.console(Method::GET, "/events?who=%00", None).await.kind(), "400 bad_parameter");
    for page in ["/console/events?who=%00", "/console/outbox?to=%00"] {
        browser.read(page).await;
    }
    browser.done("/console/loans", "approve", &[("loan_id", "LN-\0NUL"), ("purpose", "\0Seed")]).await;
    let pending = app.sign_in("agent").await.pending().await;
    let approved = pending.iter().find(|loan| loan["loan_id"] == "LN-NUL").unwrap();
    assert_eq!(approved["purpose"], "Seed");
    let revoked = browser.send("/console/sandboxes", "revoke", &[("id", "\0")]).await;
    assert_eq!(revoked.status, 404);
}
