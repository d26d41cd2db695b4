//! The messages that were sent.

pub(super) mod api;
pub(super) mod page;
