//! Who may use the console: whoever knows its token.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{Sandbox, auth::fingerprint::Fingerprints, error::Failure};

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
        format!("{address}/console/api\n            token {}", self.token.expose_secret())
    }
}

fn parts(token: &str) -> [&str; 2] {
    ["console token", token]
}

/// Lets only calls through that carry the token as `Authorization: Bearer`. A browser sends that
/// for nobody by itself, so no other page can make these calls in an operator's name.
pub async fn require_token(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(token) if sandbox.console_token.is(token) => {
            let mut response = next.run(request).await;
            let headers = response.headers_mut();
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
            response
        }
        _ => Failure::NoConsoleToken.into_response(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
