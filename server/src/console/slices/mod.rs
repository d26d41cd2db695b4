//! The builds of slices and which of them are live; their API is [`::slices::api`].

pub(super) mod page;
mod rollout;
mod traffic;
