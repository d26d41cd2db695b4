//! The addresses at which guests enter a sandbox, each with a role.

use base::{email::Email, error::Failure};
use lending::auth::Role;
use worlds::sandboxes::{Record, Server};

use super::links::roles_in;
use crate::refusal::ConsoleRefusal;

/// Keeps a code from being taken for a fingerprint of anything else.
const PURPOSE: &str = "entry of a guest";

/// The address at which somebody enters the sandbox of `record` with `role`. The code stands after `#`, which browsers
/// do not send: it is in no log.
pub fn entry_url(server: &Server, record: &Record, role: Role) -> String {
    let portal = server.sandboxes.addresses.portal(&record.name);
    format!("{portal}/enter#{}", code(server, &record.id, role))
}

/// The code with which somebody enters the sandbox `id`. It is made of the deployment's secret, so nothing is stored.
fn code(server: &Server, id: &str, role: Role) -> String {
    let role = role.to_string();
    format!("{role}.{}", server.fingerprints().of(&[PURPOSE, id, &role]))
}

/// The role for which `given` is the code of the sandbox `id`.
pub fn role_of(server: &Server, id: &str, given: &str) -> Result<Role, Failure> {
    let (role, secret) = given.split_once('.').unwrap_or_default();
    let is_right = server.fingerprints().matches(secret, &[PURPOSE, id, role]);
    let role = roles_in(role).first().copied().filter(|_| is_right);
    role.ok_or_else(|| ConsoleRefusal::NoEntry.into())
}

pub fn account_of(role: Role) -> Result<Email, Failure> {
    let email = format!("{role}@mkopo.test");
    Email::parse(&email).ok_or_else(|| Failure::Internal(email))
}
