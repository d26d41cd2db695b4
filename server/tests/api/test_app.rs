//! The whole service on a fresh database, called in-process.

use std::{fmt, io::Read, net::SocketAddr, ops::Deref, path::Path, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use base::{
    clock::{Clock, UnixMillis},
    error::{Cause, Failure},
    randomness::Randomness,
};
use clap::Parser;
use http_body_util::BodyExt;
use lending::{
    demo,
    events::Trail,
    mobile_money::{MAGIC, Outcome, ScenarioChange},
    payouts::{self, Invariant},
};
use mkopo::{
    Sandbox,
    commands::{Command, CommandLine},
    http::connections::{self, Limits},
};
use serde_json::{Value, json};
use settings::Settings;
use store::{Connection, query, query_as, query_scalar};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::{OnceCell, OwnedRwLockWriteGuard, oneshot},
};
use tower::ServiceExt;
use worlds::sandboxes::{Name, open_files};

use crate::{contract, security_headers, subscriber, test_store};

/// Saturday, 14 November 2026, noon in Nairobi.
pub const NOON: UnixMillis = UnixMillis(1_794_646_800_000);

/// The console token of a test's service.
pub const CONSOLE_TOKEN: &str = "console-token-of-a-test";

/// The token secret of tests whose servers share a database.
pub const JWT_SECRET: &str = "the-secret-of-the-servers-of-a-test";

/// The state after a first start in demo mode. It is created once and copied, because every start
/// would migrate the database, hash four passwords and generate the demo data again.
struct Template {
    data_dir: TempDir,
    /// As that start left it, so that a test generates the same ids as after its own first start.
    randomness: Randomness,
}

static TEMPLATE: OnceCell<Template> = OnceCell::const_new();

/// [`demo::PASSWORD`], hashed at the lowest cost: otherwise a fifth of all tests' processor time would be sign-ins.
const CHEAP_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$c2FsdC1vZi10aGUtdGVzdA$ltRSORUSY5OmKUPdAIaTT7ul7akAbmzWJY4LKK6fhjs";

impl Template {
    async fn create() -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        let randomness = Randomness::seeded(7);
        // On a separate runtime, because the first test's runtime ends with that test.
        let settings = settings(data_dir.path().to_str().unwrap(), &[]);
        let shared = randomness.clone();
        let start = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let sandbox = Sandbox::open(settings, Clock::held_at(NOON), shared).await.unwrap();
                let hash_cheaply = query("UPDATE staff SET password_hash = $1").bind(CHEAP_HASH);
                sandbox.database.execute(hash_cheaply).await.unwrap();
                sandbox.close(Duration::ZERO).await;
            });
        };
        tokio::task::spawn_blocking(start).await.unwrap();
        Self { data_dir, randomness }
    }
}

/// A service with the demo data, its clock held at [`NOON`], as one caller sees it. Clones share it.
#[derive(Clone)]
pub struct TestApp {
    pub sandbox: Sandbox,
    pub clock: Clock,
    /// The caller's session, network address, and further headers of each call.
    session: Option<String>,
    address: Option<String>,
    headers: Vec<(&'static str, String)>,
    /// The sandbox that the caller names, and the token of its console.
    pub name: String,
    pub console_token: String,
    portal: Router,
    console: Router,
    data_dir: Arc<TempDir>,
    /// The number of starts; each generates other ids, as a real one does.
    starts: u64,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Like [`TestApp::start`], with more options of `mkopo serve`.
    pub async fn start_with(options: &[&str]) -> Self {
        let data_dir = Arc::new(tempfile::tempdir().unwrap());
        if options.contains(&"--demo") {
            return Self::open(data_dir, Clock::held_at(NOON), options, 0).await;
        }
        let template = TEMPLATE.get_or_init(Template::create).await;
        test_store::copy(template.data_dir.path(), data_dir.path());
        let clock = Clock::held_at(NOON);
        let settings = settings(data_dir.path().to_str().unwrap(), options);
        Self::open_with(data_dir, clock, settings, template.randomness.fork(), 0).await
    }

    /// A service, and someone who has signed in.
    pub async fn start_for(who: &str) -> (Self, Self) {
        Self::start_for_with(who, &[]).await
    }

    /// Like [`TestApp::start_for`], with more options of `mkopo serve`.
    pub async fn start_for_with(who: &str, options: &[&str]) -> (Self, Self) {
        let app = Self::start_with(options).await;
        let staff = app.sign_in(who).await;
        (app, staff)
    }

    /// A service, an agent, and a loan that the agent can pay out.
    pub async fn ready_to_pay() -> (Self, Self, Value) {
        let (app, agent) = Self::start_for("agent").await;
        let loan = agent.waiting_loan().await;
        (app, agent, loan)
    }

    /// Another server on the same data, with the same clock and more options of `mkopo serve`.
    pub async fn another_server(&self, options: &[&str]) -> Self {
        self.another_server_at(self.clock.clone(), options).await
    }

    /// Like [`TestApp::another_server`], with its own clock.
    pub async fn another_server_at(&self, clock: Clock, options: &[&str]) -> Self {
        Self::open(Arc::clone(&self.data_dir), clock, options, self.starts + 1000).await
    }

    /// Stops and starts again on the same data, without waiting for running work.
    pub async fn restart(self) -> Self {
        self.restart_with(&[]).await
    }

    /// Stops and starts again on the same data, with more options of `mkopo serve`.
    pub async fn restart_with(self, options: &[&str]) -> Self {
        self.sandbox.close(Duration::ZERO).await;
        let Self { clock, data_dir, starts, .. } = self;
        Self::open(data_dir, clock, options, starts + 1).await
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// Like [`TestApp::start`], always on `SQLite`: for tests that need a database file.
    pub async fn start_on_file() -> Self {
        let data_dir = Arc::new(tempfile::tempdir().unwrap());
        let mut settings = settings(data_dir.path().to_str().unwrap(), &[]);
        settings.store.database_url = None;
        Self::open_with(data_dir, Clock::held_at(NOON), settings, Randomness::seeded(7), 0).await
    }

    /// A service on the data of a folder, which may be empty, with more options of `mkopo serve`.
    pub async fn start_in(data_dir: Arc<TempDir>, options: &[&str]) -> Self {
        Self::open(data_dir, Clock::held_at(NOON), options, 0).await
    }

    /// A service on existing data.
    pub async fn start_at(database_url: &str, clock: Clock) -> Self {
        let data_dir = Arc::new(tempfile::tempdir().unwrap());
        let mut settings = settings(data_dir.path().to_str().unwrap(), &[]);
        settings.store.database_url = Some(database_url.parse().unwrap());
        Self::open_with(data_dir, clock, settings, Randomness::seeded(7), 0).await
    }

    /// A service on existing data that was started `starts` times before.
    pub async fn open(data_dir: Arc<TempDir>, clock: Clock, options: &[&str], starts: u64) -> Self {
        let settings = settings(data_dir.path().to_str().unwrap(), options);
        Self::open_with(data_dir, clock, settings, Randomness::seeded(7 + starts), starts).await
    }

    async fn open_with(
        data_dir: Arc<TempDir>,
        clock: Clock,
        settings: Settings,
        randomness: Randomness,
        starts: u64,
    ) -> Self {
        subscriber::install();
        // As `mkopo serve` does: all tests are one process.
        open_files::allow_more();
        let sandbox = Sandbox::open(settings, clock.clone(), randomness).await.unwrap();
        let [portal, console] = mkopo::routers(&sandbox);
        let console_token = CONSOLE_TOKEN.to_owned();
        let name = "main".to_owned();
        let (session, address, headers) = (None, None, Vec::new());
        Self {
            sandbox,
            clock,
            session,
            address,
            headers,
            name,
            console_token,
            portal,
            console,
            data_dir,
            starts,
        }
    }

    /// The result of a call, while the clock runs up to fifty times as fast as real time. It stops short of the first
    /// status query of a payout that is made meanwhile: the call is answered before, however slow this machine is.
    pub async fn as_time_passes<T>(&self, call: impl Future<Output = T>) -> T {
        self.with_moving_clock(STEP, Some(self.clock.unset_now()), Box::pin(call)).await
    }

    /// The result of `future`, while the clock moves by `step` at a time.
    pub async fn as_time_passes_by<T>(&self, step: Duration, future: impl Future<Output = T>) -> T {
        self.with_moving_clock(step, None, Box::pin(future)).await
    }

    /// Lets time pass until no payout of `loan` is open, for the staff who calls.
    pub async fn until_settled(&self, loan: &Value) {
        self.as_time_passes_by(STEP, async { while self.status_of(loan).await == "PENDING" {} }).await;
    }

    /// The clock stops short of the first status query of the payouts made since `began`, if that is given.
    async fn with_moving_clock<T>(
        &self,
        step: Duration,
        began: Option<UnixMillis>,
        mut future: Pin<Box<impl Future<Output = T>>>,
    ) -> T {
        const PATIENCE: Duration = Duration::from_mins(30);
        let mut waited = Duration::ZERO;
        loop {
            tokio::select! {
                biased;
                outcome = &mut future => return outcome,
                first_query = self.moment(began) => {
                    if first_query.is_none_or(|at| self.clock.unset_now().plus(step) < at) {
                        self.clock.advance(step);
                    }
                    waited += step;
                    assert!(waited < PATIENCE, "{PATIENCE:?} have passed in vain");
                }
            }
        }
    }

    /// Waits for a moment, and for a write: where writes are slow, time must be, too, or calls that are still running
    /// would pass their timeouts. Returns the time of the first status query of the payouts made since `began`.
    async fn moment(&self, began: Option<UnixMillis>) -> Option<UnixMillis> {
        const FIRST_QUERY: &str = "
            SELECT min(check_by) FROM payout WHERE status = 'PENDING' AND checks = 0 AND claimed_at >= $1";
        tokio::time::sleep(Duration::from_millis(2)).await;
        let write = async move |connection: &mut Connection| match began {
            Some(began) => Ok(query_scalar(FIRST_QUERY).bind(began).fetch_one(connection).await?),
            None => Ok(None),
        };
        // Tests also break the database.
        patiently("a write", self.sandbox.database.write(write)).await.unwrap_or_default()
    }

    /// Makes a sandbox, and calls it from now on.
    pub async fn make_sandbox(&self, wish: Value) -> Self {
        let made = self.set_console(Method::POST, "/sandboxes", wish).await.json();
        self.given(made["name"].as_str().unwrap(), made["token"].as_str().unwrap())
    }

    /// Somebody who was given the name of a sandbox and the token of its console.
    pub fn given(&self, name: &str, token: &str) -> Self {
        Self { name: name.to_owned(), console_token: token.to_owned(), ..self.clone() }
    }

    /// The data and the time of the sandbox that the caller names.
    pub async fn named_sandbox(&self) -> Sandbox {
        let name = Name::parse(&self.name).unwrap();
        self.sandbox.server.sandboxes.find(&self.sandbox.server, &name).await.unwrap().sandbox.clone()
    }

    /// The result of `future`, while time passes as fast as the sandbox that the caller names writes.
    pub async fn as_time_passes_there<T>(&self, future: impl Future<Output = T>) -> T {
        Self { sandbox: self.named_sandbox().await, ..self.clone() }.as_time_passes(future).await
    }

    /// Advances the clock by `time`, and reconciles the payouts that are due then.
    pub async fn later(&self, time: Duration) {
        self.clock.advance(time);
        self.reconcile().await;
    }

    /// Reconciles the payouts that are due.
    pub async fn reconcile(&self) {
        let payouts = &self.sandbox.payouts;
        wait_until("no payout is due", async || {
            payouts::reconcile(payouts).await.unwrap();
            // A payout that was just being settled was skipped.
            payouts::next_check(payouts).await.unwrap() != Some(Duration::ZERO)
        })
        .await;
    }

    /// Keeps the writer busy until the returned sender is used.
    pub async fn occupy_writer(&self) -> oneshot::Sender<()> {
        self.occupy_writer_and("SELECT 1").await
    }

    /// Like [`TestApp::occupy_writer`], and runs `statement` then.
    pub async fn occupy_writer_and(&self, statement: &'static str) -> oneshot::Sender<()> {
        let (free, freed) = oneshot::channel::<()>();
        let (occupied, is_occupied) = oneshot::channel();
        let database = self.sandbox.database.clone();
        tokio::spawn(async move {
            let write = async move |connection: &mut Connection| {
                occupied.send(()).unwrap();
                _ = freed.await;
                Ok(connection.command(statement).await?)
            };
            database.write(write).await
        });
        is_occupied.await.unwrap();
        free
    }

    /// Runs `call`, whose test has one thread, until it waits for the writer.
    pub async fn run_until_it_waits<T>(&self, call: &mut (impl Future<Output = T> + Unpin)) {
        let before = subscriber::writes_of_calls();
        run_until("a call waits for the writer", call, async || subscriber::writes_of_calls() != before)
            .await;
    }

    /// Runs statements in the database, in one transaction.
    pub async fn write(&self, sql: impl Into<String>) -> Result<(), Failure> {
        let sql = sqlx::AssertSqlSafe(sql.into());
        let write = async move |connection: &mut Connection| Ok(connection.command(sql).await?);
        self.sandbox.database.write(write).await
    }

    /// Sets the outcomes of the next payments.
    pub async fn next_outcomes(&self, outcomes: &[Outcome]) {
        let change = ScenarioChange { next: Some(outcomes.to_vec()), ..ScenarioChange::default() };
        self.sandbox.mobile_money.change_scenario(change, &Trail::default()).await.unwrap();
    }

    /// The balance of the account that payouts are paid from, in KES.
    pub async fn float(&self) -> i64 {
        self.sandbox.mobile_money.scenario().await.unwrap().float.0
    }

    /// Fails the test unless the books and the payments of mobile money agree.
    pub async fn assert_every_shilling_is_accounted_for(&self) -> Invariant {
        let audit = payouts::invariant(&mut self.sandbox.database.read().await.unwrap()).await.unwrap();
        assert!(audit.ok, "{audit:?}");
        audit
    }

    /// Approves a loan of that amount for a customer with that number.
    pub async fn approve_loan(&self, amount: i64, phone: &str) -> Value {
        let loan = json!({"total_loan_amount": amount, "customer_phone_number": phone});
        self.set_console(Method::POST, "/loans", json!({"loan": loan})).await.json()[0].clone()
    }

    /// Opens an [`account`].
    pub async fn open_account(&self, email: &str) {
        self.set_console(Method::POST, "/staff", account(email)).await;
    }

    /// The number that a statement without values selects.
    pub async fn count(&self, sql: impl Into<String>) -> i64 {
        let mut reader = self.sandbox.database.read().await.unwrap();
        query_scalar(sqlx::AssertSqlSafe(sql.into())).fetch_one(&mut reader).await.unwrap()
    }

    /// The number of SMS sent to `phone`.
    pub async fn texts_to(&self, phone: &str) -> i64 {
        self.count(format!("SELECT count(*) FROM outbox_message WHERE recipient = '{phone}'")).await
    }

    /// Calls `method path`, with `body` as JSON when there is one.
    pub async fn call(&self, method: Method, path: &str, body: impl Into<Option<Value>>) -> Answer {
        self.send(request(method, path, None, body)).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    /// Like [`TestApp::get`], with more headers.
    pub async fn get_with(&self, path: &str, headers: &[(&'static str, &str)]) -> Answer {
        self.send(with_headers(request(Method::GET, path, None, None), headers)).await
    }

    pub async fn post(&self, path: &str, body: impl Into<Option<Value>>) -> Answer {
        self.call(Method::POST, path, body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PUT, path, body).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None).await
    }

    /// Calls the console.
    pub async fn console(&self, method: Method, path: &str, body: impl Into<Option<Value>>) -> Answer {
        self.send(request(method, &format!("/console/api{path}"), Some(&self.console_token), body)).await
    }

    /// What the console shows.
    pub async fn read_console(&self, path: &str) -> Value {
        self.console(Method::GET, path, None).await.json()
    }

    /// Changes something through the console, which must succeed.
    pub async fn set_console(&self, method: Method, path: &str, body: impl Into<Option<Value>>) -> Answer {
        let answer = self.console(method, path, body).await;
        assert!(answer.status.is_success(), "{}", answer.status);
        answer
    }

    /// The metrics, which name sandboxes to a caller with the console's token.
    pub async fn metrics(&self) -> String {
        String::from_utf8(self.get("/metrics").await.bytes).unwrap()
    }

    /// The newest message to `recipient`.
    pub async fn newest_message(&self, recipient: &str) -> Message {
        const NEWEST: &str = "
            SELECT channel, recipient, subject, body, code, sent_at IS NOT NULL AS is_sent, attempts,
                   next_attempt_at, last_error
            FROM outbox_message WHERE recipient = $1 ORDER BY position DESC LIMIT 1";
        let mut reader = self.sandbox.database.read().await.unwrap();
        query_as(NEWEST).bind(recipient).fetch_one(&mut reader).await.unwrap()
    }

    /// The code in the newest message to `recipient`.
    pub async fn newest_code(&self, recipient: &str) -> String {
        self.newest_message(recipient).await.code.unwrap()
    }

    /// The request, with the caller's session unless it has its own credentials, and to the caller's sandbox.
    fn of_caller(&self, mut request: Request<Body>) -> Request<Body> {
        if let (Some(session), None) = (&self.session, request.headers().get(header::AUTHORIZATION)) {
            request = with_headers(request, &[("authorization", &format!("Bearer {session}"))]);
        }
        if let Some(address) = &self.address {
            request = sent_from(address, request);
        }
        for (name, value) in &self.headers {
            request = with_headers(request, &[(name, value)]);
        }
        match self.name.as_str() {
            "main" => request,
            name => with_headers(request, &[("mkopo-sandbox", name)]),
        }
    }

    /// Sends any request to the listener that serves its path; the response must match the contract.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let request = self.of_caller(request);
        let path = request.uri().path();
        if path.starts_with("/console") || path == "/metrics" {
            send(self.console.clone(), request).await
        } else {
            send(self.portal.clone(), request).await
        }
    }

    /// Sends any request to one listener, without a check of the contract.
    pub async fn send_to(&self, listener: Listener, request: Request<Body>) -> Answer {
        answer(self.router(listener), request).await
    }

    /// Serves one listener on a port of this machine, and returns its address.
    pub async fn serve(&self, listener: Listener) -> String {
        serve(self.router(listener)).await
    }

    fn router(&self, listener: Listener) -> Router {
        match listener {
            Listener::Portal => self.portal.clone(),
            Listener::Console => self.console.clone(),
        }
    }

    /// Sends a request to the portal's listener, and returns the response with its body as it arrives.
    pub async fn response_to(&self, request: Request<Body>) -> axum::response::Response {
        let uri = request.uri().clone();
        let response = self.portal.clone().oneshot(self.of_caller(request)).await.unwrap();
        security_headers::check(&uri, response.headers());
        response
    }

    /// Someone with a session from this server or another one.
    pub fn with(&self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self.clone() }
    }

    /// Somebody with that network address.
    pub fn from(&self, address: &str) -> Self {
        Self { address: Some(address.to_owned()), ..self.clone() }
    }

    /// Somebody whose calls have one more header.
    pub fn with_header(&self, name: &'static str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.push((name, value.to_owned()));
        other
    }

    pub async fn login(&self, email: &str, password: &str) -> Answer {
        self.post("/api/v1/auth/login", json!({"email": email, "password": password})).await
    }

    /// Asks for a sign-in code.
    pub async fn request_code(&self, email: &str) -> Answer {
        self.post("/api/v1/auth/request-signin-otp", json!({"email": email})).await
    }

    /// Signs in with a code.
    pub async fn verify_code(&self, email: &str, password: &str, otp: &str) -> Answer {
        let credentials = json!({"email": email, "password": password, "otp": otp});
        self.post("/api/v1/auth/verify-signin-otp", credentials).await
    }

    pub async fn request_reset_code(&self, email: &str) -> Answer {
        self.post("/api/v1/auth/request-password-reset", json!({"email": email})).await
    }

    pub async fn reset_password(&self, email: &str, otp: &str, new_password: &str) -> Answer {
        let reset = json!({"email": email, "otp": otp, "new_password": new_password});
        self.post("/api/v1/auth/reset-password", reset).await
    }

    /// Signs in by password, as one of the demo accounts: `admin`, `supervisor` or `agent`; or as another one with
    /// an address of the same domain, opened by [`TestApp::open_account`].
    pub async fn sign_in(&self, who: &str) -> Self {
        let signed_in = self.login(&format!("{who}@mkopo.test"), demo::PASSWORD).await.json();
        self.with(signed_in["user"]["token"].as_str().unwrap())
    }

    /// The token of the caller's session.
    pub fn token(&self) -> &str {
        self.session.as_ref().unwrap()
    }

    /// The pending list.
    pub async fn pending(&self) -> Vec<Value> {
        self.get("/api/v1/disbursements/pending").await.json().as_array().unwrap().clone()
    }

    /// All records.
    pub async fn records(&self) -> Vec<Value> {
        self.get("/api/v1/disbursement-records").await.json().as_array().unwrap().clone()
    }

    /// The first loan of the pending list that [`waiting`] finds.
    pub async fn waiting_loan(&self) -> Value {
        let [loan] = self.waiting_loans().await;
        loan
    }

    /// The first loans of the pending list that [`waiting`] finds.
    pub async fn waiting_loans<const N: usize>(&self) -> [Value; N] {
        let pending = self.pending().await;
        let loans: Vec<Value> = waiting(&pending).take(N).cloned().collect();
        loans.try_into().unwrap()
    }

    /// Pays a loan of the pending list out, as the portal does.
    pub async fn disburse(&self, loan: &Value) -> Answer {
        self.send(payout(loan)).await
    }

    /// Like [`TestApp::disburse`], with an `Idempotency-Key`.
    pub async fn disburse_with_key(&self, loan: &Value, key: &str) -> Answer {
        self.disburse_body_with_key(loan, disbursement_of(loan), key).await
    }

    pub async fn disburse_body_with_key(&self, loan: &Value, body: Value, key: &str) -> Answer {
        let request = request(Method::POST, &payout_path(loan), None, body);
        self.send(with_headers(request, &[("idempotency-key", key)])).await
    }

    /// Runs `call`, which pays out `loan`, until the payout is stored. Its request then waits on its way to mobile money
    /// until the first of the two is dropped.
    pub async fn claimed<'c>(
        &self,
        loan: &Value,
        call: impl Future<Output = Answer> + 'c,
    ) -> (OwnedRwLockWriteGuard<()>, Pin<Box<dyn Future<Output = Answer> + 'c>>) {
        let held = self.sandbox.mobile_money.hold_requests().await;
        let mut call: Pin<Box<dyn Future<Output = Answer> + 'c>> = Box::pin(call);
        self.until_claimed(loan, &mut call).await;
        (held, call)
    }

    /// Runs a call that pays out `loan` until the payout is stored, and no further.
    pub async fn until_claimed<T>(&self, loan: &Value, call: &mut (impl Future<Output = T> + Unpin)) {
        run_until("the payout is stored", call, async || !self.records_of(loan).await.is_empty()).await;
    }

    /// The records of one loan, the newest first.
    pub async fn records_of(&self, loan: &Value) -> Vec<Value> {
        let mut records = self.records().await;
        records.retain(|record| record["loan_id"] == loan["loan_id"]);
        records
    }

    /// The status of the newest record of one loan.
    pub async fn status_of(&self, loan: &Value) -> String {
        self.records_of(loan).await[0]["status"].as_str().unwrap().to_owned()
    }
}

/// By how much the clock moves at a time.
const STEP: Duration = Duration::from_millis(100);

/// How long a test waits for what it does not do itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for what a service does by itself; a test that waits in vain says for `what`.
pub async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    patiently(what, waiting).await;
}

/// Runs `call` until it is so, and no further; a test that waits in vain says for `what`.
pub async fn run_until<T>(
    what: &str,
    call: &mut (impl Future<Output = T> + Unpin),
    mut is_so: impl AsyncFnMut() -> bool,
) {
    let running = async {
        loop {
            tokio::select! {
                biased;
                _ = &mut *call => panic!("over before {what}"),
                is_so = is_so() => if is_so { return },
            }
            tokio::task::yield_now().await;
        }
    };
    patiently(what, running).await;
}

/// The result of `waiting`; a test that waits in vain says for `what`.
pub async fn patiently<T>(what: &str, waiting: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// A message in the outbox.
#[derive(Debug, sqlx_macros::FromRow, serde::Serialize)]
pub struct Message {
    pub channel: String,
    pub recipient: String,
    pub subject: Option<String>,
    pub body: String,
    pub code: Option<String>,
    pub is_sent: bool,
    pub attempts: i64,
    pub next_attempt_at: Option<UnixMillis>,
    pub last_error: Option<String>,
}

/// One of the two listeners.
#[derive(Clone, Copy, Debug)]
pub enum Listener {
    Portal,
    Console,
}

/// Serves `router` on a port of this machine, and returns its address.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(connections::serve(listener, router, Limits::default(), std::future::pending()));
    format!("http://{address}")
}

/// Sends any request to a service; the response must match the contract, and be no bug.
pub async fn send(router: Router, request: Request<Body>) -> Answer {
    let (method, path) = (request.method().clone(), request.uri().to_string());
    let answer = answer(router, request).await;
    assert!(answer.status.cause.is_none(), "{}", answer.status);
    contract::check(&method, &path, *answer.status, &answer.headers, &answer.bytes);
    answer
}

async fn answer(router: Router, request: Request<Body>) -> Answer {
    let (call, uri) = (format!("{} {}", request.method(), request.uri()), request.uri().clone());
    let response = router.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    security_headers::check(&uri, &parts.headers);
    let body = body.collect().await.unwrap().to_bytes();
    let bytes = decoded(&parts.headers, &body);
    let cause = parts.extensions.get().cloned();
    let status = Status { code: parts.status, call, body: bytes.clone(), cause };
    Answer { status, headers: parts.headers, bytes, sent: body.len() }
}

/// The settings of a test: demo mode, in that data folder.
pub fn settings(data_dir: &str, options: &[&str]) -> Settings {
    let demo = if options.contains(&"--demo") { &[][..] } else { &["--demo", "true"] };
    let needs_secret = test_store::is_postgres() && !options.contains(&"--jwt-secret");
    let secret = if needs_secret { &["--jwt-secret", JWT_SECRET][..] } else { &[] };
    let store = test_store::options(Path::new(data_dir));
    let console =
        if options.contains(&"--console-token") { &[][..] } else { &["--console-token", CONSOLE_TOKEN] };
    let line = ["mkopo", "serve"].into_iter().chain(console.iter().copied());
    let line = line.chain(secret.iter().copied()).chain(store.iter().map(String::as_str));
    let command =
        CommandLine::parse_from(line.chain(demo.iter().copied()).chain(options.iter().copied())).command;
    let Command::Serve(settings) = command else { panic!("{command:?}") };
    settings
}

/// A field of each entry of a list.
pub fn column<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    list.as_array().unwrap().iter().map(|entry| &entry[field]).collect()
}

/// The loans of the list without a payout, whose customer's number is not magic.
pub fn waiting(pending: &[Value]) -> impl Iterator<Item = &Value> {
    pending.iter().filter(|loan| {
        let phone = loan["customer_phone_number"].as_str().unwrap();
        loan["disbursement_status"] == "NOT_STARTED" && MAGIC.iter().all(|magic| magic.phone != phone)
    })
}

/// The body that the portal sends to pay `loan` out.
pub fn disbursement_of(loan: &Value) -> Value {
    json!({
        "agent_id": 1,
        "amount": loan["total_loan_amount"],
        "phone_number": loan["customer_phone_number"],
    })
}

/// The path of the call that pays `loan` out.
pub fn payout_path(loan: &Value) -> String {
    format!("/api/v1/disbursements/{}/disburse", loan["loan_id"].as_str().unwrap())
}

/// The request that pays `loan` out, as the portal makes it.
pub fn payout(loan: &Value) -> Request<Body> {
    request(Method::POST, &payout_path(loan), None, disbursement_of(loan))
}

/// An agent's account, with the password of the demo accounts.
pub fn account(email: &str) -> Value {
    json!({
        "email": email, "first_name": "Grace", "last_name": "Wekesa", "phone_number": "0712 345 678",
        "role": "agent", "password": demo::PASSWORD,
    })
}

/// The request, as it arrives from a network address.
pub fn sent_from(address: &str, mut request: Request<Body>) -> Request<Body> {
    let peer = SocketAddr::new(address.parse().unwrap(), 40_000);
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

/// The request, with more headers.
pub fn with_headers(mut request: Request<Body>, headers: &[(&'static str, &str)]) -> Request<Body> {
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

/// A request as the portal makes it.
pub fn request(
    method: Method,
    path: &str,
    token: Option<&str>,
    body: impl Into<Option<Value>>,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    match body.into() {
        Some(body) => request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(serde_json::to_vec(&body).unwrap())),
        None => request.body(Body::empty()),
    }
    .unwrap()
}

fn decoded(headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match headers.get(header::CONTENT_ENCODING).map(|encoding| encoding.to_str().unwrap()) {
        None => plain.extend_from_slice(body),
        Some("gzip") => _ = flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap(),
        Some("br") => _ = brotli::Decompressor::new(body, 4096).read_to_end(&mut plain).unwrap(),
        Some("zstd") => plain = zstd::decode_all(body).unwrap(),
        Some(other) => panic!("unexpected encoding {other}"),
    }
    plain
}

/// The response to a call.
pub struct Answer {
    pub status: Status,
    pub headers: HeaderMap,
    /// The decoded body.
    pub bytes: Vec<u8>,
    /// The size of the body as it was sent, in bytes.
    pub sent: usize,
}

impl Answer {
    /// Returns whether it is a replay of the first answer.
    pub fn is_replay(&self) -> bool {
        self.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
    }

    /// The body of a call that must have succeeded.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert!(!self.status.is_client_error() && !self.status.is_server_error(), "{}", self.status);
        self.body()
    }

    /// The body, whatever the status.
    #[track_caller]
    pub fn body(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.status))
    }

    /// The status, code and text of a call that must have been refused.
    #[track_caller]
    pub fn failure(&self) -> (u16, String, String) {
        let is_failed = self.status.is_client_error() || self.status.is_server_error();
        assert!(is_failed, "{}", self.status);
        let body = self.body();
        assert_eq!(body["error"], body["message"]);
        let text = |field: &str| {
            let text = body[field].as_str();
            text.unwrap_or_else(|| panic!("no {field}: {}", self.status)).to_owned()
        };
        (self.status.as_u16(), text("code"), text("error"))
    }

    /// The status and code of a call that must have been refused: `404 loan_not_found`.
    #[track_caller]
    pub fn kind(&self) -> String {
        let (status, code, _) = self.failure();
        format!("{status} {code}")
    }

    /// The status, code and text of a call that must have been refused, in one line.
    #[track_caller]
    pub fn refusal(&self) -> String {
        let (status, code, text) = self.failure();
        format!("{status} {code}: {text}")
    }
}

/// The status of an answer. An assertion about it that fails shows the call, the body and the cause of a 500.
#[derive(Clone)]
pub struct Status {
    code: StatusCode,
    call: String,
    body: Vec<u8>,
    cause: Option<Cause>,
}

impl Deref for Status {
    type Target = StatusCode;

    fn deref(&self) -> &StatusCode {
        &self.code
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl PartialEq<StatusCode> for Status {
    fn eq(&self, code: &StatusCode) -> bool {
        self.code == *code
    }
}

impl PartialEq<u16> for Status {
    fn eq(&self, code: &u16) -> bool {
        self.code == *code
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_CHARS: usize = 2000;
        let Self { code, call, body, cause } = self;
        let body: String = String::from_utf8_lossy(body).chars().take(MAX_CHARS).collect();
        write!(formatter, "{code} to {call}, with the body {body:?}")?;
        cause.as_ref().map_or(Ok(()), |cause| write!(formatter, ", caused by {}", cause.0))
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
