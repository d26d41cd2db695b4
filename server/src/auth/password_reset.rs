//! Setting a new password with a code that came by SMS.

use secrecy::{ExposeSecret, SecretString};

use super::{
    Ruling, Staff,
    client_address::ClientAddress,
    fingerprint::Fingerprints,
    limits::{self, Action, Trier},
    otp::{self, Attempt, Otp, Purpose},
    password, session,
};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query},
    email::Email,
    error::Failure,
};

/// What is asked for.
pub struct PasswordReset {
    /// Of the account.
    pub email: Email,
    /// The code that came by SMS.
    pub otp: Otp,
    /// From now on.
    pub new_password: SecretString,
}

/// Sets a new password and ends all of the user's sessions and codes.
///
/// # Errors
/// [`Failure::PasswordTooShort`], which leaves the code as it was; [`Failure::InvalidCode`], also
/// when there is no such user or they are inactive; [`Failure::TooManyTries`];
/// [`Failure::SignInsWait`].
pub async fn reset(
    sandbox: &Sandbox,
    ClientAddress(address): ClientAddress,
    request: PasswordReset,
) -> Result<(), Failure> {
    let PasswordReset { email, otp, new_password } = request;
    if new_password.expose_secret().chars().count() < password::MINIMUM_LENGTH {
        return Err(Failure::PasswordTooShort);
    }
    let trier = Trier::new(&sandbox.fingerprints, &email, address);
    {
        let mut reader = sandbox.database.read().await?;
        limits::check(&mut reader, Action::ResetCode, &trier, sandbox.clock.now()).await?;
    }
    // Hashed before anything is known of the code: the time it takes tells nothing, and no
    // transaction waits for it.
    let password_hash = sandbox.passwords.hash(new_password).await?;
    let change = Change {
        email,
        otp,
        password_hash,
        trier,
        now: sandbox.clock.now(),
        fingerprints: sandbox.fingerprints.clone(),
    };
    let decided =
        sandbox.database.write(move |connection: &mut Connection| Box::pin(change.enter(connection))).await?;
    decided.into_result()
}

struct Change {
    email: Email,
    otp: Otp,
    password_hash: String,
    trier: Trier,
    now: UnixMillis,
    fingerprints: Fingerprints,
}

const SET_PASSWORD: &str = "UPDATE staff SET password_hash = $2, updated_at = $3 WHERE staff_id = $1";

impl Change {
    async fn enter(self, connection: &mut Connection) -> Result<Ruling, Failure> {
        let Self { email, otp, password_hash, trier, now, fingerprints } = self;
        let staff = Staff::by_email(connection, &email).await?.filter(|staff| staff.is_active);
        let staff_id = staff.map(|staff| staff.staff_id);
        let attempt =
            Attempt { staff_id: staff_id.clone(), purpose: Purpose::PasswordReset, otp, trier, now };
        let (true, Some(staff_id)) = (attempt.enter(connection, &fingerprints).await?, staff_id) else {
            return Ok(Ruling::Refused(Failure::InvalidCode));
        };
        query(SET_PASSWORD).bind(&staff_id).bind(password_hash).bind(now).execute(&mut *connection).await?;
        session::end_all(connection, &staff_id, now).await?;
        otp::end_all(connection, &staff_id, now).await?;
        // Whoever was locked out for wrong passwords has just proved who they are.
        limits::forget(connection, Action::Password, &attempt.trier).await?;
        tracing::info!(staff.id = staff_id, "password.reset");
        Ok(Ruling::Granted)
    }
}
