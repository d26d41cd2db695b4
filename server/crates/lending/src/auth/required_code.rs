//! Requiring a code at sign-in, in addition to the password.

use std::net::IpAddr;

use secrecy::SecretString;

use super::{Auth, Staff, reauthentication::Reauthentication, session::Session};
use crate::events::EventKind;
use base::{clock::UnixMillis, email::Email, error::Failure};
use settings::Settings;
use store::{Connection, query};

pub(super) async fn set_required_code(
    auth: &Auth,
    session: &Session,
    address: IpAddr,
    password: SecretString,
    is_required: bool,
) -> Result<(), Failure> {
    let asked = Reauthentication::of(auth, session, address, password).await?;
    let (settings, now) = (auth.world.settings.clone(), auth.world.clock.now());
    asked
        .change(auth, EventKind::SignInCodeChanged, async move |connection: &mut Connection, staff: Staff| {
            require_code(connection, &settings, &staff.email, "required", is_required, now).await?;
            Ok(if is_required { "turned on" } else { "turned off" }.to_owned())
        })
        .await
}

const SET: &str = "UPDATE staff SET sign_in_code_required = $2, updated_at = $3 WHERE email = $1";

/// Sets whether the account of `email` requires a code at sign-in.
/// [`Failure::BadField`] for `field` if codes would reach nobody: the account could not sign in any more.
pub async fn require_code(
    connection: &mut Connection,
    settings: &Settings,
    email: &Email,
    field: &'static str,
    is_required: bool,
    now: UnixMillis,
) -> Result<(), Failure> {
    // With the tools, codes are read in the outbox.
    if is_required && settings.mail_server().is_none() && !settings.allows_tools() {
        let text = "Sign-in codes are sent by e-mail, and this service sends none";
        return Err(Failure::bad_field(field, text));
    }
    Ok(query(SET).bind_all((email, is_required, now)).run(connection).await?)
}
