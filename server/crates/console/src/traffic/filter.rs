//! Filters for recorded calls.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::view::visit::{FieldError, filter};
use base::{clock::UnixMillis, email, error::Failure};
use worlds::traffic::call::Entry;

/// The given filters; an empty one matches every call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenFilter {
    /// The exact method.
    pub method: String,
    /// Part of the path.
    pub path: String,
    /// A status such as `422`, a class such as `4xx`, `none` for no response, `fault` for any fault.
    pub status: String,
    /// Part of the e-mail address.
    pub user: String,
    /// The earliest time, in RFC 3339.
    pub since: String,
    /// The latest time, in RFC 3339.
    pub until: String,
}

enum Status {
    Any,
    Fault,
    NoResponse,
    Within(RangeInclusive<u16>),
}

impl GivenFilter {
    /// The condition on a call: all filters match it.
    pub fn checked(self) -> Result<impl Fn(&Entry) -> bool + Send + 'static, FieldError> {
        let Self { method, path, status, user, since, until } = self;
        let (method, path) = (method.to_ascii_uppercase(), path.trim().to_owned());
        let user = email::of_query(user).trim().to_lowercase();
        let status = Status::parse(&status).map_err(FieldError::of("status"))?;
        let since: Option<UnixMillis> = filter("since", &since, str::parse)?;
        let until: Option<UnixMillis> = filter("until", &until, str::parse)?;
        Ok(move |call: &Entry| {
            call.full_path().contains(&path)
                && (method.is_empty() || call.method.as_str() == method)
                && call.user().unwrap_or_default().to_lowercase().contains(&user)
                && status.matches(call)
                && since.is_none_or(|since| call.at >= since)
                && until.is_none_or(|until| call.at <= until)
        })
    }
}

impl Status {
    fn parse(text: &str) -> Result<Self, Failure> {
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.len() == digits.trim().len());
        match text {
            "" => Ok(Self::Any),
            "fault" => Ok(Self::Fault),
            "none" => Ok(Self::NoResponse),
            _ => match (text.strip_suffix("xx").and_then(number), number(text)) {
                (Some(class @ 1..=5), _) => Ok(Self::Within(class * 100..=class * 100 + 99)),
                (_, Some(status @ 100..=599)) => Ok(Self::Within(status..=status)),
                _ => Err(Failure::BadParameter(format!(
                    "status must be such as 422, 4xx, none or fault, not {text:?}"
                ))),
            },
        }
    }

    fn matches(&self, call: &Entry) -> bool {
        match self {
            Self::Any => true,
            Self::Fault => call.fault.is_some(),
            Self::NoResponse => call.status.is_none(),
            Self::Within(wanted) => call.status.is_some_and(|status| wanted.contains(&status.as_u16())),
        }
    }
}
