//! What went out, to read and to empty.

pub(super) mod api;
pub(super) mod page;
