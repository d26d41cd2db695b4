//! What stands for passwords, codes, tokens and ids of requests: which one it was.

use std::collections::{HashMap, HashSet};

use axum::{
    body::Bytes,
    http::{HeaderName, Method, header},
};
use serde_json::{Value, json};

use crate::{
    Sandbox,
    auth::session,
    clock::UnixMillis,
    console::traffic::{Recorded, RecordingState, What},
    demo,
    http::ready_body,
};

const MASK: &str = "•••";

/// Parts of the names of fields whose values are secret.
const SECRET_NAMES: [&str; 4] = ["password", "otp", "token", "secret"];

/// What they are, as far as the calls tell it.
pub(super) struct StandIns<'a> {
    sandbox: &'a Sandbox,
    /// The numbers of the messages that have these codes.
    codes: HashMap<&'a str, usize>,
    has_all_codes: bool,
    /// The sessions, numbered as they were opened.
    sessions: HashMap<String, usize>,
    passwords: HashMap<String, String>,
    requests: HashMap<String, u64>,
    /// The snapshots that were saved since the start.
    snapshots: HashSet<String>,
    reasons: Vec<String>,
    /// The call or act that is being looked at.
    number: u64,
    status: u16,
    failure: Option<String>,
}

impl<'a> StandIns<'a> {
    pub fn of(sandbox: &'a Sandbox, state: &'a RecordingState, recorded: &[Recorded]) -> Self {
        let codes = state.codes.iter().zip(1..).map(|(code, number)| (code.as_str(), number));
        let requests = recorded.iter().zip(state.dropped + 1..);
        Self {
            sandbox,
            codes: codes.collect(),
            has_all_codes: !state.has_more_codes,
            sessions: HashMap::new(),
            passwords: HashMap::from([(demo::PASSWORD.to_owned(), "the demo password".to_owned())]),
            requests: requests.map(|(one, number)| (one.request_id.to_string(), number)).collect(),
            snapshots: HashSet::new(),
            reasons: Vec::new(),
            number: 0,
            status: 0,
            failure: None,
        }
    }

    /// Why it can't be played again.
    pub fn reasons(self) -> Vec<String> {
        self.reasons
    }

    /// Adds a reason.
    pub fn cannot(&mut self, reason: String) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn cannot_of(&mut self, what: &str) {
        self.cannot(format!("Number {} {what}.", self.number));
    }

    /// Turns to the next call or act.
    pub fn begin(&mut self, number: u64, one: &Recorded) {
        self.number = number;
        self.status = one.status.unwrap_or_default();
        let body = one.response_body.as_ref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        self.failure = body.and_then(|body| Some(body.get("code")?.as_str()?.to_owned()));
        if one.is_cut {
            self.cannot_of("has an address or a header that is too long to be kept");
        }
        self.follow_snapshots(one);
    }

    fn follow_snapshots(&mut self, one: &Recorded) {
        let body: Value =
            one.request_body.as_ref().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
        let of_call = one.path.strip_prefix("/console/api/data/snapshots/").map(str::to_owned);
        let of_form = || body["name"].as_str().map(str::to_owned).filter(|_| one.path == "/console/data");
        let (name, is_save, is_restore) = match (of_call, one.what) {
            (Some(name), _) => (name, one.method == Method::POST, one.method == Method::PUT),
            (None, What::Form) => {
                let Some(name) = of_form() else { return };
                (name, body["act"] == "save", body["act"] == "restore")
            }
            (None, _) => return,
        };
        if is_save && self.status < 400 {
            self.snapshots.insert(name);
        } else if is_restore && self.status < 400 && !self.snapshots.contains(&name) {
            self.cannot_of("restores a snapshot from before the start");
        }
    }

    /// Which token a call had.
    pub fn token(&mut self, one: &Recorded) -> Option<String> {
        let session_id = match (&one.session, &one.authorization) {
            (Some(session), _) => session.session_id.clone(),
            (None, None) => return None,
            (None, Some(authorization)) => {
                let token = authorization.split_once(' ').map_or("", |(_, token)| token.trim());
                let named = session::id_named_by(self.sandbox, token, UnixMillis(0));
                let Some(session_id) = named else { return Some("an invalid token".to_owned()) };
                session_id
            }
        };
        if let Some(number) = self.sessions.get(&session_id) {
            return Some(token_of(*number));
        }
        self.cannot_of("is of a session that was not opened in a recorded call");
        Some(MASK.to_owned())
    }

    /// The value of a header.
    pub fn header(&mut self, name: &HeaderName, value: &str) -> (String, String) {
        let value =
            if name == header::IF_NONE_MATCH { ready_body::plain_etag(value) } else { value.to_owned() };
        let shown = if self.has_secret(&value) { MASK.to_owned() } else { value };
        (name.to_string(), shown)
    }

    /// The body of a request.
    pub fn request(&mut self, one: &Recorded) -> Value {
        let body = one.request_body.as_ref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let email = body.and_then(|body| Some(body.get("email")?.as_str()?.trim().to_lowercase()));
        let email = email.or_else(|| one.session.as_ref().map(|session| session.staff.email.to_string()));
        match json_of(one.request_body.as_ref()) {
            Ok(body) => self.walked(body, Some(email.as_deref().unwrap_or("somebody"))),
            Err(length) => {
                self.cannot_of("has a body that is not JSON");
                json!(format!("[{length} bytes, not JSON]"))
            }
        }
    }

    /// The body of a response.
    pub fn response(&mut self, one: &Recorded) -> Value {
        let mut body = match json_of(one.response_body.as_ref()) {
            Ok(body) => self.walked(body, None),
            Err(length) => json!(format!("[{length} bytes, not JSON]")),
        };
        // How far it is from the machine's time, which is not the sandbox's.
        if one.path == "/console/api/clock"
            && let Some(fields) = body.as_object_mut()
        {
            fields.remove("offset_ms");
        }
        body
    }

    /// `value` with stand-ins. `sender` is whose request it is; `None` for a response.
    fn walked(&mut self, value: Value, sender: Option<&str>) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.walked(item, sender)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let value = self.field(&name, value, sender);
                    (if self.has_secret(&name) { MASK.to_owned() } else { name }, value)
                });
                Value::Object(fields.collect())
            }
            Value::String(text) if self.has_secret(&text) => json!(MASK),
            plain => plain,
        }
    }

    fn field(&mut self, name: &str, value: Value, sender: Option<&str>) -> Value {
        let lower_case = name.to_lowercase();
        let is_secret = SECRET_NAMES.iter().any(|part| lower_case.contains(part));
        let stand_in = match (name, &value, sender) {
            ("request_id", Value::String(id), None) => {
                return json!(
                    self.requests
                        .get(id)
                        .map_or(MASK.to_owned(), |number| format!("the id of request {number}"))
                );
            }
            (_, _, _) if !is_secret => return self.walked(value, sender),
            (_, Value::Null, _) => return value,
            ("otp", Value::String(text), Some(_)) => self.code(text.trim()),
            ("password" | "new_password" | "current_password", Value::String(text), Some(sender)) => {
                self.password(text, sender)
            }
            ("token", Value::String(text), None) => self.opened(text),
            _ => None,
        };
        json!(stand_in.unwrap_or_else(|| {
            self.cannot_of(&format!("has a {} that is not known", shown_name(&lower_case)));
            MASK.to_owned()
        }))
    }

    fn code(&self, text: &str) -> Option<String> {
        const LENGTH: usize = 6;
        if let Some(number) = self.codes.get(text) {
            return Some(format!("the code of message {number}"));
        }
        let is_code = text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_code && self.has_all_codes && self.status >= 400).then(|| "a wrong code".to_owned())
    }

    fn password(&mut self, text: &str, sender: &str) -> Option<String> {
        // An account that is opened and a new password have one that nobody else knows.
        if !self.passwords.contains_key(text) && self.status < 300 {
            self.passwords.insert(text.to_owned(), format!("the password of {sender}"));
        }
        let known = self.passwords.get(text).cloned();
        known.or_else(|| {
            (self.failure.as_deref() == Some("invalid_password")).then(|| "a wrong password".to_owned())
        })
    }

    fn opened(&mut self, token: &str) -> Option<String> {
        let session_id = session::id_named_by(self.sandbox, token, UnixMillis(0))?;
        let next = self.sessions.len() + 1;
        Some(token_of(*self.sessions.entry(session_id).or_insert(next)))
    }

    /// Whether a text has a secret where none belongs.
    fn has_secret(&mut self, text: &str) -> bool {
        let has_password = self.passwords.keys().any(|password| text.contains(password.as_str()));
        let has_token = text.contains("eyJ") && text.split('.').count() > 2;
        let is_secret = has_password || has_token || self.codes.contains_key(text.trim());
        if is_secret {
            self.cannot_of("has a password, a code or a token where none belongs");
        }
        is_secret
    }
}

fn token_of(session: usize) -> String {
    format!("the token of session {session}")
}

/// The name of a field, unless somebody has put more in it.
fn shown_name(name: &str) -> &str {
    ["new_password", "current_password", "password", "otp", "token"]
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or("secret")
}

/// The body as JSON; null if there is none, and its length if it is not JSON.
fn json_of(body: Option<&Bytes>) -> Result<Value, usize> {
    body.map_or(Ok(Value::Null), |body| serde_json::from_slice(body).map_err(|_| body.len()))
}
