//! The database: a `SQLite` file, or a PostgreSQL database that several servers share.
//!
//! All writes of a process use one connection, one after the other, except that sets have writers of their own on
//! PostgreSQL. Reads use a pool. [`query()`] and similar functions run the same SQL on both engines.

mod connect;
mod connection;
mod database;
mod migrate;
mod opening;
mod query;

pub mod rows;
pub mod sandboxes;
pub mod server_lease;
pub mod sets;
pub mod shared_clock;
pub mod sweep;
mod text;
mod transaction;
pub mod url;
pub mod version;
mod writer;

pub use connection::Connection;
pub use database::{Database, Load};
pub use query::{Fetched, Query, QueryAs, Value, Values, listed, query, query_as, query_scalar};
pub use transaction::Transaction;

// For `stored_as_text`.
#[doc(hidden)]
pub use serde_plain;
