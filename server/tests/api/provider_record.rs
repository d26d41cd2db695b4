//! `mkopo provider record`, and `mkopo seed --from`.

use base::kes::Kes;
use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use axum::http::Method;
use lending::{demo::Recording, payouts::PayoutStatus};
use provider::record::record;
use serde_json::{Value, json};

use crate::{
    command_line::{mkopo, printed},
    provider_check::{caller_of, credentials},
    provider_stub::OwnProvider,
    test_app::TestApp,
    test_store,
};

/// Records a provider with demo data.
async fn recorded(provider: &OwnProvider, is_jittered: bool) -> Recording {
    record(&caller_of(&provider.url), credentials(), &[7; 32], is_jittered).await.unwrap()
}

/// The values of the fields that tell who somebody is, in both lists.
async fn identities(app: &TestApp) -> HashSet<String> {
    const PLAIN: [&str; 10] = [
        "customer_gender",
        "customer_status",
        "account_status",
        "risk_level",
        "loan_status",
        "disbursement_status",
        "status",
        "purpose",
        "notes",
        "error_message",
    ];
    let staff = app.sign_in("agent").await;
    let mut found = HashSet::new();
    for row in staff.pending().await.into_iter().chain(staff.records().await) {
        for (name, value) in row.as_object().unwrap() {
            let is_time = name.ends_with("_at");
            if let Some(text) = value.as_str().filter(|_| !PLAIN.contains(&name.as_str()) && !is_time) {
                found.insert(text.to_owned());
                found.extend(text.split_whitespace().map(str::to_owned));
            }
        }
    }
    found
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            found.push(text.clone());
            found.extend(text.split_whitespace().map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn no_original_is_in_a_recording() {
    let provider = OwnProvider::start().await;
    let originals = identities(&provider.app).await;
    assert!(originals.len() > 300, "{}", originals.len());
    let recording = serde_json::to_value(recorded(&provider, false).await).unwrap();
    let mut found = Vec::new();
    texts(&recording["pending_loans"], &mut found);
    let mut records = recording["disbursement_records"].clone();
    for record in records.as_array_mut().unwrap() {
        // The one text that is ours.
        record.as_object_mut().unwrap().remove("error_message");
    }
    texts(&records, &mut found);
    let left: Vec<_> = found.iter().filter(|text| originals.contains(*text)).collect();
    assert!(left.is_empty(), "{left:?}");
    let text = recording.to_string();
    for original in originals.iter().filter(|original| original.len() >= 8) {
        assert!(!text.contains(original.as_str()), "{original}");
    }
}

#[tokio::test]
async fn a_recording_is_the_same_world_with_other_people() {
    let provider = OwnProvider::start().await;
    let recording = recorded(&provider, false).await;
    let staff = provider.app.sign_in("agent").await;
    let (pending, records) = (staff.pending().await, staff.records().await);
    assert_eq!(recording.pending_loans.len(), pending.len());
    let amount: i64 = pending.iter().map(|loan| loan["total_loan_amount"].as_i64().unwrap()).sum();
    let recorded_amount: Kes = recording.pending_loans.iter().map(|loan| loan.total_loan_amount).sum();
    assert_eq!(recorded_amount, Kes(amount));
    let jittered = recorded(&provider, true).await;
    let mut pairs = jittered.pending_loans.iter().zip(&recording.pending_loans);
    assert!(pairs.clone().any(|(a, b)| a.total_loan_amount != b.total_loan_amount));
    assert!(pairs.any(|(a, b)| a.approved_at != b.approved_at));

    // Into a service of its own, by the command.
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seed.json");
    std::fs::write(&file, serde_json::to_string(&recording).unwrap()).unwrap();
    let before = waiting_and_paid(&app).await;
    let seed = |file: std::path::PathBuf, data_dir: std::path::PathBuf| {
        let mut command = mkopo();
        command.arg("seed").arg("--from").arg(file).args(test_store::options(&data_dir));
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    printed(seed(file.clone(), app.data_dir().to_owned()).await.unwrap());
    let after = waiting_and_paid(&app).await;
    assert_eq!((after.0 - before.0, after.1 - before.1), (pending.len(), records.len()));
    let pending = records.iter().filter(|record| record["status"] == "PENDING").count();
    let failed = records.iter().filter(|record| record["status"] == "FAILED").count();
    assert!(pending > 0);
    app.later(Duration::from_mins(1)).await;
    let now_failed = app.count("SELECT count(*) FROM payout WHERE status = 'FAILED'").await;
    assert_eq!(now_failed, i64::try_from(failed).unwrap(), "those that are pending are not voided");
    app.assert_every_shilling_is_accounted_for().await;

    let again = seed(file, app.data_dir().to_owned()).await.unwrap();
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("is this recording in the database already?"));
}

#[tokio::test]
async fn a_recorded_payout_to_a_number_that_is_none_settles_without_a_message() {
    let provider = OwnProvider::start().await;
    let mut recording = recorded(&provider, false).await;
    let mut open = 0;
    for record in &mut recording.disbursement_records {
        if record.status == PayoutStatus::Pending {
            (record.phone, open) = ("unknown".to_owned(), open + 1);
        }
    }
    assert!(open > 0);
    let app = TestApp::start_with(&["--demo", "false"]).await;
    recording.add(&app.sandbox.database, "nobody knows it", app.clock.now()).await.unwrap();
    app.later(Duration::from_hours(25)).await;
    assert_eq!(app.count("SELECT count(*) FROM payout WHERE status = 'PENDING'").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM outbox_message").await, 0);
    app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn a_sandbox_starts_with_a_recording() {
    let provider = OwnProvider::start().await;
    let recording = serde_json::to_value(recorded(&provider, false).await).unwrap();
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"recording": recording})).await;
    let agent = one.sign_in("agent").await;
    let ids = |loans: &[Value]| {
        let ids = loans.iter().map(|loan| loan["loan_id"].as_str().unwrap().to_owned());
        ids.collect::<BTreeSet<_>>()
    };
    let loans = agent.pending().await;
    assert_eq!(ids(&loans), ids(recording["pending_loans"].as_array().unwrap()));
    let of = |loans: &[Value], id: &Value| loans.iter().find(|loan| loan["loan_id"] == *id).unwrap().clone();
    for recorded in recording["pending_loans"].as_array().unwrap() {
        let mut recorded = recorded.clone();
        let mut loan = of(&loans, &recorded["loan_id"]);
        for loan in [&mut recorded, &mut loan] {
            // It is that of the recorded payouts.
            loan.as_object_mut().unwrap().remove("disbursement_status");
        }
        assert_eq!(loan, recorded);
    }
    let invariant = one.read_console("/invariant").await;
    assert_eq!(invariant["ok"], true, "{invariant}");
    let waiting = loans.iter().find(|loan| loan["disbursement_status"] == "NOT_STARTED").unwrap();
    assert_eq!(agent.disburse(waiting).await.status, 200);
    // Nobody knows the passwords of the recorded staff.
    let staff = agent.records().await.pop().unwrap()["user_email"].take();
    let credentials = json!({"email": staff, "password": "a guess"});
    assert_eq!(one.post("/api/v1/auth/login", credentials).await.kind(), "400 invalid_password");
}

#[tokio::test]
async fn a_recording_that_cannot_be_leaves_no_sandbox_behind() {
    let provider = OwnProvider::start().await;
    let recording = serde_json::to_value(recorded(&provider, false).await).unwrap();
    let app = TestApp::start().await;
    let changed = |change: fn(&mut Value)| {
        let mut recording = recording.clone();
        change(&mut recording);
        recording
    };
    let wrong = [
        changed(|recording| recording["pending_loans"] = json!([1])),
        changed(|recording| recording["pending_loans"][0]["loan_status"] = json!("LOST")),
        changed(|recording| recording["pending_loans"][0]["approved_at"] = json!("yesterday")),
        changed(|recording| recording["pending_loans"][0]["total_loan_amount"] = json!(-5)),
        changed(|recording| recording["pending_loans"][1] = recording["pending_loans"][0].clone()),
        changed(|recording| {
            let records = recording["disbursement_records"].as_array_mut().unwrap();
            let again = records[0].clone();
            records.push(again);
        }),
        changed(|recording| _ = recording.as_object_mut().unwrap().remove("pending_loans")),
    ];
    for recording in wrong {
        let wish = json!({"name": "wrong", "recording": recording});
        assert_eq!(app.console(Method::POST, "/sandboxes", wish).await.kind(), "422 invalid_request");
    }
    let filler = "x".repeat(17 * 1024 * 1024);
    assert_eq!(app.console(Method::POST, "/sandboxes", json!({"name": filler})).await.status, 413);
    let listed = app.read_console("/sandboxes").await;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    app.make_sandbox(json!({"name": "wrong", "recording": recording})).await;
}

/// The number of loans that wait, and the number of payouts.
async fn waiting_and_paid(app: &TestApp) -> (usize, usize) {
    let loans = app.count("SELECT count(*) FROM loan WHERE status = 'APPROVED'").await;
    let payouts = app.count("SELECT count(*) FROM payout").await;
    (usize::try_from(loans).unwrap(), usize::try_from(payouts).unwrap())
}
