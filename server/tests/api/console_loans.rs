use axum::http::Method;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{browser::Browser, test_app::TestApp};

async fn approve(app: &TestApp, body: Value) -> Vec<Value> {
    app.set_console(Method::POST, "/loans", body).await.json().as_array().unwrap().clone()
}

#[tokio::test]
async fn a_loan_is_approved_without_any_given_field() {
    let (app, agent) = TestApp::start_for("agent").await;
    let before = agent.pending().await.len();
    let answer = app.console(Method::POST, "/loans", None).await;
    assert_eq!(answer.status, 201);
    let loan = &answer.json()[0];
    let pending = agent.pending().await;
    assert_eq!(pending.len(), before + 1);
    assert_eq!(&pending[0], loan, "the latest approval comes first");
    assert_eq!(agent.disburse(loan).await.status, 200);
}

#[tokio::test]
async fn a_loan_has_the_given_fields() {
    let app = TestApp::start().await;
    let given = json!({
        "loan_id": "LN-QA-1", "customer_id": "CUS-QA", "customer_first_name": "Wanjiku",
        "customer_last_name": "Ngũgĩ", "customer_phone_number": "0700002040", "customer_nickname": "Shiku",
        "customer_id_number": "12345678", "customer_gender": "Female", "customer_status": "ACTIVE",
        "customer_account_id": "ACC-QA", "account_number": "011000000001", "account_status": "ACTIVE",
        "credit_score": 700, "risk_level": "LOW", "total_loan_amount": 300_000, "interest_rate": 12.5,
        "loan_status": "APPROVED", "disbursement_status": "NOT_STARTED",
        "approved_at": "2026-11-14T08:00:00Z", "approver_id": null, "approver_name": "Peter Njoroge",
        "approver_email": "supervisor@mkopo.test", "notes": "For the test", "term": 12, "purpose": "Cow",
        "loan_created_at": "2026-11-13T08:00:00Z", "loan_updated_at": "2026-11-14T08:00:00Z",
    });
    let loan = approve(&app, json!({"loan": given})).await.remove(0);
    let mut expected = given.clone();
    expected["customer_phone_number"] = json!("+254700002040");
    expected["remaining_balance"] = json!(300_000);
    for time in ["approved_at", "loan_created_at", "loan_updated_at"] {
        expected[time] = json!(given[time].as_str().unwrap().replace('Z', ".000Z"));
    }
    assert_eq!(loan, expected);
    let agent = app.sign_in("agent").await;
    assert!(agent.pending().await.contains(&loan));
    assert_eq!(agent.disburse(&loan).await.body()["result_code"], "2040", "the phone is magic");
    let again = app.console(Method::POST, "/loans", json!({"loan": {"loan_id": "LN-QA-1"}})).await;
    assert_eq!(again.failure().0, 422);
}

#[tokio::test]
async fn a_row_of_the_pending_list_can_be_sent_as_another_loan_of_its_customer() {
    let app = TestApp::start().await;
    let mut row = app.sign_in("agent").await.pending().await.remove(0);
    row["loan_id"] = json!("LN-AGAIN");
    assert_eq!(approve(&app, json!({"loan": row})).await, [row]);
}

#[tokio::test]
async fn many_loans_are_approved_at_once_even_outside_the_limits_of_mobile_money() {
    let app = TestApp::start().await;
    let loans = approve(&app, json!({"count": 30, "loan": {"total_loan_amount": 5}})).await;
    assert_eq!(loans.len(), 30);
    let agent = app.sign_in("agent").await;
    let pending = agent.pending().await;
    assert!(loans.iter().all(|loan| loan["total_loan_amount"] == 5 && pending.contains(loan)));
    assert_eq!(agent.disburse(&loans[0]).await.body()["result_code"], "2");
}

// S-6
#[tokio::test]
async fn an_invalid_loan_is_rejected_and_none_is_approved() {
    let app = TestApp::start().await;
    let before = app.sign_in("agent").await.pending().await.len();
    let mut failures = Vec::new();
    for body in [
        json!({"count": 0}),
        json!({"count": 1001}),
        json!({"count": 2, "loan": {"loan_id": "LN-1"}}),
        json!({"loan": {"total_loan_amount": 0}}),
        // Sums of many must stay within 64 bits.
        json!({"loan": {"total_loan_amount": 1_000_000_000_001_i64}}),
        json!({"loan": {"total_loan_amount": "5000"}}),
        json!({"loan": {"customer_phone_number": "12"}}),
        json!({"loan": {"loan_status": "DISBURSED"}}),
        json!({"loan": {"interest_rate": -1}}),
        json!({"loan": {"term": 0}}),
        json!({"loan": {"loan_id": "a/b"}}),
        json!({"loan": {"loan_id": ".."}}),
        json!({"loan": {"customer_id": "a/b"}}),
        json!({"loan": {"approved_at": "today"}}),
        json!({"loan": {"approved_at": "0000-01-01T00:00:00+14:00"}}),
        json!({"loan": {"loan_updated_at": "today"}}),
        json!({"loan": {"amount": 5000}}),
    ] {
        let refused = app.console(Method::POST, "/loans", body).await;
        let text = refused.refusal().split(", expected one of").next().unwrap().to_owned();
        failures.push(format!("{text} Field: {}", refused.body()["field"]));
    }
    assert_snapshot!(failures.join("\n"), @r#"
    422 invalid_request: count must be between 1 and 1000. Field: "count"
    422 invalid_request: count must be between 1 and 1000. Field: "count"
    422 invalid_request: Only one loan can have a loan_id. Field: "loan_id"
    422 invalid_request: total_loan_amount must be between 1 and 1,000,000,000,000. Field: "total_loan_amount"
    422 invalid_request: total_loan_amount must be between 1 and 1,000,000,000,000. Field: "total_loan_amount"
    422 invalid_request: The request body is invalid: total_loan_amount: invalid type: string, expected i64 at line 1 column 35. Field: "total_loan_amount"
    422 invalid_request: customer_phone_number must be a Kenyan mobile number such as +254712345678. Field: "customer_phone_number"
    422 invalid_request: loan_status can only be APPROVED. Field: "loan_status"
    422 invalid_request: interest_rate must be between 0 and 1000 percent. Field: "interest_rate"
    422 invalid_request: term must be between 1 and 1200 months. Field: "term"
    422 invalid_request: loan_id and customer_id must have 1 to 64 characters, no slash, and not only dots. Field: "loan_id"
    422 invalid_request: loan_id and customer_id must have 1 to 64 characters, no slash, and not only dots. Field: "loan_id"
    422 invalid_request: loan_id and customer_id must have 1 to 64 characters, no slash, and not only dots. Field: "customer_id"
    422 invalid_request: The request body is invalid: approved_at: "today" is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z at line 1 column 31. Field: "approved_at"
    422 invalid_request: The request body is invalid: approved_at: "0000-01-01T00:00:00+14:00" is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z at line 1 column 51. Field: "approved_at"
    422 invalid_request: The request body is invalid: loan_updated_at: "today" is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z at line 1 column 35. Field: "loan_updated_at"
    422 invalid_request: The request body is invalid: unknown field `amount` Field: "amount"
    "#);
    assert_eq!(app.sign_in("agent").await.pending().await.len(), before);
}

#[tokio::test]
async fn names_with_characters_that_cannot_be_seen_are_rejected() {
    let app = TestApp::start().await;
    let before = app.sign_in("agent").await.pending().await.len();
    for name in [
        "Achieng\u{202e}",
        "Achieng\u{200e}",
        "Achi\neng",
        "Achi\u{2028}eng",
        "Achi\u{200b}eng",
        "Achi\u{200d}eng",
    ] {
        for field in ["customer_first_name", "customer_last_name", "customer_nickname", "approver_name"] {
            let loan = json!({"loan": {field: name}});
            let refused = app.console(Method::POST, "/loans", loan).await;
            let text = format!("422 invalid_request: {field} must have no characters that can't be seen.");
            assert_eq!(refused.refusal(), text, "{name:?}");
            assert_eq!(refused.body()["field"], field);
        }
    }
    assert_eq!(app.sign_in("agent").await.pending().await.len(), before);
}

#[tokio::test]
async fn the_page_approves_a_given_loan() {
    let (app, browser) = Browser::start().await;
    let agent = app.sign_in("agent").await;
    let typed = [
        ("customer_first_name", "Wanjiku"),
        ("customer_last_name", ""),
        ("customer_phone_number", "0712 345 678"),
        ("total_loan_amount", "25000"),
        ("term", "6"),
        ("interest_rate", "12.5"),
        ("purpose", "Stock"),
        ("loan_id", "LN-1"),
    ];
    let done = browser.done("/console/loans", "approve", &typed).await.replace(['\u{2068}', '\u{2069}'], "");
    assert!(done.contains("KES 25,000 for Wanjiku"), "{done}");
    let loan = agent.pending().await.into_iter().find(|loan| loan["loan_id"] == "LN-1").unwrap();
    assert_eq!((&loan["interest_rate"], &loan["term"]), (&json!(12.5), &json!(6)));
    assert_eq!(loan["customer_phone_number"], "+254712345678");
}

#[tokio::test]
async fn a_customer_can_have_several_loans() {
    let app = TestApp::start().await;
    let mut ids = Vec::new();
    for amount in [5000, 6000, 7000] {
        let given = json!({"loan": {"customer_id": "CUS-QA", "total_loan_amount": amount}});
        let loan = approve(&app, given).await.remove(0);
        assert_eq!((&loan["customer_id"], &loan["total_loan_amount"]), (&json!("CUS-QA"), &json!(amount)));
        ids.push(loan["loan_id"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let known = app.sign_in("agent").await.pending().await.pop().unwrap();
    for _ in 0..2 {
        let given = json!({"loan": {"customer_id": known["customer_id"]}});
        assert_eq!(approve(&app, given).await[0]["customer_phone_number"], known["customer_phone_number"]);
    }
}

#[tokio::test]
async fn the_pages_show_the_notes_of_loans() {
    let (_, browser) = Browser::start().await;
    let page = browser.read("/console/loans").await;
    for note in ["Demo: the float is too low.", "above its maximum of KES 250,000"] {
        assert!(page.contains(note), "{note}: {page}");
    }
    let payouts = browser.read("/console/payouts").await;
    assert!(payouts.contains("above its maximum of KES 250,000"), "{payouts}");
    let scenario = browser.read("/console/scenario").await;
    for shown in ["+254700002040", "KES 99,951", "above KES 250,000"] {
        assert!(scenario.contains(shown), "{shown}: {scenario}");
    }
}
