//! Who may use the console: whoever knows its token.
//!
//! Programs send it with each call. A browser is given a cookie for it, which opens the pages and
//! nothing else, and which no other site can have it send.

pub(super) mod page;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{Sandbox, auth::fingerprint::Fingerprints, error::Failure, http::accept, randomness::Randomness};

/// The name of a browser's cookie.
pub const COOKIE: &str = "mkopo_console";

/// The console's token. Only a keyed fingerprint of it is compared, which takes as long whatever
/// was sent.
#[derive(Clone)]
pub struct ConsoleToken {
    token: SecretString,
    fingerprints: Fingerprints,
    fingerprint: String,
}

impl ConsoleToken {
    /// Compares with `fingerprints`.
    pub fn new(token: SecretString, fingerprints: Fingerprints) -> Self {
        let fingerprint = fingerprints.of(&parts(token.expose_secret()));
        Self { token, fingerprints, fingerprint }
    }

    /// Whether `given` is it.
    pub fn is(&self, given: &str) -> bool {
        self.fingerprints.matches(&self.fingerprint, &parts(given))
    }

    /// How to get in: what a start prints.
    pub fn welcome(&self, address: &str) -> String {
        format!("{address}/console?token={}", self.token.expose_secret())
    }

    /// The cookie of a browser that knew the token; worth nothing once the token is another.
    pub fn cookie(&self, randomness: &Randomness) -> String {
        let sign_in = hex::encode(randomness.bytes::<16>());
        let fingerprint = self.fingerprints.of(&self.cookie_parts(&sign_in));
        format!("{sign_in}.{fingerprint}")
    }

    /// Who sent `cookie`, if it is one of ours.
    pub fn operator(&self, cookie: &str) -> Option<Operator> {
        let (sign_in, fingerprint) = cookie.split_once('.')?;
        let is_ours = self.fingerprints.matches(fingerprint, &self.cookie_parts(sign_in));
        is_ours.then(|| Operator {
            csrf: self.fingerprints.of(&form_parts(sign_in)),
            sign_in: sign_in.to_owned(),
        })
    }

    /// Whether a form that carries `csrf` was written for `operator`.
    pub fn wrote_form(&self, operator: &Operator, csrf: &str) -> bool {
        self.fingerprints.matches(csrf, &form_parts(&operator.sign_in))
    }

    fn cookie_parts<'a>(&'a self, sign_in: &'a str) -> [&'a str; 3] {
        ["console cookie", self.token.expose_secret(), sign_in]
    }
}

/// Somebody who signed in to the pages.
#[derive(Clone, Debug)]
pub struct Operator {
    sign_in: String,
    /// What their forms carry: only a page of theirs can know it.
    pub csrf: String,
}

fn form_parts(sign_in: &str) -> [&str; 2] {
    ["console form", sign_in]
}

fn parts(token: &str) -> [&str; 2] {
    ["console token", token]
}

/// Lets only calls through that carry the token as `Authorization: Bearer`. A browser sends that
/// for nobody by itself, so no other page can make these calls in an operator's name.
pub async fn require_token(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    match accept::bearer(request.headers()) {
        Some(token) if sandbox.console_token.is(token) => {
            let mut response = next.run(request).await;
            let headers = response.headers_mut();
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
            response
        }
        _ => Failure::NoConsoleToken.into_response(),
    }
}
