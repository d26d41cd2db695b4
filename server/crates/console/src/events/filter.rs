//! Filters for events.

use serde::Deserialize;

use crate::view::visit::FieldError;
use base::{
    clock::UnixMillis,
    email::{self, Email},
    error::Failure,
};
use lending::{
    auth::fingerprint::Fingerprints,
    events::{EventFilter, EventKind},
};

/// Maximum number of events in one answer.
pub(super) const MAX_LIMIT: u32 = 1000;

/// The given filters; an empty one matches every event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GivenFilter {
    /// The exact kind.
    pub kind: String,
    /// Part of the author's or the subject's name. A whole e-mail address also finds failed sign-ins.
    pub who: String,
    /// The beginning of the network address.
    pub address: String,
    /// The earliest time, in RFC 3339.
    pub since: String,
    /// The latest time, in RFC 3339.
    pub until: String,
    /// The id of an event: only older events match.
    pub before: String,
    /// The maximum number of events.
    pub limit: String,
}

impl GivenFilter {
    /// The filter, with `limit` unless one is given.
    ///
    /// # Errors
    /// [`Failure::BadParameter`].
    pub fn checked(self, limit: u32, fingerprints: &Fingerprints) -> Result<EventFilter, FieldError> {
        let Self { kind, who, address, since, until, before, limit: given_limit } = self;
        let who = email::of_query(who);
        let wrong = |field, text: String| FieldError { field, failure: Failure::BadParameter(text) };
        let kind = match kind.as_str() {
            "" => None,
            name => {
                let unknown = || wrong("kind", format!("{name:?} is not a kind of event"));
                Some(EventKind::named(name).ok_or_else(unknown)?)
            }
        };
        let time = |field, text: &str| {
            let time = (!text.is_empty()).then(|| text.parse::<UnixMillis>());
            time.transpose().map_err(|text| wrong(field, text))
        };
        let before = match before.as_str() {
            "" => None,
            id => {
                let text = "before must be the id of an event";
                Some(id.parse().map_err(|_| wrong("before", text.to_owned()))?)
            }
        };
        let limit = match given_limit.as_str() {
            "" => Some(limit),
            number => number.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)),
        };
        let limit = limit.ok_or_else(|| wrong("limit", format!("limit must be from 1 to {MAX_LIMIT}")))?;
        Ok(EventFilter {
            kind,
            account_hash: Email::parse(&who).map(|email| fingerprints.of_account(&email)),
            who: Some(who).filter(|who| !who.is_empty()),
            address: Some(address).filter(|address| !address.is_empty()),
            since: time("since", &since)?,
            until: time("until", &until)?,
            before,
            limit,
        })
    }
}
