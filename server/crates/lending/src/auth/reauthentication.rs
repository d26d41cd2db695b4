//! Asks a signed-in user for the password again before a change to the account.

use std::net::IpAddr;

use secrecy::SecretString;

use super::{
    Auth, AuthRefusal, Staff,
    limits::{self, Action, Caller},
    session::{self, Session},
};
use crate::events::{self, EventKind, NewEvent};
use base::{clock::UnixMillis, error::Failure};
use store::Connection;

/// A password that was compared with that of the session's user. Wrong ones are counted for the session: others can't
/// keep its user from changing the password, and a stolen session is no way to guess it.
pub(super) struct Reauthentication {
    session: Session,
    address: IpAddr,
    caller: Caller,
    matches: bool,
    /// The time of the attempt in base time, without the console's setting.
    at: UnixMillis,
    now: UnixMillis,
}

impl Reauthentication {
    /// Compares `password` with that of `session`'s user.
    pub async fn of(
        auth: &Auth,
        session: &Session,
        address: IpAddr,
        password: SecretString,
    ) -> Result<Self, Failure> {
        let now = auth.world.clock.now();
        let caller = Caller::in_session(&auth.fingerprints, session, address);
        // Callers over the limit must not reach the expensive hashing.
        limits::check(&mut auth.world.database.read().await?, Action::Password, &caller, now).await?;
        let stored = Some(session.staff.password_hash.clone());
        let matches = auth.passwords.matches(password, stored).await?;
        let at = auth.world.clock.unset_now();
        Ok(Self { session: session.clone(), address, caller, matches, at, now })
    }

    /// Makes a change to the account if the password is right, and adds it to the audit trail with the
    /// details that `change` returns.
    pub async fn change(
        self,
        auth: &Auth,
        kind: EventKind,
        change: impl AsyncFnOnce(&mut Connection, Staff) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        events::write(&auth.world.database, async move |connection: &mut Connection| {
            let Some(staff) = self.check(connection).await? else {
                limits::count(connection, Action::Password, &self.caller, self.now).await?;
                let event = self.event(EventKind::PasswordChangeFailed);
                return Ok((Err(AuthRefusal::InvalidPassword.into()), event));
            };
            limits::reset(connection, Action::Password, &self.caller).await?;
            let details = change(connection, staff).await?;
            Ok((Ok(()), self.event(kind).details(&details)))
        })
        .await?
    }

    /// Returns the user if the password matches and has not been changed since.
    async fn check(&self, connection: &mut Connection) -> Result<Option<Staff>, Failure> {
        session::check_open(connection, &self.session.session_id).await?;
        limits::check(connection, Action::Password, &self.caller, self.now).await?;
        let known = &self.session.staff;
        let staff = Staff::by_email(connection, &known.email).await?;
        // The password may have been changed meanwhile.
        Ok(staff.filter(|staff| self.matches && staff.password_hash == known.password_hash))
    }

    fn event(&self, kind: EventKind) -> NewEvent {
        NewEvent::new(self.at, kind, self.session.staff.email.as_str(), Some(self.address))
    }
}
