//! The state shared by all sandboxes of a process.

use std::sync::{Arc, atomic::AtomicI64};

use secrecy::SecretSlice;
use tokio_util::sync::CancellationToken;

use super::{ConsoleToken, Record, Sandboxes};
use crate::metrics::Metrics;
use base::{clock::Clock, randomness::Randomness};
use lending::auth::{fingerprint::Fingerprints, password::Passwords};
use provider::Provider;
use settings::Settings;
use slices::{Report, page_call::Limit};
use store::{Database, server_lease::ServerLease, version::SharedRead};

/// The openings and entries a minute from one network address, which may be that of a whole room of guests.
const MAX_OPENINGS: u32 = 300;

/// The state shared by all sandboxes of a process: that of the deployment and the machine, shared limits and
/// caches.
pub struct Server {
    /// The settings of the sandboxes besides `main`.
    pub other_settings: Arc<Settings>,
    /// The clock of the machine.
    pub clock: Clock,
    pub randomness: Randomness,
    pub(crate) passwords: Passwords,
    pub(crate) secret: SecretSlice<u8>,
    /// The token that opens every console.
    pub operator_token: ConsoleToken,
    /// The provider that calls of `main` are forwarded to.
    pub provider: Option<Arc<Provider>>,
    /// The store of `main`, which also has the data that sandboxes share: builds, limits on console tokens,
    /// and the list of sandboxes.
    pub database: Database,
    /// Reads the version of that store.
    pub shared_read: SharedRead,
    /// Shows others that this server runs on that store.
    pub lease: Arc<ServerLease>,
    pub metrics: Arc<Metrics>,
    /// The number of open event streams, for all sandboxes.
    pub event_streams: Arc<AtomicI64>,
    /// The parts of slices that all sandboxes share.
    pub(crate) slices: Arc<slices::Shared>,
    pub page_spans: Limit,
    /// Limits the openings of links to stories, and the entries into their sandboxes.
    pub openings: Limit,
    pub sandboxes: Sandboxes,
    /// Cancelled when the process is asked to stop, to end work that would never end by itself.
    pub stopping: CancellationToken,
}

impl Server {
    /// Returns whether the latest writes were not refused for lack of room or of a database.
    pub fn can_write(&self) -> bool {
        self.lease.is_renewed() && !self.database.lacks_room()
    }

    /// Fingerprints by the secret of the deployment.
    pub fn fingerprints(&self) -> Fingerprints {
        Fingerprints::new(&self.secret)
    }

    pub(crate) fn settings_of(&self, record: &Record) -> Arc<Settings> {
        match record.screens() {
            Some(screens) if screens != self.other_settings.screens => {
                Arc::new(Settings { screens, ..Settings::clone(&self.other_settings) })
            }
            _ => Arc::clone(&self.other_settings),
        }
    }

    pub(crate) async fn new(
        database: &Database,
        shared_read: &SharedRead,
        settings: &Settings,
        clock: &Clock,
        randomness: &Randomness,
    ) -> anyhow::Result<Arc<Self>> {
        use anyhow::Context;
        let secret = settings.token_secret(randomness)?;
        let console_token = settings.console_token(randomness)?;
        let fingerprints = Fingerprints::new(&secret);
        let passwords = Passwords::new(randomness.clone());
        let lease =
            ServerLease::take(database, shared_read).await.context("the database can't be written")?;
        let metrics = Arc::<Metrics>::default();
        let counts = Arc::clone(&metrics);
        let report_stored = Box::new(move |report: &Report, times| counts.reported(report, times));
        let counts = Arc::clone(&metrics);
        let dropped = Box::new(move |what, count| counts.crash_data_dropped(what, count));
        let machine_clock = clock.of_another_sandbox();
        Ok(Arc::new(Self {
            other_settings: Arc::new(settings.of_sandboxes()),
            operator_token: ConsoleToken::new(console_token, fingerprints.clone()),
            provider: Provider::of(settings)?.map(Arc::new),
            slices: Arc::new(slices::Shared::new(database.clone(), report_stored, dropped)),
            page_spans: Limit::default(),
            openings: Limit::of(MAX_OPENINGS),
            metrics,
            event_streams: Arc::default(),
            stopping: CancellationToken::new(),
            sandboxes: Sandboxes::new(
                settings,
                database.clone(),
                fingerprints,
                passwords.clone(),
                machine_clock.clone(),
                randomness.clone(),
            ),
            database: database.clone(),
            shared_read: shared_read.clone(),
            clock: machine_clock,
            randomness: randomness.clone(),
            passwords,
            secret,
            lease: Arc::new(lease),
        }))
    }
}
