//! The state shared by all sandboxes of a process.

use std::sync::Arc;

use secrecy::SecretSlice;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    console::door::ConsoleToken,
    monitoring::metrics::Metrics,
    sandboxes::Sandboxes,
    slices::{archive, files::FileCache, reports::Reports},
};
use base::{clock::Clock, randomness::Randomness};
use lending::auth::{fingerprint::Fingerprints, password::Passwords};
use provider::Provider;
use settings::Settings;
use store::{Database, server_lease::ServerLease, version::SharedRead};

/// The state shared by all sandboxes of a process: that of the deployment and the machine, shared limits and
/// caches.
pub struct Server {
    /// The settings of the sandboxes besides `main`.
    pub(crate) other_settings: Arc<Settings>,
    /// The clock of the machine.
    pub(crate) clock: Clock,
    pub(crate) randomness: Randomness,
    pub(crate) passwords: Passwords,
    pub(crate) secret: SecretSlice<u8>,
    /// The token that opens every console.
    pub operator_token: ConsoleToken,
    /// The provider that calls of `main` are forwarded to.
    pub(crate) provider: Option<Arc<Provider>>,
    /// The store of `main`, which also has the data that sandboxes share: builds, limits on console tokens,
    /// and the list of sandboxes.
    pub database: Database,
    /// Reads the version of that store.
    pub shared_read: SharedRead,
    /// Shows others that this server runs on that store.
    pub lease: ServerLease,
    /// The places for builds that are being received.
    pub(crate) uploads: Semaphore,
    /// The metrics.
    pub metrics: Metrics,
    /// The cache of published slice files.
    pub slice_files: FileCache,
    /// Reports from pages about slices, not yet written to the database.
    pub reports: Reports,
    /// The sandboxes besides `main`.
    pub sandboxes: Sandboxes,
    /// Cancelled when the process is asked to stop, to end work that would never end by itself.
    pub stopping: CancellationToken,
}

impl Server {
    pub(crate) async fn new(
        database: &Database,
        shared_read: &SharedRead,
        settings: &Settings,
        clock: &Clock,
        randomness: &Randomness,
    ) -> anyhow::Result<Arc<Self>> {
        use anyhow::Context;
        let unwritable = |what: &str| {
            format!(
                "can't store {what} in the data folder {}; set MKOPO_DATA_DIR to a writable folder",
                settings.store.data_dir.display()
            )
        };
        let secret = settings.token_secret(randomness).with_context(|| unwritable("the token secret"))?;
        let console_token =
            settings.console_token(randomness).with_context(|| unwritable("the console token"))?;
        let fingerprints = Fingerprints::new(&secret);
        let passwords = Passwords::new(randomness.clone());
        let lease =
            ServerLease::take(database, shared_read).await.context("the database can't be written")?;
        let machine_clock = clock.of_another_sandbox();
        Ok(Arc::new(Self {
            other_settings: Arc::new(settings.of_sandboxes()),
            operator_token: ConsoleToken::new(console_token, fingerprints.clone()),
            provider: Provider::of(settings)?.map(Arc::new),
            metrics: Metrics::new(settings.has_live_screens())?,
            uploads: Semaphore::new(archive::MAX_AT_ONCE),
            slice_files: FileCache::default(),
            reports: Reports::default(),
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
            lease,
        }))
    }
}
