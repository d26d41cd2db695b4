//! The sandboxes of the deployment, and the way from one console to another.

pub(super) mod open;
pub(super) mod page;
