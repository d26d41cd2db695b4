//! `mkopo replay`, on the real binary.

use std::{
    path::Path,
    process::Output,
    thread,
    time::{Duration, Instant},
};

use mkopo::demo;
use serde_json::{Value, json};

use crate::{
    command_line::mkopo,
    console_recipes::Server,
    test_app::{CONSOLE_TOKEN, waiting},
};

/// Somebody who calls one sandbox of a server.
#[derive(Clone)]
struct Caller {
    server: String,
    console: String,
    sandbox: String,
    token: String,
}

impl Caller {
    fn make(server: &Server, wish: &Value) -> Self {
        let (address, console) = (server.address.clone(), server.console.clone());
        let main =
            Self { server: address, console, sandbox: "main".to_owned(), token: CONSOLE_TOKEN.to_owned() };
        let made = main.console("POST", "/sandboxes", wish.clone()).1;
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        Self { sandbox: text("name"), token: text("token"), ..main }
    }

    fn send(
        &self,
        method: &str,
        address: &str,
        token: Option<&str>,
        key: &str,
        body: &Value,
    ) -> (u16, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut request = ureq::http::Request::builder().method(method).uri(address);
        request = request.header("mkopo-sandbox", &self.sandbox);
        if !key.is_empty() {
            request = request.header("idempotency-key", key);
        }
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = if body.is_null() {
            request.body(Vec::new()).unwrap()
        } else {
            request.header("content-type", "application/json").body(body.to_string().into_bytes()).unwrap()
        };
        let Ok(mut answer) = agent.run(request) else { return (0, Value::Null) };
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    fn console(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.send(method, &format!("{}/console/api{path}", self.console), Some(&self.token), "", &body)
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    fn portal(&self, method: &str, path: &str, token: Option<&str>, body: Value) -> (u16, Value) {
        self.send(method, &format!("{}/api/v1{path}", self.server), token, "", &body)
    }

    fn pay_out(&self, token: &str, loan: &Value, key: &str) -> (u16, Value) {
        let address =
            format!("{}/api/v1/disbursements/{}/disburse", self.server, loan["loan_id"].as_str().unwrap());
        self.send("POST", &address, Some(token), key, &crate::test_app::disbursement_of(loan))
    }

    fn evidence(&self) -> Value {
        self.console("GET", "/evidence", Value::Null).1
    }

    /// A bit of everything.
    fn live(&self) {
        let email = "agent@mkopo.test";
        self.portal("POST", "/auth/login", None, json!({"email": email, "password": "wrong"}));
        self.portal("POST", "/auth/request-signin-otp", None, json!({"email": email}));
        let code = self.console("GET", "/outbox", Value::Null).1[0]["code"].clone();
        let sign_in = json!({"email": email, "password": demo::PASSWORD, "otp": code});
        let user = self.portal("POST", "/auth/verify-signin-otp", None, sign_in).1;
        let token = user["user"]["token"].as_str().unwrap();
        let pending = self.portal("GET", "/disbursements/pending", Some(token), Value::Null).1;
        let mut loans = waiting(pending.as_array().unwrap());

        // Refused, tried again, and answered once more.
        self.console("PUT", "/scenario", json!({"next": ["insufficient_funds"]}));
        let loan = loans.next().unwrap();
        assert_eq!(self.pay_out(token, loan, "first").0, 422);
        assert_eq!(self.pay_out(token, loan, "second").0, 200);
        assert_eq!(self.pay_out(token, loan, "second").0, 200);

        // Slow, while the clock is moved.
        self.console("PUT", "/scenario", json!({"next": ["slow"]}));
        let slow = loans.next().unwrap().clone();
        let (caller, loan, of_slow) = (self.clone(), slow.clone(), token.to_owned());
        let paying = thread::spawn(move || caller.pay_out(&of_slow, &loan, "slow").0);
        thread::sleep(Duration::from_millis(300));
        self.console("PUT", "/clock", json!({"advance": "9s"}));
        assert_eq!(paying.join().unwrap(), 202);
        self.console("PUT", "/clock", json!({"advance": "5s"}));
        let settled = format!("/payouts?loan_id={}&settled=true&wait=10s", slow["loan_id"].as_str().unwrap());
        assert_eq!(self.console("GET", &settled, Value::Null).1[0]["status"], "COMPLETED");
        self.portal("GET", "/disbursement-records", Some(token), Value::Null);

        // Faults, whose ids are drawn.
        let fault = self
            .console("POST", "/faults", json!({"path": "/api/v1/auth/me", "kind": "status", "status": 503}))
            .1;
        assert_eq!(self.portal("GET", "/auth/me", Some(token), Value::Null).0, 503);
        self.console("DELETE", &format!("/faults/{}", fault["id"].as_str().unwrap()), Value::Null);
        self.console("POST", "/faults", json!({"path": "/api/v1/auth/me", "kind": "drop", "times": 1}));
        assert_eq!(self.portal("GET", "/auth/me", Some(token), Value::Null).0, 0);

        // A snapshot, a colleague, and a loan that is approved.
        self.console("POST", "/data/snapshots/before", Value::Null);
        self.console("POST", "/loans", json!({"count": 2}));
        self.console("PUT", "/data/snapshots/before", Value::Null);
        let grace = json!({
            "email": "grace@example.com", "first_name": "Grace", "last_name": "Wekesa",
            "phone_number": "0712345678", "role": "agent", "password": "a-new-password-of-mine",
        });
        assert_eq!(self.console("POST", "/staff", grace).0, 201);
        let grace = json!({"email": "grace@example.com", "password": "a-new-password-of-mine"});
        assert_eq!(self.portal("POST", "/auth/login", None, grace).0, 200);
        self.portal("POST", "/auth/logout", Some(token), Value::Null);
        assert_eq!(self.portal("GET", "/disbursement-records", Some(token), Value::Null).0, 401);
    }
}

/// The console's pages of one sandbox, in a browser without scripts.
struct Pages {
    caller: Caller,
    cookie: String,
    csrf: String,
}

impl Pages {
    fn open(caller: &Caller) -> Self {
        let mut pages = Self { caller: caller.clone(), cookie: String::new(), csrf: String::new() };
        let signed_in = pages.post("/sign-in", &[("token", &caller.token), ("page", "/console")]);
        let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
        cookie.split_once(';').unwrap().0.clone_into(&mut pages.cookie);
        let overview = pages.read("");
        let (_, csrf) = overview.split_once("name=\"csrf\" value=\"").unwrap();
        csrf.split_once('"').unwrap().0.clone_into(&mut pages.csrf);
        pages
    }

    fn request(&self, method: &str, page: &str) -> ureq::http::request::Builder {
        ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}/console{page}", self.caller.console))
            .header("mkopo-sandbox", &self.caller.sandbox)
            .header("cookie", &self.cookie)
    }

    fn run(request: ureq::http::Request<Vec<u8>>) -> ureq::http::Response<ureq::Body> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        ureq::Agent::from(config.build()).run(request).unwrap()
    }

    fn read(&self, page: &str) -> String {
        let mut answer = Self::run(self.request("GET", page).body(Vec::new()).unwrap());
        answer.body_mut().read_to_string().unwrap()
    }

    fn post(&self, page: &str, fields: &[(&str, &str)]) -> ureq::http::Response<ureq::Body> {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.request("POST", page).header("content-type", "application/x-www-form-urlencoded");
        Self::run(request.body(form.into_bytes()).unwrap())
    }

    /// Submits a form; returns the status.
    fn send(&self, page: &str, act: &str, typed: &[(&str, &str)]) -> u16 {
        let hidden = [("csrf", self.csrf.as_str()), ("act", act)];
        self.post(page, &[&hidden, typed].concat()).status().as_u16()
    }

    /// Submits a form that must succeed.
    fn done(&self, page: &str, act: &str, typed: &[(&str, &str)]) {
        assert_eq!(self.send(page, act, typed), 303, "{page} {act} {typed:?}");
    }

    /// Moves the clock, and waits until all payouts have settled.
    fn settle_at(&self, now: &str) {
        let settled = || self.caller.evidence()["settled"].as_u64().unwrap();
        let pending = self.caller.console("GET", "/payouts?settled=false", Value::Null).1;
        let all = settled() + pending.as_array().unwrap().len() as u64;
        self.done("/clock", "go", &[("now", now)]);
        let deadline = Instant::now() + Duration::from_secs(30);
        while settled() < all {
            assert!(Instant::now() < deadline, "still pending: {pending}");
        }
    }

    /// What somebody does with every page, while an agent works in the portal.
    fn live(&self) {
        let agent = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
        let sign_in = || {
            let signed_in = self.caller.portal("POST", "/auth/login", None, agent.clone()).1;
            signed_in["user"]["token"].as_str().unwrap().to_owned()
        };
        let token = sign_in();
        let get = |path: &str| self.caller.portal("GET", path, Some(&token), Value::Null);
        self.done("/scenario", "queue", &[("next", "insufficient_funds"), ("count", "1")]);
        self.done(
            "/scenario",
            "change",
            &[("default", "success"), ("latency_ms", "10"), ("float", "900000"), ("seed", "9")],
        );
        let wanted =
            [("customer_first_name", "Wanjiku"), ("total_loan_amount", "25000"), ("loan_id", "LN-1")];
        self.done("/loans", "approve", &wanted);
        self.done("/loans", "make", &[("count", "3")]);
        let pending = get("/disbursements/pending").1;
        let loan = pending.as_array().unwrap().iter().find(|loan| loan["loan_id"] == "LN-1").unwrap();
        assert_eq!(self.caller.pay_out(&token, loan, "first").0, 422);
        self.done("/clock", "advance", &[("advance", "1h")]);
        assert_eq!(self.caller.pay_out(&token, loan, "second").0, 200);

        // A fault, whose id is drawn, and a form that is refused.
        let fault =
            [("path", "/api/v1/auth/me"), ("kind", "status"), ("status", "503"), ("probability", "1")];
        self.done("/faults", "add", &fault);
        assert_eq!(get("/auth/me").0, 503);
        let page = self.read("/faults");
        let (_, id) = page.split_once("name=\"id\" value=\"").unwrap();
        self.done("/faults", "remove", &[("id", id.split_once('"').unwrap().0)]);
        assert_eq!(get("/auth/me").0, 200);
        assert_eq!(self.send("/faults", "add", &[("path", "/elsewhere"), ("kind", "drop")]), 422);

        self.done("/data", "save", &[("name", "before")]);
        self.done("/loans", "make", &[("count", "2")]);
        self.done("/data", "restore", &[("name", "before"), ("confirmed", "yes")]);
        self.done("/staff", "role", &[("email", "agent@mkopo.test"), ("role", "supervisor")]);
        self.done("/staff", "expire", &[("email", "agent@mkopo.test")]);
        assert_eq!(get("/auth/me").0, 401);
        self.caller.portal("POST", "/auth/request-signin-otp", None, json!({"email": agent["email"]}));
        self.done("/outbox", "empty", &[]);
        self.settle_at("2026-12-24T06:00:00Z");
        let history = self.caller.portal("GET", "/disbursement-records", Some(&sign_in()), Value::Null).1;
        assert_eq!(history[0]["loan_id"], "LN-1");
    }
}

fn replay(server: &str, file: &Path, options: &[&str]) -> Output {
    let file = file.to_str().unwrap();
    mkopo()
        .args(["replay", file, "--server", server, "--token", CONSOLE_TOKEN])
        .args(options)
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What follows from the start alone.
fn repeatable(mut evidence: Value) -> String {
    evidence["sandbox"] = Value::Null;
    for entry in evidence["entries"].as_array_mut().unwrap() {
        entry["ms"] = Value::Null;
        // What runs at the same time may end in any order.
        entry["ended"] = Value::Null;
    }
    format!("{evidence:#}")
}

/// Plays what `live` does in a sandbox with a frozen start again, and compares the two recordings.
fn is_played_again_byte_for_byte(live: impl FnOnce(&Caller)) {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence.json");
    let lived = Caller::make(&server, &json!({"seed": 7, "now": "2026-11-14T09:00:00Z", "frozen": true}));
    live(&lived);
    let evidence = lived.evidence();
    assert_eq!(evidence["reasons"], json!([]));
    std::fs::write(&file, evidence.to_string()).unwrap();

    let output = replay(&server.console, &file, &["--json", "--keep"]);
    assert!(output.status.success(), "{}", printed(&output));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["differences"], json!([]));
    assert_eq!(result["played"], evidence["entries"].as_array().unwrap().len());
    let main = Caller { sandbox: "main".to_owned(), token: CONSOLE_TOKEN.to_owned(), ..lived.clone() };
    let all = main.console("GET", "/sandboxes", Value::Null).1;
    let mut names = all.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    let other = names.find(|name| *name != "main" && *name != lived.sandbox).unwrap();
    let again = Caller { sandbox: other.to_owned(), ..main }.evidence();
    assert_eq!(repeatable(again), repeatable(evidence));
}

#[test]
fn a_recording_from_a_frozen_start_is_played_again_byte_for_byte() {
    is_played_again_byte_for_byte(Caller::live);
}

#[test]
fn forms_of_the_console_are_played_again_byte_for_byte() {
    is_played_again_byte_for_byte(|caller| Pages::open(caller).live());
}

#[test]
fn what_comes_out_otherwise_is_printed() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence.json");
    // A clock that runs.
    let lived = Caller::make(&server, &json!({"seed": 7}));
    let credentials = json!({"email": "agent@mkopo.test", "password": demo::PASSWORD});
    let user = lived.portal("POST", "/auth/login", None, credentials).1;
    let token = user["user"]["token"].as_str().unwrap();
    let pending = lived.portal("GET", "/disbursements/pending", Some(token), Value::Null).1;
    let loan = waiting(pending.as_array().unwrap()).next().unwrap();
    assert_eq!(lived.pay_out(token, loan, "key").0, 200);
    let mut evidence = lived.evidence();
    std::fs::write(&file, evidence.to_string()).unwrap();
    let output = replay(&server.console, &file, &[]);
    assert_eq!(printed(&output), "All 3 calls and acts came out as recorded.\n");

    evidence["entries"][0]["response"]["status"] = json!(500);
    evidence["entries"][2]["response"]["body"]["status"] = json!("FAILED");
    std::fs::write(&file, evidence.to_string()).unwrap();
    let output = replay(&server.console, &file, &[]);
    assert_eq!(output.status.code(), Some(1));
    let loan = loan["loan_id"].as_str().unwrap();
    insta::assert_snapshot!(printed(&output).replace(loan, "[loan]"), @r#"
       1  POST /api/v1/auth/login
          status   500  →  200
       3  POST /api/v1/disbursements/[loan]/disburse
          /status  "FAILED"  →  "COMPLETED"
    mkopo: 2 things came out otherwise
    "#);
    let all = Caller { sandbox: "main".to_owned(), token: CONSOLE_TOKEN.to_owned(), ..lived }
        .console("GET", "/sandboxes", Value::Null)
        .1;
    assert_eq!(all.as_array().unwrap().len(), 2, "the sandbox of a replay is removed: {all}");
}

#[test]
fn a_file_that_can_t_be_played_again_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence.json");
    let of = |content: Option<&Value>| {
        match content {
            Some(content) => std::fs::write(&file, content.to_string()).unwrap(),
            None => _ = std::fs::remove_file(&file),
        }
        let output = replay("http://127.0.0.1:9", &file, &[]);
        (output.status.code().unwrap(), printed(&output).replace(folder.path().to_str().unwrap(), "[folder]"))
    };
    let masked = json!({
        "version": 1, "replayable": false, "reasons": ["Number 1 has a password that is not known.", "Another."],
        "start": null, "entries": [],
    });
    insta::assert_debug_snapshot!(
        [
            of(Some(&masked)),
            of(Some(&json!({"version": 2}))),
            of(Some(&json!(["something"]))),
            of(Some(&json!({"version": 1, "replayable": true}))),
            of(None),
        ],
        @r#"
    [
        (
            2,
            "mkopo: [folder]/evidence.json can't be played again\n  Number 1 has a password that is not known.\n  Another.\n",
        ),
        (
            1,
            "mkopo: [folder]/evidence.json has version 2, and this program plays version 1\n",
        ),
        (
            1,
            "mkopo: [folder]/evidence.json is not evidence: it has no version\n",
        ),
        (
            1,
            "mkopo: [folder]/evidence.json is not evidence: missing field `reasons`\n",
        ),
        (
            1,
            "mkopo: [folder]/evidence.json can't be read: No such file or directory (os error 2)\n",
        ),
    ]
    "#
    );
}
