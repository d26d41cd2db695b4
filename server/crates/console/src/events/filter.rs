//! Filters for events.

use serde::Deserialize;

use crate::view::visit::{FieldError, filter};
use base::email::{self, Email};
use lending::{
    auth::fingerprint::Fingerprints,
    events::{EventFilter, EventKind},
};

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
    pub limit: String,
}

impl GivenFilter {
    /// The filter, with `limit` unless one is given.
    pub fn checked(self, limit: u32, fingerprints: &Fingerprints) -> Result<EventFilter, FieldError> {
        let Self { kind, who, address, since, until, before, limit: given_limit } = self;
        let who = email::of_query(who);
        let kind_named =
            |name: &str| EventKind::named(name).ok_or_else(|| format!("{name:?} is not a kind of event"));
        let limit_of = |number: &str| {
            let number = number.parse().ok().filter(|number| (1..=MAX_LIMIT).contains(number));
            number.ok_or_else(|| format!("limit must be from 1 to {MAX_LIMIT}"))
        };
        Ok(EventFilter {
            kind: filter("kind", &kind, kind_named)?,
            account_hash: Email::parse(&who).map(|email| fingerprints.of_account(&email)),
            who: Some(who).filter(|who| !who.is_empty()),
            address: Some(address).filter(|address| !address.is_empty()),
            since: filter("since", &since, str::parse)?,
            until: filter("until", &until, str::parse)?,
            before: filter("before", &before, |id| {
                id.parse().map_err(|_| "before must be the id of an event".to_owned())
            })?,
            limit: filter("limit", &given_limit, limit_of)?.unwrap_or(limit),
        })
    }
}
