//! The user's own account.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Auth, Role, session, session::Session};
use crate::{
    events::{Kind, NewEvent},
    world::World,
};
use base::{clock::UnixMillis, email::Email, error::Failure, phone::Msisdn};
use settings::values;
use store::{Connection, query, query_as};

/// The maximum length of a first or last name, in characters.
const MAX_NAME: usize = 64;

/// An account, as its owner sees it.
#[derive(Debug, Serialize, sqlx_macros::FromRow)]
pub(super) struct Profile {
    id: String,
    username: String,
    first_name: String,
    last_name: String,
    #[sqlx(skip)]
    name: String,
    email: Email,
    role: Role,
    phone_number: String,
    created_at: UnixMillis,
    password_changed_at: UnixMillis,
    sign_in_code_required: bool,
}

const PROFILE: &str = "
    SELECT staff_id AS id, username, first_name, last_name, email, role, phone_number, created_at,
           COALESCE(password_changed_at, created_at) AS password_changed_at, sign_in_code_required
    FROM staff WHERE staff_id = $1";

/// The account of `session`'s user.
///
/// # Errors
/// If the database fails.
pub(super) async fn profile(world: &World, session: &Session) -> Result<Profile, Failure> {
    let mut reader = world.database.read().await?;
    let profile: Profile = query_as(PROFILE).bind(&session.staff.staff_id).fetch_one(&mut reader).await?;
    Ok(Profile { name: format!("{} {}", profile.first_name, profile.last_name), ..profile })
}

/// A user's change to their own account.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileChange {
    first_name: String,
    last_name: String,
    phone_number: String,
}

const CHANGE: &str = "
    UPDATE staff SET first_name = $2, last_name = $3, phone_number = $4, updated_at = $5 WHERE staff_id = $1";

/// Changes the account of `session`'s user.
///
/// # Errors
/// [`Failure::BadField`], [`crate::auth::AuthRefusal::NoSession`].
pub(super) async fn change_profile(
    auth: &Auth,
    session: Session,
    address: IpAddr,
    change: ProfileChange,
) -> Result<(), Failure> {
    let name = |field: &'static str, text: &str| {
        let name = values::name(text).ok().filter(|name| name.chars().count() <= MAX_NAME);
        name.ok_or_else(|| Failure::BadField {
            field,
            text: format!("{field} must have 1 to {MAX_NAME} characters"),
        })
    };
    let first_name = name("first_name", &change.first_name)?;
    let last_name = name("last_name", &change.last_name)?;
    let phone_number = Msisdn::parse(&change.phone_number).ok_or_else(|| Failure::BadField {
        field: "phone_number",
        text: "phone_number must be a Kenyan mobile number such as +254712345678".to_owned(),
    })?;
    let (now, at) = (auth.world.clock.now(), auth.world.clock.unset_now());
    let staff = &session.staff;
    let changed: Vec<&str> = [
        (staff.first_name != first_name || staff.last_name != last_name).then_some("name"),
        (staff.phone_number != phone_number.as_str()).then_some("phone number"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let event = NewEvent::new(at, Kind::ProfileChanged, staff.email.as_str(), Some(address))
        .details(&changed.join(" and "));
    let written = event.clone();
    auth.world
        .database
        .write(async move |connection: &mut Connection| {
            session::check_open(connection, &session.session_id).await?;
            query(CHANGE)
                .bind(&session.staff.staff_id)
                .bind(first_name)
                .bind(last_name)
                .bind(&phone_number)
                .bind(now)
                .execute(&mut *connection)
                .await?;
            written.add(connection).await?;
            Ok::<_, Failure>(())
        })
        .await?;
    event.log();
    Ok(())
}
