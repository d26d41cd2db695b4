//! Runs several real servers on one PostgreSQL cluster that the test starts. Servers and PostgreSQL
//! are killed at random times while clients pay loans out through all servers.
//!
//! These tests only run when tests use PostgreSQL (`tools/machine/postgres with …`).

use std::{
    collections::HashMap,
    path::Path,
    process::{Command, Output, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use serde_json::{Value, json};
use settings::Settings;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;

use crate::{
    crash::{self, Answers, LOANS, Lost, fill, pay, wait_until_more_are_paid, while_paying},
    number,
    server::{Answer, Server, sign_in, try_call},
    test_app::{CONSOLE_TOKEN, JWT_SECRET, settings},
};

pub const SERVERS: usize = 3;

/// The pause of a caller after a failure.
pub const PAUSE: Duration = Duration::from_millis(20);

/// A PostgreSQL cluster of this test, which flushes every commit.
pub struct Cluster {
    folder: TempDir,
    pub url: String,
}

impl Cluster {
    pub fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// Starts one whose data is in `folder`.
    pub fn start_in(folder: TempDir) -> Self {
        let url = run("postgres", &["start", folder.path().to_str().unwrap()]);
        Self { folder, url }
    }

    fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub fn stop(&self, mode: &str) {
        run("postgres", &["stop", self.folder(), mode]);
    }

    pub fn is_running(&self) -> bool {
        self.folder.path().join("cluster/postmaster.pid").exists()
    }

    pub fn start_again(&self) {
        assert_eq!(run("postgres", &["start", self.folder()]), self.url, "the same port");
    }

    /// The database options for each command.
    pub fn options(&self) -> [String; 4] {
        options_of(&self.folder, &self.url)
    }

    pub fn settings(&self) -> Settings {
        settings_of(&self.folder, &self.url)
    }
}

pub fn start_servers(options: &[String]) -> Vec<Server> {
    (0..SERVERS).map(|_| Server::start_on(options)).collect()
}

pub fn addresses<'s>(servers: impl IntoIterator<Item = &'s Server>) -> Vec<String> {
    servers.into_iter().map(|server| server.address.clone()).collect()
}

/// The options of a server on the database at `url`.
pub fn options_of(folder: &TempDir, url: &str) -> [String; 4] {
    let folder = folder.path().join("data");
    ["--data-dir".into(), folder.to_str().unwrap().into(), "--database-url".into(), url.to_owned()]
}

/// The settings of a sandbox on the database at `url`.
pub fn settings_of(folder: &TempDir, url: &str) -> Settings {
    let mut settings = settings(folder.path().to_str().unwrap(), &["--jwt-secret", JWT_SECRET]);
    settings.store.database_url = Some(url.parse().unwrap());
    settings
}

/// A cluster with loans to pay, a server on it, and the token of an agent.
fn filled() -> (Cluster, Server, String) {
    let cluster = Cluster::start();
    fill(cluster.settings(), LOANS);
    let server = Server::start_on(&cluster.options());
    let token = sign_in(&server.address);
    (cluster, server, token)
}

impl Drop for Cluster {
    fn drop(&mut self) {
        stop("postgres", &["stop", self.folder(), "immediate"]);
    }
}

/// Runs a script of `tools/machine`, and returns its output.
pub fn run(script: &str, arguments: &[&str]) -> String {
    let output = machine(script, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Stops what a test has started; in a test that has failed, it may be gone, and a second panic would hide the first.
fn stop(script: &str, arguments: &[&str]) {
    if thread::panicking() {
        machine(script, arguments);
    } else {
        run(script, arguments);
    }
}

fn machine(script: &str, arguments: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/machine").join(script);
    Command::new(script).args(arguments).stdin(Stdio::null()).output().unwrap()
}

pub fn call(address: &str, method: &str, path: &str, token: &str, body: Option<&Value>) -> Answer {
    try_call(address, method, path, &[("authorization", &format!("Bearer {token}"))], body).unwrap()
}

pub fn get(server: &Server, path: &str, token: &str) -> Answer {
    call(&server.address, "GET", path, token, None)
}

pub fn console(server: &Server, method: &str, path: &str, body: Option<&Value>) -> Answer {
    let answer = call(&server.console, method, &format!("/console/api{path}"), CONSOLE_TOKEN, body);
    assert!((200..300).contains(&answer.status), "{path}: {}", answer.body);
    answer
}

const PENDING: &str = "/api/v1/disbursements/pending";
const RECORDS: &str = "/api/v1/disbursement-records";

/// Polls until `is_so` returns true.
pub fn wait_until(what: &str, timeout: Duration, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + timeout;
    while !is_so() {
        assert!(Instant::now() < until, "{what}: timed out after {timeout:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

pub fn wait_until_ready<'s>(servers: impl IntoIterator<Item = &'s Server>) {
    for server in servers {
        wait_until("ready", Duration::from_secs(30), || get(server, "/readyz", "").status == 200);
    }
}

/// Waits until nothing is open but the demo's two payouts.
pub fn wait_until_settled(server: &Server) {
    wait_until("settled", Duration::from_mins(1), || {
        console(server, "GET", "/invariant", None).body["pending"] == 2
    });
}

/// The first answer that is not 503: a machine that is very busy refuses some calls.
pub fn unless_busy(call: impl Fn() -> Answer) -> Answer {
    (0..20).map(|_| call()).find(|answer| answer.status != 503).unwrap()
}

/// Pays one loan of [`fill`] without a key.
pub fn pay_once(server: &Server, token: &str, loan: usize) -> Answer {
    pay(&server.address, loan, &[("authorization", &format!("Bearer {token}"))]).unwrap()
}

// S-15
#[test]
#[ignore = "needs PostgreSQL"]
fn five_hundred_calls_for_one_loan_spread_over_three_servers_pay_once_on_postgresql() {
    let cluster = Cluster::start();
    fill(cluster.settings(), LOANS);
    let servers = start_servers(&cluster.options());
    let token = sign_in(&servers[0].address);
    let answers: Vec<Answer> = thread::scope(|scope| {
        let calls: Vec<_> = (0..500)
            .map(|number| {
                let (server, token) = (&servers[number % SERVERS], &token);
                scope.spawn(move || pay_once(server, token, 7))
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let paid: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(paid.len(), 1);
    for answer in &answers {
        // One call pays the loan; the others are refused, or were too many at once.
        assert!(matches!(answer.status, 200 | 409 | 503), "{} {}", answer.status, answer.body);
    }
    for server in &servers {
        let records = get(server, RECORDS, &token).body;
        let of_loan = records.as_array().unwrap().iter().filter(|record| record["loan_id"] == "LN-X7");
        assert_eq!(
            of_loan.map(|record| &record["mpesa_ref"]).collect::<Vec<_>>(),
            [&paid[0].body["mpesa_ref"]]
        );
        assert_eq!(console(server, "GET", "/invariant", None).body["ok"], true);
    }
}

/// Inserts a payout of `LN-X7` without taking the servers' lock.
pub const WITHOUT_LOCK: &str = "
    INSERT INTO payout
        (payout_id, loan_id, transaction_id, amount, phone_number, status, staff_id, agent_id, created_at,
         check_at)
    SELECT 'without-lock', loan_id, 'without-lock', amount, '+254720000007', 'PENDING', staff_id, 'none',
           created_at, 9000000000000
    FROM loan, (SELECT staff_id FROM staff LIMIT 1) AS somebody WHERE loan_id = 'LN-X7'";

pub const WAITING_FOR_A_ROW: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid' AND query LIKE '%INSERT INTO payout%'";

#[test]
#[ignore = "needs PostgreSQL"]
fn a_payout_that_is_written_concurrently_without_the_lock_prevents_another_on_postgresql() {
    let (cluster, server, token) = filled();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let other = || runtime.block_on(PgConnection::connect(&cluster.url)).unwrap();
    let (mut writer, mut observer) = (other(), other());
    let mut write = |statement| {
        runtime.block_on(sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut writer)).unwrap();
    };
    write("BEGIN");
    write(WITHOUT_LOCK);
    let refused = thread::scope(|scope| {
        let paying = scope.spawn(|| pay_once(&server, &token, 7));
        wait_until("the server waits", Duration::from_secs(30), || {
            let waiting = sqlx::query_scalar::<_, i64>(WAITING_FOR_A_ROW).fetch_one(&mut observer);
            runtime.block_on(waiting).unwrap() == 1
        });
        write("COMMIT");
        paying.join().unwrap()
    });
    assert_eq!((refused.status, &refused.body["code"]), (409, &json!("in_progress")));
    assert_eq!(refused.body["record"]["id"], "without-lock");
    assert_eq!(pay_once(&server, &token, 8).status, 200);
}

/// `PgBouncer` in transaction mode before a cluster, with its default settings.
pub struct Pooler {
    folder: TempDir,
    url: String,
}

impl Pooler {
    pub fn start(cluster: &Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = run("pgbouncer", &["start", folder.path().to_str().unwrap(), &cluster.url]);
        Self { folder, url: format!("{output}?statement-cache-capacity=0") }
    }

    fn restart(&self) {
        run("pgbouncer", &["restart", self.folder.path().to_str().unwrap()]);
    }

    pub fn server(&self) -> Server {
        let folder = self.folder.path().join("data");
        let options = ["--data-dir", folder.to_str().unwrap(), "--database-url", &self.url];
        Server::start_on(&options.map(str::to_owned))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        stop("pgbouncer", &["stop", self.folder.path().to_str().unwrap()]);
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn servers_behind_a_pooler_in_transaction_mode_pay_each_loan_once_and_serve_nothing_stale_on_postgresql() {
    let cluster = Cluster::start();
    let pooler = Pooler::start(&cluster);
    // The first one migrates the tables through the pooler.
    let servers: Vec<Server> = (0..SERVERS).map(|_| pooler.server()).collect();
    fill(cluster.settings(), LOANS);
    let token = sign_in(&servers[0].address);
    let before = get(&servers[1], PENDING, &token).body.as_array().unwrap().len();
    let mut answers: Vec<u16> = Vec::new();
    for loans in (1..=80).collect::<Vec<usize>>().chunks(4) {
        // Each loan is asked for on all servers at once.
        answers.extend(thread::scope(|scope| {
            let calls = loans.iter().flat_map(|&loan| servers.iter().map(move |server| (server, loan)));
            let calls: Vec<_> = calls
                .map(|(server, loan)| (server, loan, &token))
                .map(|(server, loan, token)| {
                    scope.spawn(move || unless_busy(|| pay_once(server, token, loan)).status)
                })
                .collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect::<Vec<u16>>()
        }));
    }
    let count = |status: u16| answers.iter().filter(|&&answer| answer == status).count();
    let (paid, refused) = (count(200), count(409));
    assert_eq!((paid, refused), (80, 160));
    for server in &servers {
        assert_eq!(get(server, PENDING, &token).body.as_array().unwrap().len(), before - 80);
        assert_eq!(console(server, "GET", "/invariant", None).body["ok"], true);
    }
    console(&servers[0], "POST", "/data/snapshots/paid", None);
    assert_eq!(call(&servers[2].address, "POST", "/api/v1/auth/logout", &token, None).status, 204);
    for server in &servers {
        assert_eq!(get(server, PENDING, &token).status, 401);
    }
    console(&servers[1], "POST", "/data/reset", None);
    let token = sign_in(&servers[2].address);
    assert_eq!(get(&servers[0], RECORDS, &token).body.as_array().unwrap().len(), 60);
    // Twice, on different connections of the pooler.
    for server in [&servers[1], &servers[2]] {
        console(server, "PUT", "/data/snapshots/paid", None);
    }
    let token = sign_in(&servers[0].address);
    assert_eq!(get(&servers[0], PENDING, &token).body.as_array().unwrap().len(), before - 80);
    // One more starts on migrated tables.
    let another = pooler.server();
    assert_eq!(get(&another, PENDING, &token).body.as_array().unwrap().len(), before - 80);
    assert_eq!(pay_once(&another, &token, 81).status, 200);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_pooler_that_is_killed_while_loans_are_paid_loses_nothing_and_pays_nothing_twice_on_postgresql() {
    let cluster = Cluster::start();
    let pooler = Pooler::start(&cluster);
    let servers = [pooler.server(), pooler.server()];
    fill(cluster.settings(), LOANS);
    let answers = Mutex::new(Answers::default());
    while_paying(&addresses(&servers), 8, PAUSE, &answers, || {
        for _ in 0..5 {
            wait_until_more_are_paid(&answers);
            pooler.restart();
        }
    });
    wait_until_settled(&servers[0]);
    drop(servers);
    crash::check(cluster.settings(), &answers.into_inner().unwrap(), Lost::Nothing);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn servers_that_start_together_on_an_empty_database_create_its_tables_and_data_once_on_postgresql() {
    let cluster = Cluster::start();
    let servers: Vec<Server> = thread::scope(|scope| {
        let starting: Vec<_> =
            (0..SERVERS).map(|_| scope.spawn(|| Server::start_on(&cluster.options()))).collect();
        starting.into_iter().map(|server| server.join().unwrap()).collect()
    });
    let token = sign_in(&servers[0].address);
    for server in &servers {
        assert_eq!(console(server, "GET", "/staff", None).body.as_array().unwrap().len(), 4);
        assert_eq!(get(server, PENDING, &token).body.as_array().unwrap().len(), 24);
        assert_eq!(get(server, RECORDS, &token).body.as_array().unwrap().len(), 60);
        assert_eq!(console(server, "GET", "/invariant", None).body["ok"], true);
    }
}

// S-108
#[test]
#[ignore = "needs PostgreSQL"]
fn without_postgresql_calls_get_503_and_succeed_once_it_is_back_on_postgresql() {
    let cluster = Cluster::start();
    let server = Server::start_on(&cluster.options());
    let token = sign_in(&server.address);
    let login = json!({"email": "agent@mkopo.test", "password": lending::demo::PASSWORD});
    for mode in ["immediate", "fast"] {
        let pending = get(&server, PENDING, &token).body;
        cluster.stop(mode);
        for (method, path, body) in [
            ("GET", "/readyz", None),
            ("GET", PENDING, None),
            ("GET", RECORDS, None),
            ("POST", "/api/v1/auth/login", Some(&login)),
            ("POST", "/api/v1/auth/logout", None),
        ] {
            let answer = call(&server.address, method, path, &token, body);
            assert_eq!(answer.status, 503, "{path}: {}", answer.body);
            assert!(answer.header("retry-after").is_some(), "{path}: {:?}", answer.headers);
        }
        assert_eq!(get(&server, "/healthz", "").status, 200);
        assert_eq!(get(&server, "/api/v1/openapi.json", "").status, 200);
        cluster.start_again();
        wait_until_ready([&server]);
        assert_eq!(get(&server, PENDING, &token).body, pending);
        assert_eq!(call(&server.address, "POST", "/api/v1/auth/login", "", Some(&login)).status, 200);
    }
}

/// The processes of the cluster stop, as a machine that hangs, until this is dropped.
struct Hanging(String);

impl Hanging {
    fn start(cluster: &Cluster) -> Self {
        let file = std::fs::read_to_string(Path::new(cluster.folder()).join("cluster/postmaster.pid"));
        let hanging = Self(file.unwrap().lines().next().unwrap().to_owned());
        hanging.signal("-STOP");
        hanging
    }

    fn signal(&self, signal: &str) {
        // The children first, so that none is restarted; the postmaster has none when it is stopped.
        for (program, processes) in [("pkill", &["--parent", &*self.0][..]), ("kill", &[&*self.0])] {
            // In some languages, they do not know the names of all signals.
            Command::new(program).env("LC_ALL", "C").arg(signal).args(processes).status().unwrap();
        }
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_postgresql_that_hangs_is_given_up_within_seconds_on_postgresql() {
    let (cluster, server, token) = filled();
    assert_eq!(pay_once(&server, &token, 7).status, 200);
    let hanging = Hanging::start(&cluster);
    thread::scope(|scope| {
        for loan in [8, 9] {
            let (server, token) = (&server, &token);
            scope.spawn(move || {
                let began = Instant::now();
                let answer = pay_once(server, token, loan);
                assert_eq!(answer.status, 503, "{}", answer.body);
                assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
            });
        }
    });
    drop(hanging);
    for loan in [8, 9] {
        wait_until("the loan is paid", Duration::from_secs(40), || {
            matches!(pay_once(&server, &token, loan).body["code"].as_str(), None | Some("already_disbursed"))
        });
    }
    assert_eq!(console(&server, "GET", "/invariant", None).body["ok"], true);
}

/// Runs statements as the superuser.
pub fn administer(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        for statement in statements {
            sqlx::raw_sql(AssertSqlSafe(*statement)).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_that_is_locked_or_refuses_connections_answers_503_until_it_recovers_on_postgresql() {
    let cluster = Cluster::start();
    // A role that owns the database and has no other rights.
    administer(&cluster.url, &["CREATE ROLE app LOGIN", "CREATE DATABASE app OWNER app"]);
    let [data_dir, folder, option, url] = cluster.options();
    let url = url.replace("mkopo@", "app@").replace("/postgres", "/app");
    let server = Server::start_on(&[data_dir, folder, option, url]);
    let token = sign_in(&server.address);
    let credentials = json!({"email": "agent@mkopo.test", "password": lending::demo::PASSWORD});
    let log_in = || call(&server.address, "POST", "/api/v1/auth/login", "", Some(&credentials));

    // Another connection holds the lock.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let holder = runtime.block_on(async {
        let mut holder = PgConnection::connect(&cluster.url.replace("/postgres", "/app")).await.unwrap();
        sqlx::raw_sql("SELECT pg_advisory_lock(469953900655)").execute(&mut holder).await.unwrap();
        holder
    });
    let began = Instant::now();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..5).map(|_| scope.spawn(log_in)).collect();
        assert_eq!(get(&server, PENDING, &token).status, 200, "reads do not wait");
        for refused in calls.into_iter().map(|call| call.join().unwrap()) {
            assert_eq!((refused.status, &refused.body["code"]), (503, &json!("busy")));
            assert!(refused.header("retry-after").is_some());
        }
    });
    // They wait 5 s together, not one after the other.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    runtime.block_on(holder.close()).unwrap();
    assert_eq!(log_in().status, 200);

    // All connections are closed, and new ones are refused.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'";
    administer(&cluster.url, &["ALTER ROLE app CONNECTION LIMIT 0", cut]);
    for answer in [get(&server, PENDING, &token), log_in(), get(&server, "/readyz", "")] {
        assert_eq!((answer.status, &answer.body["code"]), (503, &json!("busy")));
        assert!(answer.header("retry-after").is_some());
    }
    administer(&cluster.url, &["ALTER ROLE app CONNECTION LIMIT -1"]);
    wait_until_ready([&server]);
    assert_eq!((get(&server, PENDING, &token).status, log_in().status), (200, 200));

    // Idle connections that are closed do not fail later calls.
    administer(&cluster.url, &[cut]);
    assert_eq!((get(&server, PENDING, &token).status, log_in().status), (200, 200));
}

// S-77, S-78
#[test]
#[ignore = "needs PostgreSQL"]
fn tls_to_postgresql_requires_a_trusted_certificate_on_postgresql() {
    let cluster = Cluster::start();
    let certificate = cluster.folder.path().join("cluster/server.crt");
    let checked = format!("{}?sslmode=verify-full", cluster.url);
    let trusted = format!("{checked}&sslrootcert={}", certificate.display());
    let [data_dir, folder, option, _] = cluster.options();
    let start = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mkopo"));
        let secrets = ["--console-token", CONSOLE_TOKEN, "--jwt-secret", JWT_SECRET];
        command.args(["serve", &data_dir, &folder, &option, url]).args(secrets);
        command.args(["--listen=127.0.0.1:0", "--console-listen=127.0.0.1:0"]).env_clear().output().unwrap()
    };
    let refused = |url: &str| {
        let said = String::from_utf8(start(url).stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    };
    assert!(refused(&trusted).contains("server does not support TLS"));

    administer(&cluster.url, &["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"]);
    assert!(refused(&checked).contains("invalid peer certificate"), "{}", refused(&checked));
    let server = Server::start_on(&[data_dir.clone(), folder.clone(), option.clone(), trusted.clone()]);
    assert_eq!(get(&server, PENDING, &sign_in(&server.address)).status, 200);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open: Vec<bool> = runtime.block_on(async {
        let mut watching = PgConnection::connect(&cluster.url).await.unwrap();
        let of_server = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                         WHERE datname IS NOT NULL AND pid <> pg_backend_pid()";
        sqlx::query_scalar(of_server).fetch_all(&mut watching).await.unwrap()
    });
    assert!(open.len() >= 3 && open.iter().all(|is_encrypted| *is_encrypted), "{open:?}");
}

/// The offsets of the machines' clocks: 10 minutes ahead, an hour behind, and right.
pub const CLOCKS_OFF_BY: [&str; SERVERS] = ["+10m", "-1h", "+0"];

/// The longest that a payout may be PENDING, by PostgreSQL's clock.
const LONGEST_PENDING: Duration = Duration::from_secs(30);

const PENDING_PAYOUTS: &str = "
    SELECT payout_id, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
    FROM payout WHERE status = 'PENDING' AND loan_id LIKE 'LN-X%'";

/// Runs `act`, and returns how long the slowest PENDING payout was seen meanwhile, too.
pub fn watch_pending<T>(url: &str, act: impl FnOnce() -> T) -> (Duration, T) {
    beside(|is_over| longest_pending(url, is_over), act)
}

fn longest_pending(url: &str, is_over: &AtomicBool) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut first_seen: HashMap<String, i64> = HashMap::new();
    let mut slowest_ms = 0;
    runtime.block_on(async {
        while !is_over.load(Ordering::Relaxed) {
            // It fails whenever PostgreSQL is killed.
            let Ok(mut connection) = PgConnection::connect(url).await else { continue };
            while !is_over.load(Ordering::Relaxed)
                && let Ok(pending) =
                    sqlx::query_as::<_, (String, i64)>(PENDING_PAYOUTS).fetch_all(&mut connection).await
            {
                first_seen.retain(|known, _| pending.iter().any(|(payout_id, _)| payout_id == known));
                for (payout_id, now) in pending {
                    let first = first_seen.entry(payout_id).or_insert(now);
                    slowest_ms = slowest_ms.max(now - *first);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    });
    Duration::from_millis(u64::try_from(slowest_ms).unwrap())
}

/// Runs `other` on a thread beside `act`, which tells it when it is over, even if the test fails.
pub fn beside<O: Send, T>(other: impl FnOnce(&AtomicBool) -> O + Send, act: impl FnOnce() -> T) -> (O, T) {
    struct Ended<'a>(&'a AtomicBool);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = scope.spawn(|| other(&is_over));
        let ended = Ended(&is_over);
        let result = act();
        drop(ended);
        (other.join().unwrap(), result)
    })
}

/// Pays through all servers while, in each round, one server is killed and restarted, or PostgreSQL
/// is stopped without a shutdown, as in a power failure.
fn kill_servers_repeatedly(rounds: u32, loans: usize) {
    let cluster = Cluster::start();
    fill(cluster.settings(), loans);
    let answers = Mutex::new(Answers::default());
    let (slowest, ()) = watch_pending(&cluster.url, || {
        let servers = pay_and_kill(&cluster, rounds, &answers);
        // The surviving servers settle what the killed ones left open.
        wait_until_settled(&servers[1]);
    });
    let answers = answers.into_inner().unwrap();
    println!("{rounds} rounds: {answers}, the slowest settled in {slowest:?}");
    assert!(answers.paid.len() > usize::try_from(rounds).unwrap(), "{} paid only", answers.paid.len());
    crash::check(cluster.settings(), &answers, Lost::Nothing);
    assert!(slowest <= LONGEST_PENDING, "a payout was PENDING for {slowest:?}");
}

/// Returns the servers that run at the end.
fn pay_and_kill(cluster: &Cluster, rounds: u32, answers: &Mutex<Answers>) -> Vec<Server> {
    let start = |offset| Server::start_with_clock_off_by(offset, &cluster.options());
    let mut servers: Vec<Server> = CLOCKS_OFF_BY.into_iter().map(start).collect();
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    for round in 0..rounds {
        let killed = rng.random_range(0..SERVERS);
        let after = Duration::from_millis(rng.random_range(50..400));
        while_paying(&addresses(&servers), 3 * SERVERS, PAUSE, answers, || {
            thread::sleep(after);
            if round % 3 == 2 {
                cluster.stop("immediate");
                thread::sleep(Duration::from_millis(100));
                cluster.start_again();
                thread::sleep(Duration::from_millis(300));
            } else {
                drop(servers.remove(killed));
                thread::sleep(Duration::from_millis(100));
            }
        });
        if servers.len() < SERVERS {
            servers.insert(killed, start(CLOCKS_OFF_BY[killed]));
        }
        wait_until_ready(&servers);
    }
    servers
}

#[test]
#[ignore = "needs PostgreSQL"]
fn servers_that_are_killed_lose_nothing_and_pay_nothing_twice_on_postgresql() {
    kill_servers_repeatedly(30, LOANS);
}

#[test]
#[ignore = "needs PostgreSQL, and takes half an hour"]
fn servers_and_postgresql_that_are_killed_repeatedly_lose_nothing_and_pay_nothing_twice() {
    kill_servers_repeatedly(number("MKOPO_TEST_ROUNDS").unwrap_or(1000), 25 * LOANS);
}
