//! The builds of slices and which of them are live; their API is [`::slices::api`].

mod crashes;
pub(super) mod page;
mod rollout;
mod traffic;
