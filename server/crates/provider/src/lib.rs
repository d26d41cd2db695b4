//! The provider behind the portal, when it is not this service itself: calls are forwarded to it.
//!
//! Answers are passed on as they arrive, and no call is ever sent twice unless it only reads. A slow, large
//! or broken answer affects only its own call.

// Calls a provider as its portal does.
pub mod caller;
// Checks a provider against the contract.
pub mod check;
// Connections to the provider.
pub mod client;
// The body of an answer, with its limits.
mod answer_body;
// Forwards a call.
pub mod forward;
// The headers that are passed on.
mod headers;
// The differences of calls from the contract.
mod held;
// Replaces people and numbers by made-up ones.
mod made_up;
// Records both lists of a provider, with made-up people and numbers.
pub mod record;
// Checks calls against the contract after they have passed.
mod observed;

mod refusal;
pub use refusal::ProviderRefusal;

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

pub use self::held::{Found, Held, Report};
use self::{
    client::Client,
    observed::{Observer, Waiting},
};
use lending::world::World;
use settings::{
    Settings,
    provider::{ProviderFaults, ProviderUrl},
};

/// The maximum number of concurrent calls to the provider. Further ones wait.
const MAX_CALLS: usize = 256;

/// The provider that calls are forwarded to.
#[derive(Debug)]
pub struct Provider {
    pub url: ProviderUrl,
    client: Client,
    /// The maximum wait of a call for the provider.
    timeout: Duration,
    /// The largest answer, in bytes.
    body_limit: u64,
    /// `true` if browsers reach the portal by TLS.
    behind_tls: bool,
    calls: Arc<Semaphore>,
    observer: Observer,
    /// The calls to check; `None` once [`keep_checking`] has taken them.
    waiting: Mutex<Option<Waiting>>,
    /// The differences of calls from the contract.
    pub held: Arc<Held>,
    /// `true` if the console's faults hit payouts too.
    pub has_payout_faults: bool,
}

impl Provider {
    /// The provider that `settings` name; `None` when this service is the provider itself.
    pub fn of(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let behind_tls = settings.behind_tls;
        let settings = &settings.provider;
        let Some(url) = settings.url() else { return Ok(None) };
        let held = Arc::<Held>::default();
        let (observer, waiting) = Observer::new(Arc::clone(&held));
        Ok(Some(Self {
            url: url.clone(),
            client: Client::new(settings.provider_ca.as_deref())?,
            timeout: settings.timeout(),
            body_limit: settings.provider_body_limit,
            behind_tls,
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            observer,
            waiting: Mutex::new(Some(waiting)),
            held,
            has_payout_faults: settings.provider_faults == Some(ProviderFaults::Payouts),
        }))
    }

    /// Returns whether faults must not hit a call, because it may pay out with the provider's money. `path`
    /// is relative to `/api/v1`.
    pub fn is_spared(&self, method: &Method, path: &str) -> bool {
        // Whatever its path, a call that is neither a read nor about sessions may be a payout.
        !self.has_payout_faults && !method.is_safe() && !path.starts_with("/auth/")
    }
}

/// Checks forwarded calls against the contract, for as long as it is polled. `count` is called with the
/// operation and the kind of each difference.
pub async fn keep_checking(provider: Arc<Provider>, world: World, count: impl Fn(&str, &str)) {
    let waiting = provider.waiting.lock().take();
    if let Some(waiting) = waiting {
        observed::keep_checking(&world, &provider.held, waiting, count).await;
    }
}
