//! Random schedules of calls, time, crashes and restarts, checked against invariants.
//!
//! Each life of the server has its own runtime. Dropping the runtime stops all tasks immediately, as
//! a crash does, and drops the connections with their uncommitted transactions. The next life opens
//! the same files. The test controls the clock and the randomness.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock},
    time::Duration,
};

use mkopo::{clock::Clock, mobile_money::Outcome, payouts};
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    store,
    test_app::{Answer, NOON, TestApp, waiting},
};

const LOANS: usize = 3;
const USERS: [&str; 3] = ["agent", "supervisor", "admin"];

#[derive(Clone, Debug)]
enum Step {
    /// A call to pay a loan out, with one of three keys or none.
    Call {
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
        turns: u32,
    },
    Pass {
        ms: u64,
    },
    Reconcile,
    Next(Vec<Outcome>),
    Crash,
    Stop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let call = (0..LOANS, 0..USERS.len(), key).prop_map(|(loan, user, key)| Step::Call { loan, user, key });
    let outcomes = proptest::collection::vec(select(&Outcome::ALL[..]), 1..4);
    let step = prop_oneof![
        8 => call,
        1 => Just(Step::HangUp),
        5 => (0..4_u64).prop_map(|ms| Step::Run { ms }),
        6 => (1..60_u32).prop_map(|turns| Step::Turn { turns }),
        3 => prop_oneof![1..12_000_u64, 1..200_000_u64].prop_map(|ms| Step::Pass { ms }),
        2 => Just(Step::Reconcile),
        4 => outcomes.prop_map(Step::Next),
        2 => Just(Step::Crash),
        1 => Just(Step::Stop),
    ];
    proptest::collection::vec(step, 5..45)
}

/// A data folder with the demo data and signed-in users, created once and copied.
struct Template {
    folder: Arc<TempDir>,
    tokens: Vec<String>,
    loans: Vec<Value>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (tokens, loans) = Runtime::new().unwrap().block_on(async {
        let app = open(&folder, &Clock::held_at(NOON), 0).await;
        let mut tokens = Vec::new();
        for user in USERS {
            tokens.push(app.sign_in(user).await.token);
        }
        let pending = app.with(&tokens[0]).pending().await;
        app.sandbox.close(Duration::ZERO).await;
        (tokens, waiting(&pending).take(LOANS).cloned().collect())
    });
    Template { folder, tokens, loans }
});

async fn open(folder: &Arc<TempDir>, clock: &Clock, life: u64) -> TestApp {
    TestApp::open(Arc::clone(folder), clock.clone(), &["--session-minutes", "43200"], life).await
}

/// One life of the server.
struct Life {
    runtime: Runtime,
    app: TestApp,
}

/// A call that has not been answered yet.
struct Running {
    loan: usize,
    user: usize,
    key: Option<u8>,
    call: JoinHandle<Answer>,
}

/// The server, and what the test has observed.
struct World {
    folder: Arc<TempDir>,
    clock: Clock,
    lives: u64,
    life: Option<Life>,
    running: Vec<Running>,
    /// The first answer to each user's key, and its loan.
    answered: HashMap<(usize, u8), (usize, Vec<u8>)>,
    /// Each settled record as it was first observed.
    settled: BTreeMap<String, Value>,
}

impl World {
    fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        store::copy(TEMPLATE.folder.path(), folder.path());
        let clock = Clock::held_at(NOON);
        let mut world = Self {
            folder,
            clock,
            lives: 0,
            life: None,
            running: Vec::new(),
            answered: HashMap::new(),
            settled: BTreeMap::new(),
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.lives += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let app = runtime.block_on(open(&self.folder, &self.clock, self.lives));
        self.life = Some(Life { runtime, app });
    }

    fn life(&self) -> &Life {
        self.life.as_ref().unwrap()
    }

    fn take(&mut self, step: &Step) {
        match step {
            &Step::Call { loan, user, key } => self.call(loan, user, key),
            Step::HangUp => {
                if !self.running.is_empty() {
                    self.running.remove(0).call.abort();
                }
            }
            &Step::Run { ms } => {
                self.life().runtime.block_on(async { tokio::time::sleep(Duration::from_millis(ms)).await });
            }
            &Step::Turn { turns } => self.life().runtime.block_on(async {
                for _ in 0..turns {
                    tokio::task::yield_now().await;
                    // Lets the database threads run too.
                    std::thread::sleep(Duration::from_micros(20));
                }
            }),
            Step::Pass { ms } => self.clock.advance(Duration::from_millis(*ms)),
            Step::Reconcile => {
                let life = self.life();
                life.runtime.block_on(payouts::reconcile(&life.app.sandbox)).unwrap();
            }
            Step::Next(outcomes) => {
                let life = self.life();
                life.runtime.block_on(life.app.next_outcomes(outcomes));
            }
            Step::Crash => {
                self.running.clear();
                self.life.take().unwrap().runtime.shutdown_timeout(Duration::from_secs(5));
                self.begin();
            }
            Step::Stop => {
                let life = self.life();
                life.runtime.block_on(life.app.sandbox.close(Duration::ZERO));
                self.collect_answers();
                self.running.clear();
                self.life = None;
                self.begin();
            }
        }
        self.collect_answers();
        // Checking takes time, in which the tasks would continue.
        if !matches!(step, Step::Turn { .. } | Step::Call { .. } | Step::Pass { .. }) {
            self.check_invariants();
        }
    }

    fn call(&mut self, loan: usize, user: usize, key: Option<u8>) {
        let Life { runtime, app } = self.life();
        let app = app.clone();
        let call = runtime.spawn(async move {
            let (staff, asked) = (app.with(&TEMPLATE.tokens[user]), &TEMPLATE.loans[loan]);
            match key {
                Some(key) => staff.disburse_with_key(asked, &key.to_string()).await,
                None => staff.disburse(asked).await,
            }
        });
        self.running.push(Running { loan, user, key, call });
    }

    fn collect_answers(&mut self) {
        let (done, running) =
            std::mem::take(&mut self.running).into_iter().partition(|it| it.call.is_finished());
        self.running = running;
        let done: Vec<Running> = done;
        for Running { loan, user, key, call } in done {
            let answer = self.life().runtime.block_on(call).unwrap();
            self.check_answer(loan, user, key, &answer);
        }
    }

    fn check_answer(&mut self, loan: usize, user: usize, key: Option<u8>, answer: &Answer) {
        let body = answer.json();
        let code = body["code"].as_str().unwrap_or_default();
        let status = answer.status.as_u16();
        match status {
            200 | 202 => assert_eq!(body["loan_id"], TEMPLATE.loans[loan]["loan_id"]),
            409 | 422 => {}
            // The server stopped during the call; the payout shows the result.
            500 | 503 => return,
            _ => panic!("{status} {body}"),
        }
        match code {
            "idempotency_key_reused" => {
                let (first, _) = self
                    .answered
                    .get(&(user, key.unwrap()))
                    .map_or((usize::MAX, None), |(l, b)| (*l, Some(b)));
                assert_ne!(first, loan, "the key was used with this loan");
            }
            "idempotency_key_in_use" | "in_progress" => {}
            "" | "already_disbursed" | "mobile_money_refused" => {
                let record = if code.is_empty() { &body } else { &body["record"] };
                if record["status"] != "PENDING" && !answer.is_replay() {
                    self.check_settled(record);
                }
                if let Some(key) = key {
                    let first =
                        self.answered.entry((user, key)).or_insert_with(|| (loan, answer.bytes.clone()));
                    assert_eq!(first.0, loan);
                    assert!(first.1 == answer.bytes, "another answer under the same key: {body}");
                }
            }
            _ => panic!("{status} {body}"),
        }
    }

    /// A settled payout never changes.
    fn check_settled(&mut self, record: &Value) {
        let facts =
            json!([record["loan_id"], record["status"], record["mpesa_ref"], record["error_message"]]);
        let id = record["id"].as_str().unwrap().to_owned();
        let first = self.settled.entry(id).or_insert_with(|| facts.clone());
        assert_eq!(*first, facts);
    }

    /// Checks the invariants.
    fn check_invariants(&mut self) {
        let life = self.life.take().unwrap();
        let (audit, records, texts) = life.runtime.block_on(async {
            let mut reader = life.app.sandbox.database.read().await.unwrap();
            let audit = payouts::invariant(&mut reader).await.unwrap();
            let texts: i64 = mkopo::database::query_scalar("SELECT count(*) FROM outbox_message")
                .fetch_one(&mut reader)
                .await
                .unwrap();
            drop(reader);
            (audit, life.app.with(&TEMPLATE.tokens[0]).records().await, texts)
        });
        self.life = Some(life);
        assert!(audit.ok, "{audit:?}");
        let mut paid = 0;
        for loan in &TEMPLATE.loans {
            let of_loan = || records.iter().filter(|record| record["loan_id"] == loan["loan_id"]);
            let unfailed = of_loan().filter(|record| record["status"] != "FAILED").count();
            assert!(unfailed <= 1, "{unfailed} live payouts of one loan");
            paid += of_loan().filter(|record| record["status"] == "COMPLETED").count();
            for record in of_loan().filter(|record| record["status"] != "PENDING") {
                self.check_settled(record);
            }
        }
        for known in self.settled.keys() {
            assert!(
                records.iter().any(|record| record["id"] == known.as_str()),
                "a settled payout has disappeared"
            );
        }
        // Payouts may settle between the two reads, but there is never an SMS without a payout.
        assert!(texts <= i64::try_from(paid).unwrap(), "{texts} SMS for {paid} payouts");
    }

    /// Lets time pass until everything settles; then every loan can be paid exactly once.
    fn end(&mut self) {
        for _ in 0..3 {
            self.take(&Step::Pass { ms: 320_000 });
            self.take(&Step::Reconcile);
            self.take(&Step::Run { ms: 2 });
        }
        let life = self.life();
        let pending = life.runtime.block_on(async { life.app.with(&TEMPLATE.tokens[0]).pending().await });
        for loan in &TEMPLATE.loans {
            let open = pending.iter().find(|other| other["loan_id"] == loan["loan_id"]);
            assert!(
                open.is_none_or(|open| open["disbursement_status"] != "PENDING"),
                "{open:?} is still open"
            );
        }
        self.take(&Step::Next(vec![]));
        for loan in 0..LOANS {
            self.call(loan, 0, None);
        }
        while !self.running.is_empty() {
            self.take(&Step::Run { ms: 1 });
        }
        let life = self.life();
        let texts: i64 = life.runtime.block_on(async {
            let mut reader = life.app.sandbox.database.read().await.unwrap();
            mkopo::database::query_scalar("SELECT count(*) FROM outbox_message")
                .fetch_one(&mut reader)
                .await
                .unwrap()
        });
        assert_eq!(texts, i64::try_from(LOANS).unwrap(), "one SMS for each loan");
        life.runtime.block_on(life.app.sandbox.close(Duration::ZERO));
    }
}

fn run_schedules(cases: u32) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
        }
        world.end();
        Ok(())
    });
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
}

#[test]
fn whatever_the_schedule_each_loan_is_paid_once() {
    run_schedules(16);
}

#[test]
#[ignore = "takes minutes"]
fn whatever_the_schedule_each_loan_is_paid_once_at_length() {
    run_schedules(1000);
}
