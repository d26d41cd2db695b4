//! The addresses at which guests enter a sandbox, each with a role.

use std::sync::Arc;

use crate::sandboxes::{Record, Server};
use base::{email::Email, error::Failure};
use lending::auth::{Role, fingerprint::Fingerprints};

use super::links::name_of;
use crate::console::ConsoleRefusal;

/// The length of the code's secret part, in characters: 128 bits.
const LENGTH: usize = 32;

/// The address at which somebody enters the sandbox of `record` with `role`. The code stands after `#`, which browsers
/// do not send: it is in no log.
pub fn entry_url(server: &Arc<Server>, record: &Record, role: Role) -> String {
    let portal = server.sandboxes.addresses().portal(&record.name);
    format!("{portal}/enter#{}", code(server, &record.id, role))
}

/// The code with which somebody enters the sandbox `id`. It is made of the deployment's secret, so nothing is stored.
fn code(server: &Arc<Server>, id: &str, role: Role) -> String {
    let role = name_of(role);
    let secret = Fingerprints::new(&server.secret).of(&["entry of a guest", id, &role]);
    format!("{role}.{}", &secret[..LENGTH.min(secret.len())])
}

/// The role for which `given` is the code of the sandbox `id`.
///
/// # Errors
/// [`ConsoleRefusal::NoEntry`].
pub fn role_of(server: &Arc<Server>, id: &str, given: &str) -> Result<Role, Failure> {
    let roles = [Role::Agent, Role::Supervisor, Role::Admin];
    let found = roles.into_iter().find(|role| is_same(&code(server, id, *role), given));
    found.ok_or_else(|| ConsoleRefusal::NoEntry.into())
}

/// Compares in a time that does not depend on where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let differing =
        one.bytes().zip(other.bytes()).fold(0, |differing, (one, other)| differing | (one ^ other));
    one.len() == other.len() && differing == 0
}

/// The address of the demo account with `role`.
pub fn account_of(role: Role) -> Result<Email, Failure> {
    let email = format!("{}@mkopo.test", name_of(role));
    Email::parse(&email).ok_or_else(|| Failure::Internal(email))
}
