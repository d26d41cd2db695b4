//! The faults of a sandbox: their API and their page.

pub(super) mod api;
pub(super) mod page;
