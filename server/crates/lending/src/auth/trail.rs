//! Sign-ins and resets in the audit trail.

use std::net::IpAddr;

use super::{Staff, fingerprint::Fingerprints};
use crate::events::{EventKind, NewEvent};
use base::{clock::UnixMillis, email::Email, error::Failure};
use store::Connection;

/// Somebody who signs in or sets a new password.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The time of the attempt in base time, without the console's setting.
    pub at: UnixMillis,
    pub address: IpAddr,
    /// A keyed hash of the account that they named.
    pub account: String,
}

impl Visitor {
    pub fn new(fingerprints: &Fingerprints, at: UnixMillis, email: &Email, address: IpAddr) -> Self {
        Self { at, address, account: fingerprints.of_account(email) }
    }

    /// Adds an event of `kind` by the visitor, who proved to be `staff`.
    pub async fn add_success(
        &self,
        connection: &mut Connection,
        kind: EventKind,
        staff: &Staff,
        details: &str,
    ) -> Result<NewEvent, Failure> {
        let event = NewEvent::new(self.at, kind, staff.email.as_str(), Some(self.address))
            .of_account(&self.account)
            .details(details);
        event.add(connection).await?;
        Ok(event)
    }

    /// Adds a failed attempt; with `is_last`, further attempts are refused for now.
    pub async fn add_failure(
        &self,
        connection: &mut Connection,
        kind: EventKind,
        failure: &Failure,
        is_last: bool,
    ) -> Result<NewEvent, Failure> {
        let further = if is_last { "; further attempts are refused for now" } else { "" };
        let event = NewEvent::new(self.at, kind, &self.account, Some(self.address))
            .details(&format!("{failure}{further}"));
        event.add(connection).await?;
        Ok(event)
    }
}
