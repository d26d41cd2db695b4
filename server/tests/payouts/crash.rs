//! The real program, killed at random moments while callers pay loans out over the network, and
//! started again on what it left.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Lines, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use mkopo::{
    Sandbox,
    clock::Clock,
    database::Connection,
    demo,
    mobile_money::ScenarioChange,
    payouts,
    randomness::Randomness,
    settings::{DatabaseSettings, Settings},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    store,
    test_app::{CONSOLE_TOKEN, JWT_SECRET, disbursement_of, settings},
};

const CALLERS: usize = 8;

/// Copies of a demo loan that has not been tried, each with a customer of its own.
const MORE_CUSTOMERS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 6000)
    INSERT INTO customer
    SELECT 'CUS-X' || n, first_name, last_name, '+2547' || (20000000 + n), id_number, nickname, gender,
           status, account_id, account_number, account_status, credit_score, risk_level
    FROM number, (SELECT * FROM customer LIMIT 1) AS one";

const MORE_LOANS: &str = "
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 6000)
    INSERT INTO loan
    SELECT 'LN-X' || n, 'CUS-X' || n, 1000 + n, interest_rate_bp, term_months, purpose, 'APPROVED', 1000 + n,
           notes, approver_id, approver_name, approver_email, approved_at, NULL, created_at, updated_at
    FROM number, (SELECT * FROM loan WHERE status = 'APPROVED' LIMIT 1) AS one";

fn settings_of(folder: &Path) -> Settings {
    settings(folder.to_str().unwrap(), &[])
}

/// The options by which a server keeps its data in that folder.
fn file_in(folder: &Path) -> [String; 2] {
    ["--data-dir".to_owned(), folder.to_str().unwrap().to_owned()]
}

async fn sandbox(settings: Settings, clock: Clock) -> Sandbox {
    Sandbox::open(settings, clock, Randomness::from_os()).await.unwrap()
}

/// A data folder with many loans to pay, and mobile money that takes a moment to answer.
fn prepare() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fill(settings_of(folder.path()));
    folder
}

/// Many loans to pay, and mobile money that takes a moment to answer.
pub fn fill(settings: Settings) {
    Runtime::new().unwrap().block_on(async {
        let sandbox = sandbox(settings, Clock::system()).await;
        let add = sandbox.database.write(|connection: &mut Connection| {
            Box::pin(async move {
                mkopo::database::query(MORE_CUSTOMERS).execute(&mut *connection).await?;
                mkopo::database::query(MORE_LOANS).execute(connection).await?;
                Ok(())
            })
        });
        add.await.unwrap();
        let change =
            ScenarioChange { latency_ms: Some(10), float: Some(1_000_000_000), ..ScenarioChange::default() };
        sandbox.mobile_money.change_scenario(change).await.unwrap();
        sandbox.close(Duration::from_secs(5)).await;
    });
}

/// The program as it runs for people.
pub struct Server {
    process: Child,
    pub address: String,
    /// Held open, as a terminal is.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        Self::start_on(&store::options(folder))
    }

    /// One whose store those options name.
    pub fn start_on(store: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
        Self::run(command.arg("serve"), store)
    }

    /// One that can't write more than so many bytes into any one file.
    fn start_with_disk_of(bytes: usize, folder: &Path) -> Self {
        let mut command = Command::new("sh");
        let blocks = bytes / 512;
        // Without the signal, a write that is too much is an error, as on a disk that is full.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" serve \"$@\"");
        Self::run(command.args(["-c", &script, env!("CARGO_BIN_EXE_mkopo")]), &file_in(folder))
    }

    fn run(command: &mut Command, store: &[String]) -> Self {
        let mut process = command
            .args(["--listen", "127.0.0.1:0", "--demo", "true", "--log", "off"])
            .args(["--console-token", CONSOLE_TOKEN, "--jwt-secret", JWT_SECRET])
            .args(store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, address)) = line.split_once("http://") {
                break address.trim().to_owned();
            }
        };
        Self { process, address, _output: lines }
    }
}

/// SIGKILL: nothing of the process has a chance to tidy up.
impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Status and body; none when the connection broke.
pub fn post(address: &str, path: &str, headers: &str, body: &Value) -> Option<(u16, Value)> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    // Cut off in the middle is not heard.
    Some((status, serde_json::from_str(body).ok()?))
}

pub fn sign_in(address: &str) -> String {
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    let (_, body) = post(address, "/api/v1/auth/login", "", &credentials).unwrap();
    body["user"]["token"].as_str().unwrap().to_owned()
}

/// What callers have heard, for all lives of the server.
#[derive(Default)]
pub struct Heard {
    next_loan: usize,
    /// Loans whose call was not answered: to be asked again, with the same key.
    open: Vec<usize>,
    /// Receipts of loans that were said to be paid.
    pub paid: HashMap<usize, String>,
    refused: usize,
}

pub fn pay(address: &str, token: &str, loan: usize) -> Option<(u16, Value)> {
    let asked = json!({"total_loan_amount": 1000 + loan, "customer_phone_number": format!("+2547{}", 20_000_000 + loan)});
    let headers = format!("authorization: Bearer {token}\r\nidempotency-key: key-{loan}\r\n");
    post(address, &format!("/api/v1/disbursements/LN-X{loan}/disburse"), &headers, &disbursement_of(&asked))
}

/// Pays loans until told, or until the server is gone, those first that were not answered before.
pub fn keep_paying(address: &str, token: &str, heard: &Mutex<Heard>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let loan = {
            let mut heard = heard.lock().unwrap();
            heard.open.pop().unwrap_or_else(|| {
                heard.next_loan += 1;
                heard.next_loan
            })
        };
        let answer = pay(address, token, loan);
        let mut heard = heard.lock().unwrap();
        match answer {
            Some((200, body)) => {
                let receipt = body["mpesa_ref"].as_str().unwrap().to_owned();
                let first = heard.paid.entry(loan).or_insert_with(|| receipt.clone());
                assert_eq!(*first, receipt);
            }
            // Accepted, or its first call still counts as running: its record will tell.
            Some((202 | 409, _)) => {}
            Some((500 | 503, _)) => {
                heard.refused += 1;
                heard.open.push(loan);
                return;
            }
            Some((status, body)) => panic!("{status} {body}"),
            None => {
                heard.open.push(loan);
                return;
            }
        }
    }
}

fn pay_until_killed(server: Server, heard: &Mutex<Heard>, after: Duration) {
    let token = sign_in(&server.address);
    let address = server.address.clone();
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| keep_paying(&address, &token, heard, &AtomicBool::new(false)));
        }
        thread::sleep(after);
        drop(server);
    });
}

/// Starts on what is left, lets minutes pass, and holds both books and what was heard together.
pub fn check(settings: Settings, heard: &Heard) {
    Runtime::new().unwrap().block_on(async {
        let clock = Clock::system();
        clock.advance(Duration::from_mins(10));
        let sandbox = sandbox(settings, clock).await;
        payouts::reconcile(&sandbox).await.unwrap();
        let mut reader = sandbox.database.read().await.unwrap();
        let audit = payouts::invariant(&mut reader).await.unwrap();
        assert!(audit.ok, "{audit:?}");
        assert_eq!(audit.pending, 2, "all but the demo's two have settled");
        let receipts: HashMap<String, String> = mkopo::database::query_as::<(String, String)>(
            "SELECT loan_id, receipt FROM payout WHERE receipt IS NOT NULL",
        )
        .fetch_all(&mut reader)
        .await
        .unwrap()
        .into_iter()
        .collect();
        for (loan, receipt) in &heard.paid {
            assert_eq!(receipts.get(&format!("LN-X{loan}")), Some(receipt), "a payout is lost");
        }
        let texts: Vec<(String, i64)> = mkopo::database::query_as(
            "SELECT recipient, count(*) FROM outbox_message GROUP BY recipient HAVING count(*) > 1",
        )
        .fetch_all(&mut reader)
        .await
        .unwrap();
        assert_eq!(texts, [], "told twice");
        drop(reader);
        sandbox.close(Duration::from_secs(5)).await;
    });
}

fn kill_again_and_again(rounds: u64) {
    let folder = prepare();
    let heard = Mutex::new(Heard::default());
    for round in 0..rounds {
        let mut rng = ChaCha12Rng::seed_from_u64(round);
        // Where each commit goes over a connection, less is done in a moment.
        let longest = if store::is_postgres() { 750 } else { 250 };
        let after = Duration::from_millis(rng.random_range(5..longest));
        pay_until_killed(Server::start(folder.path()), &heard, after);
    }
    let heard = heard.into_inner().unwrap();
    assert!(heard.paid.len() > usize::try_from(rounds).unwrap(), "{} paid only", heard.paid.len());
    println!(
        "{rounds} kills: {} paid and heard, {} left open by the last",
        heard.paid.len(),
        heard.open.len()
    );
    check(settings_of(folder.path()), &heard);
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_pays_nothing_twice() {
    kill_again_and_again(8);
}

#[test]
#[ignore = "takes a minute"]
fn a_server_that_is_killed_sixty_times_loses_nothing_and_pays_nothing_twice() {
    kill_again_and_again(60);
}

#[test]
fn a_disk_that_fails_loses_nothing_that_was_answered_and_pays_nothing_twice() {
    // On SQLite whatever the others are on: PostgreSQL's disk is not the server's.
    let folder = tempfile::tempdir().unwrap();
    let on_file = || Settings { database: DatabaseSettings::default(), ..settings_of(folder.path()) };
    fill(on_file());
    let heard = Mutex::new(Heard::default());
    // The log of what is not yet in the database proper may grow by this much only.
    pay_until_killed(Server::start_with_disk_of(400_000, folder.path()), &heard, Duration::from_millis(1500));
    {
        let heard = heard.lock().unwrap();
        assert!(heard.refused > 0, "the disk did not fail; {} were paid", heard.paid.len());
        assert!(!heard.paid.is_empty(), "it failed from the first");
    }
    let paid_before = heard.lock().unwrap().paid.len();
    pay_until_killed(Server::start_on(&file_in(folder.path())), &heard, Duration::from_millis(1500));
    let heard = heard.into_inner().unwrap();
    assert!(heard.paid.len() > paid_before, "with room again, it pays again");
    check(on_file(), &heard);
}
