//! Requiring a code at sign-in, in addition to the password.

use std::net::IpAddr;

use secrecy::SecretString;

use super::{Auth, Staff, reauthentication::Reauthentication, session::Session};
use crate::events::EventKind;
use base::error::Failure;
use store::{Connection, query};

const SET: &str = "UPDATE staff SET sign_in_code_required = $2, updated_at = $3 WHERE staff_id = $1";

/// Sets whether the account of `session`'s user requires a code at sign-in.
///
/// # Errors
/// [`crate::auth::AuthRefusal::InvalidPassword`], [`crate::auth::AuthRefusal::TooManyTries`], [`crate::auth::AuthRefusal::SignInsWait`].
pub(super) async fn set_required_code(
    auth: &Auth,
    session: &Session,
    address: IpAddr,
    password: SecretString,
    is_required: bool,
) -> Result<(), Failure> {
    let asked = Reauthentication::of(auth, session, address, password).await?;
    let now = auth.world.clock.now();
    asked
        .change(auth, EventKind::SignInCodeChanged, async move |connection: &mut Connection, staff: Staff| {
            query(SET).bind(&staff.staff_id).bind(is_required).bind(now).execute(&mut *connection).await?;
            Ok(if is_required { "turned on" } else { "turned off" }.to_owned())
        })
        .await
}
