//! Deploying a slice with a token of its own, at the portal's address.

use std::{future::pending, io, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use futures::stream;
use insta::assert_snapshot;
use lending::events::Trail;
use serde_json::{Value, json};
use slices::{
    SliceName, archive,
    deploy::{self, NewToken},
};
use store::query_scalar;
use tokio::sync::mpsc;

use crate::{
    command_line::{error_line, mkopo},
    slices::{Files, build, slice_command, started, versions},
    test_app::{Answer, TestApp, column, request},
};

const DAY: Duration = Duration::from_hours(24);

async fn token_for(app: &TestApp, slice: &str, name: &str, lifetime: Duration) -> String {
    let (slice, sandbox) = (SliceName::parse(slice).unwrap(), &app.sandbox);
    let new = NewToken { slice, name: name.to_owned(), lifetime };
    let now = sandbox.clock.unset_now();
    deploy::add(&sandbox.database, &sandbox.randomness, new, now, &Trail::default()).await.unwrap().token
}

/// A token of a slice, valid for a day.
pub async fn token_of(app: &TestApp, slice: &str) -> String {
    token_for(app, slice, "ci", DAY).await
}

/// The request that publishes `files` with a token.
pub fn publication(token: &str, files: &Files) -> Request<Body> {
    Request::post("/deploy/slices")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .body(Body::from(archive::write(files).unwrap()))
        .unwrap()
}

/// Another request with a token.
pub fn call(token: &str, path: &str, body: Option<Value>) -> Request<Body> {
    request(Method::POST, &format!("/deploy/slices/{path}"), Some(token), body)
}

async fn publish(app: &TestApp, token: &str, files: &Files) -> Answer {
    app.send(publication(token, files)).await
}

#[tokio::test]
async fn a_token_publishes_activates_and_rolls_back_its_slice_and_the_trail_names_it() {
    let (app, _portal) = started().await;
    let token = token_of(&app, "mfe-loans").await;
    assert_eq!(publish(&app, &token, &build("mfe-loans", "0.2.0")).await.status, 201);
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(app.send(call(&token, "mfe-loans/rollback", None)).await.status, 200);
    assert_eq!(versions(&app).await.0, "0.1.0");
    let activated = app.send(call(&token, "mfe-loans/activate", Some(json!({"version": "0.2.0"})))).await;
    assert_eq!(activated.json()["live"], "0.2.0");
    assert_eq!(column(&app.read_console("/slices").await["trail"], "by"), ["deploy token ci"; 3]);
}

// S-37
#[tokio::test]
async fn a_token_does_nothing_else() {
    let (app, _portal) = started().await;
    let token = token_of(&app, "mfe-repayments").await;
    let text = "403 wrong_slice: This token deploys mfe-repayments, and not mfe-loans.";
    for refused in [
        publish(&app, &token, &build("mfe-loans", "0.2.0")).await,
        app.send(call(&token, "mfe-loans/rollback", None)).await,
        app.send(call(&token, "mfe-loans/activate", Some(json!({"version": "0.1.0"})))).await,
    ] {
        assert_eq!(refused.refusal(), text);
    }
    assert_eq!(versions(&app).await.0, "0.1.0");
    let team = app.with(&token);
    assert_eq!(team.get("/console/api/slices").await.failure().1, "no_console_token");
    assert_eq!(team.get("/api/v1/auth/me").await.failure().1, "no_session");
}

#[tokio::test]
async fn a_token_that_is_wrong_expired_or_revoked_is_refused_and_wrong_ones_are_limited() {
    let (app, _portal) = started().await;
    let files = build("mfe-loans", "0.2.0");
    let expired = token_for(&app, "mfe-loans", "old", Duration::ZERO).await;
    assert_eq!(
        publish(&app, &expired, &files).await.failure().2,
        "The deploy token old of mfe-loans has expired; `mkopo slice token add` makes another."
    );
    let revoked = token_of(&app, "mfe-loans").await;
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/ci", None).await;
    assert_eq!(publish(&app, &revoked, &files).await.failure().1, "no_deploy_token");
    assert_eq!(publish(&app, "mkopo_deploy_guess", &files).await.failure().1, "no_deploy_token");
    let events = app.read_console("/events?kind=deploy_token_refused").await;
    let refused = events.as_array().unwrap().iter();
    let refused: Value =
        refused.map(|event| json!([event["who"], event["about"], event["details"]])).collect();
    assert_eq!(
        refused,
        json!([
            ["unknown", null, null],
            ["unknown", null, null],
            ["deploy token old", "mfe-loans", "it has expired"],
        ])
    );
    let valid = token_of(&app, "mfe-loans").await;
    for _ in 0..97 {
        assert_eq!(publish(&app, "mkopo_deploy_guess", &files).await.status, 401);
    }
    assert_eq!(publish(&app, "mkopo_deploy_guess", &files).await.status, 429);
    assert_eq!(publish(&app, &valid, &files).await.status, 429, "even with a valid token");
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn a_token_is_kept_as_a_hash_with_its_last_use() {
    let (app, _portal) = started().await;
    let token = token_of(&app, "mfe-loans").await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    let kept: Vec<String> =
        query_scalar("SELECT digest FROM deploy_token").fetch_all(&mut reader).await.unwrap();
    assert!(kept.iter().all(|digest| !digest.contains(&token) && digest.len() == 64));
    assert_eq!(deploy::list(&mut reader).await.unwrap()[0].last_used_at, None);
    drop(reader);
    publish(&app, &token, &build("mfe-loans", "0.2.0")).await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    assert!(deploy::list(&mut reader).await.unwrap()[0].last_used_at.is_some());
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_on_the_command_line() {
    let (app, _portal) = started().await;
    let run = async |arguments: &[&str]| slice_command(&app, &[&["token"], arguments].concat()).await;
    let added = run(&["add", "mfe-repayments", "--name", "ci", "--expires", "90d"]).await;
    let token = String::from_utf8(added.stdout).unwrap();
    assert!(token.starts_with("mkopo_deploy_") && token.trim().len() > 50, "{token}");
    let again = run(&["add", "mfe-repayments", "--name", "ci"]).await;
    assert_eq!(again.status.code(), Some(1));
    assert!(error_line(&again).contains("mfe-repayments has a deploy token ci already"));
    let listed = String::from_utf8(run(&["list"]).await.stdout).unwrap();
    assert!(listed.starts_with("mfe-repayments\tci\t") && listed.ends_with("\tnever used\n"), "{listed}");
    assert!(run(&["revoke", "mfe-repayments"]).await.status.success());
    assert!(run(&["list"]).await.stdout.is_empty());
    assert!(error_line(&run(&["revoke", "mfe-repayments"]).await).contains("has no deploy token ci."));
}

#[test]
fn the_command_line_says_what_a_deploy_token_is_not_for() {
    for arguments in [&["list"][..], &["remove", "mfe-loans"], &["token", "list"]] {
        let mut command = mkopo();
        command.arg("slice").args(arguments).args(["--token", "mkopo_deploy_of-a-test"]);
        assert_eq!(
            error_line(&command.output().unwrap()),
            "mkopo: a deploy token only publishes, activates, rolls back and rolls out its slice; give the console token"
        );
    }
}

#[tokio::test]
async fn the_operator_adds_lists_and_revokes_tokens_and_a_token_is_shown_once() {
    let (app, _portal) = started().await;
    let repayments = json!({"slice": "mfe-repayments", "name": "gitlab", "expires_in": "1d"});
    let added = app.console(Method::POST, "/deploy-tokens", repayments.clone()).await;
    assert_eq!(added.status, 201);
    let mut added = added.json();
    let token = added.as_object_mut().unwrap().remove("token").unwrap().as_str().unwrap().to_owned();
    assert_eq!(
        added,
        json!({
            "slice": "mfe-repayments", "name": "gitlab",
            "created_at": "2026-11-14T09:00:00.000Z", "expires_at": "2026-11-15T09:00:00.000Z",
        })
    );
    assert_eq!(publish(&app, &token, &build("mfe-repayments", "0.1.0")).await.status, 201);
    let listed = app.console(Method::GET, "/deploy-tokens", None).await;
    assert!(!String::from_utf8_lossy(&listed.bytes).contains(&token));
    assert_eq!(listed.json()[0]["last_used_at"], "2026-11-14T09:00:00.000Z");

    let again = app.console(Method::POST, "/deploy-tokens", repayments).await;
    assert_eq!(again.failure().1, "deploy_token_exists");
    let usual = app.set_console(Method::POST, "/deploy-tokens", json!({"slice": "mfe-plans"})).await.json();
    assert_eq!((&usual["name"], &usual["expires_at"]), (&json!("ci"), &json!("2027-02-12T09:00:00.000Z")));
    let mut reasons = Vec::new();
    for wrong in [
        json!({"slice": "repayments"}),
        json!({"slice": "mfe-plans", "name": "my token"}),
        json!({"slice": "mfe-plans", "name": "second", "expires_in": "12h"}),
        json!({"slice": "mfe-plans", "name": "second", "expires_in": "3651d"}),
    ] {
        reasons.push(app.console(Method::POST, "/deploy-tokens", wrong).await.refusal());
    }
    assert_snapshot!(reasons.join("\n"), @"
    422 invalid_request: The name of a slice is mfe- and lower-case letters, digits and dashes, such as mfe-repayments.
    422 invalid_request: The name of a token has up to 60 letters, digits, dashes and dots.
    422 invalid_request: A token is valid for 1d to 3650d.
    422 invalid_request: A token is valid for 1d to 3650d.
    ");

    let path = "/deploy-tokens/mfe-repayments/gitlab";
    assert_eq!(app.console(Method::DELETE, path, None).await.status, 204);
    assert_eq!(app.console(Method::DELETE, path, None).await.failure().1, "deploy_token_not_found");
    let refused = publish(&app, &token, &build("mfe-repayments", "0.2.0")).await;
    assert_eq!(refused.failure().1, "no_deploy_token");
}

// S-37
#[tokio::test]
async fn the_token_of_a_sandbox_neither_lists_nor_adds_deploy_tokens() {
    let (app, _portal) = started().await;
    token_of(&app, "mfe-loans").await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    for (method, path, body) in [
        (Method::GET, "/deploy-tokens", None),
        (Method::POST, "/deploy-tokens", Some(json!({"slice": "mfe-plans"}))),
        (Method::DELETE, "/deploy-tokens/mfe-loans/ci", None),
    ] {
        assert_eq!(one.console(method, path, body).await.failure().1, "no_console_token", "{path}");
    }
    assert_eq!(app.read_console("/deploy-tokens").await.as_array().unwrap().len(), 1);
}

/// 40 uploads at once took 690 MB.
#[tokio::test]
async fn four_builds_are_received_at_once_and_others_are_told_to_wait() {
    let (app, _portal) = started().await;
    let token = token_of(&app, "mfe-loans").await;
    let (is_received, mut received) = mpsc::unbounded_channel();
    let slow = async || {
        // A busy database may refuse the token at first.
        loop {
            let is_received = is_received.clone();
            let never = stream::once(async move {
                is_received.send(()).unwrap();
                pending::<io::Result<Vec<u8>>>().await
            });
            let mut request = publication(&token, &build("mfe-loans", "0.2.0"));
            *request.body_mut() = Body::from_stream(never);
            app.send(request).await;
        }
    };
    let refused = async {
        for _ in 0..4 {
            received.recv().await.unwrap();
        }
        publish(&app, &token, &build("mfe-loans", "0.3.0")).await
    };
    let refused = tokio::select! {
        () = async { _ = tokio::join!(slow(), slow(), slow(), slow()) } => unreachable!("they go on"),
        refused = refused => refused,
    };
    assert_eq!(refused.status, 429);
    assert_eq!(refused.failure().1, "too_many_uploads");
    assert_eq!(refused.headers["retry-after"], "1");
}

#[tokio::test]
async fn a_token_deploys_to_one_sandbox_when_the_call_is_for_it() {
    let (app, _portal) = started().await;
    let token = token_of(&app, "mfe-loans").await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let mut request = publication(&token, &build("mfe-loans", "0.2.0-pr.12"));
    request.headers_mut().insert("mkopo-sandbox", "pr-12".parse().unwrap());
    assert_eq!(app.send(request).await.status, 201);
    let there = one.get("/slices.json").await.json();
    assert_eq!(there["slices"]["mfe-loans"]["version"], "0.2.0-pr.12");
    assert_eq!(versions(&app).await.0, "0.1.0");
    let written = one.read_console("/events?kind=slice_published").await;
    assert_eq!(written[0]["details"], "version: 0.2.0-pr.12");
}

// S-103
#[tokio::test]
async fn adding_using_and_revoking_a_token_are_events_with_its_name_and_never_the_token() {
    let (app, _portal) = started().await;
    let new = json!({"slice": "mfe-loans", "name": "gitlab", "expires_in": "30d"});
    let added = app.set_console(Method::POST, "/deploy-tokens", new.clone()).await.json();
    app.console(Method::POST, "/deploy-tokens", new).await;
    let token = added["token"].as_str().unwrap();
    publish(&app, token, &build("mfe-loans", "0.2.0")).await;
    publish(&app, token, &build("mfe-plans", "0.2.0")).await;
    let mut held = publication(token, &build("mfe-loans", "0.3.0"));
    *held.uri_mut() = "/deploy/slices?hold=true".parse().unwrap();
    app.send(held).await;
    app.send(call(token, "mfe-loans/activate", Some(json!({"version": "0.3.0"})))).await;
    app.send(call(token, "mfe-loans/rollback", None)).await;
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/gitlab", None).await;
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/gitlab", None).await;
    slice_command(&app, &["token", "add", "mfe-plans", "--expires", "7d"]).await;
    slice_command(&app, &["token", "add", "mfe-plans"]).await;
    slice_command(&app, &["token", "revoke", "mfe-plans"]).await;

    let written = app.console(Method::GET, "/events?limit=100", None).await;
    assert!(!String::from_utf8_lossy(&written.bytes).contains(token));
    let lines: Vec<String> = written
        .json()
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|event| {
            ["kind", "who", "about", "details"].map(|field| event[field].as_str().unwrap_or("-")).join(" · ")
        })
        .collect();
    assert_snapshot!(lines.join("\n"), @"
    deploy_token_added · operator · mfe-loans · token: gitlab, until: 2026-12-14T09:00:00.000Z
    slice_published · deploy token gitlab · mfe-loans · version: 0.2.0
    deploy_token_refused · deploy token gitlab · mfe-loans · it was used for another slice
    slice_published · deploy token gitlab · mfe-loans · version: 0.3.0, hold: true
    slice_activated · deploy token gitlab · mfe-loans · version: 0.3.0
    slice_rolled_back · deploy token gitlab · mfe-loans · -
    deploy_token_revoked · operator · mfe-loans · token: gitlab
    deploy_token_added · operator · mfe-plans · token: ci, until: 2026-11-21T09:00:00.000Z
    deploy_token_revoked · operator · mfe-plans · token: ci
    ");
}
