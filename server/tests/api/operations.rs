//! One successful call of every operation of the contract.

use std::collections::BTreeSet;

use axum::{
    body::Body,
    http::{Method, Request},
};
use lending::demo;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, csrf, get, post},
    contract, deploying,
    live_settings::LIVE,
    slice_reports, slices,
    test_app::{
        Answer, CONSOLE_TOKEN, TestApp, account, disbursement_of, payout_path, request, waiting, with_headers,
    },
    traces,
    updates::Stream,
};

/// A form of each page that has one, with its fields.
const FORMS: [(&str, &[(&str, &str)]); 11] = [
    ("outbox", &[("act", "empty")]),
    ("loans", &[("act", "make"), ("count", "1")]),
    ("scenario", &[("act", "clear")]),
    ("faults", &[("act", "end")]),
    ("traffic", &[("act", "forget")]),
    ("staff", &[("act", "expire")]),
    ("data", &[("act", "save"), ("name", "second")]),
    ("clock", &[("act", "real")]),
    ("slices", &[("act", "roll-back"), ("name", "mfe-loans")]),
    ("sandboxes", &[("act", "make"), ("name", "made-by-a-form")]),
    ("stories", &[("act", "begin"), ("story", "refused")]),
];

/// Calls operations and remembers them.
struct Caller<'a> {
    app: &'a TestApp,
    called: BTreeSet<(&'static str, String)>,
}

impl Caller<'_> {
    async fn send(&mut self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().to_string());
        let name = contract::name(&method, &path);
        let answer = self.app.send(request).await;
        let is_good = answer.status.is_success() || answer.status.is_redirection();
        assert!(is_good, "{}", answer.status);
        self.called.extend(name);
        answer
    }

    /// Goes on with the story of a sandbox.
    async fn tells_a_story_in(&mut self, sandbox: &'static str) {
        for (method, call) in [(Method::GET, "story"), (Method::POST, "story/next")] {
            let call = request(method, &format!("/console/api/{call}"), Some(CONSOLE_TOKEN), None);
            self.send(with_headers(call, &[("mkopo-sandbox", sandbox)])).await;
        }
    }

    /// Makes a link to a story, opens it, and makes each call of a guest.
    async fn opens_a_link(&mut self) {
        let link = self.console(Method::POST, "/story-links", json!({"story": "refused"})).await.json();
        self.console(Method::GET, "/story-links", None).await;
        let path = link["url"].as_str().unwrap().split_once("8080").unwrap().1.to_owned();
        self.send(get(&path, None)).await;
        let opened = self.send(request(Method::POST, &path, None, None)).await;
        let to = opened.headers["location"].to_str().unwrap().to_owned();
        let (origin, code) = to.split_once("/enter#").unwrap();
        let at = |method: Method, path: &str, token: Option<&str>, body: Option<Value>| {
            let host = origin.strip_prefix("http://").unwrap();
            with_headers(request(method, path, token, body), &[("host", host), ("origin", origin)])
        };
        let entered = self.send(at(Method::POST, "/story/enter", None, Some(json!({"code": code})))).await;
        let token = entered.json()["user"]["token"].as_str().unwrap().to_owned();
        for (method, path) in [
            (Method::GET, "/story/told"),
            (Method::POST, "/story/next"),
            (Method::POST, "/story/keep"),
            (Method::GET, "/story/file"),
            (Method::POST, "/story/again"),
        ] {
            self.send(at(method, path, Some(&token), None)).await;
        }
        let id = link["id"].as_str().unwrap();
        self.console(Method::DELETE, &format!("/story-links/{id}"), None).await;
    }

    /// A call of the portal's API.
    async fn portal(
        &mut self,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: impl Into<Option<Value>>,
    ) -> Answer {
        self.send(request(method, &format!("/api/v1{path}"), token, body)).await
    }

    /// A call of the console's API.
    async fn console(&mut self, method: Method, path: &str, body: impl Into<Option<Value>>) -> Answer {
        self.send(request(method, &format!("/console/api{path}"), Some(CONSOLE_TOKEN), body)).await
    }
}

impl Caller<'_> {
    async fn changes_what_is_live(&mut self) {
        self.send(slices::publication_of(&slices::build("mfe-loans", "0.2.0"))).await;
        self.console(Method::POST, "/slices/mfe-loans/rollback", None).await;
        self.console(Method::POST, "/slices/mfe-loans/activate", json!({"version": "0.2.0"})).await;
        let rollout = json!({"version": "0.1.0", "plan": "10:1h,100"});
        self.console(Method::POST, "/slices/mfe-loans/rollout", rollout.clone()).await;
        self.console(Method::POST, "/slices/mfe-loans/hold", None).await;
        self.console(Method::POST, "/slices/mfe-loans/abort", None).await;
        self.console(Method::POST, "/slices/mfe-loans/rollout", rollout).await;
        self.console(Method::POST, "/slices/mfe-loans/promote", None).await;
        let reports = json!({"reports": [slice_reports::loaded("0.1.0")]});
        self.send(slice_reports::call("192.0.2.1", &reports)).await;
    }

    /// The operations that only the live screens call.
    async fn on_live_screens() -> BTreeSet<(&'static str, String)> {
        let app = TestApp::start_with(&LIVE).await;
        let mut caller = Caller { app: &app, called: BTreeSet::new() };
        caller.calls_of_live_screens().await;
        caller.called
    }

    async fn calls_of_live_screens(&mut self) {
        let session = self.app.sign_in("admin").await.token().to_owned();
        let token = Some(session.as_str());
        for path in ["/preferences", "/settings", "/profile", "/sessions", "/notifications", "/reports"] {
            self.portal(token, Method::GET, path, None).await;
        }
        let elsewhere = self.app.sign_in("admin").await;
        let sessions = elsewhere.get("/api/v1/sessions").await.json();
        let current = sessions.as_array().unwrap().iter().find(|session| session["is_current"] == true);
        let id = current.unwrap()["id"].as_str().unwrap();
        self.portal(token, Method::DELETE, &format!("/sessions/{id}"), None).await;
        let stream = Stream::open(self.app, &session, None).await;
        self.called.extend(contract::name(&Method::GET, "/api/v1/events"));
        drop(stream);
        for (path, body) in [
            (
                "/settings",
                json!({
                    "preferences": {"language": "sw", "time_zone": "UTC", "notify_by_email": true,
                                    "notify_by_sms": true},
                    "rules": {"session_minutes": 60, "maximum_amount": 1000, "confirmation_required": false,
                              "auto_retry": true, "retry_attempts": 1},
                }),
            ),
            (
                "/profile",
                json!({"first_name": "Ada", "last_name": "Otieno", "phone_number": "0712345678",
                               "current_password": demo::PASSWORD}),
            ),
            ("/notifications/read", json!({"until": "2026-11-14T09:00:00Z"})),
            ("/profile/sign-in-code", json!({"required": true, "password": demo::PASSWORD})),
            (
                "/profile/password",
                json!({"current_password": demo::PASSWORD, "new_password": "a-new-password-of-mine"}),
            ),
        ] {
            self.portal(token, Method::PUT, path, Some(body)).await;
        }
    }

    async fn needs_no_sign_in(&mut self) {
        for path in ["/slices.json", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/docs/"] {
            self.send(request(Method::GET, path, None, None)).await;
        }
        self.send(traces::report(&json!({"spans": [traces::span(traces::TRACE)]}))).await;
    }

    async fn deploys_with_a_token(&mut self) {
        let new = json!({"slice": "mfe-loans"});
        let added = self.console(Method::POST, "/deploy-tokens", new).await.json();
        let token = added["token"].as_str().unwrap().to_owned();
        for call in [
            deploying::publication(&token, &slices::build("mfe-loans", "0.3.0")),
            deploying::call(&token, "mfe-loans/rollback", None),
            deploying::call(&token, "mfe-loans/activate", Some(json!({"version": "0.3.0"}))),
            deploying::call(&token, "mfe-loans/rollout", Some(json!({"version": "0.2.0", "percent": 10}))),
            deploying::call(&token, "mfe-loans/hold", None),
            deploying::call(&token, "mfe-loans/abort", None),
            deploying::call(&token, "mfe-loans/rollout", Some(json!({"version": "0.2.0", "percent": 10}))),
            deploying::call(&token, "mfe-loans/promote", None),
        ] {
            assert!(self.send(call).await.status.is_success());
        }
        self.console(Method::GET, "/deploy-tokens", None).await;
        self.console(Method::DELETE, "/deploy-tokens/mfe-loans/ci", None).await;
    }
}

// S-9, S-98, S-112, S-117
#[tokio::test]
async fn every_operation_of_the_contract_is_exercised() {
    const EMAIL: &str = "agent@mkopo.test";
    const PASSWORD: &str = "a-new-password-of-mine";
    let (app, _portal) = slices::started().await;
    let mut caller = Caller { app: &app, called: Caller::on_live_screens().await };

    // Sign-in.
    let credentials = json!({"email": EMAIL, "password": demo::PASSWORD});
    caller.portal(None, Method::POST, "/auth/login", credentials.clone()).await;
    caller.portal(None, Method::POST, "/auth/request-signin-otp", json!({"email": EMAIL})).await;
    let mut with_code = credentials;
    with_code["otp"] = json!(app.newest_code(EMAIL).await);
    let signed_in = caller.portal(None, Method::POST, "/auth/verify-signin-otp", with_code).await;
    let bearer = signed_in.json()["user"]["token"].as_str().unwrap().to_owned();
    let token = Some(bearer.as_str());
    caller.portal(token, Method::GET, "/auth/me", None).await;

    // Loans and payouts.
    let pending = caller.portal(token, Method::GET, "/disbursements/pending", None).await.json();
    let loan = waiting(pending.as_array().unwrap()).next().unwrap();
    caller.portal(token, Method::POST, &payout_path(loan)["/api/v1".len()..], disbursement_of(loan)).await;
    caller.portal(token, Method::GET, "/disbursement-records", None).await;

    caller.portal(token, Method::POST, "/auth/logout", None).await;
    caller.portal(None, Method::POST, "/auth/request-password-reset", json!({"email": EMAIL})).await;
    let code = app.newest_code("+254711000003").await;
    let reset = json!({"email": EMAIL, "otp": code, "new_password": PASSWORD});
    caller.portal(None, Method::POST, "/auth/reset-password", reset).await;

    // The console's API.
    for path in [
        "/outbox",
        "/scenario",
        "/clock",
        "/faults",
        "/traffic",
        "/traffic.har",
        "/traces",
        "/contract",
        "/events",
        "/staff",
        "/payouts",
        "/invariant",
        "/slices",
    ] {
        caller.console(Method::GET, path, None).await;
    }
    caller.console(Method::PUT, "/scenario", json!({"next": ["slow"]})).await;
    caller.console(Method::DELETE, "/scenario", None).await;
    caller.console(Method::PUT, "/clock", json!({"advance": "1m"})).await;
    caller.console(Method::DELETE, "/clock", None).await;
    let fault = json!({"path": "/api/v1/auth/me", "kind": "latency", "ms": 1});
    let fault = caller.console(Method::POST, "/faults", fault).await.json();
    caller.console(Method::DELETE, &format!("/faults/{}", fault["id"].as_str().unwrap()), None).await;
    caller.console(Method::DELETE, "/faults", None).await;
    caller.console(Method::DELETE, "/traffic", None).await;
    caller.console(Method::DELETE, "/outbox", None).await;
    caller.console(Method::POST, "/loans", json!({"count": 2})).await;
    caller.console(Method::POST, "/payouts", None).await;
    caller.console(Method::POST, "/staff", account("grace@example.com")).await;
    let agent = format!("/staff/{EMAIL}");
    caller.console(Method::GET, &agent, None).await;
    caller.console(Method::PATCH, &agent, json!({"role": "supervisor"})).await;
    caller.console(Method::POST, &format!("{agent}/expire"), None).await;
    caller.console(Method::POST, "/staff/expire", None).await;
    caller.console(Method::POST, "/data/snapshots/first", None).await;
    caller.console(Method::GET, "/data/snapshots", None).await;
    caller.console(Method::PUT, "/data/snapshots/first", None).await;
    caller.console(Method::DELETE, "/data/snapshots/first", None).await;
    caller.console(Method::POST, "/data/reset", None).await;
    caller.changes_what_is_live().await;

    caller.console(Method::GET, "/stories", None).await;
    caller.console(Method::GET, "/stories/schema.json", None).await;
    caller.console(Method::POST, "/sandboxes", json!({"name": "pr-12", "story": "refused"})).await;
    caller.tells_a_story_in("pr-12").await;
    caller.opens_a_link().await;
    caller.console(Method::GET, "/sandboxes", None).await;
    caller.console(Method::GET, "/sandboxes/pr-12", None).await;

    caller.deploys_with_a_token().await;

    // The console's pages.
    caller.send(post("/console/sign-in", None, &[("token", CONSOLE_TOKEN), ("page", "/console")])).await;
    let browser = Browser::sign_in(&app).await;
    let csrf = csrf(&browser.get("/console").await);
    let form = |address: &str, fields: &[(&str, &str)]| {
        post(address, Some(&browser.cookie), &[&[("csrf", csrf.as_str())], fields].concat())
    };
    for (address, _) in browser.pages().await {
        caller.send(get(&address, Some(&browser.cookie))).await;
    }
    for (page, fields) in FORMS {
        caller.send(form(&format!("/console/{page}"), fields)).await;
    }
    caller.send(get("/console/traffic?as=har", Some(&browser.cookie))).await;
    caller.send(get("/console/open?sandbox=pr-12", Some(&browser.cookie))).await;
    caller.send(form("/console/sign-out", &[])).await;
    caller.console(Method::DELETE, "/sandboxes/pr-12", None).await;
    caller.console(Method::DELETE, "/slices/mfe-loans", None).await;

    caller.needs_no_sign_in().await;

    let missing: Vec<_> = contract::operations().difference(&caller.called).cloned().collect();
    assert!(missing.is_empty(), "not called: {missing:#?}");
}
