//! The differences between calls to the provider and the contract.

pub(super) mod api;
pub(super) mod page;

use provider::{Held, Report};
use worlds::sandboxes::Sandbox;

/// The differences found since the start; empty without a provider.
fn report(sandbox: &Sandbox) -> Report {
    match &sandbox.provider {
        Some(provider) => provider.held.report(Some(provider.url.to_string())),
        None => Held::default().report(None),
    }
}
