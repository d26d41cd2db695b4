//! Authentication: staff, their passwords, codes and sessions.

pub mod accounts;
pub mod api;
pub mod authenticate;
pub mod browser;
mod change_password;
pub mod client_address;
pub mod device;
pub mod fingerprint;
pub mod guest;
mod hs256;
pub mod limits;
pub mod live_sessions;
pub mod new_password;
pub mod otp;
mod own_sessions;
pub mod password;
mod password_reset;
mod profile;
mod reauthentication;
mod refusal;
pub mod required_code;
pub mod session;
pub mod sign_in;
mod trail;

pub use refusal::AuthRefusal;

use std::{ops::Deref, sync::Arc};

use secrecy::SecretSlice;
use serde::{Deserialize, Serialize};

use self::{fingerprint::Fingerprints, live_sessions::LiveSessions, password::Passwords, session::Tokens};
use crate::{outbox::Outbox, world::World};
use base::{clock::UnixMillis, email::Email, error::Failure, ids::StaffId};
use store::{Connection, query, query_as};

/// The accounts and sessions of a world, and the secrets that protect them. Clones share them.
#[derive(Clone)]
pub struct Auth(Arc<AuthState>);

pub struct AuthState {
    pub world: World,
    /// Hashes passwords, a limited number at a time.
    pub passwords: Passwords,
    pub tokens: Tokens,
    /// Keyed hashes of values that must be recognised but not readable in the database.
    pub fingerprints: Fingerprints,
    pub live_sessions: LiveSessions,
    pub outbox: Outbox,
}

impl Auth {
    /// What is signed with `secret` means nothing in another world.
    pub fn new(world: World, passwords: Passwords, secret: &SecretSlice<u8>, outbox: Outbox) -> Self {
        Self(Arc::new(AuthState {
            world,
            passwords,
            tokens: Tokens::new(secret),
            fingerprints: Fingerprints::new(secret),
            live_sessions: LiveSessions::default(),
            outbox,
        }))
    }
}

impl Deref for Auth {
    type Target = AuthState;

    fn deref(&self) -> &AuthState {
        &self.0
    }
}

/// The role of a member of staff. The portal shows menu entries by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Admin,
    Agent,
    Supervisor,
}

store::stored_as_text!(Role);

#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub struct Staff {
    pub staff_id: StaffId,
    pub email: Email,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub role: Role,
    pub password_hash: String,
    pub is_active: bool,
    /// `true` if sign-in requires a code as well as the password, where the screens are live.
    pub sign_in_code_required: bool,
    pub created_at: UnixMillis,
}

const BY_EMAIL: &str = "
    SELECT staff_id, email, username, first_name, last_name, phone_number, role, password_hash,
           is_active, sign_in_code_required, created_at
    FROM staff WHERE email = $1";

const SET_PASSWORD: &str = "
    UPDATE staff SET password_hash = $2, password_changed_at = $3, updated_at = $3 WHERE staff_id = $1";

impl Staff {
    /// The account of `email`, active or not.
    pub async fn by_email(connection: &mut Connection, email: &Email) -> Result<Option<Self>, sqlx::Error> {
        query_as(BY_EMAIL).bind(email).fetch_optional(connection).await
    }

    async fn set_password(
        &self,
        connection: &mut Connection,
        hash: String,
        now: UnixMillis,
    ) -> Result<(), sqlx::Error> {
        query(SET_PASSWORD).bind_all((&self.staff_id, hash, now)).run(connection).await
    }

    /// First and last name.
    pub fn name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }
}

/// The decision of a transaction that checks credentials: a refusal, too, is a result to commit, because the transaction
/// holds the count of wrong attempts, and failing it would roll the count back.
pub(crate) type Ruling = Result<(), Failure>;
