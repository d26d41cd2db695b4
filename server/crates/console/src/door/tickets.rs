//! Tickets that sign an operator in to the console of another sandbox; each is valid once, for a minute.

use std::time::Duration;

use base::{clock::UnixMillis, error::Failure};
use store::{Connection, Database, query, query_scalar};
use worlds::sandboxes::Sandbox;

const PREFIX: &str = "ticket-";

const LIFETIME: Duration = Duration::from_mins(1);

const ISSUE: &str = "INSERT INTO console_sign_in (sign_in_id, created_at, last_used_at) VALUES ($1, $2, 0)";

/// Issues a ticket for the console of the sandbox whose database is `of`.
///
/// # Errors
/// When it can't be stored.
pub async fn issue(sandbox: &Sandbox, of: &Database) -> Result<String, Failure> {
    let ticket = format!("{PREFIX}{}", hex::encode(sandbox.server.randomness.bytes::<32>()));
    let (id, now) = (sandbox.console_token.fingerprint_of(&ticket), sandbox.clock.unset_now());
    of.execute(query(ISSUE).bind(id).bind(now)).await?;
    Ok(ticket)
}

const REDEEM: &str =
    "DELETE FROM console_sign_in WHERE sign_in_id = $1 AND last_used_at = 0 RETURNING created_at";

/// Returns whether `given` is a ticket, valid or not, and no token.
pub(super) fn is_ticket(given: &str) -> bool {
    given.starts_with(PREFIX)
}

/// Uses up the ticket `given`. Returns `false` if it is not a valid ticket of this sandbox.
pub(super) async fn redeem(sandbox: &Sandbox, given: &str) -> Result<bool, Failure> {
    let id = sandbox.console_token.fingerprint_of(given);
    let redeemed = sandbox.database.write(async move |connection: &mut Connection| {
        Ok(query_scalar(REDEEM).bind(id).fetch_optional(connection).await?)
    });
    let issued_at: Option<UnixMillis> = redeemed.await?;
    Ok(issued_at.is_some_and(|at| sandbox.clock.unset_now().since(at) < LIFETIME))
}
