//! Random acts in several sandboxes at once, each held against a model of its own: nothing of one shows in
//! another.

use std::{collections::BTreeSet, time::Duration};

use axum::http::{Method, StatusCode};
use futures::future::join_all;
use lending::demo;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::{
    sandboxes::Given,
    test_app::{TestApp, waiting},
};

const SANDBOXES: usize = 4;

/// An act in a sandbox.
#[derive(Clone, Debug)]
enum Act {
    Pay,
    AskForCode,
    AddFault,
    RemoveFaults,
    MoveClock(u32),
    WrongPassword,
    SignOutAndIn,
    Reset,
    Approve,
    Look,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Pay),
        2 => Just(Act::AskForCode),
        1 => Just(Act::AddFault),
        1 => Just(Act::RemoveFaults),
        2 => (1..500_u32).prop_map(Act::MoveClock),
        2 => Just(Act::WrongPassword),
        1 => Just(Act::SignOutAndIn),
        1 => Just(Act::Reset),
        2 => Just(Act::Approve),
        3 => Just(Act::Look),
    ]
}

/// The state that a sandbox must show.
struct Model<'a> {
    given: Given<'a>,
    session: String,
    waiting: BTreeSet<String>,
    paid: BTreeSet<String>,
    messages: usize,
    faults: usize,
    moved_s: i64,
    wrong_passwords: usize,
    etag: Option<String>,
}

impl<'a> Model<'a> {
    async fn new(app: &'a TestApp) -> Self {
        let given = Given::make(app, json!({})).await;
        let session = given.sign_in("agent").await;
        let mut model = Self {
            given,
            session,
            waiting: BTreeSet::new(),
            paid: BTreeSet::new(),
            messages: 0,
            faults: 0,
            moved_s: 0,
            wrong_passwords: 0,
            etag: None,
        };
        model.waiting = model.listed().await;
        model
    }

    async fn loans(&self) -> Vec<Value> {
        self.given.pending(&self.session).await
    }

    async fn listed(&self) -> BTreeSet<String> {
        self.loans().await.iter().map(|loan| loan["loan_id"].as_str().unwrap().to_owned()).collect()
    }

    async fn perform(&mut self, act: Act) {
        match act {
            Act::Pay => {
                let loans = self.loans().await;
                let Some(loan) = waiting(&loans).next() else { return };
                let answer = self.given.disburse(&self.session, loan).await;
                // The daily limit of a customer or the float may refuse it.
                if answer.status == StatusCode::OK {
                    let id = loan["loan_id"].as_str().unwrap().to_owned();
                    self.waiting.remove(&id);
                    self.paid.insert(id);
                    self.messages += 1;
                }
            }
            Act::AskForCode => {
                let body = json!({"email": "supervisor@mkopo.test"});
                let path = "/api/v1/auth/request-signin-otp";
                let answer = self.given.call(Method::POST, path, None, Some(body)).await;
                if answer.status == StatusCode::OK {
                    self.messages += 1;
                }
            }
            Act::AddFault => {
                let fault = json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503});
                assert!(self.given.console(Method::POST, "/faults", Some(fault)).await.status.is_success());
                self.faults += 1;
            }
            Act::RemoveFaults => {
                assert!(self.given.console(Method::DELETE, "/faults", None).await.status.is_success());
                self.faults = 0;
            }
            Act::MoveClock(seconds) => {
                let advance = json!({"advance": format!("{seconds}s")});
                assert!(self.given.console(Method::PUT, "/clock", Some(advance)).await.status.is_success());
                self.moved_s += i64::from(seconds);
            }
            Act::WrongPassword => {
                let body = json!({"email": "admin@mkopo.test", "password": "not-the-password"});
                let answer = self.given.call(Method::POST, "/api/v1/auth/login", None, Some(body)).await;
                self.wrong_passwords += 1;
                let expected = if self.wrong_passwords > 9 {
                    StatusCode::TOO_MANY_REQUESTS
                } else {
                    StatusCode::BAD_REQUEST
                };
                // The window is over once the clock was moved far enough.
                assert!(answer.status == expected || self.moved_s >= 900, "{}", answer.status);
            }
            Act::SignOutAndIn => {
                let path = "/api/v1/auth/logout";
                let answer = self.given.call(Method::POST, path, Some(&self.session), None).await;
                assert_eq!(answer.status, StatusCode::NO_CONTENT);
                self.session = self.given.sign_in("agent").await;
            }
            Act::Reset => {
                assert!(self.given.console(Method::POST, "/data/reset", None).await.status.is_success());
                self.session = self.given.sign_in("agent").await;
                self.waiting = self.listed().await;
                self.paid.clear();
                (self.messages, self.faults, self.moved_s, self.wrong_passwords) = (0, 0, 0, 0);
            }
            Act::Approve => {
                let made = self.given.console(Method::POST, "/loans", Some(json!({"count": 1}))).await.json();
                self.waiting.insert(made[0]["loan_id"].as_str().unwrap().to_owned());
            }
            Act::Look => self.check().await,
        }
    }

    /// Compares everything that the sandbox shows with the model.
    async fn check(&mut self) {
        assert_eq!(self.listed().await, self.waiting, "{}", self.given.name);
        let path = "/api/v1/disbursement-records";
        let records = self.given.call(Method::GET, path, Some(&self.session), None).await;
        let shown: BTreeSet<String> = records
            .json()
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["loan_id"].as_str().unwrap().to_owned())
            .collect();
        assert!(self.paid.is_subset(&shown), "{}", self.given.name);
        self.etag = Some(records.headers["etag"].to_str().unwrap().to_owned());
        let outbox = self.given.console(Method::GET, "/outbox", None).await.json();
        assert_eq!(outbox.as_array().unwrap().len(), self.messages, "{}", self.given.name);
        let faults = self.given.console(Method::GET, "/faults", None).await.json();
        assert_eq!(faults.as_array().unwrap().len(), self.faults, "{}", self.given.name);
        let clock = self.given.console(Method::GET, "/clock", None).await.json();
        assert_eq!(clock["offset_ms"], self.moved_s * 1000, "{}", self.given.name);
        let audit = self.given.console(Method::GET, "/invariant", None).await.json();
        assert_eq!(audit["ok"], true, "{audit}");
        let traffic = self.given.console(Method::GET, "/traffic", None).await.json();
        let is_own = |call: &Value| call["user"].is_null() || call["user"] == "agent@mkopo.test";
        assert!(traffic.as_array().unwrap().iter().all(is_own));
    }
}

/// Runs a random schedule of acts in all sandboxes at once.
async fn run(schedule: Vec<(usize, Act)>) {
    let app = TestApp::start().await;
    let mut models = Vec::new();
    for _ in 0..SANDBOXES {
        models.push(Model::new(&app).await);
    }
    let main = app.sign_in("agent").await;
    let before = main.pending().await;
    for round in schedule.chunks(SANDBOXES * 2) {
        let acts = models.iter_mut().enumerate().map(|(number, model)| {
            let own: Vec<Act> = round.iter().filter(|act| act.0 == number).map(|act| act.1.clone()).collect();
            async move {
                for act in own {
                    model.perform(act).await;
                }
            }
        });
        join_all(acts).await;
        app.clock.advance(Duration::from_secs(1));
    }
    let sessions: Vec<String> = models.iter().map(|model| model.session.clone()).collect();
    for (number, model) in models.iter_mut().enumerate() {
        model.given.console(Method::DELETE, "/faults", None).await;
        model.faults = 0;
        model.check().await;
        for (other, session) in sessions.iter().enumerate() {
            let me = model.given.call(Method::GET, "/api/v1/auth/me", Some(session), None).await;
            let expected = if other == number { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
            assert_eq!(me.status, expected, "session of {other} in {number}");
        }
    }
    assert_eq!(main.pending().await, before, "main is as it was");
}

// S-45, S-83
#[tokio::test]
async fn outside_demo_mode_there_are_no_sandboxes_by_default_and_allowed_ones_are_in_demo_mode_all_the_same()
{
    let app = TestApp::start_with(&["--demo", "false"]).await;
    let refused = app.console(Method::POST, "/sandboxes", Some(json!({}))).await;
    assert!(refused.status.is_client_error(), "{}", refused.status);

    let app = app.restart_with(&["--demo", "false", "--sandboxes", "2"]).await;
    let (bare, seeded) = (Given::make(&app, json!({})).await, Given::make(&app, json!({"seed": 1})).await);
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    let login = bare.call(Method::POST, "/api/v1/auth/login", None, Some(credentials)).await;
    assert_eq!(login.failure().1, "user_not_found", "without a seed it has no accounts");
    seeded.sign_in("agent").await;
    for given in [&bare, &seeded] {
        let advance = json!({"advance": "1h"});
        assert_eq!(given.console(Method::PUT, "/clock", Some(advance)).await.status, StatusCode::OK);
        assert!(given.console(Method::POST, "/data/reset", None).await.status.is_success());
        given.sign_in("agent").await;
    }
    for (method, path) in [(Method::PUT, "/clock"), (Method::POST, "/data/reset")] {
        let in_main = app.console(method, path, Some(json!({}))).await;
        assert_eq!(in_main.kind(), "403 tools_off", "{path}");
    }
}

#[test]
fn nothing_of_one_sandbox_shows_in_another() {
    let schedules =
        std::env::var("MKOPO_TEST_SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_u32);
    let mut runner = TestRunner::new(Config::default());
    let strategy = prop::collection::vec((0..SANDBOXES, act()), 10..60);
    for _ in 0..schedules.min(200) {
        let schedule = strategy.new_tree(&mut runner).unwrap().current();
        let text = format!("{schedule:?}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(run(schedule))));
        assert!(ran.is_ok(), "with the schedule {text}");
    }
}
