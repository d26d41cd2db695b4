use std::time::Duration;

use base::kes::Kes;
use futures::future::join_all;
use insta::assert_snapshot;
use lending::mobile_money::Outcome;
use serde_json::{Value, json};

use crate::test_app::{TestApp, disbursement_of, payout_path};

#[tokio::test]
async fn a_loan_is_paid_out_and_leaves_the_pending_list_for_the_history() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;

    let answer = agent.disburse(&loan).await;
    assert_eq!(answer.status, 200);
    let paid = answer.body();
    let receipt = paid["mpesa_ref"].as_str().unwrap();
    assert!(receipt.starts_with("UKE") && receipt.len() == 10, "{receipt}");
    let expected = json!({
        "id": paid["id"], "loan_id": "LN-2026-00050", "amount": 25_000, "phone": "+254769675262",
        "status": "COMPLETED", "mpesa_ref": receipt, "transaction_id": paid["transaction_id"],
        "error_message": null, "created_at": "2026-11-14T09:00:00.000Z", "processed_at": "2026-11-14T09:00:00.000Z",
        "loan_status": "DISBURSED", "disbursement_status": "COMPLETED",
        "disbursed_at": "2026-11-14T09:00:00.000Z", "disbursed_by": "Wanjiru Maina",
        "user_id": paid["user_id"], "user_email": "agent@mkopo.test", "user_first_name": "Wanjiru",
        "user_last_name": "Maina", "customer_id": "CUS-00050", "customer_first_name": "Mutua",
        "customer_last_name": "Simiyu", "customer_phone_number": "+254769675262",
        "customer_id_number": "21541547", "approver_id": paid["approver_id"], "approver_name": "Peter Njoroge",
        "approver_email": "supervisor@mkopo.test",
    });
    assert_eq!(paid, expected);

    let still: Vec<Value> = agent.pending().await;
    assert!(!still.iter().any(|other| other["loan_id"] == loan["loan_id"]));
    for (field, kept) in agent.records().await[0].as_object().unwrap() {
        assert_eq!(*kept, paid[field], "{field} is kept as it was answered");
    }
    app.assert_every_shilling_is_accounted_for().await;
}

// S-115
#[tokio::test]
async fn asking_twice_pays_once() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let first = agent.disburse(&loan).await.json();

    let again = agent.disburse(&loan).await;
    assert_eq!(again.failure().1, "already_disbursed");
    assert_eq!(again.body()["record"]["mpesa_ref"], first["mpesa_ref"]);
    assert_eq!(agent.records_of(&loan).await.len(), 1);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_loan_with_a_pending_payout_is_not_paid_again() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let loan = pending.iter().find(|loan| loan["disbursement_status"] == "PENDING").unwrap();
    let answer = agent.disburse(loan).await;
    assert_eq!(answer.failure().1, "in_progress");
    assert_eq!(answer.body()["record"]["status"], "PENDING");
    app.assert_every_shilling_is_accounted_for().await;
}

// S-11, S-99, S-112
#[tokio::test]
async fn a_different_amount_or_phone_is_not_paid() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let before = agent.records().await.len();
    let mut refusals = Vec::new();
    for (field, value) in
        [("amount", json!(1)), ("phone_number", json!("0700000009")), ("phone_number", json!("x"))]
    {
        let mut other = loan.clone();
        other[if field == "amount" { "total_loan_amount" } else { "customer_phone_number" }] = value;
        refusals.push(agent.disburse(&other).await.kind());
    }
    assert_eq!(refusals, ["422 amount_mismatch", "422 phone_mismatch", "422 phone_mismatch"]);
    let unknown = json!({"loan_id": "LN-0", "total_loan_amount": 1, "customer_phone_number": "0700000000"});
    assert_eq!(agent.disburse(&unknown).await.refusal(), "404 loan_not_found: There is no loan LN-0.");
    assert_eq!(agent.records().await.len(), before, "no payout was made");
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn the_customers_number_is_accepted_in_any_format() {
    let (app, agent) = TestApp::start_for("agent").await;
    for (number, typed) in [
        ("+254712345670", "0712345670"),
        ("+254712345671", "+254712345671\u{202c}"),
        ("+254712345672", "0712\u{a0}345\u{a0}672"),
        ("+254712345673", "\u{200e}254712345673"),
    ] {
        let loan = app.approve_loan(20_000, number).await;
        let mut body = disbursement_of(&loan);
        body["phone_number"] = json!(typed);
        let paid = agent.post(&payout_path(&loan), body).await;
        assert_eq!(paid.status, 200, "{typed:?}");
        assert_eq!(paid.json()["phone"], number);
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn mobile_moneys_refusal_leaves_the_loan_to_be_tried_again() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let loan = pending.iter().find(|loan| loan["total_loan_amount"] == 300_000).unwrap();
    let answer = agent.disburse(loan).await;
    assert_snapshot!(answer.refusal(), @"422 mobile_money_refused: Declined due to limit rule: greater than the maximum transaction amount.");
    assert_eq!(answer.body()["result_code"], "3");
    assert_eq!(answer.body()["record"]["status"], "FAILED");
    let still = agent.pending().await;
    let loan = still.iter().find(|other| other["loan_id"] == loan["loan_id"]).unwrap();
    assert_eq!((&loan["loan_status"], &loan["disbursement_status"]), (&json!("APPROVED"), &json!("FAILED")));
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_call_that_waited_for_the_writer_is_accepted_before_its_caller_gives_up() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    app.next_outcomes(&[Outcome::LostUnpaid]).await;
    let free = app.occupy_writer().await;
    let asked_at = app.clock.now();
    let waited = || app.clock.now().since(asked_at);
    // Otherwise, no time passes in which nothing can be written.
    let held_up = async {
        while waited() < Duration::from_secs(5) {
            tokio::time::sleep(Duration::from_millis(2)).await;
            app.clock.advance(Duration::from_millis(100));
        }
        free.send(()).unwrap();
    };
    let (answer, ()) = tokio::join!(app.as_time_passes(agent.disburse(&loan)), held_up);
    assert_eq!(answer.status, 202);
    assert!(waited() < Duration::from_secs(10), "{:?}", waited());
}

// S-15, S-115
#[tokio::test]
async fn many_calls_at_once_for_one_loan_pay_it_once() {
    let app = TestApp::start().await;
    let staff = [app.sign_in("agent").await, app.sign_in("supervisor").await, app.sign_in("admin").await];
    let loan = &staff[0].waiting_loan().await;
    let before = app.assert_every_shilling_is_accounted_for().await;
    // Some calls have their own key, some share one, and some have none.
    let calls = (0..500).map(async |n| {
        let caller = &staff[n % 3];
        match n % 5 {
            0 => caller.disburse_with_key(loan, &format!("key-{n}")).await,
            1 => caller.disburse_with_key(loan, "shared").await,
            _ => caller.disburse(loan).await,
        }
    });
    let answers = join_all(calls).await;
    let first = answers.iter().filter(|answer| answer.status == 200 && !answer.is_replay());
    assert_eq!(first.count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer.status.as_u16(), 200 | 409)));
    assert_eq!(staff[0].records_of(loan).await.len(), 1);
    assert_eq!(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await, 1);
    let after = app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(after.money_out - before.money_out, Kes(loan["total_loan_amount"].as_i64().unwrap()));
}

// S-7, S-10
#[tokio::test]
async fn an_invalid_body_makes_no_payout() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    let right = disbursement_of(&loan);
    let with = |field: &str, value: Value| {
        let mut body = right.clone();
        body[field] = value;
        body
    };
    let without = |field: &str| {
        let mut body = right.clone();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    let before = app.assert_every_shilling_is_accounted_for().await;
    for body in [
        json!(null),
        json!([]),
        json!("x"),
        without("agent_id"),
        without("amount"),
        without("phone_number"),
        with("agent_id", json!(null)),
        with("agent_id", json!(-1)),
        with("agent_id", json!(1.5)),
        with("agent_id", json!(9_007_199_254_740_992_i64)),
        with("agent_id", json!("a".repeat(65))),
        with("agent_id", json!(true)),
        with("amount", json!("25000")),
        with("amount", json!(0)),
        with("amount", json!(-25_000)),
        with("amount", json!(25_000.5)),
        with("amount", json!(1e300)),
        with("amount", json!(9_007_199_254_740_992_i64)),
        with("phone_number", json!(254_712_345_678_i64)),
        with("phone_number", json!("")),
        with("phone_number", json!("7".repeat(33))),
    ] {
        let answer = agent.disburse_body_with_key(&loan, body.clone(), "key").await;
        assert_eq!(answer.kind(), "422 invalid_request", "{body}");
    }
    assert_eq!(agent.records_of(&loan).await, Vec::<Value>::new());
    assert_eq!(app.assert_every_shilling_is_accounted_for().await, before);
    let longest = with("agent_id", json!("a".repeat(64)));
    let paid = agent.disburse_body_with_key(&loan, longest, "key").await;
    assert_eq!(paid.status, 200, "an invalid body does not use up the key");
}

#[tokio::test]
async fn a_path_that_is_not_a_loan_is_not_found() {
    let (_, agent) = TestApp::start_for("agent").await;
    let body = json!({"agent_id": 1, "amount": 1, "phone_number": "0712345678"});
    for (loan, kind) in [
        ("LN-0", "404 loan_not_found"),
        ("%20", "404 loan_not_found"),
        ("'%20OR%201=1", "404 loan_not_found"),
        ("%FF", "404 not_found"),
        ("%00", "404 loan_not_found"),
    ] {
        let path = format!("/api/v1/disbursements/{loan}/disburse");
        assert_eq!(agent.post(&path, body.clone()).await.kind(), kind, "{loan}");
    }
}
