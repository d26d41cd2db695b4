//! Who is asking: staff, their passwords and their sessions.

pub mod api;
pub mod password;
pub mod session;
pub mod sign_in;

use serde::{Deserialize, Serialize};

use crate::clock::UnixMillis;

/// What a member of staff may do; the portal shows its entries by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::Type, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    Admin,
    Agent,
    Supervisor,
}

/// A member of staff.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Staff {
    pub staff_id: String,
    pub email: String,
    pub username: String,
    pub first_name: String,
    pub last_name: String,
    pub phone_number: String,
    pub role: Role,
    pub password_hash: String,
    pub is_active: bool,
    pub created_at: UnixMillis,
}

impl Staff {
    /// First and last name.
    pub fn name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }
}
