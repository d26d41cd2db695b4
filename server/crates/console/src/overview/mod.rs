//! The console's start page.

pub(super) mod page;
