//! Plays calls, acts and forms in a sandbox, in the order in which they began and ended, with the clock as it
//! was.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use ureq::{Agent, http::Request};

use super::{
    super::server::agent,
    file::{Entry, Evidence},
};
use crate::{demo, sandboxes::HEADER as SANDBOX};

/// Tells the clock moves of a replay from recorded ones.
const OWN: &str = "replay";

/// The fields that have passwords.
const PASSWORDS: [&str; 3] = ["password", "new_password", "current_password"];

/// What accounts get that had a password nobody else knows.
const PASSWORD: &str = "Kestrel-over-Naivasha-58";

const WRONG_PASSWORD: &str = "Heron-under-Naivasha-85";

/// How long messages and results are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a read and another call have to arrive before the next one, if they ran at the same time.
const HEAD_STARTS: [Duration; 2] = [Duration::from_millis(30), Duration::from_millis(250)];

/// The addresses and tokens of the sandbox, and what was learned of it.
pub(super) struct Player {
    agent: Agent,
    portal: String,
    console: String,
    sandbox: String,
    token: String,
    /// The cookie and the CSRF token of a browser.
    browser: Option<(String, String)>,
    /// The tokens of sessions, by what stands for them.
    tokens: HashMap<String, String>,
    /// The codes in messages, the oldest first.
    codes: Vec<String>,
    seen: HashSet<String>,
    settled: u64,
}

/// An answer; `None` if the connection ended before it was complete.
type Answer = Option<Value>;

impl Player {
    pub fn new(portal: &str, console: &str, sandbox: &str, token: &str) -> Self {
        Self {
            agent: agent(false),
            portal: portal.trim_end_matches('/').to_owned(),
            console: console.trim_end_matches('/').to_owned(),
            sandbox: sandbox.to_owned(),
            token: token.to_owned(),
            browser: None,
            tokens: HashMap::new(),
            codes: Vec::new(),
            seen: HashSet::new(),
            settled: 0,
        }
    }

    /// Plays `entries`, and returns what the sandbox recorded of it.
    pub fn play(mut self, entries: &[Entry]) -> anyhow::Result<Vec<Entry>> {
        let mut moments: Vec<(u64, usize, bool)> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            moments.extend([(entry.began, index, true), (entry.ended, index, false)]);
        }
        moments.sort_unstable();
        let mut running: HashMap<usize, JoinHandle<Answer>> = HashMap::new();
        for (position, &(_, index, begins)) in moments.iter().enumerate() {
            let entry = &entries[index];
            if begins {
                self.prepare(entry)?;
                let request = self.request(entry)?;
                let agent = self.agent.clone();
                running.insert(index, thread::spawn(move || answer(&agent, request)));
                let is_next = moments.get(position + 1).is_some_and(|next| next.1 == index);
                if !is_next {
                    thread::sleep(HEAD_STARTS[usize::from(entry.request.method != "GET")]);
                }
            } else if let Some(call) = running.remove(&index) {
                let answered = call.join().ok().flatten().unwrap_or_default();
                self.learn(&entry.response.body, &answered);
            }
        }
        let recorded = Evidence::of(self.call("GET", "/evidence", None)?)?;
        let is_own = |entry: &Entry| entry.request.query.as_deref() == Some(OWN);
        Ok(recorded.entries.into_iter().filter(|entry| !is_own(entry)).collect())
    }

    /// Waits for what had happened before `entry`, and sets the clock.
    fn prepare(&mut self, entry: &Entry) -> anyhow::Result<()> {
        if entry.settled > self.settled {
            let deadline = Instant::now() + PATIENCE;
            while self.settled < entry.settled && Instant::now() < deadline {
                self.settled = self.call("GET", "/evidence", None)?["settled"].as_u64().unwrap_or_default();
                thread::sleep(POLL_INTERVAL);
            }
        }
        // An act may delete messages.
        if entry.kind != "call" {
            self.read_messages()?;
        }
        let clock = self.call("GET", "/clock", None)?;
        if clock["frozen"] != json!(true) || clock["now"].as_str() != Some(&entry.at) {
            let change = json!({ "now": entry.at, "frozen": true });
            self.call("PUT", &format!("/clock?{OWN}"), Some(&change))?;
        }
        Ok(())
    }

    fn request(&mut self, entry: &Entry) -> anyhow::Result<Request<Vec<u8>>> {
        let sent = &entry.request;
        let query = sent.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let origin = if entry.kind == "call" { &self.portal } else { &self.console };
        let mut request = Request::builder()
            .method(sent.method.as_str())
            .uri(format!("{origin}{}{query}", sent.path))
            .header(SANDBOX.as_str(), &self.sandbox);
        if entry.kind == "form" {
            let (cookie, csrf) = self.browser()?;
            let request =
                request.header("cookie", &cookie).header("content-type", "application/x-www-form-urlencoded");
            let mut form = form_urlencoded::Serializer::new(String::new());
            form.append_pair("csrf", &csrf);
            for (name, value) in sent.body.as_object().into_iter().flatten() {
                form.append_pair(name, value.as_str().unwrap_or_default());
            }
            return Ok(request.body(form.finish().into_bytes())?);
        }
        for (name, value) in &sent.headers {
            request = request.header(name, value);
        }
        let token = match &sent.token {
            _ if entry.kind == "act" => Some(self.token.clone()),
            Some(stand_in) => {
                Some(self.tokens.get(stand_in).cloned().unwrap_or_else(|| "invalid".to_owned()))
            }
            None => None,
        };
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = match &sent.body {
            Value::Null => Vec::new(),
            body => serde_json::to_vec(&self.with_secrets(body.clone())?)?,
        };
        Ok(request.body(body)?)
    }

    /// `body` with passwords and codes in place of their stand-ins.
    fn with_secrets(&mut self, body: Value) -> anyhow::Result<Value> {
        let Value::Object(mut fields) = body else { return Ok(body) };
        for (name, value) in &mut fields {
            let Some(stand_in) = value.as_str() else { continue };
            let secret = match (name.as_str(), stand_in) {
                (name, "the demo password") if PASSWORDS.contains(&name) => demo::PASSWORD.to_owned(),
                (name, "a wrong password") if PASSWORDS.contains(&name) => WRONG_PASSWORD.to_owned(),
                (name, _) if PASSWORDS.contains(&name) => PASSWORD.to_owned(),
                ("otp", "a wrong code") => self.wrong_code(),
                ("otp", _) => self.code(stand_in)?,
                _ => continue,
            };
            *value = json!(secret);
        }
        Ok(Value::Object(fields))
    }

    fn code(&mut self, stand_in: &str) -> anyhow::Result<String> {
        let number =
            stand_in.strip_prefix("the code of message ").and_then(|number| number.parse::<usize>().ok());
        let number = number.with_context(|| format!("{stand_in:?} stands for no code"))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.read_messages()?;
            if let Some(code) = self.codes.get(number.saturating_sub(1)) {
                return Ok(code.clone());
            }
            if Instant::now() >= deadline {
                bail!("there is no message {number} with a code, which was used in the recording");
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn wrong_code(&self) -> String {
        let mut all = (0..1_000_000).map(|number| format!("{number:06}"));
        all.find(|code| !self.codes.contains(code)).unwrap_or_default()
    }

    fn read_messages(&mut self) -> anyhow::Result<()> {
        let messages = self.call("GET", "/outbox", None)?;
        for message in messages.as_array().into_iter().flatten().rev() {
            let (id, code) = (message["id"].as_str().unwrap_or_default(), message["code"].as_str());
            if self.seen.insert(id.to_owned()) {
                self.codes.extend(code.map(str::to_owned));
            }
        }
        Ok(())
    }

    /// Takes the tokens from an answer.
    fn learn(&mut self, recorded: &Value, answered: &Value) {
        match (recorded, answered) {
            (Value::Object(fields), Value::Object(_)) => {
                for (name, value) in fields {
                    self.learn(value, &answered[name]);
                }
            }
            (Value::String(stand_in), Value::String(token))
                if stand_in.starts_with("the token of session ") =>
            {
                self.tokens.insert(stand_in.clone(), token.clone());
            }
            _ => {}
        }
    }

    /// The answer of the sandbox's console.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/console/api{path}", self.console))
            .header(SANDBOX.as_str(), &self.sandbox)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body.map(serde_json::to_vec).transpose()?.unwrap_or_default())?;
        let mut answer = self.agent.run(request).context("the console can't be reached")?;
        let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string()?;
        if !answer.status().is_success() {
            bail!("{method} {path} answered {}: {text}", answer.status());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Signs in to the console's pages.
    fn browser(&mut self) -> anyhow::Result<(String, String)> {
        if let Some(browser) = &self.browser {
            return Ok(browser.clone());
        }
        let page = |path: &str| {
            Request::builder().uri(format!("{}{path}", self.console)).header(SANDBOX.as_str(), &self.sandbox)
        };
        let fields = BTreeMap::from([("token", self.token.as_str()), ("page", "/console")]);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let sign_in = page("/console/sign-in")
            .method("POST")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.into_bytes())?;
        let signed_in = self.agent.run(sign_in)?;
        let cookie = signed_in.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie =
            cookie.and_then(|cookie| cookie.split(';').next()).context("the console did not sign in")?;
        let read = page("/console").header("cookie", cookie).body(Vec::new())?;
        let html = self.agent.run(read)?.body_mut().read_to_string()?;
        let csrf = html.split("name=\"csrf\"").nth(1).and_then(|rest| rest.split("value=\"").nth(1));
        let csrf = csrf.and_then(|rest| rest.split('"').next()).context("the console's page has no form")?;
        Ok(self.browser.insert((cookie.to_owned(), csrf.to_owned())).clone())
    }
}

fn answer(agent: &Agent, request: Request<Vec<u8>>) -> Answer {
    let mut answer = agent.run(request).ok()?;
    // It ends with the session.
    let media_type = answer.headers().get("content-type").and_then(|value| value.to_str().ok());
    if media_type.is_some_and(|media_type| media_type.starts_with("text/event-stream")) {
        return None;
    }
    let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string().ok()?;
    Some(serde_json::from_str(&text).unwrap_or_default())
}
