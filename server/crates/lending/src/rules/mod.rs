//! The rules that administrators set for everybody who uses the portal, where the screens are live.

pub mod api;

use serde::{Deserialize, Serialize};

use crate::{auth::session, events::changes, world::World};
use base::{error::Failure, kes::Kes};
use store::{Connection, query, query_as};
use web::extract::LARGEST_INTEGER;

const MIN_SESSION_MINUTES: i64 = 5;

const MAX_RETRY_ATTEMPTS: i64 = 10;

/// The rules for payouts. The server enforces the maximum; the other rules are for the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, sqlx_macros::FromRow)]
pub struct PayoutRules {
    /// The largest payout in KES; `None` for any.
    pub maximum_amount: Option<Kes>,
    /// `true` if every payout is confirmed in a dialog.
    pub confirmation_required: bool,
    /// `true` if a payout that is known not to have paid is retried automatically.
    pub auto_retry: bool,
    pub retry_attempts: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortalRules {
    session_minutes: i64,
    longest_session_minutes: i64,
    #[serde(flatten)]
    payouts: PayoutRules,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewPortalRules {
    session_minutes: i64,
    #[serde(deserialize_with = "Option::deserialize")]
    maximum_amount: Option<Kes>,
    confirmation_required: bool,
    auto_retry: bool,
    retry_attempts: i64,
}

const PAYOUT_RULES: &str = "
    SELECT maximum_amount, confirmation_required, auto_retry, retry_attempts FROM portal_rules";

pub async fn for_payouts(connection: &mut Connection) -> Result<PayoutRules, sqlx::Error> {
    query_as(PAYOUT_RULES).fetch_one(connection).await
}

pub async fn all(world: &World, connection: &mut Connection) -> Result<PortalRules, Failure> {
    let minutes = session::length(world, connection).await?.as_secs() / 60;
    Ok(PortalRules {
        session_minutes: i64::try_from(minutes).unwrap_or(i64::MAX),
        longest_session_minutes: i64::from(world.settings.session_minutes),
        payouts: for_payouts(connection).await?,
    })
}

const SET: &str = "
    UPDATE portal_rules SET session_minutes = $1, maximum_amount = $2, confirmation_required = $3,
           auto_retry = $4, retry_attempts = $5";

/// Replaces the rules. A new session length applies to sessions opened from now on. Returns the changes, for the
/// audit trail.
pub async fn set(world: &World, connection: &mut Connection, new: NewPortalRules) -> Result<String, Failure> {
    let before = all(world, connection).await?;
    // The longest follows the deployment's setting.
    let minutes = (new.session_minutes < before.longest_session_minutes).then_some(new.session_minutes);
    query(SET)
        .bind_all((minutes, new.maximum_amount, new.confirmation_required))
        .bind_all((new.auto_retry, new.retry_attempts))
        .execute(&mut *connection)
        .await?;
    Ok(changes(before.in_words(), all(world, connection).await?.in_words()))
}

const RESET: &str = "
    UPDATE portal_rules SET session_minutes = NULL, maximum_amount = NULL, confirmation_required = true,
           auto_retry = false, retry_attempts = 3";

pub async fn reset(connection: &mut Connection) -> Result<(), sqlx::Error> {
    query(RESET).run(connection).await
}

impl NewPortalRules {
    pub fn check(&self, world: &World) -> Result<(), Failure> {
        let longest = i64::from(world.settings.session_minutes);
        let shortest = MIN_SESSION_MINUTES.min(longest);
        if !(shortest..=longest).contains(&self.session_minutes) {
            let text = format!("session_minutes must be from {shortest} to {longest}");
            return Err(Failure::bad_field("session_minutes", text));
        }
        self.check_payouts()
    }

    /// Refuses what is outside the limits that are the same in each deployment: those of payouts.
    pub fn check_payouts(&self) -> Result<(), Failure> {
        if self.maximum_amount.is_some_and(|maximum| !(1..=LARGEST_INTEGER).contains(&maximum.0)) {
            let text = "maximum_amount must be between 1 and 2^53 - 1, or null";
            return Err(Failure::bad_field("maximum_amount", text));
        }
        if !(0..=MAX_RETRY_ATTEMPTS).contains(&self.retry_attempts) {
            let text = format!("retry_attempts must be from 0 to {MAX_RETRY_ATTEMPTS}");
            return Err(Failure::bad_field("retry_attempts", text));
        }
        Ok(())
    }
}

impl PortalRules {
    /// The rules in words, for the audit trail.
    fn in_words(&self) -> [(&'static str, String); 5] {
        let PayoutRules { maximum_amount, confirmation_required, auto_retry, retry_attempts } = self.payouts;
        let on = |on: bool| if on { "on" } else { "off" }.to_owned();
        [
            ("session minutes", self.session_minutes.to_string()),
            ("maximum amount", maximum_amount.map_or("none".to_owned(), |amount| amount.to_string())),
            ("confirmation", on(confirmation_required)),
            ("automatic retry", on(auto_retry)),
            ("retry attempts", retry_attempts.to_string()),
        ]
    }
}
