//! Devices that signed in before, recognised by a cookie.
//!
//! The cookie holds an opaque id and an expiry time, signed for one account and its current password. It
//! identifies nobody and grants no access. It only gives the device its own limit for wrong passwords, so
//! that an attack from elsewhere does not lock out the owner of the account.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use super::{Auth, Staff, fingerprint::Fingerprints};
use base::{clock::UnixMillis, error::Failure};
use web::accept;

/// The lifetime of the cookie. Each sign-in and each change of the password sets a new one.
const LIFETIME: Duration = Duration::from_hours(180 * 24);

/// The length of an id, which is unpredictable: a secret key is in it.
const ID_LENGTH: usize = 32;

/// The maximum length of the cookie that another provider sets.
const MAX_LENGTH: usize = 1024;

/// The cookie's value as a client sent it, signed or not.
#[derive(Clone, Debug, Default)]
pub struct DeviceCookie(Option<String>);

impl DeviceCookie {
    pub fn find(headers: &HeaderMap, behind_tls: bool) -> Self {
        Self(accept::cookies(headers, cookie_name(behind_tls)).next().map(str::to_owned))
    }

    /// Finds the cookie that another provider of the contract sets, under the name that it has there.
    pub fn set_by(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = lines.filter_map(|line| line.split(';').next()?.split_once('='));
        let found = cookies.find(|(name, _)| [false, true].map(cookie_name).contains(&name.trim()));
        Self(found.map(|(_, value)| value.trim().to_owned()))
    }

    /// The `Cookie` for another provider, which reads one of the two names.
    pub fn for_provider(&self) -> Option<HeaderValue> {
        let value = self.plain_value()?;
        let cookies = [false, true].map(|behind_tls| format!("{}={value}", cookie_name(behind_tls)));
        HeaderValue::try_from(cookies.join("; ")).ok()
    }

    pub fn for_browser(&self, behind_tls: bool) -> Option<HeaderValue> {
        HeaderValue::try_from(cookie(self.plain_value()?, behind_tls)).ok()
    }

    /// The value, if it has only the characters of a cookie without quotes (RFC 6265, 4.1.1).
    fn plain_value(&self) -> Option<&str> {
        let is_plain = |value: &&str| {
            (1..=MAX_LENGTH).contains(&value.len())
                && value.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
        };
        self.0.as_deref().filter(is_plain)
    }

    /// Returns the device's id, which changes with each sign-in, if the cookie is valid for the account of `staff`.
    pub fn device_id(&self, fingerprints: &Fingerprints, staff: &Staff, now: UnixMillis) -> Option<&str> {
        let mut parts = self.0.as_deref()?.splitn(3, '.');
        let (ends_at, id, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let is_valid = fingerprints.matches(signature, &signed_parts(staff, ends_at, id))
            && ends_at.parse().is_ok_and(|ends_at: i64| ends_at > now.0);
        is_valid.then_some(id)
    }
}

/// Returns the `Set-Cookie` for a device on which `staff` signed in or set a new password. `of_session` is the token or
/// the id of its session, which no other device has.
pub fn set_cookie(auth: &Auth, staff: &Staff, of_session: &str) -> Result<HeaderValue, Failure> {
    let ends_at = auth.world.clock.now().plus(LIFETIME).0.to_string();
    let id = &auth.fingerprints.of(&["device id", of_session])[..ID_LENGTH];
    let signature = auth.fingerprints.of(&signed_parts(staff, &ends_at, id));
    let cookie = cookie(&format!("{ends_at}.{id}.{signature}"), auth.world.settings.behind_tls);
    HeaderValue::from_str(&cookie).map_err(Failure::internal)
}

fn cookie(value: &str, behind_tls: bool) -> String {
    // Browsers accept the prefix only with this path.
    let scope = if behind_tls { "Path=/; Secure" } else { "Path=/api/v1/auth" };
    let (name, seconds) = (cookie_name(behind_tls), LIFETIME.as_secs());
    format!("{name}={value}; {scope}; HttpOnly; SameSite=Strict; Max-Age={seconds}")
}

fn cookie_name(behind_tls: bool) -> &'static str {
    if behind_tls { "__Host-mkopo_device" } else { "mkopo_device" }
}

/// A new password invalidates the cookie, so that whoever knew the old one has no advantage.
fn signed_parts<'a>(staff: &'a Staff, ends_at: &'a str, id: &'a str) -> [&'a str; 5] {
    ["device", &staff.staff_id, &staff.password_hash, ends_at, id]
}
