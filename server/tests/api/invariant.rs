//! The audit finds every way in which the books can disagree.

use axum::http::Method;

use crate::test_app::{TestApp, waiting};

/// Ways to break the books, each from a sound state. `$paid` is a loan that was paid, `$open` one that
/// was not.
const BREAKS: [(&str, &str); 10] = [
    (
        "a payment is there and its payout is not",
        "INSERT INTO mobile_money_payment (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at)
         VALUES ('stray', 'STRAY00001', '+254712345678', 500, '0', 1, 1)",
    ),
    ("a payment is gone", "DELETE FROM mobile_money_payment WHERE originator_id = (SELECT transaction_id FROM payout WHERE loan_id = '$paid')"),
    ("another amount was paid", "UPDATE mobile_money_payment SET amount = amount + 1 WHERE originator_id = (SELECT transaction_id FROM payout WHERE loan_id = '$paid')"),
    (
        "two amounts were paid that differ by as much",
        "UPDATE mobile_money_payment SET amount = amount + 1
         WHERE originator_id = (SELECT transaction_id FROM payout WHERE loan_id = '$paid');
         UPDATE mobile_money_payment SET amount = amount - 1
         WHERE originator_id = (SELECT max(transaction_id) FROM payout WHERE status = 'COMPLETED' AND loan_id <> '$paid')",
    ),
    ("another phone was paid", "UPDATE mobile_money_payment SET phone_number = '+254700999999' WHERE originator_id = (SELECT transaction_id FROM payout WHERE loan_id = '$paid')"),
    ("another receipt was written down", "UPDATE payout SET receipt = 'OTHER00001' WHERE loan_id = '$paid'"),
    ("a paid payout is called failed", "UPDATE payout SET status = 'FAILED', receipt = NULL WHERE loan_id = '$paid'"),
    ("a paid loan waits again", "UPDATE loan SET status = 'APPROVED', disbursed_at = NULL WHERE loan_id = '$paid'"),
    ("a loan is called disbursed that nobody paid", "UPDATE loan SET status = 'DISBURSED', disbursed_at = 1 WHERE loan_id = '$open'"),
    (
        "a loan was paid twice",
        "INSERT INTO payout (payout_id, loan_id, transaction_id, amount, phone_number, status, result_code, error_message,
                             staff_id, agent_id, created_at, processed_at, check_at)
         SELECT 'second', loan_id, 'second', amount, phone_number, 'FAILED', NULL, 'x', staff_id, agent_id, 1, 1, 1
         FROM payout WHERE loan_id = '$paid';
         INSERT INTO mobile_money_payment (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at)
         SELECT 'second', 'SECOND0001', phone_number, amount, '0', 1, 1 FROM payout WHERE payout_id = 'second'",
    ),
];

#[tokio::test]
async fn every_broken_state_of_the_books_is_found() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = agent.pending().await;
    let mut loans = waiting(&pending).map(|loan| loan["loan_id"].as_str().unwrap().to_owned());
    let (paid, open) = (loans.next().unwrap(), loans.next().unwrap());
    let loan = waiting(&pending).next().unwrap();
    assert_eq!(agent.disburse(loan).await.status, 200);
    app.assert_every_shilling_is_accounted_for().await;
    assert_eq!(app.console(Method::POST, "/data/snapshots/sound", None).await.status, 201);
    for (what, sql) in BREAKS {
        let sql = sql.replace("$paid", &paid).replace("$open", &open);
        app.write(sql).await.unwrap();
        let audit = app.read_console("/invariant").await;
        assert_eq!(audit["ok"], false, "{what}: {audit}");
        assert_eq!(audit["double_paid"].as_array().unwrap().is_empty(), !what.contains("twice"), "{what}");
        assert_eq!(
            audit["without_payout"].as_array().unwrap().is_empty(),
            !what.contains("its payout is not"),
            "{what}"
        );
        assert_eq!(app.console(Method::PUT, "/data/snapshots/sound", None).await.status, 204);
        app.assert_every_shilling_is_accounted_for().await;
    }
}

/// Enters payments of `amount` in mobile money's books that no payout asked for.
async fn enter_payments(app: &TestApp, count: usize, amount: i64) {
    for number in 0..count {
        let sql = format!(
            "INSERT INTO mobile_money_payment
                 (originator_id, receipt, phone_number, amount, result_code, requested_at, result_at)
             VALUES ('{number}', '{number}', '+254712345678', {amount}, '0', 1, 1)"
        );
        app.write(sql).await.unwrap();
    }
}

#[tokio::test]
async fn a_hundred_payments_without_a_payout_are_named_at_most() {
    let app = TestApp::start().await;
    enter_payments(&app, 101, 1).await;
    let audit = app.read_console("/invariant").await;
    assert_eq!(audit["without_payout"].as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn a_sum_that_does_not_fit_into_64_bits_is_said_as_such() {
    let app = TestApp::start().await;
    enter_payments(&app, 2, i64::MAX).await;
    let (status, code, text) = app.console(Method::GET, "/invariant", None).await.failure();
    assert_eq!((status, code.as_str()), (422, "sum_too_large"), "{text}");
    // Others are paid as before.
    let agent = app.sign_in("agent").await;
    assert_eq!(agent.disburse(&agent.waiting_loan().await).await.status, 200);
}
