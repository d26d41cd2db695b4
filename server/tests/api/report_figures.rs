//! Reports agree with the records, whatever happened to them.

use std::collections::BTreeMap;

use base::clock::UnixMillis;
use lending::{
    demo,
    mobile_money::{Outcome, Refusal},
};
use serde_json::{Value, json};

use crate::{
    live_settings::{LIVE, set_preferences},
    test_app::{NOON, TestApp},
};

const PERIODS: [&str; 5] = ["today", "week", "month", "quarter", "year"];

async fn report(staff: &TestApp, query: &str) -> Value {
    let answer = staff.get(&format!("/api/v1/reports{query}")).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.json());
    answer.json()
}

fn moment(value: &Value) -> UnixMillis {
    value.as_str().unwrap().parse().unwrap()
}

/// The number and the amount of the records that were made from one time until another, by status.
fn sums(records: &[Value], from: UnixMillis, until: UnixMillis) -> Value {
    let sum = |status: &str| {
        let found = records.iter().filter(|record| {
            let made_at = moment(&record["created_at"]);
            record["status"] == status && from <= made_at && made_at <= until
        });
        let amounts: Vec<i64> = found.map(|record| record["amount"].as_i64().unwrap()).collect();
        json!({"payouts": amounts.len(), "amount": amounts.iter().sum::<i64>()})
    };
    json!({"completed": sum("COMPLETED"), "failed": sum("FAILED"), "pending": sum("PENDING")})
}

fn figures(sums: &Value) -> Value {
    let number = |status: &str, field: &str| sums[status][field].as_i64().unwrap();
    let (completed, failed) = (number("completed", "payouts"), number("failed", "payouts"));
    let amount = number("completed", "amount");
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let rate = (completed + failed > 0)
        .then(|| (completed as f64 * 1000.0 / (completed + failed) as f64).round() / 10.0);
    json!({
        "total_disbursed": amount,
        "total_transactions": completed + failed + number("pending", "payouts"),
        "average_disbursement": if completed == 0 { 0 } else { (amount + completed / 2) / completed },
        "success_rate": rate,
    })
}

/// Every report equals what the records say.
async fn assert_reports_equal_records(staff: &TestApp, what: &str) {
    let (records, reports) = loop {
        let records = staff.records().await;
        let mut reports = Vec::new();
        for period in PERIODS {
            for unit in ["", "&unit=day", "&unit=week", "&unit=month"] {
                reports.push(report(staff, &format!("?period={period}{unit}")).await);
            }
        }
        // A payout may have settled meanwhile.
        if staff.records().await == records {
            break (records, reports);
        }
    };
    for report in reports {
        let (from, to) = (moment(&report["from"]), moment(&report["to"]));
        let context = format!("{what}: {report:#}");
        assert_eq!(report["figures"], figures(&sums(&records, from, to)), "{context}");
        let before = sums(&records, moment(&report["before_from"]), moment(&report["before_to"]));
        assert_eq!(report["figures_before"], figures(&before), "{context}");
        let series = report["series"].as_array().unwrap();
        let mut ends: Vec<UnixMillis> =
            series.iter().skip(1).map(|bar| UnixMillis(moment(&bar["from"]).0 - 1)).collect();
        ends.push(to);
        for (bar, end) in series.iter().zip(ends) {
            let mut expected = sums(&records, moment(&bar["from"]), end);
            expected["from"] = bar["from"].clone();
            assert_eq!(*bar, expected, "{context}");
        }
    }
}

#[tokio::test]
async fn a_report_has_the_figures_of_its_period_and_of_the_one_before() {
    let (_, agent) = TestApp::start_for_with("agent", &LIVE).await;
    let today = report(&agent, "?period=today&type=transactions").await;
    let expected = json!({
        "period": "today", "type": "transactions", "unit": "hour", "time_zone": "Africa/Nairobi",
        "from": "2026-11-13T21:00:00.000Z", "to": "2026-11-14T09:00:00.000Z",
        "before_from": "2026-11-12T21:00:00.000Z", "before_to": "2026-11-13T09:00:00.000Z",
        "figures": {
            "total_disbursed": 89_500, "total_transactions": 6, "average_disbursement": 29_833, "success_rate": 75.0,
        },
        "figures_before": {
            "total_disbursed": 9_500, "total_transactions": 2, "average_disbursement": 9_500, "success_rate": 50.0,
        },
        "change": {
            "total_disbursed": 842.1, "total_transactions": 200.0, "average_disbursement": 214.0, "success_rate": 25.0,
        },
        "series": today["series"], "latest": today["latest"],
    });
    assert_eq!(today, expected);
    assert_eq!(report(&agent, "").await["period"], "week");
    assert_eq!(report(&agent, "").await["type"], "disbursements");
}

#[tokio::test]
async fn reports_equal_the_records_of_a_year_in_every_time_zone() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    demo::seed(&app.sandbox.database, NOON, 3, 0, 400, |_| ()).await.unwrap();
    for zone in [Value::Null, json!("America/New_York"), json!("Asia/Kathmandu")] {
        let set =
            json!({"language": "en", "time_zone": zone, "notify_by_email": false, "notify_by_sms": false});
        set_preferences(&agent, set).await;
        assert_reports_equal_records(&agent, &zone.to_string()).await;
    }
}

#[tokio::test]
async fn the_latest_activity_is_what_the_type_asks_for() {
    let (app, agent) = TestApp::start_for_with("agent", &LIVE).await;
    app.next_outcomes(&[Outcome::Refused(Refusal::InsufficientFunds), Outcome::Success]).await;
    let (failed, paid) =
        (app.approve_loan(21_000, "+254712000132").await, app.approve_loan(22_000, "+254712000133").await);
    agent.disburse(&failed).await;
    agent.disburse(&paid).await;
    let mut statuses: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for about in ["disbursements", "transactions", "performance"] {
        let report = report(&agent, &format!("?period=year&type={about}")).await;
        let latest = report["latest"].as_array().unwrap();
        assert!(latest.len() <= 10);
        statuses.insert(about, latest.iter().map(|record| record["status"].clone()).collect());
    }
    assert!(!statuses["disbursements"].is_empty() && !statuses["performance"].is_empty());
    assert!(statuses["disbursements"].iter().all(|status| status == "COMPLETED"));
    assert!(statuses["performance"].iter().all(|status| status == "FAILED"));
    assert_eq!(statuses["transactions"].len(), 10);
}

#[tokio::test]
async fn questions_that_make_no_sense_are_refused() {
    let (_, agent) = TestApp::start_for_with("agent", &LIVE).await;
    for query in ["?period=decade", "?type=", "?unit=minute", "?period=year&unit=hour", "?since=yesterday"] {
        let answer = agent.get(&format!("/api/v1/reports{query}")).await;
        assert_eq!(answer.failure().1, "bad_parameter", "{query}");
    }
}
