//! Access to the console with its token.
//!
//! Programs send the token with each request. A browser gets a cookie instead, which gives access to the
//! pages only and is not sent with requests from other sites.

pub(super) mod cross_site;
pub(super) mod page;
mod sign_ins;
pub(super) mod tickets;

use axum::{
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::refusal::ConsoleRefusal;
use base::error::Failure;
use lending::{
    auth::{
        client_address::ClientAddress,
        limits::{self, Action, Caller},
    },
    events::{self, EventKind, NewEvent},
};
use store::Connection;
use web::accept;
use worlds::sandboxes::{Access, Sandbox};

/// The name of the cookie. Browsers accept the prefix `__Host-` only over TLS, and only from this host.
pub fn cookie_name(behind_tls: bool) -> &'static str {
    if behind_tls { "__Host-mkopo_console" } else { "mkopo_console" }
}

/// Accepts only requests with the token as `Authorization: Bearer`. Browsers never add this header by
/// themselves, so other sites cannot forge these requests.
pub async fn require_token(
    sandbox: Sandbox,
    address: ClientAddress,
    mut request: Request,
    next: Next,
) -> Response {
    let verified = match accept::bearer(request.headers()) {
        Some(token) => verify(&sandbox, token, address).await,
        None => Err(ConsoleRefusal::NoConsoleToken.into()),
    };
    match verified {
        Ok(access) => _ = request.extensions_mut().insert(access),
        Err(failure) => return failure.into_response(),
    }
    let mut response = next.run(request).await;
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Accepts only requests of the operator, among those that [`require_token`] has accepted.
pub async fn require_operator_token(request: Request, next: Next) -> Response {
    if request.extensions().get() == Some(&Access::Operator) {
        next.run(request).await
    } else {
        Failure::from(ConsoleRefusal::NoConsoleToken).into_response()
    }
}

/// Checks that `given` is one of the tokens, and returns its access.
///
/// # Errors
/// [`ConsoleRefusal::NoConsoleToken`], which is counted, and [`lending::auth::AuthRefusal::TooManyTries`], even with the right token:
/// wrong tokens are limited like passwords, by network address, over all sandboxes. They are counted by the
/// machine's clock: whoever is locked out can't move the sandbox's clock.
async fn verify(
    sandbox: &Sandbox,
    given: &str,
    ClientAddress(address): ClientAddress,
) -> Result<Access, Failure> {
    let (caller, now) = (Caller::without_account(address), sandbox.clock.unset_now());
    let database = &sandbox.server.database;
    limits::check(&mut database.read().await?, Action::ConsoleToken, &caller, now).await?;
    if let Some(access) = sandbox.console_token.access(given) {
        return Ok(access);
    }
    events::write(database, async move |connection: &mut Connection| {
        let is_last = limits::count(connection, Action::ConsoleToken, &caller, now).await?;
        let event = NewEvent::new(now, EventKind::ConsoleSignInFailed, "unknown", Some(address));
        Ok(((), if is_last { event.details("further attempts are refused for now") } else { event }))
    })
    .await?;
    Err(ConsoleRefusal::NoConsoleToken.into())
}
