//! Staff accounts and their sessions.

pub(super) mod api;
pub(super) mod page;

use serde::{Deserialize, Serialize};

use crate::{
    Sandbox,
    auth::{Role, Staff, accounts, session},
    clock::UnixMillis,
    database::{Connection, query, query_as},
    email::Email,
    error::Failure,
};

/// An account with its number of open sessions.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct Account {
    pub id: String,
    pub email: Email,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub role: Role,
    pub is_active: bool,
    pub created_at: UnixMillis,
    pub open_sessions: i64,
}

/// The fields of an account to change.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the contract describes them")]
pub struct AccountChange {
    pub is_active: Option<bool>,
    pub role: Option<Role>,
}

const ACCOUNTS: &str = "
    SELECT staff_id AS id, email, username, first_name, last_name, phone_number, role, is_active, created_at,
           (SELECT count(*) FROM session
            WHERE session.staff_id = staff.staff_id AND ended_at IS NULL AND expires_at > $1) AS open_sessions
    FROM staff WHERE CAST($2 AS TEXT) IS NULL OR email = $2 ORDER BY email";

/// All accounts, ordered by e-mail address.
pub async fn all(sandbox: &Sandbox) -> Result<Vec<Account>, Failure> {
    let mut reader = sandbox.database.read().await?;
    let now = sandbox.clock.now();
    Ok(query_as(ACCOUNTS).bind(now).bind(None::<Email>).fetch_all(&mut reader).await?)
}

/// The account of `email`.
///
/// # Errors
/// [`Failure::UserNotFound`].
pub async fn one(connection: &mut Connection, now: UnixMillis, email: &Email) -> Result<Account, Failure> {
    let account = query_as(ACCOUNTS).bind(now).bind(email).fetch_optional(connection).await?;
    account.ok_or(Failure::UserNotFound)
}

const SET_ROLE: &str = "UPDATE staff SET role = $2, updated_at = $3 WHERE email = $1";

/// Changes an account. Deactivating it also ends its sessions.
///
/// # Errors
/// [`Failure::UserNotFound`].
pub async fn change(sandbox: &Sandbox, email: Email, change: AccountChange) -> Result<Account, Failure> {
    let clock = sandbox.clock.clone();
    sandbox
        .database
        .write(move |connection: &mut Connection| {
            Box::pin(async move {
                let now = clock.now();
                if let Some(is_active) = change.is_active {
                    accounts::set_active(connection, &email, is_active, &clock).await?;
                }
                if let Some(role) = change.role {
                    query(SET_ROLE).bind(&email).bind(role).bind(now).execute(&mut *connection).await?;
                }
                one(connection, now, &email).await
            })
        })
        .await
}

/// Ends the sessions of `email`, or of all accounts. Returns the number of sessions that were open.
///
/// # Errors
/// [`Failure::UserNotFound`].
pub async fn expire(sandbox: &Sandbox, email: Option<Email>) -> Result<u64, Failure> {
    let mut reader = sandbox.database.read().await?;
    let staff = match email {
        Some(email) => vec![Staff::by_email(&mut reader, &email).await?.ok_or(Failure::UserNotFound)?],
        None => accounts::all(&mut reader).await?,
    };
    drop(reader);
    let mut ended = 0;
    for staff in staff {
        let (now, earliest) = (sandbox.clock.now(), sandbox.clock.earliest());
        ended += session::end_all_in_batches(&sandbox.database, staff.staff_id, now, earliest).await?;
    }
    Ok(ended)
}
