//! The console's first page.

pub(super) mod page;
