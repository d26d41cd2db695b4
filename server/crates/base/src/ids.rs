//! Ids, each with a type of its own, so that one is never taken for another. On the wire and in the database
//! they are text.

use std::{borrow::Borrow, fmt, ops::Deref};

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, sqlx_macros::Type)]
        #[serde(transparent)]
        #[sqlx(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// The id of a loan, such as `LN-2026-00050`.
    LoanId
    /// The id of a customer, such as `CUS-00050`.
    CustomerId
    /// The id of a customer's account, such as `ACC-00050`.
    AccountId
    /// The id of a payout: a UUID.
    PayoutId
    /// The id under which a payout is requested from mobile money, never used twice: a UUID.
    TransactionId
    /// The id of a member of staff: a UUID.
    StaffId
    /// The id of a session: a UUID.
    SessionId
    /// The id of a message in the outbox: a UUID.
    MessageId
    /// The id of a link to a story: a UUID.
    LinkId
    /// The id of the person who approved a loan, in the system that loans come from.
    ApproverId
    /// The id of an agent, as a client of the contract gives it.
    AgentId
}
