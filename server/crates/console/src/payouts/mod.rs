//! The payouts and the audit.

pub(super) mod api;
pub(super) mod page;
mod past;

pub(super) use page::audit;
