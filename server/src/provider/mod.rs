//! The provider behind the portal, when it is not this service itself: calls are forwarded to it.
//!
//! Answers are passed on as they arrive, and no call is ever sent twice unless it only reads. What is slow,
//! large or broken on the provider's side costs one call and nothing else.

// Connections to the provider.
pub mod client;
// The body of an answer, with its limits.
mod answer_body;
// Forwards a call.
pub mod forward;
// Which headers are passed on.
mod headers;

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use self::client::Client;
use crate::settings::provider::{ProviderFaults, ProviderSettings, ProviderUrl};

/// How many calls may be at the provider at once. Others wait.
const MAX_CALLS: usize = 256;

/// The provider that calls are forwarded to.
#[derive(Debug)]
pub struct Provider {
    url: ProviderUrl,
    client: Client,
    /// How long a call waits for it.
    timeout: Duration,
    /// The largest answer, in bytes.
    body_limit: u64,
    calls: Arc<Semaphore>,
    /// Whether the console's faults hit payouts too.
    pub has_payout_faults: bool,
}

impl Provider {
    /// The provider that `settings` name; `None` when this service is the provider itself.
    ///
    /// # Errors
    /// A sentence that names the setting that can't be used.
    pub fn of(settings: &ProviderSettings) -> anyhow::Result<Option<Self>> {
        let Some(url) = settings.url() else { return Ok(None) };
        Ok(Some(Self {
            url: url.clone(),
            client: Client::new(settings.provider_ca.as_deref())?,
            timeout: settings.timeout(),
            body_limit: settings.provider_body_limit,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            has_payout_faults: settings.provider_faults == Some(ProviderFaults::Payouts),
        }))
    }

    /// Its address.
    pub fn url(&self) -> &ProviderUrl {
        &self.url
    }
}
