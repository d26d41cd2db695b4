//! The password of somebody who is signed in, asked for again before a change to the account.

use std::net::IpAddr;

use secrecy::SecretString;

use super::{
    Staff,
    limits::{self, Action, Caller},
    session::{self, Session},
};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::Connection,
    error::Failure,
    events::{Kind, NewEvent},
};

/// A password that was compared with that of the session's user. Wrong ones are counted as at sign-in.
pub(super) struct Reauthentication {
    session: Session,
    address: IpAddr,
    caller: Caller,
    matches: bool,
    /// On the clock that nobody sets.
    at: UnixMillis,
    now: UnixMillis,
}

/// What a transaction finds of it.
pub(super) enum Found {
    /// The user, who is who they say they are.
    Right(Box<Staff>),
    /// What the caller is told, once the transaction has counted it.
    Wrong(Failure, NewEvent),
}

impl Reauthentication {
    /// Compares `password`.
    ///
    /// # Errors
    /// [`Failure::TooManyTries`], [`Failure::SignInsWait`].
    pub async fn of(
        sandbox: &Sandbox,
        session: &Session,
        address: IpAddr,
        password: SecretString,
    ) -> Result<Self, Failure> {
        let now = sandbox.clock.now();
        let caller = Caller::new(&sandbox.fingerprints, &session.staff.email, address);
        // Callers over the limit must not reach the expensive hashing.
        limits::check(&mut *sandbox.database.read().await?, Action::Password, &caller, now).await?;
        let stored = Some(session.staff.password_hash.clone());
        let matches = sandbox.passwords.matches(password, stored).await?;
        let at = sandbox.clock.unset_now();
        Ok(Self { session: session.clone(), address, caller, matches, at, now })
    }

    /// Decides in the transaction of the change, which must be committed in either case: it has the count of
    /// wrong passwords.
    ///
    /// # Errors
    /// [`Failure::NoSession`], [`Failure::TooManyTries`].
    pub async fn check(&self, connection: &mut Connection) -> Result<Found, Failure> {
        session::check_open(connection, &self.session.session_id).await?;
        limits::check(connection, Action::Password, &self.caller, self.now).await?;
        let staff = &self.session.staff;
        // The password may have been changed meanwhile.
        let staff = Staff::by_email(connection, &staff.email)
            .await?
            .filter(|now| self.matches && now.password_hash == staff.password_hash);
        let Some(staff) = staff else {
            limits::count(connection, Action::Password, &self.caller, self.now).await?;
            let event = self.event(Kind::PasswordChangeFailed);
            event.add(connection).await?;
            return Ok(Found::Wrong(Failure::InvalidPassword, event));
        };
        limits::reset(connection, Action::Password, &self.caller).await?;
        Ok(Found::Right(Box::new(staff)))
    }

    /// What the user did.
    pub fn event(&self, kind: Kind) -> NewEvent {
        NewEvent::new(self.at, kind, self.session.staff.email.as_str(), Some(self.address))
    }
}
