//! The builds of slices and which of them are live; their API is [`crate::slices::api`].

pub(super) mod page;
mod rollout;
mod traffic;
