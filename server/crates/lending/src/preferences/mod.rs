//! The preferences that each person sets for themselves, where the screens are live.

pub mod api;
mod save;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::{
    events::changes,
    rules::{self, PayoutRules},
    world::World,
};
use base::{error::Failure, ids::StaffId};
use settings::values;
use store::{Connection, query, query_as};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Swahili.
    Sw,
}

store::stored_as_text!(Language);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, sqlx_macros::FromRow)]
#[serde(deny_unknown_fields)]
pub struct Preferences {
    pub language: Language,
    /// The IANA time zone of dates; `None` for the deployment's.
    #[serde(deserialize_with = "Option::deserialize")]
    pub time_zone: Option<String>,
    /// `true` if the person gets an e-mail when one of their payouts settles after its call was answered.
    pub notify_by_email: bool,
    /// `true` if the person gets an SMS then.
    pub notify_by_sms: bool,
}

/// A person's preferences, with the rules that hold for everybody.
#[derive(Clone, Debug, Serialize)]
pub struct PreferencesAndRules {
    #[serde(flatten)]
    preferences: Preferences,
    rules: PayoutRules,
}

const OF: &str = "
    SELECT language, time_zone, notify_by_email, notify_by_sms FROM preference WHERE staff_id = $1";

pub async fn of(connection: &mut Connection, staff_id: &StaffId) -> Result<Preferences, sqlx::Error> {
    let found: Option<Preferences> = query_as(OF).bind(staff_id).fetch_optional(connection).await?;
    Ok(found.unwrap_or_default())
}

async fn with_rules(
    connection: &mut Connection,
    staff_id: &StaffId,
) -> Result<PreferencesAndRules, sqlx::Error> {
    let preferences = of(connection, staff_id).await?;
    Ok(PreferencesAndRules { preferences, rules: rules::for_payouts(connection).await? })
}

/// The time zone of the dates that `staff_id` sees.
pub async fn time_zone_of(
    world: &World,
    connection: &mut Connection,
    staff_id: &StaffId,
) -> Result<TimeZone, Failure> {
    let set = of(connection, staff_id).await?.time_zone;
    Ok(set.and_then(|name| values::time_zone(&name).ok()).unwrap_or_else(|| world.clock.zone().clone()))
}

const SET: &str = "
    INSERT INTO preference (staff_id, language, time_zone, notify_by_email, notify_by_sms)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (staff_id) DO UPDATE SET
        language = excluded.language, time_zone = excluded.time_zone,
        notify_by_email = excluded.notify_by_email, notify_by_sms = excluded.notify_by_sms";

/// Replaces the preferences of `staff_id`. Returns what that changes, for the audit trail.
async fn set(
    connection: &mut Connection,
    staff_id: &StaffId,
    new: &Preferences,
) -> Result<String, sqlx::Error> {
    let changes = changes(of(connection, staff_id).await?.in_words(), new.in_words());
    if !changes.is_empty() {
        query(SET)
            .bind_all((staff_id, new.language, &new.time_zone, new.notify_by_email, new.notify_by_sms))
            .execute(connection)
            .await?;
    }
    Ok(changes)
}

impl Preferences {
    /// These preferences, with the name of the time zone as browsers spell it.
    fn checked(self) -> Result<Self, Failure> {
        let Some(name) = &self.time_zone else { return Ok(self) };
        let text = "time_zone must be the name of a time zone such as Africa/Nairobi, or null";
        let zone = values::time_zone(name).map_err(|_| Failure::bad_field("time_zone", text))?;
        Ok(Self { time_zone: zone.iana_name().map(str::to_owned), ..self })
    }

    /// The preferences in words, for the audit trail.
    fn in_words(&self) -> [(&'static str, String); 4] {
        let language = match self.language {
            Language::En => "English",
            Language::Sw => "Swahili",
        };
        let on = |on: bool| if on { "on" } else { "off" }.to_owned();
        [
            ("language", language.to_owned()),
            ("time zone", self.time_zone.clone().unwrap_or_else(|| "the portal's".to_owned())),
            ("notifications by e-mail", on(self.notify_by_email)),
            ("notifications by SMS", on(self.notify_by_sms)),
        ]
    }
}
