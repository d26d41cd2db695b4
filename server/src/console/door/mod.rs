//! Access to the console with its token.
//!
//! Programs send the token with each request. A browser gets a cookie instead, which gives access to the
//! pages only and is not sent with requests from other sites.

pub(super) mod cross_site;
pub(super) mod page;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{Sandbox, auth::fingerprint::Fingerprints, error::Failure, http::accept, randomness::Randomness};

/// The name of the cookie.
pub const COOKIE: &str = "mkopo_console";

/// The console token. Comparing keyed fingerprints takes the same time for any input.
#[derive(Clone)]
pub struct ConsoleToken {
    token: SecretString,
    fingerprints: Fingerprints,
    fingerprint: String,
}

impl ConsoleToken {
    /// Prepares the comparison with `fingerprints`.
    pub fn new(token: SecretString, fingerprints: Fingerprints) -> Self {
        let fingerprint = fingerprints.of(&token_parts(token.expose_secret()));
        Self { token, fingerprints, fingerprint }
    }

    /// Whether `given` is the token.
    pub fn is(&self, given: &str) -> bool {
        self.fingerprints.matches(&self.fingerprint, &token_parts(given))
    }

    /// The URL that signs in to the console; the server prints it at start.
    pub fn sign_in_url(&self, address: &str) -> String {
        format!("{address}/console?token={}", self.token.expose_secret())
    }

    /// A new cookie for a browser that sent the token. It becomes invalid when the token changes.
    pub fn cookie(&self, randomness: &Randomness) -> String {
        let sign_in = hex::encode(randomness.bytes::<16>());
        let fingerprint = self.fingerprints.of(&self.cookie_parts(&sign_in));
        format!("{sign_in}.{fingerprint}")
    }

    /// The operator that `cookie` identifies, if the cookie is valid.
    pub fn operator(&self, cookie: &str) -> Option<Operator> {
        let (sign_in, fingerprint) = cookie.split_once('.')?;
        let is_valid = self.fingerprints.matches(fingerprint, &self.cookie_parts(sign_in));
        is_valid.then(|| Operator {
            csrf: self.fingerprints.of(&form_parts(sign_in)),
            sign_in: sign_in.to_owned(),
        })
    }

    /// Whether `csrf` is from a form that was rendered for `operator`.
    pub fn is_own_form(&self, operator: &Operator, csrf: &str) -> bool {
        self.fingerprints.matches(csrf, &form_parts(&operator.sign_in))
    }

    fn cookie_parts<'a>(&'a self, sign_in: &'a str) -> [&'a str; 3] {
        ["console cookie", self.token.expose_secret(), sign_in]
    }
}

/// Someone who signed in to the pages.
#[derive(Clone, Debug)]
pub struct Operator {
    sign_in: String,
    /// The CSRF token in this operator's forms.
    pub csrf: String,
}

fn form_parts(sign_in: &str) -> [&str; 2] {
    ["console form", sign_in]
}

fn token_parts(token: &str) -> [&str; 2] {
    ["console token", token]
}

/// Accepts only requests with the token as `Authorization: Bearer`. Browsers never add this header by
/// themselves, so other sites cannot forge these requests.
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
