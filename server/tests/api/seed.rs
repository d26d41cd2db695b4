use lending::demo;
use store::Database;

use crate::test_app::{NOON, TestApp, waiting};

#[tokio::test]
async fn seeding_adds_loans_and_records_while_the_service_runs() {
    let (app, agent) = TestApp::start_for("agent").await;
    let (loans, records) = (agent.pending().await.len(), agent.records().await.len());
    let mut progress = 0;
    for seed in [1, 1, 2] {
        demo::seed(&app.sandbox.database, NOON, seed, 700, 600, |added| progress += added).await.unwrap();
    }
    assert_eq!(progress, 3 * 1300);
    let pending = agent.pending().await;
    assert_eq!(pending.len(), loans + 3 * 700);
    assert_eq!(agent.records().await.len(), records + 3 * 600);
    app.assert_every_shilling_is_accounted_for().await;
    let last = waiting(&pending).last().unwrap();
    assert_eq!(app.as_time_passes(agent.disburse(last)).await.status, 200);
}

#[tokio::test]
async fn seeding_needs_an_active_account() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open_in(folder.path()).await.unwrap();
    let error = demo::seed(&database, NOON, 1, 1, 1, |_| ()).await.unwrap_err().to_string();
    assert!(error.contains("mkopo user add"), "{error}");
}
