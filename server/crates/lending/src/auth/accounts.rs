//! Opening and closing the accounts of staff.

use secrecy::SecretString;

use super::{AuthRefusal, Role, otp, password::Passwords, session};
use crate::events::{Entry, EventKind, Trail};
use base::{
    clock::{Clock, UnixMillis},
    email::Email,
    error::Failure,
    ids::StaffId,
    phone::Msisdn,
    randomness::Randomness,
};
use store::{Connection, Database, query, query_scalar};

pub struct NewAccount {
    pub email: Email,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    /// The phone number for reset codes.
    pub phone_number: Msisdn,
    pub role: Role,
    pub password: SecretString,
}

pub(crate) const ADD_STAFF: &str = "
    INSERT INTO staff
        (staff_id, email, username, first_name, last_name, phone_number, role, password_hash,
         is_active, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)";

/// Opens an account.
/// Fails with [`Failure::is_unique_violation`] if the address already has an account; [`Failure::BadField`] if another
/// account has the phone number, or messages can't be sent to the address.
pub async fn open(
    database: &Database,
    passwords: &Passwords,
    randomness: &Randomness,
    now: UnixMillis,
    account: NewAccount,
    trail: &Trail,
) -> Result<(), Failure> {
    let NewAccount { email, username, first_name, last_name, phone_number, role, password } = account;
    if !email.is_deliverable() {
        let text = "email must have only ASCII letters before the @, and a domain after it: few mail servers take \
                    others";
        return Err(Failure::bad_field("email", text));
    }
    let password_hash = passwords.hash(password).await?;
    let staff_id: StaffId = randomness.id(now);
    let entry = Entry::of(EventKind::AccountOpened).about(email.as_str()).with("role", role);
    trail
        .write(database.begin().await?, [entry], async move |connection: &mut Connection| {
            query(ADD_STAFF)
                .bind_all((&staff_id, email, username, first_name, last_name))
                .bind_all((&phone_number, role, password_hash, true, now))
                .execute(&mut *connection)
                .await?;
            check_phone(connection, &phone_number, &staff_id, now).await
        })
        .await
}

const WITH_PHONE: &str = "
    SELECT count(*) FROM staff
    WHERE staff_id <> $2
      AND (phone_number = $1 OR phone_before = $1 AND phone_changed_at > $3 AND phone_changed_at <= $4)";

/// Checks that no account besides `own` has `phone`, or still gets its reset codes there: those of two people would go
/// there.
pub(super) async fn check_phone(
    connection: &mut Connection,
    phone: &Msisdn,
    own: &StaffId,
    now: UnixMillis,
) -> Result<(), Failure> {
    let others: i64 = query_scalar(WITH_PHONE)
        .bind_all((phone, own, now.minus(otp::PHONE_SETTLES), now))
        .fetch_one(connection)
        .await?;
    if others > 0 {
        return Err(Failure::bad_field("phone_number", "Another account has this phone number"));
    }
    Ok(())
}

const SET_ACTIVE: &str = "
    UPDATE staff SET is_active = $2, updated_at = $3 WHERE email = $1 RETURNING staff_id";

/// Deactivates the account of `email`, which permanently ends its sessions and codes, or reactivates it.
/// Returns its id.
pub async fn set_active(
    connection: &mut Connection,
    email: &Email,
    is_active: bool,
    clock: &Clock,
) -> Result<StaffId, Failure> {
    let now = clock.now();
    let staff_id: StaffId = query_scalar(SET_ACTIVE)
        .bind_all((email, is_active, now))
        .fetch_optional(&mut *connection)
        .await?
        .ok_or(AuthRefusal::UserNotFound)?;
    if !is_active {
        session::end_all(connection, &staff_id, None, clock).await?;
        otp::end_all(connection, &staff_id, now).await?;
    }
    Ok(staff_id)
}
