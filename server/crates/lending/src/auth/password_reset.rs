//! Setting a new password with a code sent by SMS.

use serde::Deserialize;

use super::{
    Auth, AuthRefusal, Ruling, Staff,
    client_address::ClientAddress,
    fingerprint::Fingerprints,
    limits::{self, Action, Caller},
    new_password,
    otp::{self, Attempt, Otp, Purpose, Verdict},
    password::Password,
    session,
    trail::Visitor,
};
use crate::events::{EventKind, NewEvent};
use base::{clock::Clock, email::Email, error::Failure};
use store::Connection;

/// A request to set a new password.
#[derive(Deserialize)]
pub(super) struct ResetRequest {
    email: Email,
    /// The code sent by SMS.
    otp: Otp,
    new_password: Password,
}

/// Sets a new password and ends all of the user's sessions and codes.
///
/// # Errors
/// [`AuthRefusal::PasswordTooShort`] and [`AuthRefusal::PasswordTooEasy`], which do not use up the code;
/// [`AuthRefusal::InvalidCode`], also if the user does not exist or is inactive;
/// [`AuthRefusal::TooManyTries`]; [`AuthRefusal::SignInsWait`].
pub(super) async fn reset(
    auth: &Auth,
    ClientAddress(address): ClientAddress,
    request: ResetRequest,
) -> Result<(), Failure> {
    let ResetRequest { email, otp, new_password: Password(new_password) } = request;
    new_password::check(&new_password, &email, &auth.world.settings.brand)?;
    let caller = Caller::new(&auth.fingerprints, &email, address);
    {
        let mut reader = auth.world.database.read().await?;
        limits::check(&mut reader, Action::ResetCode, &caller, auth.world.clock.now()).await?;
    }
    // Hashed before the code is checked, so that timing reveals nothing and no transaction waits
    // for the hash.
    let password_hash = auth.passwords.hash(new_password).await?;
    let change = Change {
        visitor: Visitor::new(&auth.fingerprints, auth.world.clock.unset_now(), &email, address),
        email,
        otp,
        password_hash,
        caller,
        clock: auth.world.clock.clone(),
        fingerprints: auth.fingerprints.clone(),
    };
    let (decided, event) = auth
        .world
        .database
        .write(async move |connection: &mut Connection| change.apply(connection).await)
        .await?;
    event.log();
    decided.into_result()
}

struct Change {
    visitor: Visitor,
    email: Email,
    otp: Otp,
    password_hash: String,
    caller: Caller,
    clock: Clock,
    fingerprints: Fingerprints,
}

impl Change {
    async fn apply(self, connection: &mut Connection) -> Result<(Ruling, NewEvent), Failure> {
        let Self { visitor, email, otp, password_hash, caller, clock, fingerprints } = self;
        let now = clock.now();
        let staff = Staff::by_email(connection, &email).await?.filter(|staff| staff.is_active);
        let staff_id = staff.as_ref().map(|staff| staff.staff_id.clone());
        let attempt = Attempt { staff_id, purpose: Purpose::PasswordReset, otp, caller, now };
        let verdict = attempt.verify(connection, &fingerprints).await?;
        let (Verdict::Right, Some(staff)) = (verdict, staff) else {
            let is_last = verdict == Verdict::Wrong { is_last: true };
            let failure = AuthRefusal::InvalidCode.into();
            let event =
                visitor.add_failure(connection, EventKind::PasswordResetFailed, &failure, is_last).await?;
            return Ok((Ruling::Refused(failure), event));
        };
        let staff_id = &staff.staff_id;
        staff.set_password(connection, password_hash, now).await?;
        session::end_all(connection, staff_id, &clock).await?;
        otp::end_all(connection, staff_id, now).await?;
        // The user has proved who they are, so a lockout for wrong passwords ends.
        limits::reset_account(connection, Action::Password, &attempt.caller).await?;
        tracing::info!(staff.id = %staff_id, "password.reset");
        let details = "all sessions ended";
        let event = visitor.add_success(connection, EventKind::PasswordReset, &staff, details).await?;
        Ok((Ruling::Granted, event))
    }
}
