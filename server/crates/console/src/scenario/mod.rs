//! The scenario: the outcomes and settings of mobile money.

pub(super) mod api;
pub(super) mod page;
