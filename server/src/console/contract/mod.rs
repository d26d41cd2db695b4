//! How calls to the provider differ from the contract.

pub(super) mod api;
pub(super) mod page;

use crate::{
    Sandbox,
    provider::{Held, Report},
};

/// What was found since the start; of no provider, nothing.
fn report(sandbox: &Sandbox) -> Report {
    match &sandbox.provider {
        Some(provider) => provider.held.report(Some(provider.url().to_string())),
        None => Held::default().report(None),
    }
}
