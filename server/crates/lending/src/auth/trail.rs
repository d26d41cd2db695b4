//! Sign-ins and resets in the audit trail.

use std::net::IpAddr;

use super::{AuthRefusal, Ruling, Staff, fingerprint::Fingerprints};
use crate::events::{EventKind, NewEvent};
use base::{clock::UnixMillis, email::Email};

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

    /// The decision to let the visitor in, who proved to be `staff`, with its event.
    pub fn granted(&self, kind: EventKind, staff: &Staff, details: &str) -> (Ruling, NewEvent) {
        let event = NewEvent::new(self.at, kind, staff.email.as_str(), Some(self.address));
        (Ok(()), event.of_account(&self.account).details(details))
    }

    /// The decision not to, with its event. With `is_last`, further attempts are refused for now.
    pub fn refused(&self, kind: EventKind, refusal: AuthRefusal, is_last: bool) -> (Ruling, NewEvent) {
        let further = if is_last { "; further attempts are refused for now" } else { "" };
        let event = NewEvent::new(self.at, kind, &self.account, Some(self.address));
        let event = event.details(&format!("{refusal}{further}"));
        (Err(refusal.into()), event)
    }
}
