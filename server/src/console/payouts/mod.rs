//! The payouts and the audit.

pub(super) mod api;
pub(super) mod page;

pub(super) use page::audit;
