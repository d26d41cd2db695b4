//! The audit trail: the events of acts on the console, and the search.

pub(super) mod api;
mod filter;
pub(super) mod page;
pub(super) mod trail;
