//! Signing in: by password, or by password and a code that was e-mailed.

use secrecy::SecretString;

use super::{
    Ruling, Staff,
    client_address::ClientAddress,
    fingerprint::Fingerprints,
    limits::{self, Action, Trier},
    otp::{Attempt, Otp, Purpose},
    session::{self, NewSession},
};
use crate::{Sandbox, clock::UnixMillis, database::Connection, email::Email, error::Failure};

/// Someone signed in, with the token that proves it.
pub struct SignedIn {
    /// Sent back with every call.
    pub token: String,
    /// Who it is.
    pub staff: Staff,
}

/// What someone gives to prove who they are.
pub struct Credentials {
    /// Of the account.
    pub email: Email,
    /// Of the account.
    pub password: SecretString,
    /// The code that was e-mailed, when they sign in by code.
    pub otp: Option<Otp>,
}

/// Opens a session for who knows the password of `email`, and the code if one is asked for.
///
/// # Errors
/// [`Failure::UserNotFound`], [`Failure::InvalidPassword`], [`Failure::AccountInactive`] (told
/// only to who knows the password), [`Failure::InvalidCode`] (the same),
/// [`Failure::TooManyTries`], [`Failure::SignInsWait`].
pub async fn sign_in(
    sandbox: &Sandbox,
    ClientAddress(address): ClientAddress,
    credentials: Credentials,
) -> Result<SignedIn, Failure> {
    let Credentials { email, password, otp } = credentials;
    let trier = Trier::new(&sandbox.fingerprints, &email, address);
    let staff = {
        let mut reader = sandbox.database.read().await?;
        // Those who are past the limit don't get as far as the costly hashing.
        limits::check(&mut reader, Action::Password, &trier, sandbox.clock.now()).await?;
        Staff::by_email(&mut reader, &email).await?
    };
    let kept = staff.as_ref().map(|staff| staff.password_hash.clone());
    let matches = sandbox.passwords.matches(password, kept).await?;

    let now = sandbox.clock.now();
    let staff_id = staff.as_ref().map(|staff| staff.staff_id.clone());
    let (session, token) = match &staff {
        Some(staff) => session::prepare(sandbox, staff).map(|(session, token)| (Some(session), token))?,
        None => (None, String::new()),
    };
    let decision = Decision {
        staff: staff.clone(),
        matches,
        attempt: otp.map(|otp| Attempt {
            staff_id,
            purpose: Purpose::SignIn,
            otp,
            trier: trier.clone(),
            now,
        }),
        session,
        trier,
        now,
        fingerprints: sandbox.fingerprints.clone(),
    };
    let decided = sandbox
        .database
        .write(move |connection: &mut Connection| Box::pin(decision.enter(connection)))
        .await?;
    decided.into_result()?;
    let staff = staff.ok_or(Failure::UserNotFound)?;
    tracing::info!(staff.id = staff.staff_id, "session.opened");
    Ok(SignedIn { token, staff })
}

/// What is known once the password has been checked; decided and counted in one transaction.
struct Decision {
    staff: Option<Staff>,
    matches: bool,
    attempt: Option<Attempt>,
    session: Option<NewSession>,
    trier: Trier,
    now: UnixMillis,
    fingerprints: Fingerprints,
}

impl Decision {
    async fn enter(self, connection: &mut Connection) -> Result<Ruling, Failure> {
        let Self { staff, matches, attempt, session, trier, now, fingerprints } = self;
        limits::check(connection, Action::Password, &trier, now).await?;
        let (Some(staff), Some(session)) = (staff, session) else {
            limits::count(connection, Action::Password, &trier, now).await?;
            return Ok(Ruling::Refused(Failure::UserNotFound));
        };
        // While the password was being checked it may have been reset, or the account closed.
        let staff_now = Staff::by_email(connection, &staff.email).await?;
        let staff_now = staff_now.filter(|now| now.password_hash == staff.password_hash);
        let Some(staff) = staff_now.filter(|_| matches) else {
            limits::count(connection, Action::Password, &trier, now).await?;
            return Ok(Ruling::Refused(Failure::InvalidPassword));
        };
        if !staff.is_active {
            return Ok(Ruling::Refused(Failure::AccountInactive));
        }
        if let Some(attempt) = attempt
            && !attempt.enter(connection, &fingerprints).await?
        {
            return Ok(Ruling::Refused(Failure::InvalidCode));
        }
        limits::forget(connection, Action::Password, &trier).await?;
        session.enter(connection).await?;
        Ok(Ruling::Granted)
    }
}
