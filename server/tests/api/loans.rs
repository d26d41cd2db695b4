use insta::assert_json_snapshot;

use crate::test_app::TestApp;

#[tokio::test]
async fn the_pending_list_shows_every_field_of_a_loan() {
    let app = TestApp::start().await;
    let pending = app.sign_in("agent").await.pending().await;
    assert_json_snapshot!(pending[3], {".approver_id" => "[id]"}, @r#"
    {
      "account_number": "011075078952",
      "account_status": "ACTIVE",
      "approved_at": "2026-11-13T09:07:00.000Z",
      "approver_email": "supervisor@mkopo.test",
      "approver_id": "[id]",
      "approver_name": "Peter Njoroge",
      "credit_score": 731,
      "customer_account_id": "ACC-00053",
      "customer_first_name": "Zainab",
      "customer_gender": "Female",
      "customer_id": "CUS-00053",
      "customer_id_number": "29508163",
      "customer_last_name": "Korir",
      "customer_nickname": null,
      "customer_phone_number": "+254722463671",
      "customer_status": "ACTIVE",
      "disbursement_status": "NOT_STARTED",
      "interest_rate": 15.0,
      "loan_created_at": "2026-11-10T09:07:00.000Z",
      "loan_id": "LN-2026-00053",
      "loan_status": "APPROVED",
      "loan_updated_at": "2026-11-13T09:07:00.000Z",
      "notes": null,
      "purpose": "Greengrocer's stall",
      "remaining_balance": 124000,
      "risk_level": "LOW",
      "term": 3,
      "total_loan_amount": 124000
    }
    "#);
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
