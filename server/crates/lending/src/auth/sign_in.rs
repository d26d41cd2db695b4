//! Signing in with a password, or with a password and a code sent by e-mail.

use axum::{
    Json,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use secrecy::SecretString;
use serde::Serialize;

use super::{
    Auth, AuthRefusal, Role, Staff,
    browser::Browser,
    client_address::ClientAddress,
    device::{self, DeviceCookie},
    limits::{self, Action, Caller},
    otp::{Attempt, Otp, Purpose, Verdict},
    session,
    trail::Visitor,
};
use crate::events::{self, EventKind};
use base::{email::Email, error::Failure, ids::StaffId};
use store::Connection;

pub struct SignedIn {
    pub token: String,
    pub staff: Staff,
    /// The `Set-Cookie` by which the device is recognised.
    pub device_cookie: HeaderValue,
}

#[derive(Serialize)]
struct SignedInUser {
    user: TokenUser,
}

#[derive(Serialize)]
struct TokenUser {
    token: String,
    id: StaffId,
    username: String,
    name: String,
    email: Email,
    role: Role,
}

impl IntoResponse for SignedIn {
    fn into_response(self) -> Response {
        let name = self.staff.name();
        let Staff { staff_id: id, username, email, role, .. } = self.staff;
        let user = TokenUser { token: self.token, id, username, name, email, role };
        let headers = [
            (header::SET_COOKIE, self.device_cookie),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ];
        (headers, Json(SignedInUser { user })).into_response()
    }
}

pub struct Credentials {
    pub email: Email,
    pub password: SecretString,
    /// The code sent by e-mail, when signing in with a code.
    pub otp: Option<Otp>,
    /// The cookie of a device that signed in before.
    pub device: DeviceCookie,
    pub browser: Browser,
}

/// Opens a session if the password of `email` is correct, and the code too if one is given.
/// A caller learns that the account is inactive or needs a code only with the right password.
pub async fn sign_in(
    auth: &Auth,
    ClientAddress(address): ClientAddress,
    Credentials { email, password, otp, device, browser }: Credentials,
) -> Result<SignedIn, Failure> {
    let fingerprints = auth.fingerprints.clone();
    let mut caller = Caller::new(&fingerprints, &email, address);
    let visitor = Visitor::new(&fingerprints, auth.world.clock.unset_now(), &email, address);
    let (staff, length) = {
        let now = auth.world.clock.now();
        let mut reader = auth.world.database.read().await?;
        let staff = Staff::by_email(&mut reader, &email).await?;
        caller = caller.on(&fingerprints, &device, staff.as_ref(), now);
        // Callers over the limit must not reach the expensive hashing.
        limits::check(&mut reader, Action::Password, &caller, now).await?;
        (staff, session::length(&auth.world, &mut reader).await?)
    };
    let stored = staff.as_ref().map(|staff| staff.password_hash.clone());
    let matches = auth.passwords.matches(password, stored.clone()).await?;

    let now = auth.world.clock.now();
    let staff_id = staff.as_ref().map(|staff| staff.staff_id.clone());
    let prepare = |staff: &Staff| session::prepare(auth, staff, length, address, browser);
    let (session, token) = staff.as_ref().map(prepare).transpose()?.unzip();
    let attempt =
        otp.map(|otp| Attempt { staff_id, purpose: Purpose::SignIn, otp, caller: caller.clone(), now });
    let has_live_screens = auth.world.settings.has_live_screens();
    // The decision and the count are one transaction.
    events::write(&auth.world.database, async move |connection: &mut Connection| {
        limits::check(connection, Action::Password, &caller, now).await?;
        // The password may have been reset, or the account deactivated, during the check.
        let staff = Staff::by_email(connection, &email).await?;
        let staff = staff.filter(|now| matches && Some(&now.password_hash) == stored.as_ref());
        let (Some(staff), Some(session)) = (staff, session) else {
            let is_last = limits::count(connection, Action::Password, &caller, now).await?;
            let refusal = stored.map_or(AuthRefusal::UserNotFound, |_| AuthRefusal::InvalidPassword);
            return Ok(visitor.refused(EventKind::SignInFailed, refusal, is_last));
        };
        if !staff.is_active {
            return Ok(visitor.refused(EventKind::SignInFailed, AuthRefusal::AccountInactive, false));
        }
        if attempt.is_none() && has_live_screens && staff.sign_in_code_required {
            return Ok(visitor.refused(EventKind::SignInFailed, AuthRefusal::CodeRequired, false));
        }
        if let Some(attempt) = &attempt
            && let Verdict::Wrong { is_last } = attempt.verify(connection, &fingerprints).await?
        {
            return Ok(visitor.refused(EventKind::SignInFailed, AuthRefusal::InvalidCode, is_last));
        }
        limits::reset(connection, Action::Password, &caller).await?;
        session.insert(connection).await?;
        let details = if attempt.is_some() { "with password and code" } else { "with password" };
        Ok(visitor.granted(EventKind::SignedIn, &staff, details))
    })
    .await??;
    let (staff, token) = staff.zip(token).ok_or(AuthRefusal::UserNotFound)?;
    tracing::info!(staff.id = %staff.staff_id, "session.opened");
    Ok(SignedIn { device_cookie: device::set_cookie(auth, &staff, &token)?, token, staff })
}
