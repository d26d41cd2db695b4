use axum::http::Method;
use lending::mobile_money::{Outcome, Refusal};
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn the_pending_list_shows_every_field_of_a_loan() {
    let app = TestApp::start().await;
    let pending = app.sign_in("agent").await.pending().await;
    let expected = json!({
        "loan_id": "LN-2026-00053", "customer_id": "CUS-00053", "customer_first_name": "Zainab",
        "customer_last_name": "Korir", "customer_nickname": null, "customer_gender": "Female",
        "customer_phone_number": "+254722463671", "customer_id_number": "29508163", "customer_status": "ACTIVE",
        "customer_account_id": "ACC-00053", "account_number": "011075078952", "account_status": "ACTIVE",
        "total_loan_amount": 124_000, "remaining_balance": 124_000, "interest_rate": 15.0, "term": 3,
        "purpose": "Greengrocer's stall", "notes": null, "risk_level": "LOW", "credit_score": 731,
        "loan_status": "APPROVED", "disbursement_status": "NOT_STARTED",
        "approver_id": pending[3]["approver_id"], "approver_name": "Peter Njoroge",
        "approver_email": "supervisor@mkopo.test", "approved_at": "2026-11-13T09:07:00.000Z",
        "loan_created_at": "2026-11-10T09:07:00.000Z", "loan_updated_at": "2026-11-13T09:07:00.000Z",
    });
    assert_eq!(pending[3], expected);
}

#[tokio::test]
async fn the_pending_list_has_the_latest_approval_first() {
    let app = TestApp::start().await;
    let pending = app.sign_in("agent").await.pending().await;
    assert_eq!(pending.len(), 24);
    assert!(pending.is_sorted_by(|a, b| a["approved_at"].as_str() >= b["approved_at"].as_str()));
}

#[tokio::test]
async fn demo_loans_are_in_every_band_and_on_both_boundaries() {
    let app = TestApp::start().await;
    let pending = app.sign_in("agent").await.pending().await;
    let amounts: Vec<i64> = pending.iter().map(|loan| loan["total_loan_amount"].as_i64().unwrap()).collect();
    for wanted in [0..25_000, 25_000..25_001, 25_001..75_000, 75_000..75_001, 75_001..1_000_000] {
        assert!(amounts.iter().any(|amount| wanted.contains(amount)), "{wanted:?} in {amounts:?}");
    }
    assert!(pending.iter().any(|loan| loan["approver_name"].is_null()));
}

#[tokio::test]
async fn a_payout_in_progress_is_listed_whatever_the_clock_said_when_others_failed() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "1h"})).await;
    app.next_outcomes(&[Outcome::Refused(Refusal::InsufficientFunds), Outcome::Slow]).await;
    assert_eq!(agent.disburse(&loan).await.status, 422);
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    let pending = agent.pending().await;
    let listed = pending.iter().find(|other| other["loan_id"] == loan["loan_id"]).unwrap();
    assert_eq!(listed["disbursement_status"], "PENDING");
}
