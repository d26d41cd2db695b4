//! The user's own account.

use std::{collections::BTreeSet, net::IpAddr};

use serde::{Deserialize, Serialize};

use super::{
    Auth, Role, Staff, accounts, otp,
    password::Password,
    reauthentication::Reauthentication,
    session::{self, Session},
};
use crate::{
    events::{self, EventKind, NewEvent},
    outbox,
    world::World,
};
use base::{clock::UnixMillis, email::Email, error::Failure, ids::StaffId, phone::Msisdn};
use settings::values;
use store::{Connection, query, query_as};

/// An account, as its owner sees it.
#[derive(Debug, Serialize, sqlx_macros::FromRow)]
pub(super) struct Profile {
    id: String,
    username: String,
    first_name: String,
    last_name: String,
    name: String,
    email: Email,
    role: Role,
    phone_number: String,
    created_at: UnixMillis,
    password_changed_at: UnixMillis,
    sign_in_code_required: bool,
}

const PROFILE: &str = "
    SELECT staff_id AS id, username, first_name, last_name, first_name || ' ' || last_name AS name, email, role,
           phone_number, created_at, COALESCE(password_changed_at, created_at) AS password_changed_at,
           sign_in_code_required
    FROM staff WHERE staff_id = $1";

pub(super) async fn profile(world: &World, session: &Session) -> Result<Profile, Failure> {
    let mut reader = world.database.read().await?;
    Ok(query_as(PROFILE).bind(&session.staff.staff_id).fetch_one(&mut reader).await?)
}

/// A user's change to their own account.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileChange {
    first_name: String,
    last_name: String,
    phone_number: String,
    /// The current password, which a change of the phone number needs: reset codes go there.
    current_password: Option<Password>,
}

/// A change without a new number writes none: another one may have been set since the session was read.
const CHANGE_NAME: &str = "
    UPDATE staff SET first_name = $2, last_name = $3, updated_at = $4 WHERE staff_id = $1";

/// Until a new number gets reset codes, `phone_before` stays the owner's, however often it is changed.
const CHANGE_PHONE: &str = "
    UPDATE staff SET phone_number = $2,
        phone_before = CASE WHEN phone_number = $2 OR phone_changed_at > $4 AND phone_changed_at <= $3
            THEN phone_before ELSE phone_number END,
        phone_changed_at = CASE WHEN phone_number = $2 THEN phone_changed_at ELSE $3 END
    WHERE staff_id = $1";

impl ProfileChange {
    fn checked(self, staff_id: StaffId, now: UnixMillis) -> Result<(Checked, Option<Password>), Failure> {
        let name = |field: &'static str, text: &str| {
            values::name(text).map_err(|_| {
                Failure::bad_field(field, format!("{field} must have 1 to 64 characters that can be seen"))
            })
        };
        let first_name = name("first_name", &self.first_name)?;
        let last_name = name("last_name", &self.last_name)?;
        let phone_number = Msisdn::parse(&self.phone_number).ok_or_else(|| {
            let text = "phone_number must be a Kenyan mobile number such as +254712345678";
            Failure::bad_field("phone_number", text)
        })?;
        Ok((Checked { staff_id, first_name, last_name, phone_number, now }, self.current_password))
    }
}

/// A change with valid values.
struct Checked {
    staff_id: StaffId,
    first_name: String,
    last_name: String,
    phone_number: Msisdn,
    now: UnixMillis,
}

impl Checked {
    async fn write_name(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        query(CHANGE_NAME)
            .bind_all((&self.staff_id, &self.first_name, &self.last_name, self.now))
            .run(connection)
            .await
    }

    async fn write_phone(&self, connection: &mut Connection) -> Result<(), sqlx::Error> {
        query(CHANGE_PHONE)
            .bind_all((&self.staff_id, &self.phone_number, self.now, self.now.minus(otp::PHONE_SETTLES)))
            .run(connection)
            .await
    }
}

pub(super) async fn change_profile(
    auth: &Auth,
    session: Session,
    address: IpAddr,
    change: ProfileChange,
) -> Result<(), Failure> {
    let staff = &session.staff;
    let (change, password) = change.checked(staff.staff_id.clone(), auth.world.clock.now())?;
    let is_new_name = staff.first_name != change.first_name || staff.last_name != change.last_name;
    let is_new_phone = staff.phone_number != change.phone_number.as_str();
    if is_new_phone {
        let details = if is_new_name { "name and phone number" } else { "phone number" };
        return change_phone(auth, session, address, change, password, details).await;
    }
    if !is_new_name {
        return Ok(());
    }
    let at = auth.world.clock.unset_now();
    let event =
        NewEvent::new(at, EventKind::ProfileChanged, staff.email.as_str(), Some(address)).details("name");
    events::write(&auth.world.database, async move |connection: &mut Connection| {
        session::check_open(connection, &session.session_id).await?;
        change.write_name(connection).await?;
        Ok(((), event))
    })
    .await
}

async fn change_phone(
    auth: &Auth,
    session: Session,
    address: IpAddr,
    change: Checked,
    password: Option<Password>,
    details: &'static str,
) -> Result<(), Failure> {
    let Password(password) = password.ok_or_else(|| {
        Failure::bad_field("current_password", "current_password is needed to change the phone number")
    })?;
    let world = auth.world.clone();
    let asked = Reauthentication::of(auth, &session, address, password).await?;
    asked
        .change(auth, EventKind::ProfileChanged, async move |connection: &mut Connection, staff: Staff| {
            accounts::check_phone(connection, &change.phone_number, &staff.staff_id, change.now).await?;
            warn_of_new_phone(&world, connection, &staff, change.now).await?;
            change.write_name(connection).await?;
            change.write_phone(connection).await?;
            Ok(details.to_owned())
        })
        .await?;
    auth.outbox.wake();
    Ok(())
}

/// Sends messages that the phone number of `staff` is changed. They go where a thief of the session does not read.
async fn warn_of_new_phone(
    world: &World,
    connection: &mut Connection,
    staff: &Staff,
    now: UnixMillis,
) -> Result<(), Failure> {
    let (randomness, brand) = (&world.randomness, &world.settings.brand);
    let subject = format!("Your {brand} phone number was changed");
    let body = format!(
        "Dear {},\n\n\
         the phone number of your {brand} account was changed. For 24 hours, password reset codes still go to \
         the number that got them before.\n\n\
         If it was not you, reset your password now: that ends all sessions. Then tell your administrator.\n",
        outbox::name(&staff.first_name)
    );
    outbox::email(connection, randomness, now, &staff.email, &subject, &body, None).await?;
    // After two changes within 24 hours, the owner has neither of the new numbers.
    let of_codes = otp::reset_phone(connection, staff, now).await?;
    for before in BTreeSet::from([&staff.phone_number, &of_codes]) {
        let Some(phone) = Msisdn::parse(before) else { continue };
        let code = if *before == of_codes { ": for 24 hours, the code comes to this number" } else { "" };
        let body = format!(
            "The phone number of your {brand} account was changed. If it was not you, reset your password now{code}."
        );
        outbox::sms(connection, randomness, now, &phone, &body, None).await?;
    }
    Ok(())
}
