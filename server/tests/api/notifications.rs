//! The bell: what somebody should know, and until when they have read it.

use std::time::Duration;

use axum::http::Method;
use lending::mobile_money::Outcome;
use serde_json::{Value, json};

use crate::{live_settings::LIVE, profile::put, test_app::TestApp};

async fn notifications(staff: &TestApp) -> Value {
    let answer = staff.get("/api/v1/notifications").await;
    assert_eq!(answer.status, 200);
    answer.json()
}

/// Everything that there is has been read.
async fn read_all(staff: &TestApp) {
    let until = notifications(staff).await["notifications"][0]["at"].clone();
    assert_eq!(put(staff, "/notifications/read", json!({"until": until})).await.json()["unread"], 0);
}

/// The kind and the loan of each.
fn short(notifications: &Value) -> Vec<[Value; 2]> {
    let all = notifications["notifications"].as_array().unwrap().iter();
    all.filter(|one| one["is_read"] == false)
        .map(|one| [one["kind"].clone(), one["loan_id"].clone()])
        .collect()
}

#[tokio::test]
async fn payouts_that_settled_or_failed_later_are_told_to_those_who_made_them() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, other) = (app.sign_in("agent").await, app.sign_in("supervisor").await);
    read_all(&agent).await;
    read_all(&other).await;
    let (paid, lost, quick) = (
        app.approve_loan(12_500, "+254712000121").await,
        app.approve_loan(13_500, "+254712000122").await,
        app.approve_loan(14_500, "+254712000123").await,
    );
    assert!([&paid, &lost, &quick].iter().all(|loan| loan["approved_at"].is_string()));
    assert_eq!(agent.disburse(&quick).await.status, 200);
    for (loan, outcome) in [(&paid, Outcome::Slow), (&lost, Outcome::LostUnpaid)] {
        app.next_outcomes(&[outcome]).await;
        assert_eq!(app.as_time_passes(agent.disburse(loan)).await.status, 202);
    }
    for _ in 0..20 {
        app.later(Duration::from_secs(30)).await;
    }
    let of_agent = notifications(&agent).await;
    assert_eq!(
        short(&of_agent),
        [
            [json!("payout_failed"), lost["loan_id"].clone()],
            [json!("payout_completed"), paid["loan_id"].clone()],
            [json!("loan_approved"), lost["loan_id"].clone()],
        ],
        "{of_agent:#}"
    );
    assert_eq!(of_agent["notifications"][1]["amount"], 12_500);
    assert_eq!(short(&notifications(&other).await), [[json!("loan_approved"), lost["loan_id"].clone()]]);
}

#[tokio::test]
async fn what_has_been_read_stays_read_on_every_device() {
    let app = TestApp::start_with(&LIVE).await;
    let (agent, elsewhere) = (app.sign_in("agent").await, app.sign_in("agent").await);
    read_all(&agent).await;
    app.clock.advance(Duration::from_mins(1));
    let loan = app.approve_loan(25_000, "+254712000124").await;
    let new = notifications(&elsewhere).await;
    assert_eq!(new["unread"], 1);
    let approved = &new["notifications"][0];
    let expected = json!({
        "id": approved["id"], "kind": "loan_approved", "at": "2026-11-14T09:01:00.000Z", "loan_id": loan["loan_id"],
        "customer_name": approved["customer_name"], "amount": 25_000, "error_message": null, "is_read": false,
    });
    assert_eq!(*approved, expected);
    read_all(&elsewhere).await;
    assert_eq!(notifications(&agent).await["unread"], 0);
    // An earlier time takes nothing back, and the future can't be read.
    for until in ["2026-11-01T00:00:00Z", "2030-01-01T00:00:00Z"] {
        let read = put(&agent, "/notifications/read", json!({"until": until})).await.json();
        assert_eq!(read["read_until"], "2026-11-14T09:01:00.000Z");
    }
}

#[tokio::test]
async fn what_was_read_by_a_clock_that_was_ahead_hides_nothing_once_it_is_set_back() {
    let app = TestApp::start_with(&LIVE).await;
    let read = async |staff: &TestApp| {
        put(staff, "/notifications/read", json!({"until": "2030-01-01T00:00:00Z"})).await.json()
    };
    app.set_console(Method::PUT, "/clock", json!({"advance": "2h"})).await;
    assert_eq!(read(&app.sign_in("agent").await).await["unread"], 0);
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    app.clock.advance(Duration::from_mins(2));
    let agent = app.sign_in("agent").await;
    let loan = app.approve_loan(25_000, "+254712000125").await;
    let new = notifications(&agent).await;
    assert!(short(&new).contains(&[json!("loan_approved"), loan["loan_id"].clone()]), "{new:#}");
    let read = read(&agent).await;
    assert_eq!((&read["unread"], &read["read_until"]), (&json!(0), &json!("2026-11-14T09:02:00.000Z")));
}

#[tokio::test]
async fn a_week_later_nothing_is_new() {
    let app = TestApp::start_with(&LIVE).await;
    app.clock.advance(Duration::from_hours(30 * 24));
    let supervisor = app.sign_in("supervisor").await;
    assert_eq!(
        notifications(&supervisor).await,
        json!({"unread": 0, "unread_approved": 0, "approved": 0, "read_until": null, "notifications": []})
    );
}

#[tokio::test]
async fn a_time_that_is_none_marks_nothing() {
    let (_, agent) = TestApp::start_for_with("agent", &LIVE).await;
    for body in [json!({"until": "yesterday"}), json!({"until": null}), json!({})] {
        assert_eq!(put(&agent, "/notifications/read", body).await.failure().1, "invalid_request");
    }
}

#[tokio::test]
async fn the_number_of_unread_ones_is_the_true_one_also_of_those_that_are_not_listed() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    read_all(&agent).await;
    app.later(Duration::from_secs(1)).await;
    let before = notifications(&agent).await["approved"].as_i64().unwrap();
    app.set_console(Method::POST, "/loans", json!({"count": 176})).await;
    let all = notifications(&agent).await;
    assert_eq!((&all["unread"], &all["unread_approved"]), (&json!(176), &json!(176)));
    assert_eq!(all["approved"].as_i64().unwrap(), before + 176);
    let loans = all["notifications"].as_array().unwrap().iter().filter(|one| one["kind"] == "loan_approved");
    assert_eq!(loans.count(), 50);
}

#[tokio::test]
async fn many_approved_loans_displace_no_payout() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    app.set_console(Method::PUT, "/scenario", json!({"next": ["lost_unpaid"]})).await;
    let loan = app.approve_loan(12_500, "+254712000121").await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    app.later(Duration::from_mins(2)).await;
    let failed = async || {
        let all = notifications(&agent).await;
        let all = all["notifications"].as_array().unwrap().iter();
        all.filter(|one| one["kind"] == "payout_failed" && one["loan_id"] == loan["loan_id"]).count()
    };
    assert_eq!(failed().await, 1);
    app.later(Duration::from_mins(1)).await;
    app.set_console(Method::POST, "/loans", json!({"count": 100})).await;
    assert_eq!(failed().await, 1);
}
