//! Kills the real server at random times while clients pay loans out over the network, and restarts
//! it on the same data.

use std::{
    collections::HashMap,
    fmt::{self, Display, Formatter},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use base::{clock::Clock, kes::Kes, randomness::Randomness};
use lending::{events::Trail, mobile_money::ScenarioChange, payouts};
use mkopo::Sandbox;
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use settings::Settings;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    more_loans, number,
    server::{Answer, Server, sign_in_as, try_call},
    servers::{PAUSE, addresses, beside, get, wait_until, wait_until_ready},
    test_app::{disbursement_of, settings},
    test_store,
};

const CALLERS: usize = 8;

/// The number of loans to pay.
pub const LOANS: usize = 6000;

pub fn settings_of(folder: &Path) -> Settings {
    settings(folder.to_str().unwrap(), &[])
}

pub async fn sandbox(settings: Settings, clock: Clock) -> Sandbox {
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
        more_loans::add(loans, &sandbox.database).await;
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
    failed: usize,
    /// The number of calls refused because the database could not be written.
    pub refused: usize,
    /// The number of calls that were sent.
    asked: usize,
}

impl Display for Answers {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { asked, paid, failed, refused, .. } = self;
        write!(
            formatter,
            "{asked} asked, {} paid and answered, {failed} failed, {refused} refused",
            paid.len()
        )
    }
}

/// Pays the loan of [`fill`] with that number out, with those headers.
pub fn pay(address: &str, loan: usize, headers: &[(&str, &str)]) -> Result<Answer, ureq::Error> {
    let (amount, phone) = more_loans::amount_and_phone(loan);
    let asked = json!({"total_loan_amount": amount, "customer_phone_number": phone});
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
fn keep_paying(address: &str, answers: &Mutex<Answers>, is_over: &AtomicBool) {
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
        match answer.ok().map(|answer| (answer.status, answer.body)) {
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

/// Pays loans through the servers at `addresses` while `act` runs. A caller begins again after a `pause` when the server
/// or the database was gone.
pub fn while_paying<T>(
    addresses: &[String],
    callers: usize,
    pause: Duration,
    answers: &Mutex<Answers>,
    act: impl FnOnce() -> T,
) -> T {
    let pay_on = |address: &str, is_over: &AtomicBool| {
        while !is_over.load(Ordering::Relaxed) {
            keep_paying(address, answers, is_over);
            thread::sleep(pause);
        }
    };
    let pay = |is_over: &AtomicBool| {
        thread::scope(|scope| {
            for address in addresses.iter().cycle().take(callers) {
                scope.spawn(|| pay_on(address, is_over));
            }
        });
    };
    beside(pay, act).1
}

/// Waits until some more loans are paid.
pub fn wait_until_more_are_paid(answers: &Mutex<Answers>) {
    let paid = || answers.lock().unwrap().paid.len();
    let before = paid();
    wait_until("loans are paid", Duration::from_mins(1), || paid() > before + 20);
}

/// Pays loans until `wait` returns, and kills the server then.
fn pay_until_killed(server: Server, answers: &Mutex<Answers>, wait: impl FnOnce()) {
    while_paying(&addresses([&server]), CALLERS, PAUSE, answers, || {
        wait();
        drop(server);
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
        pay_until_killed(server, &answers, || {
            thread::sleep(after);
            // The last one surely pays, however busy the machine is.
            if round + 1 == rounds {
                wait_until_more_are_paid(&answers);
            }
        });
        // On a busy machine, too, servers are killed while they pay.
        if answers.lock().unwrap().paid.len() == before {
            longest = (longest * 2).min(8000);
        }
    }
    let answers = answers.into_inner().unwrap();
    assert!(answers.paid.len() > usize::try_from(rounds).unwrap(), "{} paid only", answers.paid.len());
    println!("{rounds} kills: {answers}");
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

/// A server that has paid loans until its disk was full, with its data and the answers; `None` on PostgreSQL, which does
/// not use the server's disk.
fn with_full_disk() -> Option<(TempDir, Server, Mutex<Answers>)> {
    if test_store::is_postgres() {
        return None;
    }
    let (folder, answers) = (prepare(LOANS), Mutex::new(Answers::default()));
    // Limits the size of the write-ahead log.
    let server = Server::start_with_disk_of(600_000, &test_store::options(folder.path()));
    while_paying(&addresses([&server]), CALLERS, PAUSE, &answers, || {
        // More than a caller that is refused once, as on a machine that is busy.
        let is_full = || answers.lock().unwrap().refused > 2 * CALLERS;
        wait_until("the disk is full", Duration::from_mins(1), is_full);
    });
    assert!(!answers.lock().unwrap().paid.is_empty(), "it failed from the start");
    Some((folder, server, answers))
}

#[test]
fn a_disk_that_fails_loses_nothing_that_was_answered_and_pays_nothing_twice() {
    let Some((folder, server, answers)) = with_full_disk() else { return };
    drop(server);
    let with_room = Server::start_on(&test_store::options(folder.path()));
    pay_until_killed(with_room, &answers, || wait_until_more_are_paid(&answers));
    check(settings_of(folder.path()), &answers.into_inner().unwrap(), Lost::Nothing);
}

/// So that a balancer sends payouts elsewhere.
#[test]
fn a_server_whose_disk_is_full_is_not_ready_until_there_is_room() {
    let Some((folder, server, answers)) = with_full_disk() else { return };
    assert_eq!(get(&server, "/readyz", "").status, 503);
    server.give_disk_room();
    wait_until_ready([&server]);
    pay_until_killed(server, &answers, || wait_until_more_are_paid(&answers));
    check(settings_of(folder.path()), &answers.into_inner().unwrap(), Lost::Nothing);
}
