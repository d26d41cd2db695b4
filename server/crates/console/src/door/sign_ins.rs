//! Sign-ins to the pages: a row for each browser, named by its cookie.

use std::{net::IpAddr, time::Duration};

use crate::view::visit::{Fields, SignedIn};
use base::{clock::UnixMillis, error::Failure};
use lending::events::{self, EventKind, NewEvent};
use store::{Connection, query, query_scalar};
use worlds::sandboxes::{Access, Sandbox};

/// The time without use after which a sign-in ends.
const IDLE_END: Duration = Duration::from_hours(12);

/// Precision of the stored last use: pages refresh every second, and not every refresh should write.
const USE_PRECISION: Duration = Duration::from_mins(5);

const BEGIN: &str = "INSERT INTO console_sign_in (sign_in_id, created_at, last_used_at) VALUES ($1, $2, $2)";
// A ticket has no last use.
const DELETE_IDLE: &str = "DELETE FROM console_sign_in WHERE last_used_at <= $1 AND created_at <= $1";

/// Prefix of cookies for the sandbox's own token. Nobody can remove it, because the id of a sign-in is
/// made from the whole cookie.
const OF_SANDBOX: &str = "s-";

/// Signs in a browser that sent a token from `address`, and returns its cookie.
pub async fn begin(sandbox: &Sandbox, access: Access, address: IpAddr) -> Result<String, Failure> {
    let kind = match access {
        Access::Operator => "",
        Access::Sandbox => OF_SANDBOX,
    };
    let cookie = format!("{kind}{}", hex::encode(sandbox.server.randomness.bytes::<32>()));
    let (id, now) = (sandbox.console_token.fingerprint_of(&cookie), sandbox.clock.unset_now());
    let event = NewEvent::new(now, EventKind::ConsoleSignedIn, name_of(&id), Some(address));
    events::write(&sandbox.database, async move |connection: &mut Connection| {
        query(DELETE_IDLE).bind(now.minus(IDLE_END)).execute(&mut *connection).await?;
        query(BEGIN).bind(id).bind(now).execute(connection).await?;
        Ok(((), event))
    })
    .await?;
    Ok(cookie)
}

const LAST_USED: &str = "SELECT last_used_at FROM console_sign_in WHERE sign_in_id = $1";
const USE: &str = "UPDATE console_sign_in SET last_used_at = $2 WHERE sign_in_id = $1";

/// The operator whose cookie this is and who has `sent` a form, if they are still signed in.
pub async fn find(sandbox: &Sandbox, cookie: &str, sent: Fields) -> Result<Option<SignedIn>, Failure> {
    let now = sandbox.clock.unset_now();
    let id = sandbox.console_token.fingerprint_of(cookie);
    let last_used_at: Option<UnixMillis> =
        query_scalar(LAST_USED).bind(&id).fetch_optional(&mut sandbox.database.read().await?).await?;
    let Some(last_used_at) = last_used_at.filter(|at| at.plus(IDLE_END) > now) else { return Ok(None) };
    if last_used_at.plus(USE_PRECISION) <= now {
        sandbox.database.execute(query(USE).bind(&id).bind(now)).await?;
    }
    let (access, sandboxes) = if cookie.starts_with(OF_SANDBOX) {
        (Access::Sandbox, Vec::new())
    } else {
        (Access::Operator, sandbox.server.sandboxes.names().await?)
    };
    let (name, csrf) = (name_of(&id), sandbox.console_token.csrf_of(cookie));
    Ok(Some(SignedIn { id, name, csrf, access, sandboxes, sent }))
}

const END: &str = "DELETE FROM console_sign_in WHERE sign_in_id = $1";

/// Ends the sign-in of an operator at `address`, on all servers.
pub async fn end(sandbox: &Sandbox, signed_in: SignedIn, address: IpAddr) -> Result<(), Failure> {
    let at = sandbox.clock.unset_now();
    let event = NewEvent::new(at, EventKind::ConsoleSignedOut, signed_in.name, Some(address));
    events::write(&sandbox.database, async move |connection: &mut Connection| {
        query(END).bind(signed_in.id).execute(connection).await?;
        Ok(((), event))
    })
    .await
}

fn name_of(sign_in_id: &str) -> String {
    format!("operator {}", &sign_in_id[..8])
}
