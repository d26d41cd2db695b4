//! The recipes of `docs/console.md`, run exactly as written against the real binary.

use std::process::Command;

use lending::demo;
use serde_json::{Value, json};

use crate::{
    server::{Server, sign_in, try_call},
    test_app::{CONSOLE_TOKEN, disbursement_of, waiting},
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

/// Runs the recipe with that title; returns its output as JSON, if any.
fn printed_by(title: &str, server: &Server) -> Value {
    let line = recipes().into_iter().find(|recipe| recipe.0 == title).unwrap().1;
    let output = Command::new("sh")
        .args(["-c", line])
        .env("CONSOLE", format!("http://{}", server.console))
        .env("TOKEN", CONSOLE_TOKEN)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{title}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    if printed.is_empty() { Value::Null } else { serde_json::from_str(&printed).unwrap() }
}

#[test]
fn every_recipe_does_what_its_title_says() {
    let data = tempfile::tempdir().unwrap();
    let mut options = test_store::options(data.path());
    // A session must not outlive the jump to the next day.
    options.extend(["--session-minutes", "480"].map(str::to_owned));
    let server = Server::start_on(&options);
    let call = |path: &str, token: &str, body: Option<&Value>| {
        let method = if body.is_some() { "POST" } else { "GET" };
        let (path, token) = (format!("/api/v1{path}"), format!("Bearer {token}"));
        let answer = try_call(&server.address, method, &path, &[("authorization", &token)], body);
        answer.map_or((0, Value::Null), |answer| (answer.status, answer.body))
    };
    let sign_in = || sign_in(&server.address);
    let pending = |token: &str| call("/disbursements/pending", token, None).1.as_array().unwrap().clone();
    let disburse = |token: &str, loan: &Value| {
        let path = format!("/disbursements/{}/disburse", loan["loan_id"].as_str().unwrap());
        call(&path, token, Some(&disbursement_of(loan)))
    };
    let mut done = Vec::new();
    let mut run = |title: &'static str| {
        done.push(title);
        printed_by(title, &server)
    };
    let token = sign_in();
    let initial = pending(&token);
    let loans: Vec<Value> = waiting(&initial).cloned().collect();

    call("/auth/request-signin-otp", "", Some(&json!({"email": "agent@mkopo.test"})));
    let code = &run("Read the code in a test")[0]["code"];
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD, "otp": code});
    assert_eq!(call("/auth/verify-signin-otp", "", Some(&credentials)).0, 200);

    run("Make the next payout fail");
    let (status, refused) = disburse(&token, &loans[0]);
    assert_eq!((status, &refused["result_code"]), (422, &json!("1")));

    assert_eq!(run("Lose the answer")["kind"], "drop");
    assert_eq!(disburse(&token, &loans[0]).0, 0);
    assert_eq!(disburse(&token, &loans[0]).1["code"], "already_disbursed");
    let refused = run("See which requests were made");
    let codes: Vec<_> =
        refused.as_array().unwrap().iter().map(|call| &call["response_body"]["code"]).collect();
    assert_eq!(codes, ["already_disbursed", "mobile_money_refused"]);

    assert_eq!(run("Keep what happened for a bug report")["log"]["version"], "1.2");

    run("Fail three calls in ten");
    let failed = (0..40).filter(|_| call("/disbursement-records", &token, None).0 == 503).count();
    assert!((4..=22).contains(&failed), "{failed}");
    assert_eq!(run("Make a call slow")["ms"], 3000);
    run("End all faults");
    assert!((0..20).all(|_| call("/disbursement-records", &token, None).0 == 200));

    assert_eq!(run("Expire every session"), json!({"ended": 2}));
    assert_eq!(call("/auth/me", &token, None).0, 401);

    let approved = run("Approve a loan to pay out");
    let token = sign_in();
    assert_eq!(pending(&token)[0], approved[0]);

    let past = run("Make a payout of the past");
    assert!(run("See how a payout ended").as_array().unwrap().contains(&past));
    assert!(call("/disbursement-records", &token, None).1.as_array().unwrap().contains(&past));
    run("Open an account");
    let grace = json!({"email": "grace@example.com", "password": "Kahawa-2026"});
    assert_eq!(call("/auth/login", "", Some(&grace)).0, 200);
    let events = run("See who did what");
    let kinds: Vec<_> = events.as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["signed_in", "account_opened"]);

    let added = run("Let a team deploy its slice");
    assert!(added["token"].as_str().unwrap().starts_with("mkopo_deploy_"), "{added}");

    run("Save");
    let saved = pending(&token);
    assert_eq!(disburse(&token, &approved[0]).0, 200);
    let tomorrow = run("Jump to tomorrow");
    assert_eq!(tomorrow["offset_ms"], 86_400_000);
    assert_eq!(call("/auth/me", &token, None).0, 401, "the session has expired");
    run("Go back to the real time");
    assert_eq!(call("/auth/me", &token, None).0, 200, "the session has not expired yet");
    run("Restore");
    assert_eq!(pending(&token), saved);

    assert_eq!(run("Ask whether every shilling is accounted for")["ok"], true);
    run("Reset");
    let ids = |loans: &[Value]| loans.iter().map(|loan| loan["loan_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&pending(&sign_in())), ids(&initial));

    let mut all: Vec<&str> = recipes().into_iter().map(|recipe| recipe.0).collect();
    all.sort_unstable();
    done.sort_unstable();
    assert_eq!(done, all, "every recipe was run");
}
