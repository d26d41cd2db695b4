//! Rate limits for attempts, by account and by network address.
//!
//! Attempts are checked and counted in the transaction that decides on them. An attempt over the
//! limit learns only that it is over the limit. So a thousand concurrent attempts learn no more
//! than a thousand sequential ones, and correct attempts among them are not delayed.
//!
//! Somebody who knows only an e-mail address must not be able to lock its owner out. So the strict
//! limit is for one account from one network address, the limit for the account over all addresses
//! is wide, and a device that signed in to the account before has a limit of its own instead. So has
//! a session in which the password is asked for again.

use std::{net::IpAddr, time::Duration};

use serde::{Deserialize, Serialize};

use super::{AuthRefusal, Staff, device::DeviceCookie, fingerprint::Fingerprints, session::Session};
use base::{clock::UnixMillis, email::Email, error::Failure};
use store::{Connection, Database, query, query_as, query_scalar, sweep};

/// The number of attempts allowed within a window that starts with the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    attempts: i64,
    window: Duration,
}

/// The limit for one account from one network address; the tenth attempt is refused.
const PER_ACCOUNT_AND_ADDRESS: Limit = Limit { attempts: 9, window: Duration::from_mins(15) };
/// The limit for one account from a device that signed in to it before, or in one session; for wrong codes, from all
/// such devices together: whoever knows the password can make any number of them.
const PER_DEVICE: Limit = PER_ACCOUNT_AND_ADDRESS;
/// The limit for one account from all network addresses.
const PER_ACCOUNT: Limit = Limit { attempts: 50, window: Duration::from_hours(1) };
/// The limit for one network address, which a whole office may share; the hundredth attempt is refused.
const PER_ADDRESS: Limit = Limit { attempts: 99, window: Duration::from_mins(15) };
/// The limit for codes of one purpose that are sent to one account, or to its owner on a device that signed in before.
const CODES_PER_ACCOUNT: Limit = Limit { attempts: 10, window: Duration::from_hours(1) };

/// The maximum difference between servers' clocks. A window that ends later than this allows was opened
/// before the clock was moved back, and no longer counts.
pub const SKEW: Duration = Duration::from_mins(1);

/// An action whose attempts are counted, separately from those of other actions. A secret counts when it is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Password,
    SignInCode,
    ResetCode,
    /// A request for a sign-in code, whether or not it succeeds.
    SignInCodeRequest,
    /// A request for a reset code, whether or not it succeeds.
    ResetCodeRequest,
    SignInCodeSent,
    ResetCodeSent,
    ConsoleToken,
    DeployToken,
}

store::stored_as_text!(Action);

/// The account that an attempt is for, and the address, and device or session, that it comes from.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    account: String,
    address: String,
    account_and_address: String,
    /// All devices that signed in to the account before.
    devices: String,
    /// The device that signed in to the account before, or the session.
    device: Option<String>,
}

impl Caller {
    pub fn new(fingerprints: &Fingerprints, email: &Email, address: IpAddr) -> Self {
        let (email, address) = (email.as_str(), network(address));
        Self {
            account: fingerprints.of(&["limits", email]),
            account_and_address: fingerprints.of(&["limits", email, &address]),
            devices: fingerprints.of(&["limits of devices", email]),
            address,
            device: None,
        }
    }

    pub fn without_account(address: IpAddr) -> Self {
        Self { address: network(address), ..Self::default() }
    }

    /// The same attempt from `device`, if that signed in to the account of `staff` before.
    pub fn on(
        self,
        fingerprints: &Fingerprints,
        device: &DeviceCookie,
        staff: Option<&Staff>,
        now: UnixMillis,
    ) -> Self {
        let device_id = staff.and_then(|staff| device.device_id(fingerprints, staff, now));
        let device = device_id.map(|id| fingerprints.of(&["limits of a device", id]));
        Self { device, ..self }
    }

    /// An attempt in `session` to prove that its user makes it.
    pub fn in_session(fingerprints: &Fingerprints, session: &Session, address: IpAddr) -> Self {
        let device = Some(fingerprints.of(&["limits of a session", &session.session_id]));
        Self { device, ..Self::new(fingerprints, &session.staff.email, address) }
    }

    /// Returns whether it comes from a device that signed in to the account before.
    pub fn is_known_device(&self) -> bool {
        self.device.is_some()
    }

    /// Returns the subjects for which an attempt at `action` is counted, with their limits.
    fn counts(&self, action: Action) -> Vec<(&str, Limit)> {
        match (action, &self.device) {
            (Action::SignInCodeSent | Action::ResetCodeSent, device) => {
                vec![(device.as_ref().unwrap_or(&self.account), CODES_PER_ACCOUNT)]
            }
            (Action::ConsoleToken | Action::DeployToken, _) => vec![(&self.address, PER_ADDRESS)],
            (Action::SignInCode | Action::ResetCode, Some(_)) => vec![(&self.devices, PER_DEVICE)],
            (_, Some(device)) => vec![(device, PER_DEVICE)],
            (_, None) => vec![
                (&self.account_and_address, PER_ACCOUNT_AND_ADDRESS),
                (&self.account, PER_ACCOUNT),
                (&self.address, PER_ADDRESS),
            ],
        }
    }
}

/// Returns the network that counts as one address: an IPv4 address, or the /64 assigned to one IPv6 customer.
pub fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

const LOCKED_UNTIL: &str = "
    SELECT window_ends_at FROM try_count
    WHERE action = $1 AND subject = $2 AND tries >= $3 AND window_ends_at > $4 AND window_ends_at <= $5";

/// Succeeds while `caller` is under every limit.
pub async fn check(
    connection: &mut Connection,
    action: Action,
    caller: &Caller,
    now: UnixMillis,
) -> Result<(), Failure> {
    let mut locked_until = None;
    for (subject, limit) in caller.counts(action) {
        let end: Option<UnixMillis> = query_scalar(LOCKED_UNTIL)
            .bind_all((action, subject, limit.attempts, now, limit.latest_end(now)))
            .fetch_optional(&mut *connection)
            .await?;
        locked_until = locked_until.max(end);
    }
    locked_until.map_or(Ok(()), |end| Err(AuthRefusal::TooManyTries { wait: end.since(now) }.into()))
}

const COUNT: &str = "
    INSERT INTO try_count (action, subject, tries, window_ends_at) VALUES ($1, $2, 1, $3)
    ON CONFLICT (action, subject) DO UPDATE SET
        tries = CASE WHEN try_count.window_ends_at > $4 AND try_count.window_ends_at <= $5
                     THEN try_count.tries + 1 ELSE 1 END,
        window_ends_at = CASE WHEN try_count.window_ends_at > $4 AND try_count.window_ends_at <= $5
                              THEN try_count.window_ends_at ELSE excluded.window_ends_at END
    RETURNING tries, window_ends_at";

const DELETE_EXPIRED: &str = "
    DELETE FROM try_count WHERE (action, subject) IN
        (SELECT action, subject FROM try_count WHERE window_ends_at <= $1 ORDER BY window_ends_at LIMIT 500)";

/// Counts one attempt by `caller`. Returns whether it was the last one that is allowed for now.
///
/// # Errors
/// [`AuthRefusal::TooManyTries`] if it is over the limit: the caller must not learn anything else about
/// the attempt, and its transaction must be rolled back.
pub async fn count(
    connection: &mut Connection,
    action: Action,
    caller: &Caller,
    now: UnixMillis,
) -> Result<bool, Failure> {
    let mut is_last = false;
    query(DELETE_EXPIRED).bind(now).execute(&mut *connection).await?;
    for (subject, limit) in caller.counts(action) {
        let (tries, window_ends_at): (i64, UnixMillis) = query_as(COUNT)
            .bind_all((action, subject, now.plus(limit.window), now, limit.latest_end(now)))
            .fetch_one(&mut *connection)
            .await?;
        if tries > limit.attempts {
            return Err(AuthRefusal::TooManyTries { wait: window_ends_at.since(now) }.into());
        }
        is_last |= tries == limit.attempts;
    }
    Ok(is_last)
}

const RESET: &str = "DELETE FROM try_count WHERE action = $1 AND subject = $2";

/// Resets the caller's own count after a success. The counts of the account and of the network
/// address continue: a success of the owner must not give an attacker new attempts, nor one account
/// be used to attack all others.
pub async fn reset(connection: &mut Connection, action: Action, caller: &Caller) -> Result<(), sqlx::Error> {
    for subject in caller.device.iter().chain([&caller.devices, &caller.account_and_address]) {
        query(RESET).bind(action).bind(subject).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Resets the count of the account too, after its owner set a new password.
pub async fn reset_account(
    connection: &mut Connection,
    action: Action,
    caller: &Caller,
) -> Result<(), sqlx::Error> {
    query(RESET).bind(action).bind(&caller.account).execute(&mut *connection).await?;
    reset(connection, action, caller).await
}

/// Deletes the counts whose window has ended, and returns their number. If it fails, earlier batches stay deleted.
pub async fn delete_expired(database: &Database, now: UnixMillis) -> Result<u64, Failure> {
    sweep::in_batches(database, move || query(DELETE_EXPIRED).bind(now)).await
}

impl Limit {
    fn latest_end(self, now: UnixMillis) -> UnixMillis {
        now.plus(self.window).plus(SKEW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_one_customer_count_as_one() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
    }
}
