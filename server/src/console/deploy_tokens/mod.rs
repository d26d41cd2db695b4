//! The deploy tokens, whose rules are [`crate::slices::deploy`]. For the operator: each deploys a slice to the
//! whole deployment.

pub(super) mod api;
// Their part of the page of the slices.
pub(super) mod section;
