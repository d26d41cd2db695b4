//! Random schedules of calls, time, crashes and operators' acts on two servers whose clocks differ,
//! checked against what was observed before. The test controls the clocks and the randomness.

use std::{
    collections::HashMap,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use axum::http::Method;
use base::clock::Clock;
use lending::{mobile_money::Outcome, payouts};
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    known::{Call, Known},
    number,
    pair::{Pair, SERVERS},
    test_app::{Answer, NOON, TestApp, waiting},
    test_store,
};

const LOANS: usize = 3;
const USERS: [&str; 3] = ["agent", "supervisor", "admin"];
/// The snapshot of the state at the start, with its sessions.
const START: &str = "start";
/// The snapshots that schedules save.
const SNAPSHOTS: [&str; 2] = ["one", "two"];

const HALF_AN_HOUR_MS: i64 = 30 * 60 * 1000;

/// A step of a schedule; `on` is the server that it happens to.
#[derive(Clone, Debug)]
enum Step {
    /// A call to pay a loan out, with one of three keys or none.
    Call {
        on: usize,
        loan: usize,
        user: usize,
        key: Option<u8>,
    },
    /// The caller of the oldest running call disconnects.
    HangUp,
    /// Runs all tasks that are ready, for some time.
    Run {
        ms: u64,
    },
    /// Runs tasks for only a few polls, so that the next step interrupts them.
    Turn {
        on: usize,
        turns: u32,
    },
    Pass {
        ms: u64,
    },
    /// The clock of one server jumps forward.
    Jump {
        on: usize,
        ms: u64,
    },
    /// The console moves the clock of both servers.
    SetClock {
        on: usize,
        to: ClockMove,
    },
    Reconcile {
        on: usize,
    },
    Next(usize, Vec<Outcome>),
    /// Requests to mobile money are held up on their way, or pass again.
    HoldRequests {
        on: usize,
        is_held: bool,
    },
    Crash {
        on: usize,
        ahead_ms: i64,
    },
    Stop {
        on: usize,
        ahead_ms: i64,
    },
    /// Both servers crash. The data is kept as it is, or replaced by the copy that was kept last.
    CrashBoth {
        data: Data,
        ahead_ms: [i64; SERVERS],
    },
    /// A reset, and after a few polls of both servers the state at the start, with its sessions.
    Reset {
        on: usize,
        turns: u32,
    },
    Save {
        on: usize,
        name: &'static str,
    },
    Restore {
        on: usize,
        name: &'static str,
    },
}

#[derive(Clone, Debug)]
enum ClockMove {
    Forward {
        minutes: u32,
    },
    /// To so long after [`NOON`].
    To {
        minutes: i64,
    },
    Frozen(bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Data {
    Left,
    LeftAndCopied,
    PutBack,
}

fn ahead_ms() -> impl Strategy<Value = i64> + Clone {
    prop_oneof![Just(0), -HALF_AN_HOUR_MS..HALF_AN_HOUR_MS]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let on = 0..SERVERS;
    let key = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let call = (on.clone(), 0..LOANS, 0..USERS.len(), key);
    let call = call.prop_map(|(on, loan, user, key)| Step::Call { on, loan, user, key });
    let outcomes = proptest::collection::vec(select(&Outcome::ALL[..]), 1..4);
    let pass = prop_oneof![1..12_000_u64, 1..200_000_u64];
    let jump = prop_oneof![1..30_000_u64, 1..3_600_000_u64];
    let clock_move = prop_oneof![
        3 => (1..60_u32).prop_map(|minutes| ClockMove::Forward { minutes }),
        3 => (-120..120_i64).prop_map(|minutes| ClockMove::To { minutes }),
        1 => (1440..28_800_i64).prop_map(|minutes| ClockMove::To { minutes }),
        1 => any::<bool>().prop_map(ClockMove::Frozen),
    ];
    let data = select(&[Data::Left, Data::LeftAndCopied, Data::PutBack]);
    let both = [ahead_ms(), ahead_ms()];
    let restored = select(&[SNAPSHOTS[0], SNAPSHOTS[0], SNAPSHOTS[1], START]);
    let step = prop_oneof![
        16 => call,
        2 => Just(Step::HangUp),
        10 => (0..4_u64).prop_map(|ms| Step::Run { ms }),
        12 => (on.clone(), 1..60_u32).prop_map(|(on, turns)| Step::Turn { on, turns }),
        5 => pass.prop_map(|ms| Step::Pass { ms }),
        3 => (on.clone(), jump).prop_map(|(on, ms)| Step::Jump { on, ms }),
        3 => (on.clone(), clock_move).prop_map(|(on, to)| Step::SetClock { on, to }),
        5 => on.clone().prop_map(|on| Step::Reconcile { on }),
        7 => (on.clone(), outcomes).prop_map(|(on, outcomes)| Step::Next(on, outcomes)),
        4 => (on.clone(), any::<bool>()).prop_map(|(on, is_held)| Step::HoldRequests { on, is_held }),
        3 => (on.clone(), ahead_ms()).prop_map(|(on, ahead_ms)| Step::Crash { on, ahead_ms }),
        2 => (on.clone(), ahead_ms()).prop_map(|(on, ahead_ms)| Step::Stop { on, ahead_ms }),
        2 => (data, both).prop_map(|(data, ahead_ms)| Step::CrashBoth { data, ahead_ms }),
        1 => (on.clone(), 0..40_u32).prop_map(|(on, turns)| Step::Reset { on, turns }),
        2 => (on.clone(), select(&SNAPSHOTS[..])).prop_map(|(on, name)| Step::Save { on, name }),
        2 => (on, restored).prop_map(|(on, name)| Step::Restore { on, name }),
    ];
    proptest::collection::vec(step, 5..60)
}

/// A data folder with the demo data and signed-in users, created once and copied.
struct Template {
    folder: Arc<TempDir>,
    tokens: Vec<String>,
    loans: Vec<Value>,
    /// The float and everything that was ever paid from it.
    money: i64,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| template(false));

/// One whose float pays all loans but the last, and is then 0.
static SHORT: LazyLock<Template> = LazyLock::new(|| template(true));

fn template(is_short: bool) -> Template {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (tokens, loans, money) = Runtime::new().unwrap().block_on(async {
        let options = ["--session-minutes", "43200"];
        let app = TestApp::open(Arc::clone(&folder), Clock::held_at(NOON), &options, 0).await;
        let mut tokens = Vec::new();
        for user in USERS {
            tokens.push(app.sign_in(user).await.token().to_owned());
        }
        let pending = app.with(&tokens[0]).pending().await;
        let loans: Vec<Value> = waiting(&pending).take(LOANS).cloned().collect();
        if is_short {
            let amounts = loans.iter().map(|loan| loan["total_loan_amount"].as_i64().unwrap());
            let float: i64 = amounts.take(LOANS - 1).sum();
            app.set_console(Method::PUT, "/scenario", json!({"float": float})).await;
        }
        let money = money(&app).await.iter().sum();
        app.set_console(Method::POST, &format!("/data/snapshots/{START}"), Value::Null).await;
        app.sandbox.close(Duration::ZERO).await;
        (tokens, loans, money)
    });
    Template { folder, tokens, loans, money }
}

/// The float, and what was paid from it, as of one moment.
async fn money(app: &TestApp) -> [i64; 2] {
    const MONEY: &str = "
        SELECT float, (SELECT CAST(sum(amount) AS BIGINT) FROM mobile_money_payment WHERE result_code = '0')
        FROM mobile_money_account";
    let mut reader = app.sandbox.database.read().await.unwrap();
    let (float, paid) = store::query_as(MONEY).fetch_one(&mut reader).await.unwrap();
    [float, paid]
}

/// A call that has not been answered yet.
struct Running {
    on: usize,
    call: Call,
    /// `true` if it began before other data was put in place.
    is_older: bool,
    answer: JoinHandle<Answer>,
}

/// A copy of the data, and what was known then.
struct Kept {
    folder: Arc<TempDir>,
    known: Known,
    snapshots: HashMap<&'static str, Known>,
}

/// The servers, and what the test has observed.
struct DemoData {
    template: &'static Template,
    /// The float and everything that was ever paid from it.
    money: i64,
    pair: Pair,
    running: Vec<Running>,
    known: Known,
    /// The observations at the time when each snapshot was saved.
    snapshots: HashMap<&'static str, Known>,
    kept: Kept,
    /// `true` if the time never was a day ahead, when keys expire.
    has_keys: bool,
    looks: usize,
}

impl DemoData {
    fn new(template: &'static Template, ahead_ms: [i64; SERVERS]) -> Self {
        let snapshots = HashMap::from([(START, Known::default())]);
        Self {
            template,
            money: template.money,
            pair: Pair::start_on(&template.folder, ahead_ms),
            running: Vec::new(),
            known: Known::default(),
            snapshots: snapshots.clone(),
            kept: Kept { folder: Arc::clone(&template.folder), known: Known::default(), snapshots },
            has_keys: true,
            looks: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            &Step::Call { on, loan, user, key } => self.call(on, loan, user, key),
            Step::HangUp => {
                if !self.running.is_empty() {
                    self.running.remove(0).answer.abort();
                }
            }
            &Step::Run { ms } => self.run(Duration::from_millis(ms)),
            &Step::Turn { on, turns } => {
                for _ in 0..turns {
                    self.pair.turn(on);
                }
            }
            &Step::Pass { ms } => self.pair.pass(Duration::from_millis(ms)),
            &Step::Jump { on, ms } => self.pair.jump(on, Duration::from_millis(ms)),
            Step::SetClock { on, to } => self.set_clock(*on, to),
            &Step::Reconcile { on } => self.reconcile(on),
            Step::Next(on, outcomes) => {
                let (app, outcomes) = (self.pair.app(*on), outcomes.clone());
                self.pair.finish(*on, async move { app.next_outcomes(&outcomes).await });
            }
            &Step::HoldRequests { on, is_held } => self.pair.hold_requests(on, is_held),
            &Step::Crash { on, ahead_ms } => {
                self.running.retain(|running| running.on != on);
                self.pair.crash(on);
                self.pair.start(on, ahead_ms);
            }
            &Step::Stop { on, ahead_ms } => {
                self.pair.stop(on);
                self.collect_answers();
                self.running.retain(|running| running.on != on);
                self.pair.crash(on);
                self.pair.start(on, ahead_ms);
            }
            &Step::CrashBoth { data, ahead_ms } => self.crash_both(data, ahead_ms),
            &Step::Reset { on, turns } => {
                self.console(on, Method::POST, "/data/reset", None);
                self.replaced();
                for _ in 0..turns {
                    self.pair.turn_all();
                }
                self.restore(on, START);
                self.revive_sessions(on);
            }
            &Step::Save { on, name } => {
                self.console(on, Method::POST, &format!("/data/snapshots/{name}"), None);
                self.snapshots.insert(name, self.known.clone());
            }
            &Step::Restore { on, name } => self.restore(on, name),
        }
        self.collect_answers();
        // Looking takes time, in which the tasks would continue.
        if !matches!(step, Step::Turn { .. } | Step::Call { .. } | Step::Pass { .. } | Step::Jump { .. }) {
            self.look();
        }
    }

    fn call(&mut self, on: usize, loan: usize, user: usize, key: Option<u8>) {
        let (app, template) = (self.pair.app(on), self.template);
        let answer = self.pair.spawn(on, async move {
            let (staff, asked) = (app.with(&template.tokens[user]), &template.loans[loan]);
            match key {
                Some(key) => staff.disburse_with_key(asked, &key.to_string()).await,
                None => staff.disburse(asked).await,
            }
        });
        let loan_id = template.loans[loan]["loan_id"].as_str().unwrap().to_owned();
        self.running.push(Running { on, call: Call { loan_id, user, key }, is_older: false, answer });
    }

    fn run(&self, time: Duration) {
        let until = Instant::now() + time;
        self.pair.turn_all();
        while Instant::now() < until {
            self.pair.turn_all();
        }
    }

    /// Lets the transactions that wait begin, and on PostgreSQL end: those of calls, and those that it has not yet seen
    /// were a crashed server's. They take real time, more on a busy machine, of which the servers' clocks know nothing.
    fn run_transactions(&self) {
        const OPEN: &str = "
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'";
        let app = self.pair.app(0);
        let until = Instant::now() + Duration::from_secs(15);
        let are_open = || {
            let app = app.clone();
            self.pair.finish(0, async move {
                let mut reader = app.sandbox.database.read().await.unwrap();
                store::query_scalar::<i64>(OPEN).fetch_one(&mut reader).await.unwrap() > 0
            })
        };
        let are_waiting =
            || (0..SERVERS).any(|on| self.pair.app(on).sandbox.database.load().writes_waiting > 0);
        while (are_waiting() || test_store::is_postgres() && are_open()) && Instant::now() < until {
            self.pair.turn_all();
        }
    }

    fn console(&self, on: usize, method: Method, path: &str, body: Option<Value>) {
        let (app, path) = (self.pair.app(on), path.to_owned());
        let answer = self.pair.finish(on, async move { app.console(method, &path, body).await });
        assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
    }

    fn set_clock(&mut self, on: usize, to: &ClockMove) {
        let body = match *to {
            ClockMove::Forward { minutes } => json!({"advance": format!("{minutes}m")}),
            ClockMove::To { minutes } => {
                self.has_keys &= minutes < 1440;
                let minutes_ms = minutes * 60_000;
                json!({"now": base::clock::UnixMillis(NOON.0 + minutes_ms).to_string()})
            }
            ClockMove::Frozen(frozen) => json!({"frozen": frozen}),
        };
        self.console(on, Method::PUT, "/clock", Some(body));
    }

    fn reconcile(&self, on: usize) {
        let app = self.pair.app(on);
        self.pair.finish(on, async move { payouts::reconcile(&app.sandbox.payouts).await.unwrap() });
    }

    fn crash_both(&mut self, data: Data, ahead_ms: [i64; SERVERS]) {
        self.running.clear();
        let folder = self.pair.crash_all();
        if data == Data::LeftAndCopied {
            self.kept = Kept { folder, known: self.known.clone(), snapshots: self.snapshots.clone() };
        }
        if data == Data::PutBack {
            self.known = self.kept.known.clone();
            self.snapshots = self.kept.snapshots.clone();
            self.pair.start_again(Some(&self.kept.folder), ahead_ms);
        } else {
            self.pair.start_again(None, ahead_ms);
        }
    }

    /// Restores a snapshot, if it was saved.
    fn restore(&mut self, on: usize, name: &'static str) {
        let Some(known) = self.snapshots.get(name).cloned() else { return };
        self.console(on, Method::PUT, &format!("/data/snapshots/{name}"), None);
        self.replaced();
        self.known = known;
    }

    /// A reset ends all sessions for good. The schedules go on with theirs, which take long to open.
    fn revive_sessions(&self, on: usize) {
        let app = self.pair.app(on);
        let revived = async move { app.write("UPDATE session SET ended_at = NULL").await };
        self.pair.finish(on, revived).unwrap();
    }

    /// Other data has been put in place: the answers of running calls are about data that is gone.
    fn replaced(&mut self) {
        for running in &mut self.running {
            running.is_older = true;
        }
    }

    fn collect_answers(&mut self) {
        let (done, running): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|running| running.answer.is_finished());
        self.running = running;
        for Running { on, call, is_older, answer } in done {
            let answer = self.pair.result_of(on, answer);
            if is_older {
                let status = answer.status.as_u16();
                assert!(status < 500 || status == 503, "{}", answer.status);
            } else {
                self.known.check_answer(&call, &answer, self.has_keys);
            }
        }
    }

    /// Checks the invariants, on each server in turn.
    fn look(&mut self) {
        self.looks += 1;
        let on = self.looks % SERVERS;
        let (app, template) = (self.pair.app(on), self.template);
        let (audit, records, texts, [float, paid]) = self.pair.finish(on, async move {
            let audit = {
                let mut reader = app.sandbox.database.read().await.unwrap();
                payouts::invariant(&mut reader).await.unwrap()
            };
            let texts = texts(&app, &template.loans).await;
            (audit, app.with(&template.tokens[0]).records().await, texts, money(&app).await)
        });
        assert!(audit.ok, "{audit:?}");
        assert!(float >= 0 && float + paid == self.money, "{float} left of {}, {paid} paid", self.money);
        self.known.check_records(&records, &template.loans);
        for (loan, texts) in template.loans.iter().zip(texts) {
            let of_loan = || records.iter().filter(|record| record["loan_id"] == loan["loan_id"]);
            let live = of_loan().filter(|record| record["status"] != "FAILED").count();
            assert!(live <= 1, "{live} live payouts of one loan");
            let paid = of_loan().any(|record| record["status"] == "COMPLETED");
            // A payout may settle between the reads, but there is never an SMS without a payout.
            assert!(texts <= i64::from(paid), "{texts} SMS for a loan that is paid: {paid}");
        }
    }

    /// Everything settles within a minute; then, with enough money, every loan can be paid exactly once.
    fn end(&mut self) {
        let template = self.template;
        for on in 0..SERVERS {
            self.take(&Step::HoldRequests { on, is_held: false });
        }
        for _ in 0..12 {
            self.run(Duration::from_millis(1));
            self.run_transactions();
            self.pair.pass(Duration::from_secs(5));
            for on in 0..SERVERS {
                self.reconcile(on);
            }
            self.collect_answers();
            self.look();
        }
        for on in 0..SERVERS {
            let app = self.pair.app(on);
            let pending = self.pair.finish(on, async move { app.with(&template.tokens[0]).pending().await });
            for loan in &template.loans {
                let open = pending.iter().find(|other| other["loan_id"] == loan["loan_id"]);
                assert!(
                    open.is_none_or(|open| open["disbursement_status"] != "PENDING"),
                    "{open:?} is still open"
                );
            }
        }
        self.take(&Step::Next(0, vec![]));
        let [float, _] = self.pair.finish(0, {
            let app = self.pair.app(0);
            async move { money(&app).await }
        });
        self.console(0, Method::PUT, "/scenario", Some(json!({"float": 50_000_000})));
        self.money += 50_000_000 - float;
        for loan in 0..LOANS {
            self.call(loan % SERVERS, loan, 0, None);
        }
        while !self.running.is_empty() {
            self.take(&Step::Run { ms: 1 });
        }
        let app = self.pair.app(0);
        let texts = self.pair.finish(0, async move { texts(&app, &template.loans).await });
        assert_eq!(texts, [1; LOANS], "one SMS for each loan");
        for on in 0..SERVERS {
            self.pair.stop(on);
        }
    }
}

/// How long the steps of a schedule took in real time, which is said when one fails: PostgreSQL's and the pools' timeouts
/// know nothing of the servers' clocks.
struct Pace {
    steps: Vec<Duration>,
    began: Instant,
}

impl Pace {
    fn add(&mut self) {
        self.steps.push(self.began.elapsed());
        self.began = Instant::now();
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        const STALL: Duration = Duration::from_secs(2);
        if thread::panicking() {
            self.add();
            let has_stalled = self.steps.iter().any(|step| *step > STALL);
            eprintln!(
                "{}the steps took {:?}",
                if has_stalled { "the machine stalled: " } else { "" },
                self.steps
            );
        }
    }
}

/// The number of SMS to the customer of each loan.
async fn texts(app: &TestApp, loans: &[Value]) -> Vec<i64> {
    let mut texts = Vec::new();
    for loan in loans {
        texts.push(app.texts_to(loan["customer_phone_number"].as_str().unwrap()).await);
    }
    texts
}

/// Runs one on each core: more would pass the timeouts of PostgreSQL and of the pools, which are in real time.
fn run_schedules(cases: u32) {
    let at_once = thread::available_parallelism().unwrap().get();
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        for first in 0..at_once {
            let done = &done;
            scope.spawn(move || {
                for _ in (first..cases as usize).step_by(at_once) {
                    run_schedule();
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if done.is_multiple_of(1000) {
                        println!("{done} of {cases} schedules");
                    }
                }
            });
        }
    });
}

fn run_schedule() {
    // On PostgreSQL a failure may depend on real time, and a shorter schedule fails for another reason.
    let max_shrink_iters = if test_store::is_postgres() { 0 } else { 60 };
    let config = Config { cases: 1, failure_persistence: None, max_shrink_iters, ..Config::default() };
    // In a third of the schedules, the float runs out.
    let is_short = prop_oneof![2 => Just(false), 1 => Just(true)];
    let schedule = ([ahead_ms(), ahead_ms()], is_short, steps());
    let outcome = TestRunner::new(config).run(&schedule, |(ahead_ms, is_short, steps)| {
        let template = if is_short { &SHORT } else { &TEMPLATE };
        let mut world = DemoData::new(template, ahead_ms);
        let mut pace = Pace { steps: Vec::new(), began: Instant::now() };
        for step in &steps {
            world.take(step);
            pace.add();
        }
        world.end();
        Ok(())
    });
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
}

// S-15
#[test]
fn whatever_the_schedule_each_loan_is_paid_once() {
    run_schedules(16);
}

#[test]
#[ignore = "takes an hour"]
fn whatever_the_schedule_each_loan_is_paid_once_at_length() {
    run_schedules(number("MKOPO_TEST_SCHEDULES").unwrap_or(10_000));
}
