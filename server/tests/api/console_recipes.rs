//! The recipes of `docs/console.md`, run exactly as written against the real binary.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use lending::demo;
use serde_json::{Value, json};

use crate::{
    test_app::{CONSOLE_TOKEN, JWT_SECRET, disbursement_of, waiting},
    test_store,
};

const RECIPES: &str = include_str!("../../../docs/console.md");

/// The title and the command of each recipe.
fn recipes() -> Vec<(&'static str, &'static str)> {
    let sections = RECIPES.split("\n## ").skip(1);
    sections
        .map(|section| {
            let (title, rest) = section.split_once('\n').unwrap();
            let line = rest.split_once("```sh\n").unwrap().1.split_once("\n```").unwrap().0;
            assert_eq!(line.lines().count(), 1, "{title}");
            (title, line)
        })
        .collect()
}

/// The running binary with demo data.
struct Server {
    process: Child,
    address: String,
    console: String,
    _data: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_mkopo"))
            .arg("serve")
            .env("MKOPO_LISTEN", "127.0.0.1:0")
            .args(test_store::options(data.path()))
            .env("MKOPO_JWT_SECRET", JWT_SECRET)
            .env("MKOPO_DEMO", "true")
            .env("MKOPO_CONSOLE_TOKEN", CONSOLE_TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut printed = |name: &str| {
            lines
                .find_map(|line| line.unwrap().trim().strip_prefix(name).map(|rest| rest.trim().to_owned()))
                .unwrap()
        };
        let (address, console) = (printed("Portal"), printed("Console"));
        let console = console.trim_end_matches("/console").to_owned();
        Self { process, address, console, _data: data }
    }

    /// Runs the recipe with that title; returns its output as JSON, if any.
    fn run(&self, title: &str) -> Value {
        let line = recipes().into_iter().find(|recipe| recipe.0 == title).unwrap().1;
        let output = Command::new("sh")
            .args(["-c", line])
            .env("CONSOLE", &self.console)
            .env("TOKEN", CONSOLE_TOKEN)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{title}: {printed}{}", String::from_utf8_lossy(&output.stderr));
        if printed.is_empty() { Value::Null } else { serde_json::from_str(&printed).unwrap() }
    }

    /// Status and body of a call to the portal's API; status 0 if there was no response.
    fn call(&self, path: &str, token: &str, body: Option<&Value>) -> (u16, Value) {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-w", "\n%{http_code}", "-H", &format!("Authorization: Bearer {token}")]);
        if let Some(body) = body {
            curl.args(["-H", "Content-Type: application/json", "-d", &body.to_string()]);
        }
        let output = curl.arg(format!("{}/api/v1{path}", self.address)).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let (body, status) = printed.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    }

    fn sign_in(&self) -> String {
        let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
        let (status, body) = self.call("/auth/login", "", Some(&credentials));
        assert_eq!(status, 200, "{body}");
        body["user"]["token"].as_str().unwrap().to_owned()
    }

    fn pending(&self, token: &str) -> Vec<Value> {
        self.call("/disbursements/pending", token, None).1.as_array().unwrap().clone()
    }

    fn disburse(&self, token: &str, loan: &Value) -> (u16, Value) {
        let path = format!("/disbursements/{}/disburse", loan["loan_id"].as_str().unwrap());
        self.call(&path, token, Some(&disbursement_of(loan)))
    }
}

#[test]
fn every_recipe_does_what_its_title_says() {
    let server = Server::start();
    let mut done = Vec::new();
    let mut run = |title: &'static str| {
        done.push(title);
        server.run(title)
    };
    let token = server.sign_in();
    let initial = server.pending(&token);
    let loans: Vec<Value> = waiting(&initial).cloned().collect();

    server.call("/auth/request-signin-otp", "", Some(&json!({"email": "agent@mkopo.test"})));
    let code = &run("Read the code in a test")[0]["code"];
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD, "otp": code});
    assert_eq!(server.call("/auth/verify-signin-otp", "", Some(&credentials)).0, 200);

    run("Make the next payout fail");
    let (status, refused) = server.disburse(&token, &loans[0]);
    assert_eq!((status, &refused["result_code"]), (422, &json!("1")));

    run("Lose the answer");
    assert_eq!(server.disburse(&token, &loans[0]).0, 0);
    assert_eq!(server.disburse(&token, &loans[0]).1["code"], "already_disbursed");
    let refused = run("See which requests were made");
    let codes: Vec<_> =
        refused.as_array().unwrap().iter().map(|call| &call["response_body"]["code"]).collect();
    assert_eq!(codes, ["already_disbursed", "mobile_money_refused"]);

    assert_eq!(run("Keep what happened for a bug report")["log"]["version"], "1.2");

    run("Fail three calls in ten");
    let failed = (0..40).filter(|_| server.call("/disbursement-records", &token, None).0 == 503).count();
    assert!((4..=22).contains(&failed), "{failed}");
    assert_eq!(run("Make a call slow")["ms"], 3000);
    run("End all faults");
    assert!((0..20).all(|_| server.call("/disbursement-records", &token, None).0 == 200));

    assert_eq!(run("Expire every session"), json!({"ended": 2}));
    assert_eq!(server.call("/auth/me", &token, None).0, 401);

    let approved = run("Approve a loan to pay out");
    let token = server.sign_in();
    assert_eq!(server.pending(&token)[0], approved[0]);

    let past = run("Make a payout of the past");
    assert!(run("See how a payout ended").as_array().unwrap().contains(&past));
    assert!(server.call("/disbursement-records", &token, None).1.as_array().unwrap().contains(&past));
    run("Open an account");
    let grace = json!({"email": "grace@example.com", "password": "Kahawa-2026"});
    assert_eq!(server.call("/auth/login", "", Some(&grace)).0, 200);
    let events = run("See who did what");
    let kinds: Vec<_> = events.as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["signed_in", "account_opened"]);

    let added = run("Let a team deploy its slice");
    assert!(added["token"].as_str().unwrap().starts_with("mkopo_deploy_"), "{added}");

    run("Save");
    let saved = server.pending(&token);
    assert_eq!(server.disburse(&token, &approved[0]).0, 200);
    let tomorrow = run("Jump to tomorrow");
    assert_eq!(tomorrow["offset_ms"], 86_400_000);
    assert_eq!(server.call("/auth/me", &token, None).0, 401, "the session has expired");
    run("Go back to the real time");
    assert_eq!(server.call("/auth/me", &token, None).0, 200, "the session has not expired yet");
    run("Restore");
    assert_eq!(server.pending(&token), saved);

    assert_eq!(run("Ask whether every shilling is accounted for")["ok"], true);
    run("Reset");
    let ids = |loans: &[Value]| loans.iter().map(|loan| loan["loan_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&server.pending(&server.sign_in())), ids(&initial));

    let mut all: Vec<&str> = recipes().into_iter().map(|recipe| recipe.0).collect();
    all.sort_unstable();
    done.sort_unstable();
    assert_eq!(done, all, "every recipe was run");
}
