//! Setting a new password with a code sent by SMS.

use secrecy::SecretString;

use super::{
    Ruling, Staff,
    client_address::ClientAddress,
    fingerprint::Fingerprints,
    limits::{self, Action, Caller},
    new_password,
    otp::{self, Attempt, Otp, Purpose},
    session,
};
use crate::{
    Sandbox,
    clock::Clock,
    database::{Connection, query},
    email::Email,
    error::Failure,
};

/// A request to set a new password.
pub struct PasswordReset {
    /// The address of the account.
    pub email: Email,
    /// The code sent by SMS.
    pub otp: Otp,
    /// The password to set.
    pub new_password: SecretString,
}

/// Sets a new password and ends all of the user's sessions and codes.
///
/// # Errors
/// [`Failure::PasswordTooShort`] and [`Failure::PasswordTooEasy`], which do not use up the code;
/// [`Failure::InvalidCode`], also if the user does not exist or is inactive;
/// [`Failure::TooManyTries`]; [`Failure::SignInsWait`].
pub async fn reset(
    sandbox: &Sandbox,
    ClientAddress(address): ClientAddress,
    request: PasswordReset,
) -> Result<(), Failure> {
    let PasswordReset { email, otp, new_password } = request;
    new_password::check(&new_password, &email, &sandbox.settings.brand)?;
    let caller = Caller::new(&sandbox.fingerprints, &email, address);
    {
        let mut reader = sandbox.database.read().await?;
        limits::check(&mut reader, Action::ResetCode, &caller, sandbox.clock.now()).await?;
    }
    // Hashed before the code is checked, so that timing reveals nothing and no transaction waits
    // for the hash.
    let password_hash = sandbox.passwords.hash(new_password).await?;
    let change = Change {
        email,
        otp,
        password_hash,
        caller,
        clock: sandbox.clock.clone(),
        fingerprints: sandbox.fingerprints.clone(),
    };
    let decided =
        sandbox.database.write(move |connection: &mut Connection| Box::pin(change.apply(connection))).await?;
    decided.into_result()
}

struct Change {
    email: Email,
    otp: Otp,
    password_hash: String,
    caller: Caller,
    clock: Clock,
    fingerprints: Fingerprints,
}

const SET_PASSWORD: &str = "UPDATE staff SET password_hash = $2, updated_at = $3 WHERE staff_id = $1";

impl Change {
    async fn apply(self, connection: &mut Connection) -> Result<Ruling, Failure> {
        let Self { email, otp, password_hash, caller, clock, fingerprints } = self;
        let now = clock.now();
        let staff = Staff::by_email(connection, &email).await?.filter(|staff| staff.is_active);
        let staff_id = staff.map(|staff| staff.staff_id);
        let attempt =
            Attempt { staff_id: staff_id.clone(), purpose: Purpose::PasswordReset, otp, caller, now };
        let (true, Some(staff_id)) = (attempt.verify(connection, &fingerprints).await?, staff_id) else {
            return Ok(Ruling::Refused(Failure::InvalidCode));
        };
        query(SET_PASSWORD).bind(&staff_id).bind(password_hash).bind(now).execute(&mut *connection).await?;
        session::end_all(connection, &staff_id, &clock).await?;
        otp::end_all(connection, &staff_id, now).await?;
        // The user has proved who they are, so a lockout for wrong passwords ends.
        limits::reset_account(connection, Action::Password, &attempt.caller).await?;
        tracing::info!(staff.id = staff_id, "password.reset");
        Ok(Ruling::Granted)
    }
}
