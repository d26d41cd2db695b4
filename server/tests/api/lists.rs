//! The two lists are served from a cache. Whatever any process writes, the served list equals a
//! fresh read.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use axum::http::{HeaderMap, header};
use futures::future::join_all;
use http_body_util::BodyExt;
use lending::{
    lists::{List, PageQuery, Row},
    loans::PendingLoan,
    payouts::Record,
};
use mkopo::Sandbox;
use proptest::prelude::*;
use serde_json::Value;
use store::{Database, version::Version};

use crate::{
    parsing::cases,
    test_app::{NOON, TestApp, waiting},
};

const PENDING: &str = "/api/v1/disbursements/pending";
const RECORDS: &str = "/api/v1/disbursement-records";

/// The list as read without a cache.
async fn fresh<R: Row>(database: &Database) -> Value {
    let list = List::<R>::of(database.clone());
    let answer = list.answer("", Version::default(), &PageQuery::default(), &HeaderMap::new()).await.unwrap();
    serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

async fn fresh_list(sandbox: &Sandbox, path: &str) -> Value {
    match path {
        PENDING => fresh::<PendingLoan>(&sandbox.database).await,
        _ => fresh::<Record>(&sandbox.database).await,
    }
}

/// A step that may change a list.
#[derive(Clone, Debug)]
enum Step {
    Disburse {
        nth: usize,
    },
    Approve {
        at: i64,
        amount: i64,
    },
    Reject {
        nth: usize,
    },
    Delete {
        nth: usize,
    },
    RenameCustomer {
        nth: usize,
    },
    RenameStaff,
    MoveClock {
        seconds: u64,
    },
    /// Many writes, some in one commit.
    ManyWrites,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..40_usize).prop_map(|nth| Step::Disburse { nth }),
        4 => (0..2_000_000_000_i64, 10..400_000_i64).prop_map(|(back, amount)| Step::Approve {
            at: NOON.0 - back,
            amount,
        }),
        2 => (0..40_usize).prop_map(|nth| Step::Reject { nth }),
        2 => (0..40_usize).prop_map(|nth| Step::Delete { nth }),
        1 => (0..40_usize).prop_map(|nth| Step::RenameCustomer { nth }),
        1 => Just(Step::RenameStaff),
        1 => (1..1_000_000_u64).prop_map(|seconds| Step::MoveClock { seconds }),
        1 => Just(Step::ManyWrites),
    ]
}

async fn take(app: &TestApp, staff: &TestApp, step: Step) {
    static APPROVED: AtomicUsize = AtomicUsize::new(0);
    let write = async |sql: String| app.write(sql).await.unwrap();
    let pending = staff.pending().await;
    let loan = |nth: usize| (!pending.is_empty()).then(|| pending[nth % pending.len()].clone());
    let loan_id =
        |nth| loan(nth).map(|loan| loan["loan_id"].as_str().unwrap().to_owned()).unwrap_or_default();
    match step {
        Step::Disburse { nth } => {
            if let Some(loan) = loan(nth) {
                app.as_time_passes_by(Duration::from_secs(1), staff.disburse(&loan)).await;
            }
        }
        Step::Approve { at, amount } => {
            let id = format!("LN-NEW-{}", APPROVED.fetch_add(1, Ordering::Relaxed));
            let approve = format!(
                "INSERT INTO loan (loan_id, customer_id, amount, interest_rate_bp, status, remaining_balance,
                                   approved_at, created_at, updated_at)
                 SELECT '{id}', min(customer_id), {amount}, 1250, 'APPROVED', {amount}, {at}, {at}, {at}
                 FROM customer"
            );
            write(approve).await;
        }
        Step::Reject { nth } => {
            let id = loan_id(nth);
            write(format!("UPDATE loan SET status = 'REJECTED', updated_at = 2 WHERE loan_id = '{id}'"))
                .await;
        }
        Step::Delete { nth } => {
            let id = loan_id(nth);
            let unpaid = "NOT EXISTS (SELECT 1 FROM payout WHERE payout.loan_id = loan.loan_id)";
            write(format!("DELETE FROM loan WHERE loan_id = '{id}' AND {unpaid}")).await;
        }
        Step::RenameCustomer { nth } => {
            let of_loan = format!("SELECT customer_id FROM loan WHERE loan_id = '{}'", loan_id(nth));
            let longer = "UPDATE customer SET last_name = last_name || '11'";
            write(format!("{longer} WHERE customer_id = ({of_loan})")).await;
        }
        Step::RenameStaff => {
            let longer = "UPDATE staff SET last_name = last_name || '11'";
            write(format!("{longer} WHERE email = 'agent@mkopo.test'")).await;
        }
        Step::MoveClock { seconds } => app.clock.advance(Duration::from_secs(seconds)),
        Step::ManyWrites => {
            // Together, so that they share commits.
            join_all((0..60).map(|_| write("UPDATE loan SET notes = 'touched'".to_owned()))).await;
        }
    }
}

async fn assert_serves_what_is_there(app: &TestApp, token: &str, encoding: &str) {
    for path in [PENDING, RECORDS] {
        loop {
            let before = fresh_list(&app.sandbox, path).await;
            let served = app.with(token).get_with(path, &[("accept-encoding", encoding)]).await;
            assert_eq!(served.status, 200);
            if fresh_list(&app.sandbox, path).await != before {
                // A payout settled in the meantime.
                continue;
            }
            let served = served.json();
            let (served, there) = (served.as_array().unwrap(), before.as_array().unwrap());
            let differs = served.iter().zip(there).find(|(served, there)| served != there);
            assert_eq!(differs, None, "{path}");
            assert_eq!(served.len(), there.len(), "{path}");
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4), max_shrink_iters: 40, ..ProptestConfig::default() })]

    // S-88
    #[test]
    fn after_any_write_the_served_list_equals_a_fresh_read(
        steps in prop::collection::vec((any::<bool>(), step(), 0..4_usize), 1..16),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let here = TestApp::start_with(&["--session-minutes", "43200"]).await;
            let there = here.another_server(&[]).await;
            let mut token = here.sign_in("agent").await.token().to_owned();
            for (is_here, step, encoding) in steps {
                let app = if is_here { &here } else { &there };
                let moves_clock = matches!(step, Step::MoveClock { .. });
                take(app, &app.with(&token), step).await;
                if moves_clock {
                    // Several such steps may outlast a session.
                    token = here.sign_in("agent").await.token().to_owned();
                }
                for app in [&here, &there] {
                    assert_serves_what_is_there(app, &token, ["identity", "gzip", "br", "zstd"][encoding]).await;
                }
            }
        });
    }
}

#[tokio::test]
async fn a_payout_answered_in_one_process_is_in_the_next_answer_of_another() {
    let here = TestApp::start().await;
    let there = here.another_server(&[]).await;
    let token = here.sign_in("agent").await.token().to_owned();
    let pending = here.with(&token).pending().await;
    for loan in waiting(&pending).take(8) {
        assert_eq!(here.with(&token).disburse(loan).await.status, 200);
        let still = there.with(&token).pending().await;
        assert!(!still.iter().any(|other| other["loan_id"] == loan["loan_id"]));
    }
}

#[tokio::test]
async fn each_encoding_has_the_list_and_its_own_etag() {
    let (_, agent) = TestApp::start_for("agent").await;
    let plain = agent.get(PENDING).await;
    assert!(!plain.headers.contains_key(header::CONTENT_ENCODING));
    let mut etags = vec![plain.headers[header::ETAG].clone()];
    for encoding in ["gzip", "br", "zstd"] {
        let answer = agent.get_with(PENDING, &[("accept-encoding", encoding)]).await;
        assert_eq!(answer.headers[header::CONTENT_ENCODING], encoding);
        assert_eq!(answer.headers[header::VARY], "accept-encoding");
        assert!(answer.sent < plain.sent / 3, "{encoding}: {} of {} bytes", answer.sent, plain.sent);
        assert_eq!(answer.json(), plain.json());
        etags.push(answer.headers[header::ETAG].clone());
    }
    for (n, etag) in etags.iter().enumerate() {
        assert!(!etags[..n].contains(etag), "{etags:?}");
    }
}

#[tokio::test]
async fn a_list_is_not_sent_again_until_it_changes() {
    let (_, agent) = TestApp::start_for("agent").await;
    for path in [PENDING, RECORDS] {
        let etag = agent.get(path).await.headers[header::ETAG].to_str().unwrap().to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let answer = agent.get_with(path, &[("if-none-match", &known)]).await;
            assert_eq!(answer.status, 304, "{known}");
            assert_eq!(answer.headers[header::ETAG], etag);
        }
        let compressed = agent.get_with(path, &[("if-none-match", &etag), ("accept-encoding", "gzip")]).await;
        assert_eq!(compressed.status, 200, "another representation");

        let loan =
            agent.pending().await.into_iter().find(|loan| loan["disbursement_status"] == "NOT_STARTED");
        agent.disburse(&loan.unwrap()).await;
        assert_eq!(agent.get_with(path, &[("if-none-match", &etag)]).await.status, 200);
    }
}

#[tokio::test]
async fn a_list_can_be_read_in_pages() {
    let (_, agent) = TestApp::start_for("agent").await;
    for (path, limit, pages) in [(PENDING, 7, 4), (RECORDS, 20, 3)] {
        let whole = agent.get(path).await.json();
        let mut rows = Vec::new();
        let mut next = Some(format!("{path}?limit={limit}"));
        let mut turned = 0;
        while let Some(page) = next {
            let answer = agent.get(&page).await;
            assert_eq!(answer.status, 200);
            rows.extend(answer.json().as_array().unwrap().clone());
            turned += 1;
            next = answer.headers.get(header::LINK).map(|link| {
                let (address, relation) = link.to_str().unwrap().split_once("; ").unwrap();
                assert_eq!(relation, "rel=\"next\"");
                address.trim_matches(['<', '>']).to_owned()
            });
        }
        assert_eq!(turned, pages);
        assert_eq!(Value::from(rows), whole);
    }
}

// S-10
#[tokio::test]
async fn an_invalid_page_is_refused() {
    let (_, agent) = TestApp::start_for("agent").await;
    for query in [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=ten",
        "limit=",
        "limit=99999999999999999999",
        "limit=1&limit=2",
        "limit=5&cursor=",
        "limit=5&cursor=x",
        "limit=5&cursor=%00",
        "limit=5&cursor=%ff%fe",
        "cursor=MSBh",
    ] {
        assert_eq!(agent.get(&format!("{PENDING}?{query}")).await.kind(), "400 bad_parameter", "{query}");
    }
}

#[tokio::test]
async fn an_empty_list_is_an_empty_array() {
    let app = TestApp::start().await;
    app.write("UPDATE loan SET status = 'REJECTED' WHERE status = 'APPROVED'").await.unwrap();
    assert_eq!(app.sign_in("agent").await.get(PENDING).await.bytes, b"[]");
}
