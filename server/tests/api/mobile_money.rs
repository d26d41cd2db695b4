use std::time::Duration;

use axum::http::Method;
use base::{kes::Kes, phone::Msisdn};
use futures::future::join_all;
use insta::assert_snapshot;
use lending::mobile_money::{
    Answer, MAGIC, Outcome, Payment, Refusal,
    Verdict::{NotReceived, Paid, Refused},
};
use serde_json::{Value, json};
use store::version::DataCopy;

use crate::{
    test_app::{NOON, TestApp, patiently, run_until, wait_until},
    test_store,
};

const PLAIN: &str = "+254712345678";

fn payment(originator_id: &str, amount: i64) -> Payment {
    Payment {
        originator_id: originator_id.into(),
        phone_number: Msisdn::parse(PLAIN).unwrap(),
        amount: Kes(amount),
        expires_at: NOON.plus(Duration::from_secs(30)),
        reference: "LN-1".to_owned(),
        // A new PostgreSQL cluster is on its first timeline.
        copy: DataCopy { generation: 0, timeline: i64::from(test_store::is_postgres()) },
    }
}

/// The answer to a request that is answered at once.
async fn pay(app: &TestApp, payment: Payment) -> Answer {
    patiently("mobile money answers", app.sandbox.mobile_money.pay(payment)).await.unwrap()
}

/// The answer's status and result code, and the record three minutes later.
async fn settled(app: &TestApp, loan: &Value) -> String {
    let agent = app.sign_in("agent").await;
    let answer = app.as_time_passes(agent.disburse(loan)).await;
    app.later(Duration::from_mins(3)).await;
    app.assert_every_shilling_is_accounted_for().await;
    let records = agent.records_of(loan).await;
    let record = records.first().unwrap_or_else(|| {
        panic!(
            "a rule of src/payouts refused a payment before mobile money was asked: {}. The contract promises what \
             comes of the magic phone numbers and amounts: let the rule pass them, or choose others, in `MAGIC` of \
             src/mobile_money/outcome.rs and in the contract's table.",
            answer.status
        )
    });
    let [code, status, reason] = [&answer.body()["result_code"], &record["status"], &record["error_message"]]
        .map(|value| value.as_str().unwrap_or("-").to_owned());
    format!("{} {code} {status} {reason}", answer.status.as_u16())
}

#[tokio::test]
async fn each_magic_phone_has_its_outcome_in_any_scenario() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"default": "bad_number"})).await;
    let mut outcomes = Vec::new();
    for magic in MAGIC {
        let loan = app.approve_loan(300_000, magic.phone).await;
        outcomes.push(format!("{}: {}", magic.outcome.name(), settled(&app, &loan).await));
    }
    assert_eq!(outcomes.len(), MAGIC.len());
    assert_snapshot!(outcomes.join("\n"), @"
    success: 200 - COMPLETED -
    insufficient_funds: 422 1 FAILED The balance is insufficient for the transaction.
    below_minimum: 422 2 FAILED Declined due to limit rule: less than the minimum transaction amount.
    above_maximum: 422 3 FAILED Declined due to limit rule: greater than the maximum transaction amount.
    daily_limit: 422 4 FAILED Declined due to limit rule: would exceed the daily transfer limit.
    maximum_balance: 422 8 FAILED Declined due to limit rule: would exceed the maximum balance.
    debit_party_invalid: 422 11 FAILED The DebitParty is in an invalid state.
    initiator_not_allowed: 422 21 FAILED The initiator is not allowed to initiate this request.
    initiator_invalid: 422 2001 FAILED The initiator information is invalid.
    unregistered_customer: 422 2040 FAILED Credit Party customer type can't be supported by the service.
    bad_number: 422 SFC_IC0003 FAILED The operator does not exist.
    paid_answer_lost: 202 - COMPLETED -
    lost_unpaid: 202 - FAILED The payment request was not received by mobile money.
    slow: 202 - COMPLETED -
    result_twice: 200 - COMPLETED -
    result_before_answer: 200 - COMPLETED -
    ");
}

#[tokio::test]
async fn each_magic_amount_has_the_outcome_of_its_phone() {
    let app = TestApp::start().await;
    let mut tried = 0;
    for magic in MAGIC.iter().filter(|magic| magic.amount.is_some()) {
        let loan = app.approve_loan(magic.amount.unwrap().0, PLAIN).await;
        let outcome = settled(&app, &loan).await;
        match magic.outcome {
            Outcome::Refused(refusal) => {
                assert_eq!(outcome, format!("422 {} FAILED {}", refusal.code(), refusal.text()));
            }
            Outcome::LostUnpaid => assert!(outcome.contains("FAILED"), "{magic:?}"),
            _ => assert!(outcome.contains("COMPLETED"), "{magic:?}"),
        }
        tried += 1;
    }
    assert_eq!(tried, 15);
}

#[tokio::test]
async fn limits_and_float_apply_to_every_payment_that_is_not_magic() {
    let app = TestApp::start().await;
    let mut outcomes = Vec::new();
    for amount in [9, 10, 250_000, 250_001, 249_990, 1, 11] {
        let loan = app.approve_loan(amount, PLAIN).await;
        outcomes.push(format!("{amount}: {}", settled(&app, &loan).await));
    }
    app.set_console(Method::PUT, "/scenario", json!({"float": 999})).await;
    for amount in [1_000, 999] {
        let loan = app.approve_loan(amount, "+254712000000").await;
        outcomes.push(format!("{amount}: {}", settled(&app, &loan).await));
    }
    assert_eq!(app.float().await, 0);
    assert_snapshot!(outcomes.join("\n"), @"
    9: 422 2 FAILED Declined due to limit rule: less than the minimum transaction amount.
    10: 200 - COMPLETED -
    250000: 200 - COMPLETED -
    250001: 422 3 FAILED Declined due to limit rule: greater than the maximum transaction amount.
    249990: 200 - COMPLETED -
    1: 422 2 FAILED Declined due to limit rule: less than the minimum transaction amount.
    11: 422 4 FAILED Declined due to limit rule: would exceed the daily transfer limit.
    1000: 422 1 FAILED The balance is insufficient for the transaction.
    999: 200 - COMPLETED -
    ");
}

#[tokio::test]
async fn a_slow_payment_settles_in_seconds_although_the_clock_is_set_back() {
    let (app, agent) = TestApp::start_for("agent").await;
    let loan = app.approve_loan(20_000, PLAIN).await;
    app.next_outcomes(&[Outcome::Slow]).await;
    assert_eq!(app.as_time_passes(agent.disburse(&loan)).await.status, 202);
    app.set_console(Method::PUT, "/clock", json!({"now": "2026-11-01T08:00:00+03:00"})).await;
    // Nobody waits for the answer any more.
    app.sandbox.close(Duration::ZERO).await;
    let other = app.another_server(&[]).await;
    other.later(Duration::from_secs(20)).await;
    let agent = other.sign_in("agent").await;
    assert_eq!(agent.status_of(&loan).await, "COMPLETED");
}

#[tokio::test]
async fn each_answer_takes_a_time_of_its_own_within_the_spread() {
    let app = TestApp::start().await;
    let spread = json!({"latency_ms": 1_000, "spread_percent": 50});
    app.set_console(Method::PUT, "/scenario", spread).await;
    for number in 0..3 {
        let loan = app.approve_loan(20_000, &format!("+25471200010{number}")).await;
        assert_eq!(settled(&app, &loan).await, "200 - COMPLETED -");
    }
    let took: Vec<i64> = store::query_scalar(
        "SELECT result_at - requested_at FROM mobile_money_payment WHERE phone_number LIKE '+25471200010%'",
    )
    .fetch_all(&mut app.sandbox.database.read().await.unwrap())
    .await
    .unwrap();
    let [first, second, third] = took[..] else { panic!("{took:?}") };
    assert!(first != second && second != third && third != first, "{took:?}");
    assert!(took.iter().all(|ms| (200..5_000).contains(ms)), "{took:?}");
}

#[tokio::test]
async fn answers_to_requests_that_arrive_together_take_a_time_of_their_own_each() {
    let app = &TestApp::start().await;
    let spread = json!({"latency_ms": 1_000, "spread_percent": 50});
    app.set_console(Method::PUT, "/scenario", spread).await;
    let times =
        "SELECT count(DISTINCT result_at) FROM mobile_money_payment WHERE originator_id LIKE 'together-%'";
    let payments =
        (0..3).map(|number| app.sandbox.mobile_money.pay(payment(&format!("together-{number}"), 500)));
    run_until("three times are drawn", &mut join_all(payments), async || app.count(times).await == 3).await;
}

#[tokio::test]
async fn a_result_is_there_from_the_millisecond_on_in_which_it_is_due_by_either_clock() {
    let app = &TestApp::start().await;
    let freeze = async |after: Duration| {
        let clock = json!({"now": NOON.plus(after).to_string(), "frozen": true});
        app.set_console(Method::PUT, "/clock", clock).await;
    };
    freeze(Duration::ZERO).await;
    app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 1_000})).await;
    let money = &app.sandbox.mobile_money;
    let mut paying = Box::pin(money.pay(payment("slow", 500)));
    let entered = "SELECT count(*) FROM mobile_money_payment WHERE originator_id = 'slow'";
    run_until("the request is entered", &mut paying, async || app.count(entered).await == 1).await;
    let is_there = async || money.status(&"slow".into()).await.unwrap().is_some();

    freeze(Duration::from_millis(999)).await;
    assert!(!is_there().await);
    freeze(Duration::from_secs(1)).await;
    assert!(is_there().await, "the console's clock is there");

    freeze(Duration::ZERO).await;
    app.clock.advance(Duration::from_millis(999));
    assert!(!is_there().await);
    app.clock.advance(Duration::from_millis(1));
    assert!(is_there().await, "base time is there");
}

#[tokio::test]
async fn payouts_that_settle_together_keep_their_own_results() {
    let app = &TestApp::start().await;
    let agent = app.sign_in("agent").await;
    // Every other one is above the maximum of a payment.
    let loans = (0..8).map(|number| {
        let amount = if number % 2 == 0 { 20_000 } else { 250_001 };
        async move { app.approve_loan(amount, &format!("+25471200011{number}")).await }
    });
    let loans = join_all(loans).await;
    let held = app.sandbox.mobile_money.hold_requests().await;
    let together = async {
        wait_until("all loans are claimed", async || {
            let records = agent.records().await;
            records.iter().filter(|record| record["status"] == "PENDING").count() >= loans.len()
        })
        .await;
        drop(held);
    };
    let (answers, ()) = tokio::join!(join_all(loans.iter().map(|loan| agent.disburse(loan))), together);
    let pending = agent.pending().await;
    for (number, (loan, answer)) in loans.iter().zip(&answers).enumerate() {
        let is_paid = number % 2 == 0;
        assert_eq!(answer.status.as_u16(), if is_paid { 200 } else { 422 }, "{number}");
        let waits = pending.iter().any(|other| other["loan_id"] == loan["loan_id"]);
        assert_eq!(waits, !is_paid, "{number}");
    }
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn magic_payments_never_exceed_the_float() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"float": 400_000})).await;
    let mut outcomes = Vec::new();
    // A magic phone is paid above the maximum of a payment, too.
    for (amount, phone) in
        [(300_000, "+254700000000"), (100_001, "+254700000000"), (99_955, PLAIN), (46, PLAIN)]
    {
        let loan = app.approve_loan(amount, phone).await;
        outcomes.push(settled(&app, &loan).await);
    }
    let refused = "422 1 FAILED The balance is insufficient for the transaction.";
    assert_eq!(outcomes, ["200 - COMPLETED -", refused, "200 - COMPLETED -", refused]);
    assert_eq!(app.float().await, 45);
}

#[tokio::test]
async fn requests_at_once_are_paid_in_order_as_long_as_there_is_enough() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"float": 1_000})).await;
    let amounts = [600, 500, 300, 200, 100, 10];
    let payments = amounts.iter().map(|amount| pay(&app, payment(&format!("of-{amount}"), *amount)));
    let answers = join_all(payments).await;
    let paid: Vec<bool> = answers.iter().map(|answer| matches!(answer, Answer::Result(Paid(_)))).collect();
    assert_eq!(paid, [true, false, true, false, true, false]);
    assert_eq!(app.float().await, 0);
}

/// Returns whether a payment of the most that one may be is made now.
async fn pays_the_most(app: &TestApp, id: &str) -> bool {
    let expires_at = app.clock.now().plus(Duration::from_secs(30));
    matches!(pay(app, Payment { expires_at, ..payment(id, 250_000) }).await, Answer::Result(Paid(_)))
}

#[tokio::test]
async fn the_daily_limit_resets_at_midnight_in_the_time_zone_of_the_deployment() {
    // It is noon in Nairobi, and 22:00 in Auckland.
    for (options, hours) in [(&[][..], 12), (&["--time-zone", "Pacific/Auckland"], 2)] {
        let app = TestApp::start_with(options).await;
        let pay = async |id: &str| pays_the_most(&app, id).await;
        assert_eq!((pay("1").await, pay("2").await, pay("3").await), (true, true, false));
        app.clock.advance(Duration::from_mins(60 * hours - 1));
        assert!(!pay("4").await);
        app.clock.advance(Duration::from_mins(1));
        assert!(pay("5").await);
    }
}

#[tokio::test]
async fn an_originator_id_pays_once() {
    let app = TestApp::start().await;
    let money = &app.sandbox.mobile_money;
    let mut answers = join_all((0..5).map(|_| pay(&app, payment("one", 500)))).await.into_iter();
    let Some(Answer::Result(Paid(receipt))) = answers.next() else { panic!("refused") };
    assert!(answers.all(|answer| answer == Answer::DuplicateOriginator));
    assert_eq!(pay(&app, payment("one", 700)).await, Answer::DuplicateOriginator);
    assert_eq!(money.status(&"one".into()).await.unwrap(), Some(Paid(receipt)));
    assert_eq!(money.status(&"two".into()).await.unwrap(), None);
    assert_eq!(app.float().await, 50_000_000 - 500);
}

#[tokio::test]
async fn an_expired_request_is_not_carried_out() {
    let app = TestApp::start().await;
    let money = &app.sandbox.mobile_money;
    app.clock.advance(Duration::from_secs(30));
    assert_eq!(pay(&app, payment("late", 500)).await, Answer::Result(NotReceived));
    assert_eq!(money.status(&"late".into()).await.unwrap(), Some(NotReceived));
}

#[tokio::test]
async fn a_request_that_was_voided_before_it_arrived_is_never_carried_out() {
    let app = TestApp::start().await;
    let money = &app.sandbox.mobile_money;
    let void = async |originator_id: &str| {
        let Payment { originator_id, phone_number, amount, copy, .. } = payment(originator_id, 500);
        money.void(originator_id, phone_number, amount, copy).await.unwrap()
    };
    assert_eq!(void("early").await, Some(NotReceived));
    assert_eq!(pay(&app, payment("early", 500)).await, Answer::Result(NotReceived));
    assert_eq!(money.status(&"early".into()).await.unwrap(), Some(NotReceived));
    let Answer::Result(Paid(receipt)) = pay(&app, payment("paid", 500)).await else { panic!("refused") };
    assert_eq!(void("paid").await, Some(Paid(receipt)));
    assert_eq!(app.float().await, 50_000_000 - 500);
}

#[tokio::test]
async fn queued_outcomes_are_used_in_order_and_survive_a_restart() {
    let app = TestApp::start().await;
    let next = [
        Outcome::Refused(Refusal::MaximumBalance),
        Outcome::Success,
        Outcome::Refused(Refusal::DebitPartyInvalid),
    ];
    app.next_outcomes(&next).await;
    let money = &app.sandbox.mobile_money;
    assert_eq!(pay(&app, payment("1", 500)).await, Answer::Result(Refused(Refusal::MaximumBalance)));
    assert_eq!(money.status(&"1".into()).await.unwrap(), Some(Refused(Refusal::MaximumBalance)));
    // A magic number does not use the queue.
    let magic = Payment { phone_number: Msisdn::parse("+254700000000").unwrap(), ..payment("2", 500) };
    assert!(matches!(pay(&app, magic).await, Answer::Result(Paid(_))));
    assert!(matches!(pay(&app, payment("3", 500)).await, Answer::Result(Paid(_))));
    let app = app.restart().await;
    let money = &app.sandbox.mobile_money;
    assert_eq!(pay(&app, payment("4", 500)).await, Answer::Result(Refused(Refusal::DebitPartyInvalid)));
    assert!(matches!(pay(&app, payment("5", 500)).await, Answer::Result(Paid(_))));
    assert_eq!(money.scenario().await.unwrap().next, []);
}

#[tokio::test]
async fn an_answer_takes_as_long_as_the_scenario_says() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/scenario", json!({"latency_ms": 3_000})).await;
    let agent = app.sign_in("agent").await;
    let loan = &agent.waiting_loan().await;
    assert_eq!(app.as_time_passes(agent.disburse(loan)).await.status, 200);
    let took = app.clock.now().since(NOON);
    assert!(took >= Duration::from_secs(3), "{took:?}");
}
