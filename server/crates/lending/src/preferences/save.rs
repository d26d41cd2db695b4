//! Saving the settings: all of them, or nothing.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Preferences, PreferencesAndRules};
use crate::{
    auth::{
        AuthRefusal, Role,
        session::{self, Session},
    },
    events::{EventKind, NewEvent},
    rules::{self, NewPortalRules, PortalRules},
    world::World,
};
use base::error::Failure;
use store::Connection;
use web::extract::Object;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSettings {
    preferences: Object<Preferences>,
    /// By administrators only; `None` to leave them as they are.
    #[serde(deserialize_with = "Option::deserialize")]
    rules: Option<Object<NewPortalRules>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SavedSettings {
    preferences: PreferencesAndRules,
    /// `None` for everybody but administrators.
    rules: Option<PortalRules>,
}

/// Saves the preferences of `session`'s user and, if they are given, the rules for everybody, in one transaction.
pub async fn save(
    world: &World,
    session: Session,
    address: IpAddr,
    new: NewSettings,
) -> Result<SavedSettings, Failure> {
    let NewSettings { preferences: Object(preferences), rules } = new;
    let rules = rules.map(|Object(rules)| rules);
    let is_admin = session.staff.role == Role::Admin;
    if rules.is_some() && !is_admin {
        return Err(AuthRefusal::FieldNotAllowed("rules").into());
    }
    let preferences = preferences.checked()?;
    if let Some(rules) = &rules {
        rules.check(world)?;
    }
    let at = world.clock.unset_now();
    let on = world.clone();
    let may_claim_meanwhile = rules.is_none();
    let write = async move |connection: &mut Connection| {
        session::check_open(connection, &session.session_id).await?;
        let staff = &session.staff;
        let changes = super::set(connection, &staff.staff_id, &preferences).await?;
        let mut all_changes = vec![(EventKind::PreferencesChanged, changes)];
        if let Some(rules) = rules {
            all_changes.push((EventKind::SettingsChanged, rules::set(&on, connection, rules).await?));
        }
        let mut events = Vec::new();
        for (kind, changes) in all_changes.iter().filter(|(_, changes)| !changes.is_empty()) {
            let event = NewEvent::new(at, *kind, staff.email.as_str(), Some(address)).details(changes);
            event.add(connection).await?;
            events.push(event);
        }
        let rules = if is_admin { Some(rules::all(&on, connection).await?) } else { None };
        let preferences = super::with_rules(connection, &staff.staff_id).await?;
        Ok::<_, Failure>((SavedSettings { preferences, rules }, events))
    };
    // A claim that has read a higher maximum is committed before a lower one is answered.
    let (saved, events) = if may_claim_meanwhile {
        world.database.write_in_turn(write).await?
    } else {
        world.database.write_alone(write).await?
    };
    for event in events {
        event.log();
    }
    Ok(saved)
}
