//! The deploy tokens, whose rules are in [`::slices::deploy`]. Only the operator sees them, because each
//! deploys a slice to the whole deployment.

pub(super) mod api;
// Their part of the page of the slices.
pub(super) mod section;
