use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::{Answer, TestApp};

async fn make(app: &TestApp, body: Value) -> Answer {
    app.console(Method::POST, "/payouts", body).await
}

#[tokio::test]
async fn a_past_payout_is_made_with_its_outcome() {
    let (app, agent) = TestApp::start_for("agent").await;
    let before = agent.records().await.len();
    let paid = app.console(Method::POST, "/payouts", None).await;
    assert_eq!(paid.status, 201);
    assert_eq!(paid.json()["status"], "COMPLETED");
    assert_eq!(paid.json()["processed_at"], "2026-11-14T09:00:00.000Z");
    let refused = json!({
        "outcome": "insufficient_funds", "created_at": "2026-10-01T10:00:00+03:00",
        "user_email": "admin@mkopo.test",
    });
    let refused = make(&app, refused).await.json();
    assert_eq!(
        ["status", "created_at", "user_email", "error_message"].map(|field| &refused[field]),
        [
            &json!("FAILED"),
            &json!("2026-10-01T07:00:00.000Z"),
            &json!("admin@mkopo.test"),
            &json!("The balance is insufficient for the transaction."),
        ]
    );
    let records = agent.records().await;
    assert_eq!(records.len(), before + 2);
    assert!(records.contains(&paid.json()) && records.contains(&refused));
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_past_payout_of_a_given_loan_disburses_it() {
    let (app, agent) = TestApp::start_for("agent").await;
    let given = json!({"loan": {"loan_id": "LN-OLD", "approved_at": "2026-11-01T09:00:00Z"}});
    app.set_console(Method::POST, "/loans", given).await;
    let pay = json!({"loan_id": "LN-OLD", "created_at": "2026-11-02T09:00:00Z"});
    let failed = json!({"loan_id": "LN-OLD", "created_at": "2026-11-01T10:00:00Z", "outcome": "bad_number"});
    assert_eq!(make(&app, failed).await.json()["result_code"], json!(null));
    let is_there = |loan: &Value| loan["disbursement_status"] == "FAILED" && loan["loan_id"] == "LN-OLD";
    assert!(agent.pending().await.iter().any(is_there));
    assert_eq!(make(&app, pay.clone()).await.json()["loan_id"], "LN-OLD");
    assert!(agent.pending().await.iter().all(|loan| loan["loan_id"] != "LN-OLD"));
    assert_eq!(make(&app, pay).await.failure().1, "not_approved", "a loan is paid once");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn an_invalid_past_payout_is_rejected() {
    let app = TestApp::start().await;
    let loan = app.sign_in("agent").await.pending().await.remove(0);
    for (body, status) in [
        (json!({"created_at": "2026-11-14T09:00:00Z"}), 422),
        (json!({"created_at": "yesterday"}), 422),
        (json!({"outcome": "slow"}), 422),
        (json!({"outcome": "odd"}), 422),
        (json!({"user_email": "nobody@mkopo.test"}), 422),
        (json!({"user_email": "inactive@mkopo.test"}), 422),
        (json!({"amount": 5}), 422),
        (json!({"loan_id": "LN-NONE"}), 404),
        (json!({"loan_id": loan["loan_id"], "created_at": "2026-01-01T09:00:00Z"}), 409),
    ] {
        assert_eq!(make(&app, body.clone()).await.failure().0, status, "{body}");
    }
}

#[tokio::test]
async fn payouts_are_listed_by_loan_and_by_whether_they_have_settled() {
    let (app, agent) = TestApp::start_for("agent").await;
    let list = async |query: &str| app.read_console(&format!("/payouts{query}")).await;
    assert_eq!(list("").await, Value::from(agent.records().await));
    let (pending, settled): (Vec<_>, Vec<_>) =
        agent.records().await.into_iter().partition(|payout| payout["status"] == "PENDING");
    assert!(!pending.is_empty() && !settled.is_empty());
    assert_eq!(list("?settled=false").await, json!(pending));
    assert_eq!(list("?settled=true").await, json!(settled));
    let made = make(&app, json!({"outcome": "bad_number"})).await.json();
    let of_the_loan = format!("?settled=true&loan_id={}", made["loan_id"].as_str().unwrap());
    assert_eq!(list(&of_the_loan).await, json!([made]));
    assert_eq!(list("?loan_id=LN-NONE").await, json!([]));
    let refused = app.console(Method::GET, "/payouts?wait=26s", None).await;
    assert_eq!(refused.failure().0, 422);
}

#[tokio::test]
async fn a_call_waits_until_the_payout_has_settled() {
    let app = TestApp::start().await;
    let given = json!({"loan": {"loan_id": "LN-NEW", "approved_at": "2026-11-01T09:00:00Z"}});
    app.set_console(Method::POST, "/loans", given).await;
    let path = "/payouts?loan_id=LN-NEW&settled=true";
    let waiting_path = format!("{path}&wait=20s");
    let mut waiting = std::pin::pin!(app.console(Method::GET, &waiting_path, None));
    // One that begins later and does not wait has its answer: the other one has found nothing, too.
    tokio::select! {
        biased;
        answer = &mut waiting => panic!("answered before there was a payout: {}", answer.status),
        now = app.console(Method::GET, path, None) => assert_eq!(now.json(), json!([])),
    }
    let (answer, _) = tokio::join!(waiting, make(&app, json!({"loan_id": "LN-NEW"})));
    assert_eq!(answer.json()[0]["status"], "COMPLETED");
}
