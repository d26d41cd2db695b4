//! Rollouts: which browsers get a build, and what changes that.

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use worlds::retention;

use crate::{
    browser::{Browser, confirmed, words},
    command_line::error_line,
    deploying,
    slices::{
        activate, build, build_of, hold, manifest, publish, publish_with, roll_back, slice_command, started,
        started_with, versions,
    },
    test_app::{Answer, Listener, TestApp, column},
};

/// A browser that keeps its cookies.
#[derive(Default)]
struct Visitor {
    cookie: Option<String>,
}

impl Visitor {
    async fn reads(&mut self, app: &TestApp) -> Value {
        let mut request = Request::get("/slices.json");
        if let Some(cookie) = &self.cookie {
            request = request.header(header::COOKIE, cookie);
        }
        // Not checked against the contract, as other tests do that: thousands are asked for.
        let answer = app.send_to(Listener::Portal, request.body(Body::empty()).unwrap()).await;
        if let Some(set) = answer.headers.get(header::SET_COOKIE) {
            assert!(self.cookie.is_none(), "a bucket is kept: {set:?}");
            self.cookie = Some(set.to_str().unwrap().split(';').next().unwrap().to_owned());
        }
        answer.json()["slices"]["mfe-loans"].clone()
    }

    /// The version of mfe-loans that it gets.
    async fn version(&mut self, app: &TestApp) -> String {
        self.reads(app).await["version"].as_str().unwrap().to_owned()
    }
}

async fn versions_of(visitors: &mut [Visitor], app: &TestApp) -> Vec<String> {
    let mut found = Vec::new();
    for visitor in visitors {
        found.push(visitor.version(app).await);
    }
    found
}

/// Publishes mfe-loans 0.2.0, with 0.1.0 live, for so many browsers.
pub async fn publish_for(app: &TestApp, query: &str) -> Answer {
    publish_with(app, &build("mfe-loans", "0.2.0"), &format!("?by=ci&{query}")).await
}

async fn roll_out(app: &TestApp, body: Value) -> Answer {
    app.console(Method::POST, "/slices/mfe-loans/rollout?by=wanjiru", body).await
}

async fn act(app: &TestApp, act: &str) -> Answer {
    app.console(Method::POST, &format!("/slices/mfe-loans/{act}?by=wanjiru"), None).await
}

/// The trail, the oldest first: what was done to which version, and the note.
async fn trail(app: &TestApp) -> Vec<String> {
    let overview = app.read_console("/slices").await;
    let entries = overview["trail"].as_array().unwrap().iter().rev().map(|event| {
        let text = |field: &str| event[field].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} by {}", text("act"), text("version"), text("note"), text("by"))
    });
    entries.collect()
}

#[tokio::test]
async fn of_200_visitors_a_tenth_get_the_build_and_nobody_changes_sides_except_towards_it() {
    let (app, _portal) = started().await;
    let mut visitors: Vec<Visitor> = (0..200).map(|_| Visitor::default()).collect();
    assert_eq!(publish_for(&app, "percent=10").await.status, 201);

    let mut before = versions_of(&mut visitors, &app).await;
    let new = before.iter().filter(|version| *version == "0.2.0").count();
    // Of 200 draws at 10%, fewer or more hit once in a million times.
    assert!((3..=43).contains(&new), "{new} of 200");
    assert_eq!(versions_of(&mut visitors, &app).await, before, "everybody keeps their side");
    for percent in [35, 100] {
        assert_eq!(roll_out(&app, json!({"version": "0.2.0", "percent": percent})).await.status, 200);
        let after = versions_of(&mut visitors, &app).await;
        assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "{percent}%");
        assert!(after.iter().filter(|version| *version == "0.2.0").count() >= new);
        before = after;
    }
    assert!(before.iter().all(|version| version == "0.2.0"));
    roll_out(&app, json!({"version": "0.2.0", "percent": 0})).await;
    assert!(versions_of(&mut visitors, &app).await.iter().all(|version| version == "0.1.0"));
}

#[tokio::test]
async fn three_servers_give_a_browser_the_same_build() {
    let (app, portal) = started().await;
    let options = ["--portal-dir", portal.path().to_str().unwrap()];
    let others = [app.another_server(&options).await, app.another_server(&options).await];
    publish_for(&app, "percent=40").await;
    let mut visitors: Vec<Visitor> = (0..60).map(|_| Visitor::default()).collect();
    let seen = versions_of(&mut visitors, &app).await;
    assert!(seen.contains(&"0.1.0".to_owned()) && seen.contains(&"0.2.0".to_owned()));
    for other in &others {
        assert_eq!(versions_of(&mut visitors, other).await, seen);
    }
    let promoted = others[1].console(Method::POST, "/slices/mfe-loans/promote", None).await;
    assert_eq!(promoted.json()["live"], "0.2.0");
    for server in [&app, &others[0]] {
        assert!(versions_of(&mut visitors, server).await.iter().all(|version| version == "0.2.0"));
    }
}

#[tokio::test]
async fn the_bucket_is_in_a_cookie_for_the_list_alone_that_says_nothing_else() {
    let (app, portal) = started().await;
    let list = app.get("/slices.json").await;
    let cookie = list.headers[header::SET_COOKIE].to_str().unwrap();
    let (bucket, rest) = cookie.split_once("; ").unwrap();
    assert!(bucket.strip_prefix("mkopo_bucket=").unwrap().parse::<u8>().unwrap() < 100);
    assert_snapshot!(rest, @"Path=/slices.json; HttpOnly; SameSite=Strict; Max-Age=34560000");
    assert_eq!(list.headers[header::CACHE_CONTROL], "private, no-cache");
    assert_eq!(list.headers[header::VARY], "cookie, accept-encoding");
    let with = async |cookie: &str| {
        let answer = app.get_with("/slices.json", &[("cookie", cookie)]).await;
        answer.headers.contains_key(header::SET_COOKIE)
    };
    assert!(!with("theme=dark; mkopo_bucket=7").await);
    for invalid in ["mkopo_bucket=100", "mkopo_bucket=-1", "mkopo_bucket=", "another=7"] {
        assert!(with(invalid).await, "{invalid}");
    }
    let folder = portal.path().to_str().unwrap().to_owned();
    let app = app.restart_with(&["--portal-dir", &folder, "--behind-tls", "true"]).await;
    let list = app.get("/slices.json").await;
    let cookie = list.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.starts_with("__Secure-mkopo_bucket=") && cookie.contains("; Secure;"), "{cookie}");
}

#[tokio::test]
async fn a_browser_that_gets_the_new_build_falls_back_to_the_live_one() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=100").await;
    let loans = Visitor::default().reads(&app).await;
    assert_eq!((&loans["version"], &loans["previous"]["version"]), (&json!("0.2.0"), &json!("0.1.0")));
    assert_eq!(loans["screens"][0]["path"], "/loans", "what the new build brings");
}

#[tokio::test]
async fn while_a_rollout_runs_all_that_would_change_the_live_build_is_refused_with_its_name() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=10").await;
    assert_eq!(hold(&app, "mfe-loans", "0.3.0").await.status, 201);
    let text = "409 rollout_runs: The rollout of mfe-loans 0.2.0 runs, at 10%. Promote or abort it first.";
    for refused in [
        publish(&app, &build("mfe-loans", "0.4.0")).await,
        publish_with(&app, &build("mfe-loans", "0.4.0"), "?plan=5:10m,100").await,
        roll_out(&app, json!({"version": "0.3.0", "percent": 5})).await,
        activate(&app, "mfe-loans", "0.3.0").await,
        app.console(Method::DELETE, "/slices/mfe-loans", None).await,
    ] {
        assert_eq!(refused.refusal(), text);
    }
    assert_eq!(publish_for(&app, "percent=90").await.status, 200, "a pipeline may run again");
    let running = act(&app, "hold").await.json()["rollout"].clone();
    assert_eq!((&running["version"], &running["percent"]), (&json!("0.2.0"), &json!(10)));
    assert_eq!(act(&app, "abort").await.status, 200);
    assert_eq!(publish(&app, &build("mfe-loans", "0.4.0")).await.status, 201);
    assert_eq!(versions(&app).await, (json!("0.4.0"), json!("0.1.0")));
}

#[tokio::test]
async fn a_rollout_is_promoted_or_aborted_and_the_trail_says_so() {
    let (app, _portal) = started().await;
    publish_for(&app, "percent=10").await;
    assert_eq!(act(&app, "abort").await.json()["rollout"], Value::Null);
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    let of_no_slice = app.console(Method::POST, "/slices/mfe-nothing/hold", None).await;
    assert_eq!(of_no_slice.failure().1, "slice_not_found");
    for gone in ["promote", "abort", "hold"] {
        assert_eq!(act(&app, gone).await.failure().2, "There is no rollout of mfe-loans.");
    }
    assert_eq!(roll_out(&app, json!({"version": "0.2.0", "plan": "5:10m,25:30m,100"})).await.status, 200);
    assert_eq!(act(&app, "hold").await.json()["rollout"]["plan"], Value::Null);
    roll_out(&app, json!({"version": "0.2.0", "percent": 50})).await;
    roll_out(&app, json!({"version": "0.2.0", "percent": 50})).await;
    let promoted = act(&app, "promote").await.json();
    assert_eq!((&promoted["live"], &promoted["previous"]), (&json!("0.2.0"), &json!("0.1.0")));
    assert_eq!(roll_back(&app, "mfe-loans").await.json()["live"], "0.1.0");
    assert_snapshot!(trail(&app).await.join("\n"), @r"
    rolled_out 0.2.0 to 10% by ci
    aborted 0.2.0 at 10% by wanjiru
    rolled_out 0.2.0 to 5%, by the plan 5:10m,25:30m,100 by wanjiru
    rollout_held 0.2.0 at 5% by wanjiru
    rolled_out 0.2.0 to 50% by wanjiru
    promoted 0.2.0 - by wanjiru
    rolled_back 0.1.0 - by wanjiru
    ");
    let events = app.read_console("/events?kind=slice_rolled_out").await;
    assert_eq!(events[0]["details"], "version: 0.2.0, percent: 50, by: wanjiru");
}

#[tokio::test]
async fn browsers_do_not_fall_back_to_a_build_whose_rollout_was_aborted() {
    let (app, _portal) = started().await;
    for version in ["0.2.0", "0.3.0"] {
        publish(&app, &build("mfe-loans", version)).await;
    }
    roll_out(&app, json!({"version": "0.2.0", "percent": 0})).await;
    assert_eq!(versions(&app).await, (json!("0.3.0"), json!("0.2.0")));
    act(&app, "abort").await;
    assert_eq!(versions(&app).await, (json!("0.3.0"), json!("0.1.0")));
}

#[tokio::test]
async fn a_share_that_makes_no_sense_is_refused_and_changes_nothing() {
    let (app, _portal) = started().await;
    hold(&app, "mfe-loans", "0.2.0").await;
    for (wrong, code) in [
        (json!({"version": "0.2.0"}), "invalid_request"),
        (json!({"version": "0.2.0", "percent": 101}), "invalid_request"),
        (json!({"version": "0.2.0", "percent": 5, "plan": "5:10m,100"}), "invalid_request"),
        (json!({"version": "0.2.0", "plan": "50:10m,5"}), "invalid_request"),
        (json!({"version": "0.1.0", "percent": 5}), "already_live"),
        (json!({"version": "0.9.0", "percent": 5}), "build_not_found"),
    ] {
        assert_eq!(roll_out(&app, wrong.clone()).await.failure().1, code, "{wrong}");
    }
    for query in ["percent=101", "percent=5&plan=5:10m,100", "percent=5&hold=true"] {
        assert!(publish_for(&app, query).await.status.is_client_error(), "{query}");
    }
    assert_eq!(trail(&app).await.len(), 1);
    assert_eq!(Visitor::default().version(&app).await, "0.1.0");
}

#[tokio::test]
async fn a_new_slice_can_be_for_some_browsers_and_its_paths_are_taken() {
    let (app, _portal) = started().await;
    let due = |name: &str| {
        let mut manifest = manifest(name, "1.0.0");
        manifest["brings"]["screens"][0]["path"] = json!("/due");
        build_of(&manifest)
    };
    assert_eq!(publish_with(&app, &due("mfe-repayments"), "?percent=50").await.status, 201);
    let mut seen = [0, 0];
    for _ in 0..40 {
        let list = app.get("/slices.json").await.json();
        seen[usize::from(list["slices"]["mfe-repayments"].is_object())] += 1;
    }
    assert!(seen[0] > 5 && seen[1] > 5, "{seen:?}");
    let refused = publish(&app, &due("mfe-loans")).await;
    assert_eq!(refused.failure().2, "mfe-loans wants the path /due, which mfe-repayments has.");
}

#[tokio::test]
async fn the_build_of_a_rollout_is_kept_however_old_it_is() {
    let (app, _portal) = started_with(&["--keep-builds", "1"]).await;
    publish_for(&app, "percent=10").await;
    for version in ["0.3.0", "0.4.0", "0.5.0"] {
        hold(&app, "mfe-loans", version).await;
        app.clock.advance(std::time::Duration::from_mins(1));
    }
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    let overview = app.read_console("/slices").await;
    let kept = column(&overview["slices"][0]["builds"], "version");
    assert_eq!(kept, ["0.5.0", "0.2.0", "0.1.0"]);
}

#[tokio::test]
async fn a_sandbox_follows_what_is_live_and_rolls_nothing_out() {
    let (app, _portal) = started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    publish_for(&app, "percent=100").await;
    assert_eq!(one.get("/slices.json").await.json()["slices"]["mfe-loans"]["version"], "0.1.0");
    let body = json!({"version": "0.2.0", "percent": 10});
    let refused = one.console(Method::POST, "/slices/mfe-loans/rollout", body).await;
    assert_eq!(
        refused.failure().2,
        "A sandbox has one build of a slice for everybody: publish without a percentage, or to main."
    );
}

#[tokio::test]
async fn a_deploy_token_rolls_its_slice_out() {
    let (app, _portal) = started().await;
    let token = deploying::token_of(&app, "mfe-loans").await;
    let mut request = deploying::publication(&token, &build("mfe-loans", "0.2.0"));
    *request.uri_mut() = "/deploy/slices?percent=10".parse().unwrap();
    assert_eq!(app.send(request).await.status, 201);
    let with_token = async |act: &str, body: Option<Value>| {
        app.send(deploying::call(&token, &format!("mfe-loans/{act}"), body)).await
    };
    let changed = with_token("rollout", Some(json!({"version": "0.2.0", "plan": "20:1h,100"}))).await.json();
    assert_eq!(changed["rollout"]["percent"], 20);
    assert_eq!(changed["rollout"]["plan"], "20:1h,100");
    assert_eq!(with_token("hold", None).await.json()["rollout"]["plan"], Value::Null);
    assert_eq!(with_token("abort", None).await.json()["rollout"], Value::Null);
    with_token("rollout", Some(json!({"version": "0.2.0", "percent": 20}))).await;
    assert_eq!(with_token("promote", None).await.json()["live"], "0.2.0");
    assert!(trail(&app).await.iter().all(|entry| entry.ends_with(" by deploy token ci")));
    let other = deploying::token_of(&app, "mfe-repayments").await;
    let refused = app.send(deploying::call(&other, "mfe-loans/promote", None)).await;
    assert_eq!(refused.failure().1, "wrong_slice");
}

#[tokio::test]
async fn rollouts_run_on_the_command_line() {
    let (app, _portal) = started().await;
    hold(&app, "mfe-loans", "0.2.0").await;
    let run = async |arguments: &[&str]| slice_command(&app, arguments).await;
    let said = async |arguments: &[&str]| String::from_utf8(run(arguments).await.stdout).unwrap();
    assert_snapshot!(said(&["rollout", "mfe-loans", "0.2.0", "--percent", "50"]).await, @"50% of browsers get mfe-loans 0.2.0; the others get 0.1.0.");
    assert!(said(&["list"]).await.starts_with("mfe-loans\t0.2.0\t50%\tpublished"));
    assert_snapshot!(said(&["rollout", "mfe-loans", "0.2.0", "--plan", "5:10m,100"]).await, @"5% of browsers get mfe-loans 0.2.0, by the plan 5:10m,100; the others get 0.1.0.");
    assert_snapshot!(said(&["hold", "mfe-loans"]).await, @"5% of browsers get mfe-loans 0.2.0; the others get 0.1.0.");
    assert_snapshot!(error_line(&run(&["activate", "mfe-loans", "0.2.0"]).await), @"mkopo: The rollout of mfe-loans 0.2.0 runs, at 5%. Promote or abort it first.");
    assert_snapshot!(said(&["abort", "mfe-loans"]).await, @"mfe-loans 0.1.0 is live.");
    assert_snapshot!(error_line(&run(&["rollout", "mfe-loans", "0.2.0"]).await), @"mkopo: give --percent or --plan");
    said(&["rollout", "mfe-loans", "0.2.0", "--percent", "1"]).await;
    assert_snapshot!(said(&["promote", "mfe-loans"]).await, @"mfe-loans 0.2.0 is live.");
}

#[tokio::test]
async fn a_button_of_an_old_page_does_nothing_to_another_rollout() {
    let (app, _portal) = started().await;
    publish_for(&app, "plan=5:10m,100").await;
    let browser = Browser::sign_in(&app).await;
    let page = "/console/slices";
    let old = browser.get(page).await;
    act(&app, "abort").await;
    hold(&app, "mfe-loans", "0.3.0").await;
    roll_out(&app, json!({"version": "0.3.0", "plan": "1:10m,100"})).await;
    for button in
        ["Promote mfe-loans 0.2.0", "Hold the rollout of mfe-loans", "Abort the rollout of mfe-loans"]
    {
        let fields = confirmed(&old, &format!("aria-label=\"{button}\""));
        let refused = browser.send_as(page, &fields).await;
        assert_eq!(refused.status, 409, "{button}");
        let read = words(&refused);
        for text in [
            "mfe-loans has changed meanwhile. Nothing was done; look again.",
            "1% of browsers have 0.3.0, by",
        ] {
            assert!(read.contains(text), "{button}: {text}: {read}");
        }
    }
    let new = browser.get(page).await;
    let promoted = browser.send_as(page, &confirmed(&new, "aria-label=\"Promote mfe-loans 0.3.0\"")).await;
    assert_eq!(promoted.status, 303);
    assert_eq!(versions(&app).await, (json!("0.3.0"), json!("0.1.0")));
}
