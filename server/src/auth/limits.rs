//! Rate limits for failed attempts, by e-mail address and by network address.
//!
//! Attempts are checked and counted in the transaction that decides on them. An attempt over the
//! limit learns only that it is over the limit. So a thousand concurrent attempts learn no more
//! than a thousand sequential ones, and correct attempts among them are not delayed.

use std::{net::IpAddr, time::Duration};

use super::fingerprint::Fingerprints;
use crate::{
    clock::UnixMillis,
    database::{Connection, query, query_as, query_scalar},
    email::Email,
    error::Failure,
};

/// How long after the first counted attempt the count starts again.
const WINDOW: Duration = Duration::from_mins(15);

/// How much servers' clocks may differ. A window that ends later than this allows was opened before
/// the clock was moved back, and no longer counts.
const SKEW: Duration = Duration::from_mins(1);

/// How many attempts at one action are allowed within a window for one e-mail address; the tenth
/// is refused.
const PER_EMAIL: i64 = 9;
/// The same for one network address, which a whole office may share. The hundredth is refused.
const PER_ADDRESS: i64 = 99;

/// How many expired rows are deleted with each new count.
const CLEANUP_BATCH: i64 = 100;

/// What is counted. Each action has its own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A wrong password.
    Password,
    /// A wrong sign-in code.
    SignInCode,
    /// A wrong reset code.
    ResetCode,
    /// A request for a sign-in code, whether or not it succeeds.
    SignInCodeRequest,
    /// A request for a reset code, whether or not it succeeds.
    ResetCodeRequest,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::SignInCode => "sign_in_code",
            Self::ResetCode => "reset_code",
            Self::SignInCodeRequest => "sign_in_code_request",
            Self::ResetCodeRequest => "reset_code_request",
        }
    }
}

/// The e-mail address that an attempt is for, and the network address that it comes from.
#[derive(Clone, Debug)]
pub struct Caller {
    email: String,
    address: String,
}

impl Caller {
    /// An attempt for `email` from `address`.
    pub fn new(fingerprints: &Fingerprints, email: &Email, address: IpAddr) -> Self {
        Self { email: fingerprints.of(&["limits", email.as_str()]), address: network(address) }
    }
}

/// What counts as one network address: an IPv4 address, or the /64 assigned to one IPv6 customer.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

const LOCKED_UNTIL: &str = "
    SELECT max(window_ends_at) FROM try_count
    WHERE action = $1 AND ((subject = $2 AND tries >= $3) OR (subject = $4 AND tries >= $5))
      AND window_ends_at > $6 AND window_ends_at <= $7";

/// Succeeds while `caller` is under the limit.
///
/// # Errors
/// [`Failure::TooManyTries`].
pub async fn check(
    connection: &mut Connection,
    action: Action,
    caller: &Caller,
    now: UnixMillis,
) -> Result<(), Failure> {
    let locked_until: Option<UnixMillis> = query_scalar(LOCKED_UNTIL)
        .bind(action.name())
        .bind(&caller.email)
        .bind(PER_EMAIL)
        .bind(&caller.address)
        .bind(PER_ADDRESS)
        .bind(now)
        .bind(latest_end(now))
        .fetch_one(connection)
        .await?;
    locked_until.map_or(Ok(()), |end| Err(Failure::TooManyTries { wait: end.since(now) }))
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
        (SELECT action, subject FROM try_count WHERE window_ends_at <= $1 ORDER BY window_ends_at LIMIT $2)";

/// Counts one attempt by `caller`.
///
/// # Errors
/// [`Failure::TooManyTries`] if it is over the limit: the caller must not learn anything else about
/// the attempt, and its transaction must be rolled back.
pub async fn count(
    connection: &mut Connection,
    action: Action,
    caller: &Caller,
    now: UnixMillis,
) -> Result<(), Failure> {
    query(DELETE_EXPIRED).bind(now).bind(CLEANUP_BATCH).execute(&mut *connection).await?;
    for (subject, limit) in [(&caller.email, PER_EMAIL), (&caller.address, PER_ADDRESS)] {
        let (tries, window_ends_at): (i64, UnixMillis) = query_as(COUNT)
            .bind(action.name())
            .bind(subject)
            .bind(now.plus(WINDOW))
            .bind(now)
            .bind(latest_end(now))
            .fetch_one(&mut *connection)
            .await?;
        if tries > limit {
            return Err(Failure::TooManyTries { wait: window_ends_at.since(now) });
        }
    }
    Ok(())
}

const RESET: &str = "DELETE FROM try_count WHERE action = $1 AND subject = $2";

/// Resets the count of the e-mail address after a success. The count of the network address
/// continues, so that one account can't be used to attack all others.
pub async fn reset(connection: &mut Connection, action: Action, caller: &Caller) -> Result<(), sqlx::Error> {
    query(RESET).bind(action.name()).bind(&caller.email).execute(connection).await?;
    Ok(())
}

fn latest_end(now: UnixMillis) -> UnixMillis {
    now.plus(WINDOW).plus(SKEW)
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
