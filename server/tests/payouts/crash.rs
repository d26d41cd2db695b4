//! Kills the real server at random times while clients pay loans out over the network, and restarts
//! it on the same data.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use base::{clock::Clock, kes::Kes, randomness::Randomness};
use lending::{events::Trail, mobile_money::ScenarioChange, payouts};
use mkopo::Sandbox;
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use settings::{DatabaseSettings, Settings};
use store::{Connection, query};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    number,
    server::{Answer, Server, sign_in_as, try_call},
    servers::{get, wait_until},
    test_app::{disbursement_of, settings},
    test_store,
};

const CALLERS: usize = 8;

/// The number of loans to pay.
pub const LOANS: usize = 6000;

/// The largest number of loans that [`fill`] adds in one transaction.
const BATCH: usize = 1000;

/// Copies of an untried demo loan, each with its own customer. No amount is magic.
const MORE_CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < $2)
    INSERT INTO customer
        (customer_id, first_name, last_name, phone_number, id_number, nickname, gender, status, account_id,
         account_number, account_status, credit_score, risk_level)
    SELECT 'CUS-X' || n, first_name, last_name, '+2547' || (20000000 + n), id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

const MORE_LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM number WHERE n < $2)
    INSERT INTO loan
        (loan_id, customer_id, amount, interest_rate_bp, term_months, purpose, status, remaining_balance, notes,
         approver_id, approver_name, approver_email, approved_at, disbursed_at, created_at, updated_at)
    SELECT 'LN-X' || n, 'CUS-X' || n, 1000 + n % 80000, interest_rate_bp, term_months, purpose, 'APPROVED',
           1000 + n % 80000, notes, approver_id, approver_name, approver_email, approved_at, NULL, created_at,
           updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

pub fn settings_of(folder: &Path) -> Settings {
    settings(folder.to_str().unwrap(), &[])
}

/// The options that make a server store its data in `folder`.
fn file_in(folder: &Path) -> [String; 2] {
    ["--data-dir".to_owned(), folder.to_str().unwrap().to_owned()]
}

async fn sandbox(settings: Settings, clock: Clock) -> Sandbox {
    Sandbox::open(settings, clock, Randomness::from_os()).await.unwrap()
}

/// A data folder filled by [`fill`].
pub fn prepare(loans: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fill(settings_of(folder.path()), loans);
    folder
}

/// Adds `loans` to pay, and gives mobile money a short latency.
pub fn fill(settings: Settings, loans: usize) {
    Runtime::new().unwrap().block_on(async {
        let sandbox = sandbox(settings, Clock::system()).await;
        for before in (0..loans).step_by(BATCH) {
            let first = i64::try_from(before + 1).unwrap();
            let last = i64::try_from(loans.min(before + BATCH)).unwrap();
            let add = sandbox.database.write(async move |connection: &mut Connection| {
                query(MORE_CUSTOMERS).bind(first).bind(last).execute(&mut *connection).await?;
                Ok(query(MORE_LOANS).bind(first).bind(last).run(connection).await?)
            });
            add.await.unwrap();
        }
        let change = ScenarioChange {
            latency_ms: Some(10),
            float: Some(Kes(100_000_000_000)),
            ..ScenarioChange::default()
        };
        sandbox.mobile_money.change_scenario(change, &Trail::default()).await.unwrap();
        sandbox.close(Duration::from_secs(5)).await;
    });
}

/// The answers that clients have received, across all restarts of the server.
#[derive(Clone, Default)]
pub struct Answers {
    /// The agent's token.
    token: Option<String>,
    next_loan: usize,
    /// Loans whose call was not answered: to be repeated with the same key.
    open: Vec<usize>,
    /// Receipts of loans that were answered as paid.
    pub paid: HashMap<usize, String>,
    /// The number of calls answered as failed: their request never reached mobile money.
    pub failed: usize,
    /// The number of calls refused because the database could not be written.
    pub refused: usize,
    /// The number of calls that were sent.
    pub asked: usize,
}

impl Answers {
    /// Answers that paid those loans, with their receipts.
    pub fn of(paid: HashMap<usize, String>) -> Self {
        Self { paid, ..Self::default() }
    }
}

/// The amount of the loan of [`fill`] with that number, in KES.
pub fn amount_of(loan: usize) -> i64 {
    1000 + i64::try_from(loan % 80_000).unwrap()
}

/// Pays the loan of [`fill`] with that number out, with those headers.
pub fn pay(address: &str, loan: usize, headers: &[(&str, &str)]) -> Option<Answer> {
    let asked = json!({"total_loan_amount": amount_of(loan), "customer_phone_number": format!("+2547{}", 20_000_000 + loan)});
    let path = format!("/api/v1/disbursements/LN-X{loan}/disburse");
    try_call(address, "POST", &path, headers, Some(&disbursement_of(&asked)))
}

/// The agent's token; `None` if the server is gone. One caller signs in for all: the number of sign-ins is limited.
fn token(address: &str, answers: &Mutex<Answers>) -> Option<String> {
    let mut answers = answers.lock().unwrap();
    if answers.token.is_none() {
        answers.token = sign_in_as("agent@mkopo.test", address);
    }
    answers.token.clone()
}

/// Pays loans until `is_over` or until the server is gone, starting with unanswered calls.
pub fn keep_paying(address: &str, answers: &Mutex<Answers>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let loan = {
            let mut answers = answers.lock().unwrap();
            answers.open.pop().unwrap_or_else(|| {
                answers.next_loan += 1;
                answers.next_loan
            })
        };
        let Some(token) = token(address, answers) else {
            answers.lock().unwrap().open.push(loan);
            return;
        };
        let (bearer, key) = (format!("Bearer {token}"), format!("key-{loan}"));
        // A repeat without a key is told of the record.
        let with_key = [("authorization", bearer.as_str()), ("idempotency-key", key.as_str())];
        answers.lock().unwrap().asked += 1;
        let answer = pay(address, loan, if loan % 2 == 0 { &with_key } else { &with_key[..1] });
        let mut answers = answers.lock().unwrap();
        match answer.map(|answer| (answer.status, answer.body)) {
            Some((200, body)) => {
                let receipt = body["mpesa_ref"].as_str().unwrap().to_owned();
                let first = answers.paid.entry(loan).or_insert_with(|| receipt.clone());
                assert_eq!(*first, receipt);
            }
            // Accepted, or the first call counts as running: the record shows the result.
            Some((202 | 409, _)) => {}
            // Its server died, or had another time than the one that voided its request.
            Some((422, body)) => {
                assert_eq!(body["record"]["status"], "FAILED", "{body}");
                assert_eq!(body["result_code"], Value::Null, "{body}");
                answers.failed += 1;
            }
            Some((503, _)) => {
                answers.refused += 1;
                answers.open.push(loan);
                return;
            }
            Some((status, body)) => panic!("{status} {body}"),
            None => {
                answers.open.push(loan);
                return;
            }
        }
    }
}

/// Like [`keep_paying`], and begins again after a `pause` when the server or the database was gone.
pub fn pay_on(address: &str, answers: &Mutex<Answers>, is_over: &AtomicBool, pause: Duration) {
    while !is_over.load(Ordering::Relaxed) {
        keep_paying(address, answers, is_over);
        thread::sleep(pause);
    }
}

/// Pays loans until `wait` returns, and kills the server then.
fn pay_until_killed(server: Server, answers: &Mutex<Answers>, wait: impl FnOnce()) {
    let address = server.address.clone();
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| keep_paying(&address, answers, &AtomicBool::new(false)));
        }
        wait();
        drop(server);
    });
}

/// Pays until each caller has been refused, for a minute at most.
fn pay_until_refused(server: &Server, answers: &Mutex<Answers>) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers: Vec<_> =
            (0..CALLERS).map(|_| scope.spawn(|| keep_paying(&server.address, answers, &is_over))).collect();
        let until = Instant::now() + Duration::from_mins(1);
        while callers.iter().any(|caller| !caller.is_finished()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// The commits that the data may have lost.
#[derive(Clone, Copy, PartialEq)]
pub enum Lost {
    Nothing,
    /// The last commits before a failover.
    TheLast,
}

/// Restarts on the data, advances the clock, and compares both books with the received answers.
pub fn check(settings: Settings, answers: &Answers, lost: Lost) {
    Runtime::new().unwrap().block_on(async {
        let clock = Clock::system();
        clock.advance(Duration::from_mins(10));
        let sandbox = sandbox(settings, clock).await;
        payouts::reconcile(&sandbox.payouts).await.unwrap();
        let mut reader = sandbox.database.read().await.unwrap();
        let audit = payouts::invariant(&mut reader).await.unwrap();
        assert!(audit.ok, "{audit:?}");
        assert_eq!(audit.pending, 2, "all except the demo's two have settled");
        let receipts: HashMap<String, String> = store::query_as::<(String, String)>(
            "SELECT loan_id, receipt FROM payout WHERE receipt IS NOT NULL",
        )
        .fetch_all(&mut reader)
        .await
        .unwrap()
        .into_iter()
        .collect();
        let is_there =
            |(loan, receipt): &(&usize, &String)| receipts.get(&format!("LN-X{loan}")) == Some(*receipt);
        let gone: Vec<_> = answers.paid.iter().filter(|paid| !is_there(paid)).collect();
        assert!(gone.is_empty() || lost == Lost::TheLast, "payouts are lost: {gone:?}");
        let texts: Vec<(String, i64)> = store::query_as(
            "SELECT recipient, count(*) FROM outbox_message GROUP BY recipient HAVING count(*) > 1",
        )
        .fetch_all(&mut reader)
        .await
        .unwrap();
        assert_eq!(texts, [], "two messages to one customer");
        println!("0 loans paid twice, {} of {} receipts lost", gone.len(), answers.paid.len());
        drop(reader);
        sandbox.close(Duration::from_secs(5)).await;
    });
}

fn kill_repeatedly(rounds: u32) {
    // A round asks for some 120 on a quick machine.
    let folder = prepare(LOANS.max(250 * usize::try_from(rounds).unwrap()));
    let answers = Mutex::new(Answers::default());
    // PostgreSQL needs more time, because each commit is a network round trip.
    let mut longest = if test_store::is_postgres() { 750 } else { 250 };
    for round in 0..rounds {
        let mut rng = ChaCha12Rng::seed_from_u64(u64::from(round));
        let after = Duration::from_millis(rng.random_range(5..longest));
        let before = answers.lock().unwrap().paid.len();
        let server = Server::start_on(&test_store::options(folder.path()));
        pay_until_killed(server, &answers, || thread::sleep(after));
        // On a busy machine, too, servers are killed while they pay.
        if answers.lock().unwrap().paid.len() == before {
            longest = (longest * 2).min(8000);
        }
    }
    let answers = answers.into_inner().unwrap();
    assert!(answers.paid.len() > usize::try_from(rounds).unwrap(), "{} paid only", answers.paid.len());
    println!(
        "{rounds} kills: {} asked, {} paid and answered, {} left open by the last",
        answers.asked,
        answers.paid.len(),
        answers.open.len()
    );
    check(settings_of(folder.path()), &answers, Lost::Nothing);
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_pays_nothing_twice() {
    kill_repeatedly(8);
}

#[test]
#[ignore = "takes a minute"]
fn a_server_that_is_killed_repeatedly_loses_nothing_and_pays_nothing_twice() {
    kill_repeatedly(number("MKOPO_TEST_ROUNDS").unwrap_or(60));
}

/// The settings with the data in `folder`, whatever the other tests run on: PostgreSQL does not use the server's disk.
fn on_file(folder: &Path) -> Settings {
    let mut settings = settings_of(folder);
    settings.store.database = DatabaseSettings::default();
    settings
}

/// A server that has paid loans until its disk was full, with its data and the answers.
fn with_full_disk() -> (TempDir, Server, Mutex<Answers>) {
    let folder = tempfile::tempdir().unwrap();
    fill(on_file(folder.path()), LOANS);
    let answers = Mutex::new(Answers::default());
    // Limits the size of the write-ahead log.
    let server = Server::start_with_disk_of(600_000, &file_in(folder.path()));
    pay_until_refused(&server, &answers);
    {
        let answers = answers.lock().unwrap();
        assert!(answers.refused > 0, "the disk did not fail; {} were paid", answers.paid.len());
        assert!(!answers.paid.is_empty(), "it failed from the start");
    }
    (folder, server, answers)
}

#[test]
fn a_disk_that_fails_loses_nothing_that_was_answered_and_pays_nothing_twice() {
    if test_store::is_postgres() {
        return;
    }
    let (folder, server, answers) = with_full_disk();
    drop(server);
    let paid_before = answers.lock().unwrap().paid.len();
    pay_until_killed(Server::start_on(&file_in(folder.path())), &answers, || {
        wait_until("with room again, it pays again", Duration::from_secs(30), || {
            answers.lock().unwrap().paid.len() > paid_before
        });
    });
    check(on_file(folder.path()), &answers.into_inner().unwrap(), Lost::Nothing);
}

/// So that a balancer sends payouts elsewhere.
#[test]
fn a_server_whose_disk_is_full_is_not_ready_until_there_is_room() {
    if test_store::is_postgres() {
        return;
    }
    let (folder, server, answers) = with_full_disk();
    let is_ready = || get(&server, "/readyz", "").status == 200;
    assert!(!is_ready());
    server.give_disk_room();
    wait_until("ready", Duration::from_secs(30), is_ready);
    pay_until_killed(server, &answers, || thread::sleep(Duration::from_millis(500)));
    check(on_file(folder.path()), &answers.into_inner().unwrap(), Lost::Nothing);
}
