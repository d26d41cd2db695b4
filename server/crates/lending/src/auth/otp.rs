//! One-time codes: six digits, valid once, for five minutes and a few attempts.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Auth, AuthRefusal, Ruling, Staff,
    client_address::ClientAddress,
    device::DeviceCookie,
    fingerprint::Fingerprints,
    limits::{self, Action, Caller},
    trail::Visitor,
};
use crate::{
    events::{EventKind, NewEvent},
    outbox,
    world::Happened,
};
use base::{
    clock::UnixMillis, email::Email, error::Failure, ids::StaffId, phone::Msisdn, randomness::Randomness,
};
use store::{Connection, query, query_scalar};

pub const LIFE: Duration = Duration::from_mins(5);
pub const RESEND_AFTER: Duration = Duration::from_secs(30);
/// The time for which reset codes go to the phone number before a change.
pub(super) const PHONE_SETTLES: Duration = Duration::from_hours(24);
/// The maximum number of attempts per code, including the successful one. Those from devices that signed in before are
/// not among them, because others must not be able to use up the owner's code: they have a limit of their own.
const MAX_ATTEMPTS: i64 = 5;

/// The purpose of a code. A code for one purpose is not valid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To sign in, together with the password; sent by e-mail.
    SignIn,
    /// To set a new password; sent by SMS.
    PasswordReset,
}

store::stored_as_text!(Purpose);

impl Purpose {
    /// The actions that are counted: a request for a code, a code that is sent, and a wrong code.
    fn actions(self) -> [Action; 3] {
        match self {
            Self::SignIn => [Action::SignInCodeRequest, Action::SignInCodeSent, Action::SignInCode],
            Self::PasswordReset => [Action::ResetCodeRequest, Action::ResetCodeSent, Action::ResetCode],
        }
    }
}

/// A code as it was typed, correct or not. It has no `Debug` output, so it can't be logged.
#[derive(Clone)]
pub struct Otp(String);

impl Otp {
    fn draw(randomness: &Randomness) -> Self {
        Self(format!("{:06}", randomness.below(1_000_000)))
    }

    fn fingerprint_parts<'a>(&'a self, staff_id: &'a str, purpose: &'a str) -> [&'a str; 4] {
        ["one-time code", purpose, staff_id, &self.0]
    }
}

impl<'de> Deserialize<'de> for Otp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Malformed input counts as a wrong code.
        String::deserialize(deserializer).map(|text| Self(text.trim().to_owned()))
    }
}

/// Sends a code to the user of `email`. It replaces any earlier code. Where an account requires sign-in codes, they are
/// sent after the right `password` only: otherwise strangers could use up its codes.
pub async fn send(
    auth: &Auth,
    ClientAddress(address): ClientAddress,
    device: &DeviceCookie,
    email: Email,
    purpose: Purpose,
    password: Option<SecretString>,
) -> Result<(), Failure> {
    let (otp, now) = (Otp::draw(&auth.world.randomness), auth.world.clock.now());
    let caller = Caller::new(&auth.fingerprints, &email, address);
    let staff = Staff::by_email(&mut auth.world.database.read().await?, &email).await?;
    let caller = caller.on(&auth.fingerprints, device, staff.as_ref(), now);
    let needs_password =
        |staff: &Staff| auth.world.settings.has_live_screens() && staff.sign_in_code_required;
    let proof = match staff.filter(|staff| purpose == Purpose::SignIn && needs_password(staff)) {
        None => None,
        Some(staff) => {
            let password = password.ok_or_else(|| {
                Failure::bad_field("password", "password is needed: this account requires sign-in codes")
            })?;
            // Callers over the limit must not reach the expensive hashing.
            limits::check(&mut auth.world.database.read().await?, Action::Password, &caller, now).await?;
            let stored = staff.password_hash;
            let matches = auth.passwords.matches(password, Some(stored.clone())).await?;
            let visitor = Visitor::new(&auth.fingerprints, auth.world.clock.unset_now(), &email, address);
            Some(Proof { matches, stored, visitor })
        }
    };
    let request = Request { auth: auth.clone(), caller, email, purpose, proof, otp: otp.clone(), now };
    let (sent, event) = auth
        .world
        .database
        .write(async move |connection: &mut Connection| request.run(connection).await)
        .await?;
    if let Some(event) = event {
        event.log();
    }
    auth.outbox.wake();
    if sent.is_ok() {
        auth.world.tell(Happened::CodeSent(otp.0));
    }
    sent
}

/// The password by which the owner of the account asks for a code, compared with the one that was `stored` then.
struct Proof {
    matches: bool,
    stored: String,
    visitor: Visitor,
}

struct Request {
    auth: Auth,
    caller: Caller,
    email: Email,
    purpose: Purpose,
    /// `None` if none is needed.
    proof: Option<Proof>,
    otp: Otp,
    now: UnixMillis,
}

const SENT_AT: &str = "SELECT created_at FROM one_time_code WHERE staff_id = $1 AND purpose = $2";

const STORE: &str = "
    INSERT INTO one_time_code (staff_id, purpose, fingerprint, wrong_tries, created_at, expires_at)
    VALUES ($1, $2, $3, 0, $4, $5)
    ON CONFLICT (staff_id, purpose) DO UPDATE SET
        fingerprint = excluded.fingerprint, wrong_tries = 0, created_at = excluded.created_at,
        expires_at = excluded.expires_at, used_at = NULL";

// Whoever has a session of somebody else must not have the account by changing the number.
const PHONE_FOR_RESET: &str = "
    SELECT CASE WHEN phone_changed_at > $2 AND phone_changed_at <= $3 THEN phone_before ELSE phone_number END
    FROM staff WHERE staff_id = $1";

/// The phone number to which `staff` get reset codes.
pub(super) async fn reset_phone(
    connection: &mut Connection,
    staff: &Staff,
    now: UnixMillis,
) -> Result<String, Failure> {
    let phone = query_scalar(PHONE_FOR_RESET)
        .bind_all((&staff.staff_id, now.minus(PHONE_SETTLES), now))
        .fetch_one(connection);
    Ok(phone.await?)
}

impl Request {
    /// Returns the decision, and the event of a wrong password, to be logged after the commit.
    async fn run(self, connection: &mut Connection) -> Result<(Ruling, Option<NewEvent>), Failure> {
        let Self { auth, caller, purpose, now, .. } = &self;
        let [request, sent, _] = purpose.actions();
        limits::check(connection, request, caller, *now).await?;
        let staff = match Staff::by_email(connection, &self.email).await? {
            Some(staff) if staff.is_active => staff,
            missing_or_inactive => {
                limits::count(connection, request, caller, *now).await?;
                let is_inactive = missing_or_inactive.is_some();
                let refusal =
                    if is_inactive { AuthRefusal::AccountInactive } else { AuthRefusal::UserNotFound };
                return Ok((Err(refusal.into()), None));
            }
        };
        if let Some(Proof { matches, stored, visitor }) = &self.proof {
            limits::check(connection, Action::Password, caller, *now).await?;
            if !matches || *stored != staff.password_hash {
                let is_last = limits::count(connection, Action::Password, caller, *now).await?;
                let refusal = AuthRefusal::InvalidPassword;
                let (ruling, event) = visitor.refused(EventKind::SignInFailed, refusal, is_last);
                event.add(connection).await?;
                return Ok((ruling, Some(event)));
            }
        }
        let sent_at: Option<UnixMillis> = query_scalar(SENT_AT)
            .bind_all((&staff.staff_id, *purpose))
            .fetch_optional(&mut *connection)
            .await?;
        // A code sent in the future was sent before the clock was moved back.
        if let Some(sent_at) = sent_at.filter(|sent_at| *sent_at <= now.plus(RESEND_AFTER)) {
            let wait = sent_at.plus(RESEND_AFTER).since(*now);
            if !wait.is_zero() {
                return Err(AuthRefusal::CodeSentAlready { wait }.into());
            }
        }
        limits::check(connection, sent, caller, *now).await?;
        limits::count(connection, request, caller, *now).await?;
        limits::count(connection, sent, caller, *now).await?;
        query(STORE)
            .bind_all((&staff.staff_id, *purpose))
            .bind(auth.fingerprints.of(&self.otp.fingerprint_parts(&staff.staff_id, &purpose.to_string())))
            .bind_all((*now, now.plus(LIFE)))
            .execute(&mut *connection)
            .await?;
        self.enqueue_message(connection, &staff).await?;
        Ok((Ok(()), None))
    }

    async fn enqueue_message(&self, connection: &mut Connection, staff: &Staff) -> Result<(), Failure> {
        let (now, world) = (self.now, &self.auth.world);
        let (brand, randomness) = (&world.settings.brand, &world.randomness);
        let code = outbox::Code { digits: &self.otp.0, expires_at: now.plus(LIFE) };
        let digits = code.digits;
        match self.purpose {
            Purpose::SignIn => {
                let subject = format!("Your {brand} verification code");
                let body = format!(
                    "Dear {},\n\n\
                     your {brand} verification code is {digits}. It can be used once, within 5 minutes.\n\n\
                     If you did not ask for it, ignore this message: nobody can sign in with the code \
                     alone. Never pass it on; {brand} will not ask you for it.\n",
                    outbox::name(&staff.first_name)
                );
                outbox::email(connection, randomness, now, &self.email, &subject, &body, Some(code)).await?;
            }
            Purpose::PasswordReset => {
                let phone = Msisdn::parse(&reset_phone(connection, staff, now).await?)
                    .ok_or_else(|| Failure::Internal("the stored phone number is invalid".to_owned()))?;
                let body = format!(
                    "{digits} is your {brand} password reset code. It can be used once, within 5 minutes. \
                     If you did not ask for it, ignore this message. Never pass it on."
                );
                outbox::sms(connection, randomness, now, &phone, &body, Some(code)).await?;
            }
        }
        Ok(())
    }
}

const FIND: &str = "
    SELECT fingerprint FROM one_time_code
    WHERE staff_id = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3 AND wrong_tries < $4";

const WRONG: &str = "
    UPDATE one_time_code SET wrong_tries = wrong_tries + 1 WHERE staff_id = $1 AND purpose = $2";

const USE: &str = "
    UPDATE one_time_code SET used_at = $3 WHERE staff_id = $1 AND purpose = $2 AND used_at IS NULL";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    Wrong {
        /// `true` if further attempts are refused for now.
        is_last: bool,
    },
}

/// An attempt to use a code.
pub struct Attempt {
    /// The user of the code. Without one, the attempt counts as a wrong code.
    pub staff_id: Option<StaffId>,
    pub purpose: Purpose,
    pub otp: Otp,
    pub caller: Caller,
    pub now: UnixMillis,
}

impl Attempt {
    /// Consumes the code if it is correct. The transaction must be committed in either case, because it
    /// holds the count of wrong attempts.
    pub async fn verify(
        &self,
        connection: &mut Connection,
        fingerprints: &Fingerprints,
    ) -> Result<Verdict, Failure> {
        let Self { purpose, now, .. } = *self;
        let [.., attempt] = purpose.actions();
        limits::check(connection, attempt, &self.caller, now).await?;
        let staff_id = self.staff_id.as_deref().unwrap_or_default();
        let stored: Option<String> = query_scalar(FIND)
            .bind_all((staff_id, purpose, now))
            .bind(if self.caller.is_known_device() { i64::MAX } else { MAX_ATTEMPTS })
            .fetch_optional(&mut *connection)
            .await?;
        let purpose_name = purpose.to_string();
        let parts = self.otp.fingerprint_parts(staff_id, &purpose_name);
        if fingerprints.matches(stored.as_deref().unwrap_or_default(), &parts) {
            query(USE).bind(staff_id).bind(purpose).bind(now).execute(&mut *connection).await?;
            limits::reset(connection, attempt, &self.caller).await?;
            return Ok(Verdict::Right);
        }
        if !self.caller.is_known_device() {
            query(WRONG).bind(staff_id).bind(purpose).execute(&mut *connection).await?;
        }
        let is_last = limits::count(connection, attempt, &self.caller, now).await?;
        Ok(Verdict::Wrong { is_last })
    }
}

const END_ALL: &str = "
    UPDATE one_time_code SET used_at = $2 WHERE staff_id = $1 AND used_at IS NULL";

pub async fn end_all(
    connection: &mut Connection,
    staff_id: &StaffId,
    now: UnixMillis,
) -> Result<(), sqlx::Error> {
    query(END_ALL).bind(staff_id).bind(now).run(connection).await
}
