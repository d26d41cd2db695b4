//! Signing in by password.

use secrecy::SecretString;

use super::{Staff, session};
use crate::{Sandbox, error::Failure};

/// Someone signed in, with the token that proves it.
pub struct SignedIn {
    /// Sent back with every call.
    pub token: String,
    /// Who it is.
    pub staff: Staff,
}

/// Opens a session for who knows the password of `email`.
///
/// # Errors
/// [`Failure::UserNotFound`], [`Failure::InvalidPassword`], [`Failure::AccountInactive`] (told
/// only to who knows the password).
pub async fn by_password(
    sandbox: &Sandbox,
    email: &str,
    password: SecretString,
) -> Result<SignedIn, Failure> {
    let staff = find(sandbox, email).await?;
    let kept = staff.as_ref().map(|staff| staff.password_hash.clone());
    let matches = sandbox.passwords.matches(password, kept).await?;
    let staff = staff.ok_or(Failure::UserNotFound)?;
    if !matches {
        return Err(Failure::InvalidPassword);
    }
    if !staff.is_active {
        return Err(Failure::AccountInactive);
    }
    let token = session::open(sandbox, &staff).await?;
    Ok(SignedIn { token, staff })
}

const FIND: &str = "
    SELECT staff_id, email, username, first_name, last_name, phone_number, role, password_hash,
           is_active, created_at
    FROM staff WHERE email = $1";

async fn find(sandbox: &Sandbox, email: &str) -> Result<Option<Staff>, Failure> {
    let mut reader = sandbox.database.read().await?;
    let email = email.trim().to_lowercase();
    Ok(sqlx::query_as(FIND).bind(email).fetch_optional(&mut *reader).await?)
}
