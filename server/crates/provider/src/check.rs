//! Checks a provider against the contract: every read, every refusal without side effects, and one payout if
//! requested.

use std::time::Duration;

use axum::http::{HeaderName, StatusCode, header};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    caller::{Answer, Call, Caller},
    headers::next_query,
};
use base::ids::LoanId;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A tried call with its result.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The description of the call for people.
    pub what: String,
    pub call: String,
    /// The answer's status; `None` if there was no answer.
    pub status: Option<u16>,
    pub violations: Vec<String>,
    /// Fields that are not in the contract, which are not violations.
    pub unknown_fields: Vec<String>,
}

impl Tried {
    fn new(what: impl Into<String>, call: String) -> Self {
        let (violations, unknown_fields) = (Vec::new(), Vec::new());
        Self { what: what.into(), call, status: None, violations, unknown_fields }
    }
}

/// The loan that would be paid out.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub loan_id: LoanId,
    /// The amount in KES.
    pub amount: i64,
    pub phone: String,
}

pub struct Credentials {
    pub email: String,
    pub password: SecretString,
}

/// Asks whether a loan may be paid out.
pub type Confirm<'a> = dyn FnMut(&Chosen) -> anyhow::Result<bool> + Send + 'a;

/// The expected status and code of an answer, besides the contract's rules for its body and headers.
struct Expected {
    status: &'static [u16],
    code: Option<&'static str>,
}

const fn status(status: &'static [u16]) -> Expected {
    Expected { status, code: None }
}

const fn refused(status: &'static [u16], code: &'static str) -> Expected {
    Expected { status, code: Some(code) }
}

pub struct Check {
    caller: Caller,
    key: String,
    tried: Vec<Tried>,
}

impl Check {
    /// A check of the provider that `caller` calls. `key` must not have been used before.
    pub fn new(caller: Caller, key: String) -> Self {
        Self { caller, key, tried: Vec::new() }
    }

    /// Tries everything. `confirm` is asked whether the loan may be paid out; without it, no loan is.
    pub async fn run(
        mut self,
        credentials: Credentials,
        confirm: Option<&mut Confirm<'_>>,
    ) -> anyhow::Result<Vec<Tried>> {
        let Credentials { email, password } = credentials;
        self.without_a_session().await;
        let token = self.caller.sign_in(&email, &password).await?;
        let login = Caller::login(&email, &password);
        // The session of this second sign-in is ended last.
        let second = self.tries("Sign in with the password", login, status(&[200])).await;
        let me = self
            .tries("Read the signed-in user", Call::get("/auth/me").with_token(&token), status(&[200]))
            .await;
        if me.is_some_and(|me| {
            !me.json()["email"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(&email))
        }) {
            self.violation("the user's e-mail address is not that of the sign-in");
        }
        let pending = self.list("/disbursements/pending", "pending loans", &token).await;
        self.list("/disbursement-records", "payouts", &token).await;
        self.refusals(&token).await;
        if let Some(confirm) = confirm {
            self.payout(&pending, &token, confirm).await?;
        }
        if let Some(token) =
            second.and_then(|answer| Some(answer.json()["user"]["token"].as_str()?.to_owned()))
        {
            self.ends_session(&token.into()).await;
        }
        // Everything has been tried: a failure here must not lose the report.
        _ = self.caller.call(&Caller::logout().with_token(&token)).await;
        Ok(self.tried)
    }

    /// Makes a call, and checks its answer. Returns `None` if no answer arrived.
    async fn tries(&mut self, what: impl Into<String>, call: Call, expected: Expected) -> Option<Answer> {
        let mut tried = Tried::new(what, format!("{} {}", call.method, call.path));
        let answer = match self.caller.call(&call).await {
            Ok(answer) => answer,
            Err(error) => {
                tried.violations.push(format!("{error:#}"));
                self.tried.push(tried);
                return None;
            }
        };
        tried.status = Some(answer.status.as_u16());
        if !expected.status.contains(&answer.status.as_u16()) {
            let wanted: Vec<String> = expected.status.iter().map(ToString::to_string).collect();
            tried.violations.push(format!(
                "the status is {}, not {}",
                answer.status.as_u16(),
                wanted.join(" or ")
            ));
        } else if expected.code.is_some_and(|code| answer.json()["code"] != code) {
            tried.violations.push(format!("the code is not {}", expected.code.unwrap_or_default()));
        }
        if let Some(operation) = call.operation() {
            let (body, longest) = (Some(answer.body.as_ref()), Duration::MAX);
            let differences = contract::of_answer(&operation, answer.status, &answer.headers, body, longest);
            for difference in differences.found {
                let line = format!("{}: {}", difference.place, difference.text);
                let list = if difference.kind.is_violation() {
                    &mut tried.violations
                } else {
                    &mut tried.unknown_fields
                };
                if !list.contains(&line) {
                    list.push(line);
                }
            }
        }
        self.tried.push(tried);
        Some(answer)
    }

    /// Adds a violation to what was tried last.
    fn violation(&mut self, text: impl Into<String>) {
        if let Some(tried) = self.tried.last_mut() {
            tried.violations.push(text.into());
        }
    }

    /// Tries calls that are refused without a session, and count as no attempt to sign in.
    async fn without_a_session(&mut self) {
        for path in ["/auth/me", "/disbursements/pending", "/disbursement-records"] {
            let what = format!("Without a session: {path}");
            self.tries(what, Call::get(path), refused(&[401], "no_session")).await;
        }
        let forged = SecretString::from("not-a-token");
        let call = Call::get("/auth/me").with_token(&forged);
        self.tries("With a token that nobody issued", call, refused(&[401], "no_session")).await;
        self.tries("Sign out without a session", Caller::logout(), refused(&[401], "no_session")).await;
        let call = Call::post("/disbursements/LN-0/disburse", body());
        self.tries("Pay out without a session", call, refused(&[401], "no_session")).await;
        let call = Call::get("/auth/me").with_header(header::ACCEPT, "application/problem+json");
        let problem = self.tries("A failure as problem+json", call, refused(&[401], "no_session")).await;
        let is_problem = |answer: Answer| {
            answer
                .headers
                .get(header::CONTENT_TYPE)
                .is_some_and(|value| value.as_bytes().starts_with(b"application/problem+json"))
        };
        if problem.is_some_and(|answer| !is_problem(answer)) {
            self.violation("the failure is not application/problem+json, which was asked for");
        }
        for path in [
            "/auth/login",
            "/auth/request-signin-otp",
            "/auth/verify-signin-otp",
            "/auth/request-password-reset",
            "/auth/reset-password",
        ] {
            let expected = refused(&[400], "malformed_json");
            self.tries(format!("Not JSON: {path}"), Call::post(path, "{"), expected).await;
            let expected = refused(&[422], "invalid_request");
            self.tries(format!("Fields are missing: {path}"), Call::post(path, "{}"), expected).await;
            let call = Call { body: Some(("text/plain", b"{}".to_vec())), ..Call::post(path, "") };
            let expected = refused(&[415], "unsupported_media_type");
            self.tries(format!("The wrong media type: {path}"), call, expected).await;
            let large = format!("{{\"email\":\"{}\"}}", "x".repeat(70 * 1024));
            let expected = refused(&[413], "body_too_large");
            self.tries(format!("More than 64 KiB: {path}"), Call::post(path, large), expected).await;
        }
    }

    /// Reads a list: whole, again, and in pages.
    async fn list(&mut self, path: &str, noun: &str, token: &SecretString) -> Vec<Value> {
        let whole = Call::get(path).with_token(token);
        let list = self.tries(format!("Read the {noun}"), whole.clone(), status(&[200])).await;
        let rows =
            list.as_ref().map(|list| list.json().as_array().cloned().unwrap_or_default()).unwrap_or_default();
        let tag = list.and_then(|list| Some(list.headers.get(header::ETAG)?.to_str().ok()?.to_owned()));
        if let Some(tag) = tag {
            // Somebody else may have changed the list in between.
            let call = whole.with_header(header::IF_NONE_MATCH, tag);
            self.tries(format!("Read the {noun} that are known"), call, status(&[304, 200])).await;
        }
        let page = Call::get(format!("{path}?limit=1")).with_token(token);
        let page = self.tries(format!("Read a page of the {noun}"), page, status(&[200])).await;
        if let Some(page) = page {
            if page.json().as_array().is_some_and(|rows| rows.len() > 1) {
                self.violation("the page has more rows than the limit");
            }
            match next_query(&page.headers) {
                Some(next) => {
                    let call = Call::get(format!("{path}?{next}")).with_token(token);
                    self.tries(format!("Read the next page of the {noun}"), call, status(&[200])).await;
                }
                None if rows.len() > 1 => self.violation("there are more rows, but no link to the next page"),
                None => {}
            }
        }
        for query in ["limit=0", "limit=many", "limit=1&cursor=none"] {
            let call = Call::get(format!("{path}?{query}")).with_token(token);
            self.tries(format!("A page of the {noun} that there is not"), call, status(&[400])).await;
        }
        rows
    }

    /// Tries calls that are refused to a signed-in user without moving money: the loan does not exist.
    async fn refusals(&mut self, token: &SecretString) {
        const PATH: &str = "/disbursements/MKOPO-CHECK-NONE/disburse";
        let post = |body: &str| Call::post(PATH, body).with_token(token);
        let body = body();
        self.tries("Pay out a loan that there is not", post(&body), refused(&[404], "loan_not_found")).await;
        self.tries("A payout that is not JSON", post("{"), refused(&[400], "malformed_json")).await;
        self.tries("A payout without its fields", post("{}"), refused(&[422], "invalid_request")).await;
        let call = Call { body: Some(("text/plain", body.clone().into_bytes())), ..post("") };
        self.tries("A payout of the wrong media type", call, refused(&[415], "unsupported_media_type")).await;
        let call = post(&body).with_header(KEY, "x".repeat(256));
        self.tries("A payout with a key that is too long", call, refused(&[400], "bad_idempotency_key"))
            .await;
    }

    /// Pays one loan out, repeats the call with the same key, and looks for its record.
    async fn payout(
        &mut self,
        pending: &[Value],
        token: &SecretString,
        confirm: &mut Confirm<'_>,
    ) -> anyhow::Result<()> {
        const WHAT: &str = "Pay out a loan";
        let Some(chosen) = cheapest(pending) else {
            self.tried.push(Tried::new(WHAT, "POST /disbursements/{loan_id}/disburse".to_owned()));
            self.violation("there is no loan to pay out");
            return Ok(());
        };
        if !confirm(&chosen)? {
            return Ok(());
        }
        let body = json!({"agent_id": 1, "amount": chosen.amount, "phone_number": chosen.phone}).to_string();
        let path = format!("/disbursements/{}/disburse", chosen.loan_id);
        let call = Call::post(path, body).with_token(token).with_header(KEY, self.key.clone());
        // Mobile money may refuse it: then nothing is paid.
        let expected = || status(&[200, 202, 422]);
        let Some(first) = self.tries(WHAT, call.clone(), expected()).await else { return Ok(()) };
        let is_refused = first.status == StatusCode::UNPROCESSABLE_ENTITY;
        if is_refused && first.json()["code"] != "mobile_money_refused" {
            self.violation("the code is not mobile_money_refused");
        }
        let again = self.tries("Repeat it with the same key", call, expected()).await;
        if let Some(again) = again {
            if again.status != first.status || again.body != first.body {
                self.violation("the repeat is not answered like the first call");
            }
            if again.headers.get("idempotent-replayed").is_none_or(|value| value != "true") {
                self.violation("header Idempotent-Replayed: it is not true");
            }
        }
        self.record(&chosen, &first, token).await;
        if first.status == StatusCode::OK {
            self.is_gone(&chosen, token).await;
        }
        Ok(())
    }

    /// Finds the record of the payout that was answered with `first`.
    async fn record(&mut self, chosen: &Chosen, first: &Answer, token: &SecretString) {
        let is_refused = first.status == StatusCode::UNPROCESSABLE_ENTITY;
        let records = Call::get("/disbursement-records").with_token(token);
        let Some(records) = self.tries("Find its record", records, status(&[200])).await else {
            return;
        };
        let records = records.json();
        let own: Vec<&Value> = records
            .as_array()
            .into_iter()
            .flatten()
            .filter(|record| record["loan_id"] == *chosen.loan_id && record["status"] != "FAILED")
            .collect();
        match own.as_slice() {
            [] if is_refused => {}
            [] => self.violation("there is no record of the payout"),
            [record] => {
                if record["id"] != first.json()["id"] || record["amount"] != chosen.amount {
                    self.violation("the record is not that of the payout");
                }
            }
            more => {
                let text = format!("the loan was paid {} times: it has {} records", more.len(), more.len());
                self.violation(text);
            }
        }
    }

    /// Looks whether the paid loan still waits.
    async fn is_gone(&mut self, chosen: &Chosen, token: &SecretString) {
        let pending = Call::get("/disbursements/pending").with_token(token);
        let pending = self.tries("The loan is not waiting any more", pending, status(&[200])).await;
        let is_listed = |loans: Answer| {
            loans
                .json()
                .as_array()
                .is_some_and(|loans| loans.iter().any(|loan| loan["loan_id"] == *chosen.loan_id))
        };
        if pending.is_some_and(is_listed) {
            self.violation("the loan was paid out and is still listed");
        }
    }

    /// Signs out, and uses the token once more.
    async fn ends_session(&mut self, token: &SecretString) {
        self.tries("Sign out", Caller::logout().with_token(token), status(&[204])).await;
        let call = Call::get("/auth/me").with_token(token);
        self.tries("With a session that has ended", call, refused(&[401], "no_session")).await;
    }
}

fn body() -> String {
    json!({"agent_id": 1, "amount": 1, "phone_number": "+254700000000"}).to_string()
}

/// The loan with the least amount that is not being paid out.
fn cheapest(pending: &[Value]) -> Option<Chosen> {
    let payable = pending.iter().filter(|loan| loan["disbursement_status"] == "NOT_STARTED");
    let chosen = payable.filter_map(|loan| {
        Some(Chosen {
            loan_id: loan["loan_id"].as_str()?.into(),
            amount: loan["total_loan_amount"].as_i64()?,
            phone: loan["customer_phone_number"].as_str()?.to_owned(),
        })
    });
    chosen.min_by_key(|chosen| chosen.amount)
}
