//! How mobile money acts, to see and to set.

pub(super) mod api;
pub(super) mod page;
