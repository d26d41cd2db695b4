//! The tokens that open a console.

use secrecy::{ExposeSecret, SecretString};

use super::token_parts as sandbox_token_parts;
use lending::auth::fingerprint::Fingerprints;

/// The tokens that open a console: the operator's, and the sandbox's own. They are compared by keyed
/// fingerprints, which takes the same time for any input.
#[derive(Clone)]
pub struct ConsoleToken {
    token: SecretString,
    fingerprints: Fingerprints,
    fingerprint: String,
    /// The fingerprint of the sandbox's own token; `None` for `main`.
    of_sandbox: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The operator of the deployment, who can open all consoles.
    Operator,
    /// Somebody with the token of one sandbox, who can open only its console.
    Sandbox,
}

impl ConsoleToken {
    pub fn new(token: SecretString, fingerprints: Fingerprints) -> Self {
        let fingerprint = fingerprints.of(&token_parts(token.expose_secret()));
        Self { token, fingerprints, fingerprint, of_sandbox: None }
    }

    /// Adds the token of a sandbox, which is stored as `fingerprint`.
    pub fn of_sandbox(&self, fingerprint: &str) -> Self {
        Self { of_sandbox: Some(fingerprint.to_owned()), ..self.clone() }
    }

    /// The operator's token in plain text, to mask it in recorded calls.
    pub fn exposed(&self) -> &str {
        self.token.expose_secret()
    }

    /// The access that `given` gives; `None` if it is not one of the tokens.
    pub fn access(&self, given: &str) -> Option<Access> {
        let is_operator = self.fingerprints.matches(&self.fingerprint, &token_parts(given));
        let of_sandbox = self.of_sandbox.as_ref();
        let is_sandbox = of_sandbox
            .is_some_and(|fingerprint| self.fingerprints.matches(fingerprint, &sandbox_token_parts(given)));
        if is_operator { Some(Access::Operator) } else { is_sandbox.then_some(Access::Sandbox) }
    }

    /// The URL that signs in to the console; the server prints it at start.
    pub fn sign_in_url(&self, address: &str) -> String {
        format!("{address}/console?token={}", self.token.expose_secret())
    }

    /// The stored id of the sign-in that `cookie` names. It depends on the token.
    pub fn fingerprint_of(&self, cookie: &str) -> String {
        self.fingerprints.of(&["console sign-in", self.token.expose_secret(), cookie])
    }

    /// The CSRF token of forms for the sign-in of `cookie`.
    pub fn csrf_of(&self, cookie: &str) -> String {
        self.fingerprints.of(&["console form", cookie])
    }

    /// Returns `true` if `csrf` is from a form that was rendered for the sign-in of `cookie`.
    pub fn is_own_form(&self, cookie: &str, csrf: &str) -> bool {
        self.fingerprints.matches(csrf, &["console form", cookie])
    }
}

fn token_parts(token: &str) -> [&str; 2] {
    ["console token", token]
}
