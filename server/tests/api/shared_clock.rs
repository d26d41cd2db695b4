use std::time::Duration;

use base::clock::{Clock, UnixMillis};
use serde_json::json;

use crate::{test_app::TestApp, test_store};

const HOUR_MS: i64 = 3_600_000;

async fn time_of(app: &TestApp) -> UnixMillis {
    let clock = app.read_console("/clock").await;
    clock["now"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn servers_whose_machines_disagree_by_two_hours_agree_on_the_time_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    // A file is on one machine, which has one clock.
    let url = test_store::url(folder.path()).unwrap();
    let fast = TestApp::start_at(&url, Clock::ahead_by(HOUR_MS)).await;
    let slow = TestApp::start_at(&url, Clock::ahead_by(-HOUR_MS)).await;
    let (first, second, third) = (time_of(&fast).await, time_of(&slow).await, time_of(&fast).await);
    let tolerance = Duration::from_mins(1);
    assert!(second.since(first) < tolerance && first.since(second) < tolerance, "{first} {second}");
    assert!(third.since(second) < tolerance && second.since(third) < tolerance, "{second} {third}");

    for (app, expected) in [(&fast, HOUR_MS), (&slow, -HOUR_MS)] {
        let ready = app.get("/readyz").await.json();
        let offset = ready["clock_offset_ms"].as_i64().unwrap();
        assert!((offset - expected).abs() < 60_000, "{ready}");
    }
    let right = TestApp::start_at(&url, Clock::ahead_by(500)).await;
    assert_eq!(right.get("/readyz").await.json(), json!({"status": "ok"}));

    // A session and a payout of one server are as old on the other.
    let agent = fast.sign_in("agent").await;
    let agent = slow.with(agent.token());
    let loan = agent.waiting_loan().await;
    let paid = agent.disburse(&loan).await.json();
    let paid_at: UnixMillis = paid["created_at"].as_str().unwrap().parse().unwrap();
    assert!(time_of(&fast).await.since(paid_at) < tolerance, "{paid}");
}
