//! The provider behind the portal, when it is not this service itself: calls are forwarded to it.
//!
//! Answers are passed on as they arrive, and no call is ever sent twice unless it only reads. What is slow,
//! large or broken on the provider's side costs one call and nothing else.

// Calls a provider as its portal does.
pub mod caller;
// Tries a provider against the contract.
pub mod check;
// Connections to the provider.
pub mod client;
// The body of an answer, with its limits.
mod answer_body;
// Forwards a call.
pub mod forward;
// Which headers are passed on.
mod headers;
// How calls differed from the contract.
mod held;
// Makes people and numbers up in place of real ones.
mod made_up;
// Records both lists of a provider, made up.
pub mod record;
// Holds calls to the contract, off their way.
mod observed;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::Method;
use tokio::sync::Semaphore;

pub use self::held::{Found, Held, Report};
use self::{
    client::Client,
    observed::{Observer, Waiting},
};
use crate::{
    Sandbox,
    settings::provider::{ProviderFaults, ProviderSettings, ProviderUrl},
};

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
    observer: Observer,
    /// Until [`keep_checking`] has it.
    waiting: Mutex<Option<Waiting>>,
    /// How its answers differed from the contract.
    pub held: Arc<Held>,
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
        let held = Arc::<Held>::default();
        let (observer, waiting) = Observer::new(Arc::clone(&held));
        Ok(Some(Self {
            url: url.clone(),
            client: Client::new(settings.provider_ca.as_deref())?,
            timeout: settings.timeout(),
            body_limit: settings.provider_body_limit,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            observer,
            waiting: Mutex::new(Some(waiting)),
            held,
            has_payout_faults: settings.provider_faults == Some(ProviderFaults::Payouts),
        }))
    }

    /// Whether faults must not hit a call, because it may pay out with the provider's money. `path` is
    /// relative to `/api/v1`.
    pub fn is_spared(&self, method: &Method, path: &str) -> bool {
        // However the path is written: what is no read and not about sessions may be a payout.
        !self.has_payout_faults && !method.is_safe() && !path.starts_with("/auth/")
    }

    /// Its address.
    pub fn url(&self) -> &ProviderUrl {
        &self.url
    }
}

/// Checks forwarded calls against the contract, for as long as it is polled.
pub async fn keep_checking(sandbox: Sandbox) {
    let Some(provider) = &sandbox.provider else { return };
    let waiting = provider.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(waiting) = waiting {
        observed::keep_checking(&sandbox, &provider.held, waiting).await;
    }
}
