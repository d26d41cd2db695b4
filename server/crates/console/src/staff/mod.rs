//! Staff accounts and their sessions.

pub(super) mod api;
pub(super) mod page;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::refusal::ConsoleRefusal;
use base::{clock::UnixMillis, email::Email, error::Failure, ids::StaffId, phone::Msisdn};
use lending::{
    auth::{
        AuthRefusal, Role, Staff,
        accounts::{self, NewAccount},
        password::{MAXIMUM_LENGTH, MINIMUM_LENGTH},
        required_code::require_code,
        session,
    },
    events::{Entry, EventKind, Trail},
};
use settings::values;
use store::{Connection, query, query_as, query_scalar};
use worlds::sandboxes::Sandbox;

#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct Account {
    pub id: String,
    pub email: Email,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub role: Role,
    pub is_active: bool,
    pub sign_in_code_required: bool,
    pub created_at: UnixMillis,
    pub open_sessions: i64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountChange {
    pub is_active: Option<bool>,
    pub role: Option<Role>,
    pub sign_in_code_required: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountToOpen {
    pub email: String,
    pub username: Option<String>,
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub role: Role,
    pub password: SecretString,
}

impl AccountToOpen {
    pub fn checked(self) -> Result<NewAccount, Failure> {
        let name = |field: &'static str, name: String| {
            let text = format!("{field} must have 1 to 64 characters that can be seen");
            values::name(&name).map_err(|_| Failure::bad_field(field, text))
        };
        let Self { email, username, first_name, last_name, phone_number, role, password } = self;
        let email = Email::parse(&email).ok_or_else(|| {
            Failure::bad_field("email", "email must be an address such as wanjiru@example.com")
        })?;
        let phone_number = Msisdn::parse(&phone_number).ok_or_else(|| {
            let text = "phone_number must be a Kenyan mobile number such as +254712345678";
            Failure::bad_field("phone_number", text)
        })?;
        if !(MINIMUM_LENGTH..=MAXIMUM_LENGTH).contains(&password.expose_secret().chars().count()) {
            let text = format!("password must have {MINIMUM_LENGTH} to {MAXIMUM_LENGTH} characters");
            return Err(Failure::bad_field("password", text));
        }
        let first_name = name("first_name", first_name)?;
        let username = username.map_or_else(|| Ok(first_name.clone()), |given| name("username", given))?;
        let last_name = name("last_name", last_name)?;
        Ok(NewAccount { email, username, first_name, last_name, phone_number, role, password })
    }
}

pub async fn open(sandbox: &Sandbox, account: AccountToOpen, trail: &Trail) -> Result<Account, Failure> {
    let account = account.checked()?;
    let (email, now) = (account.email.clone(), sandbox.clock.now());
    let passwords = &sandbox.auth.passwords;
    match accounts::open(&sandbox.database, passwords, &sandbox.randomness, now, account, trail).await {
        Err(failure) if failure.is_unique_violation() => {
            Err(ConsoleRefusal::AccountExists(email.to_string()).into())
        }
        Err(failure) => Err(failure),
        Ok(()) => one(&mut sandbox.database.read().await?, now, &email).await,
    }
}

const ACCOUNTS: &str = "
    SELECT staff_id AS id, email, username, first_name, last_name, phone_number, role, is_active,
           sign_in_code_required, created_at,
           (SELECT count(*) FROM session
            WHERE session.staff_id = staff.staff_id AND ended_at IS NULL AND expires_at > $1) AS open_sessions
    FROM staff WHERE CAST($2 AS TEXT) IS NULL OR email = $2 ORDER BY email";

/// All accounts, ordered by e-mail address.
pub async fn all(sandbox: &Sandbox) -> Result<Vec<Account>, Failure> {
    let mut reader = sandbox.database.read().await?;
    let now = sandbox.clock.now();
    Ok(query_as(ACCOUNTS).bind(now).bind(None::<Email>).fetch_all(&mut reader).await?)
}

pub async fn one(connection: &mut Connection, now: UnixMillis, email: &Email) -> Result<Account, Failure> {
    let account = query_as(ACCOUNTS).bind(now).bind(email).fetch_optional(connection).await?;
    account.ok_or(AuthRefusal::UserNotFound.into())
}

const SET_ROLE: &str = "UPDATE staff SET role = $2, updated_at = $3 WHERE email = $1";

/// Changes an account. Deactivating it also ends its sessions.
///
/// # Errors
/// [`AuthRefusal::UserNotFound`]; [`Failure::BadField`] for sign-in codes that would reach nobody.
pub async fn change(
    sandbox: &Sandbox,
    email: Email,
    change: AccountChange,
    trail: &Trail,
) -> Result<Account, Failure> {
    let (clock, settings) = (sandbox.clock.clone(), sandbox.settings.clone());
    let entry = |kind| Entry::of(kind).about(email.as_str());
    let activity = change.is_active.map(|is_active| {
        entry(if is_active { EventKind::AccountActivated } else { EventKind::AccountDeactivated })
    });
    let role = change.role.map(|role| entry(EventKind::RoleChanged).with("role", role));
    let codes = change.sign_in_code_required;
    let codes = codes.map(|required| entry(EventKind::SignInCodeChanged).with("required", required));
    let entries = activity.into_iter().chain(role).chain(codes);
    trail
        .write(sandbox.database.begin().await?, entries, async move |connection: &mut Connection| {
            let now = clock.now();
            if let Some(is_active) = change.is_active {
                accounts::set_active(connection, &email, is_active, &clock).await?;
            }
            if let Some(role) = change.role {
                query(SET_ROLE).bind(&email).bind(role).bind(now).execute(&mut *connection).await?;
            }
            if let Some(required) = change.sign_in_code_required {
                let field = "sign_in_code_required";
                require_code(connection, &settings, &email, field, required, now).await?;
            }
            one(connection, now, &email).await
        })
        .await
}

const STAFF_IDS: &str = "SELECT staff_id FROM staff ORDER BY email";

/// Ends the sessions of `email`, or of all accounts. Returns the number of sessions that were open.
pub async fn expire(sandbox: &Sandbox, email: Option<Email>, trail: &Trail) -> Result<u64, Failure> {
    let entry = Entry::of(EventKind::SessionsEnded).about_some(email.as_ref().map(Email::as_str));
    let mut reader = sandbox.database.read().await?;
    let staff: Vec<StaffId> = match email {
        Some(email) => {
            vec![Staff::by_email(&mut reader, &email).await?.ok_or(AuthRefusal::UserNotFound)?.staff_id]
        }
        None => query_scalar(STAFF_IDS).fetch_all(&mut reader).await?,
    };
    drop(reader);
    trail.write_alone(sandbox.database.begin().await?, entry).await?;
    let mut ended = 0;
    for staff_id in staff {
        let (now, earliest) = (sandbox.clock.now(), sandbox.clock.earliest());
        ended += session::end_all_in_batches(&sandbox.database, staff_id, now, earliest).await?;
    }
    Ok(ended)
}
