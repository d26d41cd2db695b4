//! Stories: files that say how a sandbox begins and what happens in it.

use std::{collections::BTreeSet, fmt::Write, time::Instant};

use axum::http::Method;
use console::stories::{Stories, Story, schema};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, html, words},
    command_line::{self, mkopo, printed},
    slices,
    test_app::{TestApp, column, wait_until},
};

const SHIPPED: [&str; 6] =
    ["first-payout", "lost-answer", "next-day", "refused", "slice-breaks", "two-people"];

/// A sandbox that tells a story of the server.
async fn begin(app: &TestApp, story: &str) -> TestApp {
    app.make_sandbox(json!({"story": story})).await
}

/// Does the act of the next step.
async fn next(told: &TestApp) {
    told.set_console(Method::POST, "/story/next", None).await;
}

/// Waits until `number` steps are done.
async fn done(told: &TestApp, number: usize) {
    wait_until(&format!("{number} steps are done"), async || {
        let story = told.read_console("/story").await;
        let steps = story["steps"].as_array().unwrap();
        steps.iter().filter(|step| step["state"] == "done").count() == number
    })
    .await;
}

async fn loan(staff: &TestApp, loan_id: &str) -> Value {
    staff.pending().await.into_iter().find(|loan| loan["loan_id"] == loan_id).unwrap()
}

/// Pays a loan out, and returns the status.
async fn pay(staff: &TestApp, loan_id: &str) -> u16 {
    let loan = loan(staff, loan_id).await;
    staff.as_time_passes_there(staff.disburse(&loan)).await.status.as_u16()
}

#[tokio::test]
async fn a_first_payout_is_told_to_its_end() {
    let app = TestApp::start().await;
    let told = begin(&app, "first-payout").await;
    done(&told, 0).await;
    let agent = told.sign_in("agent").await;
    done(&told, 1).await;
    assert_eq!(pay(&agent, "LN-WANJIRU").await, 200);
    done(&told, 3).await;
}

#[tokio::test]
async fn a_refusal_and_its_reason_are_told_to_the_end() {
    let app = TestApp::start().await;
    let told = begin(&app, "refused").await;
    let agent = told.sign_in("agent").await;
    let found = &told.read_console("/story").await["steps"][0]["found"];
    assert_eq!(*found, json!(["Loan LN-OTIENO has no record."]));
    assert_eq!(pay(&agent, "LN-OTIENO").await, 422);
    done(&told, 2).await;
    assert_eq!(pay(&agent, "LN-OTIENO").await, 200);
    done(&told, 4).await;
}

#[tokio::test]
async fn a_lost_answer_is_told_to_its_end() {
    let app = TestApp::start().await;
    let told = begin(&app, "lost-answer").await;
    let agent = told.sign_in("agent").await;
    let clock = async || told.read_console("/clock").await;
    let before = clock().await;
    // Not before its turn.
    next(&told).await;
    assert_eq!(clock().await, before);
    done(&told, 0).await;
    assert_eq!(pay(&agent, "LN-AMINA").await, 202);
    done(&told, 1).await;
    assert_eq!(told.read_console("/story").await["steps"][1]["act"], "Set the clock.");
    next(&told).await;
    done(&told, 3).await;
}

#[tokio::test]
async fn the_day_after_is_told_to_its_end() {
    let app = TestApp::start().await;
    let told = begin(&app, "next-day").await;
    let agent = told.sign_in("agent").await;
    assert_eq!(pay(&agent, "LN-NJERI-1").await, 200);
    assert_eq!(pay(&agent, "LN-NJERI-2").await, 200);
    assert_eq!(pay(&agent, "LN-NJERI-3").await, 422);
    done(&told, 3).await;
    next(&told).await;
    let agent = told.sign_in("agent").await;
    assert_eq!(pay(&agent, "LN-NJERI-3").await, 200);
    done(&told, 4).await;
}

#[tokio::test]
async fn two_people_at_once_are_told_to_the_end_on_live_screens() {
    let app = TestApp::start().await;
    let told = begin(&app, "two-people").await;
    let (agent, supervisor) = (told.sign_in("agent").await, told.sign_in("supervisor").await);
    let profile = async |staff: &TestApp| staff.get("/api/v1/profile").await.status;
    assert_eq!(profile(&agent).await, 200);
    let loan = loan(&agent, "LN-KIPTOO").await;
    let both = async { tokio::join!(agent.disburse(&loan), supervisor.disburse(&loan)) };
    let (first, second) = told.as_time_passes_there(Box::pin(both)).await;
    let statuses = BTreeSet::from([first.status.as_u16(), second.status.as_u16()]);
    assert_eq!(statuses, BTreeSet::from([200, 409]));
    done(&told, 4).await;

    // The screens of all others are as specified.
    let other = app.make_sandbox(json!({})).await;
    let lively = app.make_sandbox(json!({"screens": "live"})).await;
    assert_eq!(profile(&app.sign_in("agent").await).await, 404);
    assert_eq!(profile(&other.sign_in("agent").await).await, 404);
    assert_eq!(profile(&lively.sign_in("agent").await).await, 200);
}

#[tokio::test]
async fn a_slice_breaks_in_its_sandbox_only() {
    let folder = tempfile::tempdir().unwrap();
    let story = "title: The loans break\nbreaks: [mfe-loans]\nsteps: [{ say: Look. }]\n";
    std::fs::write(folder.path().join("loans-break.yaml"), story).unwrap();
    let (app, _portal) = slices::started_with(&["--stories", folder.path().to_str().unwrap()]).await;
    let told = begin(&app, "loans-break").await;
    let version = async |given: &TestApp| {
        given.get("/slices.json").await.json()["slices"]["mfe-loans"]["version"].clone()
    };
    assert_eq!(version(&told).await, "0.1.1-breaks");
    assert_eq!(version(&app).await, "0.1.0");

    // The same build breaks when the story begins again.
    let agent = told.sign_in("agent").await;
    assert_eq!(agent.post("/story/again", None).await.status, 200);
    assert_eq!(version(&told).await, "0.1.1-breaks");
}

#[tokio::test]
async fn a_story_that_the_server_allows_no_more_does_not_begin_again_and_loses_nothing() {
    let app = TestApp::start().await;
    let settings = json!({
        "session_minutes": 60, "maximum_amount": null, "confirmation_required": true, "auto_retry": false,
        "retry_attempts": 3,
    });
    let story = json!({"title": "Long", "settings": settings, "steps": [{"say": "Look."}]});
    let given = app.make_sandbox(json!({"story": story})).await;
    let app = app.restart_with(&["--session-minutes", "30"]).await;
    let given = app.given(&given.name, &given.console_token);
    let agent = given.sign_in("agent").await;
    let again = agent.post("/story/again", None).await;
    assert_eq!(again.refusal(), "422 invalid_request: session_minutes must be from 5 to 30.");
    assert_eq!(agent.get("/story/told").await.json()["story"]["title"], "Long");
}

#[tokio::test]
async fn two_people_who_do_the_same_step_do_it_once() {
    let app = TestApp::start().await;
    let step = json!({"say": "A day passes.", "act": {"clock": {"advance": "1m"}}});
    let story = json!({"title": "Two clicks", "steps": [step, step, step]});
    let told = app.make_sandbox(json!({"story": story})).await;
    let agent = told.sign_in("agent").await;
    let next = async |body: Option<Value>| {
        assert_eq!(agent.post("/story/next", body).await.status, 200);
    };
    for _ in 0..2 {
        next(Some(json!({"step": 0}))).await;
    }
    done(&told, 1).await;
    next(None).await;
    done(&told, 2).await;
}

#[tokio::test]
async fn a_story_begins_the_same_byte_for_byte_whether_it_is_told_or_done_by_calls() {
    let app = TestApp::start().await;
    let both = async |given: &TestApp| {
        let agent = given.sign_in("agent").await;
        let mut bodies = Vec::new();
        for list in ["/api/v1/disbursements/pending", "/api/v1/disbursement-records"] {
            bodies.push(agent.get(list).await.bytes);
        }
        bodies
    };
    let now = "2026-11-14T12:00:00.000Z";
    let told = begin(&app, "next-day").await;
    let begun = both(&told).await;
    assert!(begun.iter().all(|body| body.len() > 1000));
    assert_eq!(both(&begin(&app, "next-day").await).await, begun);

    let by_calls = app.make_sandbox(json!({"seed": 1, "now": now})).await;
    for (number, amount) in [(1, 250_000), (2, 250_000), (3, 20_000)] {
        let loan = json!({
            "loan_id": format!("LN-NJERI-{number}"), "customer_id": "CUS-NJERI", "customer_first_name": "Njeri",
            "customer_last_name": "Mwangi", "customer_phone_number": "+254712000205",
            "total_loan_amount": amount,
        });
        assert_eq!(by_calls.console(Method::POST, "/loans", json!({"loan": loan})).await.status, 201);
    }
    assert_eq!(both(&by_calls).await, begun);
}

#[tokio::test]
async fn all_of_a_story_is_there_or_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let story = "title: A held build\nslices: { mfe-loans: 9.9.9 }\nsteps: [{ say: Look. }]\n";
    std::fs::write(folder.path().join("held.yaml"), story).unwrap();
    let app = TestApp::start_with(&["--stories", folder.path().to_str().unwrap()]).await;
    let wish = json!({"name": "held", "story": "held"});
    let refused = app.console(Method::POST, "/sandboxes", wish).await;
    assert_eq!(refused.refusal(), "422 invalid_request: There is no slice mfe-loans.");
    assert_eq!(app.console(Method::GET, "/sandboxes/held", None).await.status, 404);

    for (wish, text) in [
        (json!({"story": "no-such"}), "There is no story with this name."),
        (
            json!({"story": "refused", "seed": 2}),
            "story sets seed, now, frozen and screens, and has no recording: leave them out.",
        ),
    ] {
        let refused = app.console(Method::POST, "/sandboxes", wish).await;
        assert_eq!(refused.refusal(), format!("422 invalid_request: {text}"));
    }
}

#[tokio::test]
async fn a_whole_story_can_be_given_in_place_of_a_name() {
    let app = TestApp::start().await;
    let story = json!({"title": "Mine", "loans": [{"loan_id": "LN-MINE"}], "steps": [{"say": "Look."}]});
    let told = app.make_sandbox(json!({"story": story})).await;
    assert_eq!(told.read_console("/story").await["title"], "Mine");
    let agent = told.sign_in("agent").await;
    loan(&agent, "LN-MINE").await;
    let wrong = json!({"story": {"title": "Mine", "steps": []}});
    let refused = app.console(Method::POST, "/sandboxes", wrong).await;
    assert_eq!(refused.failure().2, "A story has at least one step.");
}

#[tokio::test]
async fn main_tells_no_story() {
    let app = TestApp::start().await;
    for (method, call) in [(Method::GET, "/story"), (Method::POST, "/story/next")] {
        let answer = app.console(method, call, None).await;
        assert_eq!(answer.refusal(), "404 no_story: This sandbox tells no story.");
    }
}

#[tokio::test]
async fn a_file_is_read_again_when_it_changes_and_a_wrong_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    let stories = Stories::open(Some(folder.path().to_owned()));
    let titles = || -> Vec<String> {
        let (all, _) = stories.all();
        all.iter().filter(|file| file.name == "mine").map(|file| file.story.title.0.clone()).collect()
    };
    assert_eq!(titles(), Vec::<String>::new());
    std::fs::write(&file, "title: One\nsteps: [{ say: Look. }]\n").unwrap();
    assert_eq!(titles(), ["One"]);
    std::fs::write(&file, "title: Another\nsteps: [{ say: Look. }]\n").unwrap();
    assert_eq!(titles(), ["Another"]);
    std::fs::write(&file, "title: Wrong\nsteps: [{ sing: Look. }]\n").unwrap();
    assert_eq!(titles(), ["Another"]);
    let (_, bad) = stories.all();
    assert_eq!((bad[0].file.as_str(), bad[0].line), ("mine.yaml", Some(2)));
    let other = folder.path().join("mine.yml");
    std::fs::write(&other, "title: Of another ending\nsteps: [{ say: Look. }]\n").unwrap();
    assert_eq!(titles(), ["Another"]);
    let (_, bad) = stories.all();
    let bad: Vec<&str> = bad.iter().map(|bad| bad.file.as_str()).collect();
    assert_eq!(bad, ["mine.yml", "mine.yaml"]);
    std::fs::remove_file(&other).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(titles(), Vec::<String>::new());
    assert_eq!(stories.all().1, []);
}

/// Texts that are no stories.
fn wrong() -> Vec<(&'static str, String)> {
    let with = |more: &str| format!("title: Wrong\n{more}\nsteps: [{{ say: Look. }}]\n");
    let bomb = format!("loans:\n  - &a {{ notes: {} }}\n{}", "x".repeat(30_000), "  - *a\n".repeat(4000));
    let loan = |id: &str| format!("  - {{ loan_id: {id}, total_loan_amount: 1000 }}\n");
    let many: String = (0..1001).map(|number| loan(&format!("L{number}"))).collect();
    vec![
        ("nothing", String::new()),
        ("a list", "- title: Wrong\n".to_owned()),
        ("no step", "title: Wrong\nsteps: []\n".to_owned()),
        ("a field that is unknown", with("colour: red")),
        ("a time that is none", with("clock: { now: yesterday }")),
        ("a seed that is none", with("seed: many")),
        ("an unknown outcome", with("scenario:\n  next: [perhaps]")),
        (
            "an unknown role",
            with(
                "staff:\n  - { email: a@b.co, first_name: A, last_name: B, phone_number: '0712000300', role: king }",
            ),
        ),
        ("a loan twice", with(&format!("loans:\n{}{}", loan("L1"), loan("L1")))),
        ("an amount of nothing", with("loans:\n  - { loan_id: L1, total_loan_amount: 0 }")),
        ("a phone that is none", with("loans:\n  - { customer_phone_number: '911' }")),
        ("too many loans", with(&format!("loans:\n{many}"))),
        ("a fault without its status", with("faults:\n  - { path: /api/v1/auth/me, kind: status }")),
        ("a slice that is none", with("breaks: [loans]")),
        ("a version that is none", with("slices: { mfe-loans: newest }")),
        (
            "two acts in a step",
            "title: Wrong\nsteps:\n  - { say: Look., act: { end_faults: true, clock: { advance: 1m } } }\n"
                .to_owned(),
        ),
        ("an act that does nothing", "title: Wrong\nsteps:\n  - { say: Look., act: {} }\n".to_owned()),
        ("an expectation of nothing", "title: Wrong\nsteps:\n  - { say: Look., expect: {} }\n".to_owned()),
        (
            "a loan that is not there",
            "title: Wrong\nsteps:\n  - { say: Look., expect: { record: { loan: L9, status: COMPLETED } } }\n"
                .to_owned(),
        ),
        (
            "a loan twice beside one with a longer name",
            with(&format!("loans:\n{}{}{}", loan("L1"), loan("L10"), loan("L1"))),
        ),
        (
            "the second loan is wrong",
            with(&format!("loans:\n{}  - {{ loan_id: L2, total_loan_amount: 0 }}", loan("L1"))),
        ),
        (
            "a demo account",
            with(
                "staff:\n  - { email: Agent@mkopo.test, first_name: A, last_name: B, phone_number: '0712000300', role: agent }",
            ),
        ),
        (
            "settings out of their bounds",
            with(
                "settings:\n  { session_minutes: 30, maximum_amount: 0, confirmation_required: true, auto_retry: false, retry_attempts: 3 }",
            ),
        ),
        (
            "an act that sets a time that no clock shows",
            "title: Wrong\nsteps:\n  - { say: Look., act: { clock: { now: 1999-01-01T00:00:00Z } } }\n"
                .to_owned(),
        ),
        (
            "an act that sets nothing",
            "title: Wrong\nsteps:\n  - { say: Look., act: { clock: {} } }\n".to_owned(),
        ),
        (
            "a message to nobody",
            "title: Wrong\nsteps:\n  - { say: Look., expect: { message: { to: Amina } } }\n".to_owned(),
        ),
        (
            "a session of nobody",
            "title: Wrong\nsteps:\n  - { say: Look., expect: { session: nobody@mkopo.test } }\n".to_owned(),
        ),
        ("a bomb of anchors", with(&bomb)),
        ("a circle of anchors", "title: Wrong\nsteps: &a [*a]\n".to_owned()),
        ("two documents", "title: One\nsteps: [{ say: Look. }]\n---\ntitle: Two\n".to_owned()),
        ("a tab", "title: Wrong\nsteps:\n\t- say: Look.\n".to_owned()),
    ]
}

#[test]
fn a_file_that_is_wrong_is_refused_with_its_line_and_the_reason() {
    let mut refused = String::new();
    for (what, text) in wrong() {
        let begun = Instant::now();
        let bad = Story::read("wrong.yaml", &text).unwrap_err();
        assert!(begun.elapsed().as_secs() < 30, "{what}");
        writeln!(refused, "{what}\n  {bad}").unwrap();
    }
    assert_snapshot!(refused, @r#"
    nothing
      wrong.yaml:1: missing field `title`
    a list
      wrong.yaml:1: invalid type: sequence, expected the fields of a story
    no step
      wrong.yaml:2: A story has at least one step.
    a field that is unknown
      wrong.yaml:2: unknown field `colour`, expected one of `title`, `text`, `seed`, `clock`, `screens`, `staff`, `loans`, `scenario`, `faults`, `settings`, `slices`, `breaks`, `steps`
    a time that is none
      wrong.yaml:2: clock.now: "yesterday" is not a time in the years 1 to 9998, such as 2026-11-14T09:00:00Z.
    a seed that is none
      wrong.yaml:2: seed: seed must be a whole number from 0 to 4294967295, or `empty`.
    an unknown outcome
      wrong.yaml:3: scenario.next: unknown outcome perhaps
    an unknown role
      wrong.yaml:3: staff[0].role: unknown variant `king`, expected one of `admin`, `agent`, `supervisor`
    a loan twice
      wrong.yaml:4: The loan L1 is there twice.
    an amount of nothing
      wrong.yaml:3: loans[0]: total_loan_amount must be between 1 and 1,000,000,000,000.
    a phone that is none
      wrong.yaml:3: loans[0]: customer_phone_number must be a Kenyan mobile number such as +254712345678.
    too many loans
      wrong.yaml:3: loans: There may be at most 1000 here.
    a fault without its status
      wrong.yaml:3: faults[0]: A fault of kind status needs a status from 400 to 599.
    a slice that is none
      wrong.yaml:2: breaks[0]: There is no slice loans.
    a version that is none
      wrong.yaml:2: slices.mfe-loans: unexpected character 'n' while parsing major version number
    two acts in a step
      wrong.yaml:3: steps[0]: act must have one of clock, scenario, fault, end_faults: true, and loan.
    an act that does nothing
      wrong.yaml:3: steps[0]: act must have one of clock, scenario, fault, end_faults: true, and loan.
    an expectation of nothing
      wrong.yaml:3: steps[0].expect: expect must have at least one of record, message, session, and books: true.
    a loan that is not there
      wrong.yaml:3: No loan of the story has the loan_id L9.
    a loan twice beside one with a longer name
      wrong.yaml:5: The loan L1 is there twice.
    the second loan is wrong
      wrong.yaml:4: loans[1]: total_loan_amount must be between 1 and 1,000,000,000,000.
    a demo account
      wrong.yaml:3: The account Agent@mkopo.test is a demo account already.
    settings out of their bounds
      wrong.yaml:3: settings: maximum_amount must be between 1 and 2^53 - 1, or null.
    an act that sets a time that no clock shows
      wrong.yaml:3: steps[0]: The clock can be set to the years 2006 to 2099.
    an act that sets nothing
      wrong.yaml:3: steps[0]: clock must have at least one of now, advance and frozen.
    a message to nobody
      wrong.yaml:3: Amina is neither a Kenyan mobile number nor an e-mail address.
    a session of nobody
      wrong.yaml:3: nobody@mkopo.test is neither a demo account nor one of the story's staff.
    a bomb of anchors
      wrong.yaml:3: loans: There may be at most 1000 here.
    a circle of anchors
      wrong.yaml:2: steps[0]: invalid type: sequence, expected the fields of a step
    two documents
      wrong.yaml: deserializing from YAML containing more than one document is not supported
    a tab
      wrong.yaml:3: found character that cannot start any token
    "#);
    Story::read("bom.yaml", "\u{feff}title: Of an editor\nsteps: [{ say: Look. }]\n").unwrap();
    let large = format!("title: Wrong\ntext: {}\nsteps: [{{ say: Look. }}]\n", "x".repeat(70_000));
    assert_eq!(
        Story::read("large.yaml", &large).unwrap_err().to_string(),
        "large.yaml: A story has at most 64 KiB."
    );
}

fn shipped(name: &str) -> String {
    std::fs::read_to_string(format!("{}/stories/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_schema_accepts_the_stories_of_the_product_and_refuses_what_is_wrong_in_shape() {
    let validator = jsonschema::validator_for(&schema().unwrap()).unwrap();
    for name in SHIPPED {
        let story: Value = yaml_serde::from_str(&shipped(name)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&story).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
    let wrong_in_shape = [
        "no step",
        "a field that is unknown",
        "a seed that is none",
        "an unknown outcome",
        "an unknown role",
        "an amount of nothing",
        "two acts in a step",
        "an act that does nothing",
        "an expectation of nothing",
        "too many loans",
    ];
    for (what, text) in wrong().into_iter().filter(|(what, _)| wrong_in_shape.contains(what)) {
        let story: Value = yaml_serde::from_str(&text).unwrap();
        assert!(!validator.is_valid(&story), "{what}");
    }
}

/// The fields of the schema are those that are read: an unknown one names them all.
#[test]
fn the_schema_names_the_fields_that_are_read() {
    let schemas = schema().unwrap()["components"]["schemas"].clone();
    let with = |part: &str| format!("title: Wrong\nsteps: [{{ say: Look. }}]\n{part}");
    let step = |part: &str| format!("title: Wrong\nsteps:\n  - {{ say: Look., {part} }}\n");
    for (text, fields) in [
        (with("x: 1"), &schemas["Story"]),
        (with("clock: { x: 1 }"), &schemas["Story"]["properties"]["clock"]),
        (with("staff: [{ x: 1 }]"), &schemas["StoryColleague"]),
        (with("loans: [{ x: 1 }]"), &schemas["LoanToApprove"]),
        (with("scenario: { x: 1 }"), &schemas["ScenarioChange"]),
        (with("faults: [{ x: 1 }]"), &schemas["NewFault"]),
        (with("settings: { x: 1 }"), &schemas["NewPortalRules"]),
        (step("x: 1"), &schemas["StoryStep"]),
        (step("act: { x: 1 }"), &schemas["StoryAct"]),
        (step("act: { clock: { x: 1 } }"), &schemas["ClockChange"]),
        (step("expect: { x: 1 }"), &schemas["StoryExpectation"]),
        (step("expect: { record: { x: 1 } }"), &schemas["StoryExpectation"]["properties"]["record"]),
        (step("expect: { message: { x: 1 } }"), &schemas["StoryExpectation"]["properties"]["message"]),
    ] {
        let reason = Story::read("fields.yaml", &text).unwrap_err().reason;
        let (_, expected) = reason.split_once("expected").unwrap_or_else(|| panic!("{text}: {reason}"));
        let read: BTreeSet<&str> = expected.split('`').skip(1).step_by(2).collect();
        let named: BTreeSet<&str> =
            fields["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(read, named, "{text}");
    }
}

#[tokio::test]
async fn the_command_checks_files_and_makes_a_sandbox_that_tells_a_story() {
    let folder = tempfile::tempdir().unwrap();
    let good = format!("{}/stories/refused.yaml", env!("CARGO_MANIFEST_DIR"));
    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, "title: Wrong\nsteps: [{ say: 1, sing: 2 }]\n").unwrap();
    let check = |files: &[&str]| mkopo().args(["story", "check"]).args(files).output().unwrap();
    printed(check(&[&good]));
    let checked = check(&[&good, bad.to_str().unwrap()]);
    assert_eq!(command_line::error_line(&checked), "mkopo: 1 of 2 files are not valid");
    let said = String::from_utf8_lossy(&checked.stdout).replace(&good, "refused.yaml");
    let said = said.replace(folder.path().to_str().unwrap(), "folder");
    assert_snapshot!(said, @"
    refused.yaml: A refusal and its reason
    folder/bad.yaml:2: steps[0]: unknown field `sing`, expected one of `say`, `act`, `expect`
    ");

    let app = TestApp::start().await;
    printed(command_line::command(&app, &["sandbox", "add", "told", "--story", "refused"]).await);
    let listed = app.read_console("/stories").await;
    assert_eq!(column(&listed["stories"], "name"), SHIPPED);
}

#[tokio::test]
async fn the_page_of_stories_lists_them_and_shows_how_far_one_has_come() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.yaml"), "title: Wrong\nsteps: []\n").unwrap();
    let app = TestApp::start_with(&["--stories", folder.path().to_str().unwrap()]).await;
    let browser = Browser::sign_in(&app).await;
    let listed = browser.read("/console/stories").await;
    assert!(listed.contains("6 stories"), "{listed}");
    assert!(listed.contains("bad.yaml:2: A story has at least one step."), "{listed}");
    let made = browser.send("/console/stories", "begin", &[("story", "lost-answer")]).await;
    assert_eq!(made.status, 200);
    let (_, token) = html(&made).split_once("id=\"sandbox-token\">").unwrap();
    let token = token.split('<').next().unwrap();
    let name = words(&made).split(" is made.").next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let told = app.given(&name, token);

    let browser = Browser::sign_in(&told).await;
    let agent = told.sign_in("agent").await;
    assert_eq!(pay(&agent, "LN-AMINA").await, 202);
    let page = browser.get("/console/stories").await;
    assert!(words(&page).contains("Next A minute passes"), "{}", words(&page));
    assert!(!words(&page).contains("Make a sandbox"), "the token of a sandbox makes none");
    let next = async |step| {
        assert_eq!(browser.send("/console/stories", "next", &[("step", step)]).await.status, 303);
    };
    next("0").await;
    done(&told, 1).await;
    assert!(html(&page).contains("name=\"step\" value=\"1\""), "{}", html(&page));
    next("1").await;
    done(&told, 3).await;
}
