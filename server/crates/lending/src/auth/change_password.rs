//! Changing the user's own password.

use std::net::IpAddr;

use axum::http::HeaderValue;
use secrecy::SecretString;

use super::{
    Auth, Staff, device, new_password, otp,
    reauthentication::Reauthentication,
    session::{self, Session},
};
use crate::events::EventKind;
use base::error::Failure;
use store::Connection;

/// Sets a new password for the user of `session`, and ends their other sessions and their codes. Returns the
/// `Set-Cookie` by which the device is recognised from now on.
pub(super) async fn change_password(
    auth: &Auth,
    session: Session,
    address: IpAddr,
    current: SecretString,
    new: SecretString,
) -> Result<HeaderValue, Failure> {
    new_password::check(&new, &session.staff.email, &auth.world.settings.brand)?;
    let asked = Reauthentication::of(auth, &session, address, current).await?;
    let password_hash = auth.passwords.hash(new).await?;
    let staff = Staff { password_hash: password_hash.clone(), ..session.staff.clone() };
    let device_cookie = device::set_cookie(auth, &staff, &session.session_id)?;
    let clock = auth.world.clock.clone();
    asked
        .change(auth, EventKind::PasswordChanged, async move |connection: &mut Connection, staff: Staff| {
            let now = clock.now();
            staff.set_password(connection, password_hash, now).await?;
            otp::end_all(connection, &staff.staff_id, now).await?;
            let ended =
                session::end_all(connection, &staff.staff_id, Some(&session.session_id), &clock).await?;
            Ok(format!("{ended} other sessions ended"))
        })
        .await?;
    Ok(device_cookie)
}
