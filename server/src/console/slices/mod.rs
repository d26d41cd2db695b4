//! Which builds of slices there are and which are live; their calls are in [`crate::slices::api`].

pub(super) mod page;
