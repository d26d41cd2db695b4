//! How often one may be wrong, by e-mail address and by network address.
//!
//! Tries are judged where they are counted, inside the transaction that settles them, and what
//! comes past the limit hears nothing but that. So a thousand tries at once learn no more than
//! the same tries one after the other, and right ones in between are not held up.

use std::{net::IpAddr, time::Duration};

use super::fingerprint::Fingerprints;
use crate::{
    clock::UnixMillis,
    database::{Connection, query, query_as, query_scalar},
    email::Email,
    error::Failure,
};

/// From the first try counted until the count begins anew.
const WINDOW: Duration = Duration::from_mins(15);

/// Servers' clocks differ a little. A window that ends later than this allows was opened before
/// the clock was moved back, and holds no longer.
const SKEW: Duration = Duration::from_mins(1);

/// How many tries of one action count within a window for one e-mail address; the tenth is
/// refused.
const PER_EMAIL: i64 = 9;
/// The same for one network address, which a whole office may share; the hundredth is refused.
const PER_ADDRESS: i64 = 99;

/// How many rows of windows that ended are dropped with each new count.
const DROPPED_AT_ONCE: i64 = 100;

/// What is counted, each for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A wrong password.
    Password,
    /// A wrong sign-in code.
    SignInCode,
    /// A wrong reset code.
    ResetCode,
    /// Asking for a sign-in code, whatever comes of it.
    SignInCodeRequest,
    /// Asking for a reset code, whatever comes of it.
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

/// Who tries: for which e-mail address, from which network address.
#[derive(Clone, Debug)]
pub struct Trier {
    email: String,
    address: String,
}

impl Trier {
    /// Someone at `address` who gives `email`.
    pub fn new(fingerprints: &Fingerprints, email: &Email, address: IpAddr) -> Self {
        Self { email: fingerprints.of(&["limits", email.as_str()]), address: network(address) }
    }
}

/// The network that counts as one: an IPv4 address, or the /64 that one IPv6 customer gets.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

const CLOSED: &str = "
    SELECT max(window_ends_at) FROM try_count
    WHERE action = $1 AND ((subject = $2 AND tries >= $3) OR (subject = $4 AND tries >= $5))
      AND window_ends_at > $6 AND window_ends_at <= $7";

/// Passes while `who` may still try.
///
/// # Errors
/// [`Failure::TooManyTries`].
pub async fn check(
    connection: &mut Connection,
    action: Action,
    who: &Trier,
    now: UnixMillis,
) -> Result<(), Failure> {
    let closed_until: Option<UnixMillis> = query_scalar(CLOSED)
        .bind(action.name())
        .bind(&who.email)
        .bind(PER_EMAIL)
        .bind(&who.address)
        .bind(PER_ADDRESS)
        .bind(now)
        .bind(latest_end(now))
        .fetch_one(connection)
        .await?;
    closed_until.map_or(Ok(()), |end| Err(Failure::TooManyTries { wait: end.since(now) }))
}

const COUNT: &str = "
    INSERT INTO try_count (action, subject, tries, window_ends_at) VALUES ($1, $2, 1, $3)
    ON CONFLICT (action, subject) DO UPDATE SET
        tries = CASE WHEN try_count.window_ends_at > $4 AND try_count.window_ends_at <= $5
                     THEN try_count.tries + 1 ELSE 1 END,
        window_ends_at = CASE WHEN try_count.window_ends_at > $4 AND try_count.window_ends_at <= $5
                              THEN try_count.window_ends_at ELSE excluded.window_ends_at END
    RETURNING tries, window_ends_at";

const DROP: &str = "
    DELETE FROM try_count WHERE (action, subject) IN
        (SELECT action, subject FROM try_count WHERE window_ends_at <= $1 ORDER BY window_ends_at LIMIT $2)";

/// Counts one try of `who`.
///
/// # Errors
/// [`Failure::TooManyTries`] when it is one too many: then nothing that the try found out may be
/// told, and its transaction is to be undone.
pub async fn count(
    connection: &mut Connection,
    action: Action,
    who: &Trier,
    now: UnixMillis,
) -> Result<(), Failure> {
    query(DROP).bind(now).bind(DROPPED_AT_ONCE).execute(&mut *connection).await?;
    for (subject, limit) in [(&who.email, PER_EMAIL), (&who.address, PER_ADDRESS)] {
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

const FORGET: &str = "DELETE FROM try_count WHERE action = $1 AND subject = $2";

/// Begins the e-mail address's count anew, after a success. The network address's goes on: who
/// has one account must not be able to try all others.
pub async fn forget(connection: &mut Connection, action: Action, who: &Trier) -> Result<(), sqlx::Error> {
    query(FORGET).bind(action.name()).bind(&who.email).execute(connection).await?;
    Ok(())
}

fn latest_end(now: UnixMillis) -> UnixMillis {
    now.plus(WINDOW).plus(SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_counts_as_one_whichever_of_its_addresses_it_uses() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
    }
}
