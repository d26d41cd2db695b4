//! Administrators change the maximum of a payout while loans are claimed: none is above the maximum that was in force
//! when it was claimed.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{
    crash::{self, Answers, LOANS, Lost, amount_of, fill, prepare, settings_of},
    number,
    server::{Answer, Server, sign_in, sign_in_as},
    servers::{
        self, Ended, SERVERS, WAITING_FOR_A_ROW, WITHOUT_LOCK, pay_once, unless_busy, wait_until,
        wait_until_settled,
    },
    test_store,
};

const CALLERS: usize = 9;

/// Calls are for every so many-th loan, so that high and low amounts take turns.
const STEP: usize = 1009;

/// A server whose screens are live, as only there is a maximum.
fn start(options: &[String]) -> Server {
    Server::start_on(&[options, &["--screens".to_owned(), "live".to_owned()]].concat())
}

fn set_maximum(server: &Server, admin: &str, maximum: Option<i64>) -> Answer {
    let new = json!({
        "preferences":
            {"language": "en", "time_zone": null, "notify_by_email": false, "notify_by_sms": false},
        "rules": {
            "session_minutes": 480, "maximum_amount": maximum, "confirmation_required": true,
            "auto_retry": false, "retry_attempts": 3,
        },
    });
    servers::call(&server.address, "PUT", "/api/v1/settings", admin, Some(&new))
}

/// A maximum, in force at the earliest when it was sent and at the latest when the next one was answered.
struct Maximum {
    amount: Option<i64>,
    sent: Instant,
    answered: Instant,
}

/// An answered call to pay a loan out.
struct Call {
    loan: usize,
    sent: Instant,
    answered: Instant,
    answer: Answer,
}

/// Changes the maximum so many times, to one of the amounts of the first `loans`.
fn change_repeatedly(servers: &[Server], admin: &str, changes: usize, loans: usize) -> Vec<Maximum> {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let began = Instant::now();
    let mut maxima = vec![Maximum { amount: None, sent: began, answered: began }];
    for change in 0..changes {
        let amount = rng.random_bool(0.9).then(|| amount_of(rng.random_range(1..loans)));
        let sent = Instant::now();
        let answer = unless_busy(|| set_maximum(&servers[change % servers.len()], admin, amount));
        assert_eq!(answer.status, 200, "{}", answer.body);
        maxima.push(Maximum { amount, sent, answered: Instant::now() });
        thread::sleep(Duration::from_millis(rng.random_range(0..60)));
    }
    maxima
}

/// Sends one call for each of the `loans`, one after the other, until `is_over`.
fn pay_on(server: &Server, token: &str, loans: usize, next: &AtomicUsize, is_over: &AtomicBool) -> Vec<Call> {
    let mut calls = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        assert!(number < loans, "there are too few loans");
        let loan = 1 + number * STEP % loans;
        let sent = Instant::now();
        let answer = pay_once(server, token, loan);
        if answer.status != 503 {
            calls.push(Call { loan, sent, answered: Instant::now(), answer });
        }
    }
    calls
}

/// Checks that the answer follows from one of the maxima that were in force during the call. Returns whether it paid.
fn check(call: &Call, maxima: &[Maximum]) -> bool {
    let amount = amount_of(call.loan);
    let is_in_force = |number: &usize| {
        let ended = maxima.get(number + 1).is_none_or(|next| next.answered >= call.sent);
        ended && maxima[*number].sent <= call.answered
    };
    let in_force: Vec<Option<i64>> =
        (0..maxima.len()).filter(is_in_force).map(|number| maxima[number].amount).collect();
    let Answer { status, body, .. } = &call.answer;
    match (status, body["code"].as_str()) {
        (200 | 202, _) => {
            let allows = |maximum: &Option<i64>| maximum.is_none_or(|maximum| amount <= maximum);
            assert!(in_force.iter().any(allows), "KES {amount} was paid, with maxima of {in_force:?}");
            true
        }
        (422, Some("amount_above_maximum")) => {
            let said = body["error"].as_str().unwrap();
            let refuses = |maximum: &i64| amount > *maximum && said.contains(&format!("KES {maximum}."));
            assert!(
                in_force.iter().flatten().any(refuses),
                "KES {amount} was refused, with maxima of {in_force:?}: {said}"
            );
            false
        }
        _ => panic!("{status} {body}"),
    }
}

fn change_while_paying(changes: usize) {
    let loans = LOANS.max(60 * changes);
    let folder = prepare(loans);
    let options = test_store::options(folder.path());
    let count = if test_store::is_postgres() { SERVERS } else { 1 };
    let servers: Vec<Server> = (0..count).map(|_| start(&options)).collect();
    let (token, admin) =
        (sign_in(&servers[0].address), sign_in_as("admin@mkopo.test", &servers[0].address).unwrap());
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let began = Instant::now();
    let (maxima, calls) = thread::scope(|scope| {
        let paying: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (server, token, next, is_over) = (&servers[caller % count], &token, &next, &is_over);
                scope.spawn(move || pay_on(server, token, loans, next, is_over))
            })
            .collect();
        let ended = Ended(&is_over);
        let maxima = change_repeatedly(&servers, &admin, changes, loans);
        drop(ended);
        let calls: Vec<Call> = paying.into_iter().flat_map(|caller| caller.join().unwrap()).collect();
        (maxima, calls)
    });
    let (paid, refused): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|call| check(call, &maxima));
    println!(
        "{changes} maxima in {} s: {} asked, {} paid, {} refused",
        began.elapsed().as_secs(),
        calls.len(),
        paid.len(),
        refused.len()
    );
    assert!(paid.len() > changes / 4 && refused.len() > changes / 4, "too few were paid or refused");

    // Without a maximum, each loan that was refused is paid.
    assert_eq!(unless_busy(|| set_maximum(&servers[0], &admin, None)).status, 200);
    for call in refused.iter().take(50) {
        let answer = unless_busy(|| pay_once(&servers[0], &token, call.loan));
        assert!(matches!(answer.status, 200 | 202), "{} {}", answer.status, answer.body);
    }
    wait_until_settled(&servers[0]);
    drop(servers);
    let receipts = paid
        .iter()
        .filter(|call| call.answer.status == 200)
        .map(|call| (call.loan, call.answer.body["mpesa_ref"].as_str().unwrap().to_owned()));
    let answers = Answers::of(receipts.collect());
    crash::check(settings_of(folder.path()), &answers, Lost::Nothing);
}

#[test]
fn no_payout_is_above_the_maximum_that_was_in_force_when_it_was_claimed() {
    change_while_paying(60);
}

#[test]
#[ignore = "takes minutes"]
fn no_payout_is_above_the_maximum_that_was_in_force_when_it_was_claimed_at_length() {
    change_while_paying(number("MKOPO_TEST_ROUNDS").unwrap_or(1000).try_into().unwrap());
}

/// The connections that can't go on because of what another one has locked.
const WAITING: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// The number of payouts of `LN-X7`.
async fn payouts(connection: &mut PgConnection) -> i64 {
    let count = "SELECT count(*) FROM payout WHERE loan_id = 'LN-X7'";
    sqlx::query_scalar(count).fetch_one(connection).await.unwrap()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn once_a_lower_maximum_is_answered_no_claim_from_before_is_still_being_written_on_postgresql() {
    let cluster = servers::Cluster::start();
    fill(cluster.settings(), LOANS);
    let server = start(&cluster.options());
    let (token, admin) = (sign_in(&server.address), sign_in_as("admin@mkopo.test", &server.address).unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let other = || runtime.block_on(PgConnection::connect(&cluster.url)).unwrap();
    let (mut writer, mut observer, mut reader) = (other(), other(), other());
    let mut write = |statement: &'static str| {
        runtime.block_on(sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut writer)).unwrap();
    };
    // The claim has read the maximum, and waits for somebody who has entered a payout of the same loan.
    write("BEGIN");
    write(WITHOUT_LOCK);
    let (paid, maximum, there) = thread::scope(|scope| {
        let paying = scope.spawn(|| pay_once(&server, &token, 7));
        wait_until("the claim waits", Duration::from_secs(30), || {
            let waiting = sqlx::query_scalar::<_, i64>(WAITING_FOR_A_ROW).fetch_one(&mut observer);
            runtime.block_on(waiting).unwrap() == 1
        });
        let setting = scope.spawn(|| {
            let answer = set_maximum(&server, &admin, Some(amount_of(7) - 1));
            (answer, runtime.block_on(payouts(&mut reader)))
        });
        wait_until("the change waits for the claim, or is answered", Duration::from_secs(30), || {
            let waiting = sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut observer);
            setting.is_finished() || runtime.block_on(waiting).unwrap() >= 2
        });
        write("ROLLBACK");
        let (maximum, there) = setting.join().unwrap();
        (paying.join().unwrap(), maximum, there)
    });
    assert_eq!(maximum.status, 200, "{}", maximum.body);
    match paid.status {
        200 => assert_eq!(there, 1, "it was claimed after the lower maximum was answered"),
        // On a machine that is very busy, its time to wait for the row runs out first.
        503 => assert_eq!(paid.body["code"], "busy"),
        _ => assert_eq!(paid.body["code"], Value::from("amount_above_maximum"), "{}", paid.body),
    }
}
