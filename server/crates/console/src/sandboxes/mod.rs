//! The sandboxes of the deployment, and the links from one console to another.

pub(super) mod api;
pub(super) mod open;
pub(super) mod page;
