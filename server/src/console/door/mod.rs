//! Access to the console with its token.
//!
//! Programs send the token with each request. A browser gets a cookie instead, which gives access to the
//! pages only and is not sent with requests from other sites.

pub(super) mod cross_site;
pub(super) mod page;
mod sign_ins;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    Sandbox,
    auth::{
        client_address::ClientAddress,
        fingerprint::Fingerprints,
        limits::{self, Action, Caller},
    },
    database::Connection,
    error::Failure,
    events::{Kind, NewEvent},
    http::accept,
};

/// The name of the cookie. With its prefix, browsers take it from this origin over TLS only.
pub fn cookie_name(behind_tls: bool) -> &'static str {
    if behind_tls { "__Host-mkopo_console" } else { "mkopo_console" }
}

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

    /// What the sign-in that `cookie` names is stored as. It changes with the token.
    fn fingerprint_of(&self, cookie: &str) -> String {
        self.fingerprints.of(&["console sign-in", self.token.expose_secret(), cookie])
    }

    /// Whether `csrf` is from a form that was rendered for `operator`.
    pub fn is_own_form(&self, operator: &Operator, csrf: &str) -> bool {
        self.fingerprints.matches(csrf, &form_parts(&operator.sign_in))
    }
}

/// Someone who signed in to the pages.
#[derive(Clone, Debug)]
pub struct Operator {
    sign_in_id: String,
    sign_in: String,
    /// The CSRF token in this operator's forms.
    pub csrf: String,
}

impl Operator {
    /// What they are called in the audit trail: everybody has the same token, each browser a sign-in.
    pub fn name(&self) -> String {
        name_of(&self.sign_in_id)
    }
}

fn name_of(sign_in_id: &str) -> String {
    format!("operator {}", &sign_in_id[..8])
}

fn form_parts(sign_in: &str) -> [&str; 2] {
    ["console form", sign_in]
}

fn token_parts(token: &str) -> [&str; 2] {
    ["console token", token]
}

/// Accepts only requests with the token as `Authorization: Bearer`. Browsers never add this header by
/// themselves, so other sites cannot forge these requests.
pub async fn require_token(
    State(sandbox): State<Sandbox>,
    address: ClientAddress,
    request: Request,
    next: Next,
) -> Response {
    let verified = match accept::bearer(request.headers()) {
        Some(token) => verify(&sandbox, token, address).await,
        None => Err(Failure::NoConsoleToken),
    };
    if let Err(failure) = verified {
        return failure.into_response();
    }
    let mut response = next.run(request).await;
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Succeeds if `given` is the token.
///
/// # Errors
/// [`Failure::NoConsoleToken`], which is counted, and [`Failure::TooManyTries`], even with the right token:
/// wrong tokens are limited like passwords, by network address. Counted on the clock that nobody sets,
/// because nobody who is locked out could move the other one.
async fn verify(
    sandbox: &Sandbox,
    given: &str,
    ClientAddress(address): ClientAddress,
) -> Result<(), Failure> {
    let (caller, now) = (Caller::without_account(address), sandbox.clock.unset_now());
    limits::check(&mut *sandbox.database.read().await?, Action::ConsoleToken, &caller, now).await?;
    if sandbox.console_token.is(given) {
        return Ok(());
    }
    let counted = sandbox.database.write(move |connection: &mut Connection| {
        Box::pin(async move {
            let is_last = limits::count(connection, Action::ConsoleToken, &caller, now).await?;
            let event = NewEvent::new(now, Kind::ConsoleSignInFailed, "unknown", Some(address));
            let event = if is_last { event.details("further attempts are refused for now") } else { event };
            event.add(connection).await?;
            Ok(event)
        })
    });
    counted.await?.log();
    Err(Failure::NoConsoleToken)
}
