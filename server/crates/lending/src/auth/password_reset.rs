//! Setting a new password with a code sent by SMS.

use serde::Deserialize;

use super::{
    Auth, AuthRefusal, Staff,
    client_address::ClientAddress,
    device::DeviceCookie,
    limits::{self, Action, Caller},
    new_password,
    otp::{self, Attempt, Otp, Purpose, Verdict},
    password::Password,
    session,
    trail::Visitor,
};
use crate::events::{self, EventKind};
use base::{email::Email, error::Failure};
use store::{Connection, query};

#[derive(Deserialize)]
pub(super) struct ResetRequest {
    email: Email,
    otp: Otp,
    new_password: Password,
}

/// A new phone number may be that of a thief, whom the reset sends away.
const TAKE_PHONE_BACK: &str = "
    UPDATE staff SET phone_number = phone_before, phone_before = NULL, phone_changed_at = NULL, updated_at = $3
    WHERE staff_id = $1 AND phone_changed_at > $2 AND phone_changed_at <= $3";

/// Sets a new password, ends all of the user's sessions and codes, and takes back a change of the phone number that
/// gets no reset codes yet.
///
/// A refused password does not use up the code. An unknown or inactive user gets [`AuthRefusal::InvalidCode`].
pub(super) async fn reset(
    auth: &Auth,
    ClientAddress(address): ClientAddress,
    device: &DeviceCookie,
    request: ResetRequest,
) -> Result<(), Failure> {
    let ResetRequest { email, otp, new_password: Password(new_password) } = request;
    new_password::check(&new_password, &email, &auth.world.settings.brand)?;
    let mut caller = Caller::new(&auth.fingerprints, &email, address);
    {
        let now = auth.world.clock.now();
        let mut reader = auth.world.database.read().await?;
        let staff = Staff::by_email(&mut reader, &email).await?;
        caller = caller.on(&auth.fingerprints, device, staff.as_ref(), now);
        limits::check(&mut reader, Action::ResetCode, &caller, now).await?;
    }
    // Hashed before the code is checked, so that timing reveals nothing and no transaction waits
    // for the hash.
    let password_hash = auth.passwords.hash(new_password).await?;
    let visitor = Visitor::new(&auth.fingerprints, auth.world.clock.unset_now(), &email, address);
    let (clock, fingerprints) = (auth.world.clock.clone(), auth.fingerprints.clone());
    events::write(&auth.world.database, async move |connection: &mut Connection| {
        let now = clock.now();
        let staff = Staff::by_email(connection, &email).await?.filter(|staff| staff.is_active);
        let staff_id = staff.as_ref().map(|staff| staff.staff_id.clone());
        let attempt = Attempt { staff_id, purpose: Purpose::PasswordReset, otp, caller, now };
        let verdict = attempt.verify(connection, &fingerprints).await?;
        let (Verdict::Right, Some(staff)) = (verdict, staff) else {
            let is_last = verdict == Verdict::Wrong { is_last: true };
            let failed = EventKind::PasswordResetFailed;
            return Ok(visitor.refused(failed, AuthRefusal::InvalidCode, is_last));
        };
        let staff_id = &staff.staff_id;
        staff.set_password(connection, password_hash, now).await?;
        session::end_all(connection, staff_id, None, &clock).await?;
        otp::end_all(connection, staff_id, now).await?;
        let taken_back = query(TAKE_PHONE_BACK)
            .bind_all((staff_id, now.minus(otp::PHONE_SETTLES), now))
            .execute(&mut *connection)
            .await?;
        // The user has proved who they are, so a lockout for wrong passwords ends.
        limits::reset_account(connection, Action::Password, &attempt.caller).await?;
        tracing::info!(staff.id = %staff_id, "password.reset");
        let details = match taken_back {
            0 => "all sessions ended",
            _ => "all sessions ended, the phone number before its change is back",
        };
        Ok(visitor.granted(EventKind::PasswordReset, &staff, details))
    })
    .await?
}
