//! The faults of a sandbox: their API, their page, and what they do to calls.

pub(super) mod api;
pub mod inject;
pub(super) mod page;
