//! The backend of the Mkopo portal. The modules, in reading order:

// The `mkopo` commands and their arguments.
pub mod commands;
// The settings of a deployment.
pub mod settings;
// HTTP plumbing between the network and the handlers.
pub mod http;
// The contract of the API, and how calls differ from it.
pub mod contract;
// Health checks and metrics.
pub mod monitoring;

// Authentication: staff, passwords, one-time codes, sessions.
pub mod auth;
// The approved loans that wait to be paid out.
pub mod loans;
// Paying out each loan exactly once, and the records of payouts.
pub mod payouts;
// The lists of pending loans and of records, cached as response bodies.
pub mod lists;
// The simulated mobile money service.
pub mod mobile_money;
// The provider that calls are forwarded to, when it is not this service itself.
pub mod provider;
// Outgoing e-mail and SMS.
pub mod outbox;
// The figures of a period, and how they came about.
pub mod reports;
// What people are told of, in the portal and by e-mail and SMS.
pub mod notifications;
// Telling open pages what has changed.
pub mod updates;
// What administrators set for everybody.
pub mod rules;
// What each person sets for themselves.
pub mod preferences;
// The audit trail: who did what, when and from where.
pub mod events;
// Builds of slices: publishing them, and which one is live.
pub mod slices;
// Realistic data for demos and tests.
pub mod demo;
// Many isolated instances in one server.
pub mod sandboxes;
// The operator's console: codes, faults, time and data, for QA and demos.
pub mod console;

// The database (SQLite or PostgreSQL): one writer that commits queued work in groups, and readers.
pub mod database;
// The clock, which tests and the console can set.
pub mod clock;
// The source of ids, codes and random numbers.
pub mod randomness;
// What is deleted, and when.
pub mod retention;
// Background tasks and their shutdown.
pub mod tasks;
// Every failure, its status and its body.
pub mod error;
// Kenyan mobile numbers.
pub mod phone;
// E-mail addresses.
pub mod email;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::FromRequestParts,
    http::{Method, request::Parts},
    middleware,
    routing::get,
};
use secrecy::SecretSlice;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    auth::{
        fingerprint::Fingerprints, live_sessions::LiveSessions, password::Passwords, session, session::Tokens,
    },
    clock::Clock,
    console::{api_call, door::ConsoleToken, faults::Faults, sync, sync::ConsoleSync, traffic::Traffic},
    database::{Database, server_lease::ServerLease, shared_clock, version::SharedRead},
    error::Failure,
    http::{API, edge, edge::StreamsBody, portal, reference},
    lists::List,
    loans::PendingLoan,
    mobile_money::{Delivery, MAX_DELIVERIES, MobileMoney},
    monitoring::{health, metrics, metrics::Metrics},
    outbox::Outbox,
    payouts::{PayoutQueues, Record},
    provider::Provider,
    randomness::Randomness,
    sandboxes::{InUse, Name, Sandboxes},
    settings::Settings,
    slices::{files::FileCache, reports::Reports, watch},
    tasks::Tasks,
    updates::Updates,
};

/// What all sandboxes of a process share: what is the deployment's, what is the machine's, and what is
/// bounded or kept once.
pub struct Server {
    /// The settings of the sandboxes besides `main`.
    other_settings: Arc<Settings>,
    /// The clock of the machine.
    clock: Clock,
    randomness: Randomness,
    passwords: Passwords,
    secret: SecretSlice<u8>,
    /// The token that opens every console.
    pub operator_token: ConsoleToken,
    /// Where the calls of `main` are forwarded to.
    provider: Option<Arc<Provider>>,
    /// The store of `main`, which has what is not a sandbox's own: builds, limits on console tokens, and
    /// which sandboxes exist.
    pub database: Database,
    /// Reads the version of that store.
    pub shared_read: SharedRead,
    /// Shows others that this server runs on that store.
    pub lease: ServerLease,
    /// The metrics.
    pub metrics: Metrics,
    /// The cache of published slice files.
    pub slice_files: FileCache,
    /// What pages reported of slices and is not written yet.
    pub reports: Reports,
    /// The sandboxes besides `main`.
    pub sandboxes: Sandboxes,
    /// Cancelled when the process is asked to stop: what would never end by itself ends then.
    pub stopping: CancellationToken,
}

/// One isolated instance of the service: its data, clock, randomness and mobile money. Handlers
/// receive the one that their call is for, and nothing is static, so one process can hold several.
/// Clones share the same instance.
#[derive(Clone)]
pub struct Sandbox(Arc<SandboxState>);

/// The state of a [`Sandbox`].
pub struct SandboxState {
    /// What it shares with the others.
    pub server: Arc<Server>,
    /// Its name.
    pub name: Name,
    /// The id under which the store of `main` has it; `None` for `main` itself.
    pub id: Option<String>,
    /// The settings of the deployment.
    pub settings: Arc<Settings>,
    /// The clock.
    pub clock: Clock,
    /// The source of ids and random numbers.
    pub randomness: Randomness,
    /// The database.
    pub database: Database,
    /// Hashes passwords, a limited number at a time.
    pub passwords: Passwords,
    /// Signs and reads session tokens.
    pub tokens: Tokens,
    /// The faults to inject into calls.
    pub faults: Faults,
    /// The most recent calls.
    pub traffic: Arc<Traffic>,
    /// The version of the console's settings in memory.
    pub console_sync: ConsoleSync,
    /// The token that opens the console.
    pub console_token: ConsoleToken,
    /// Keyed hashes of values that must be recognised but not readable in the database.
    pub fingerprints: Fingerprints,
    /// Wakes the task that sends messages.
    pub outbox: Outbox,
    /// The cache of live sessions.
    pub live_sessions: LiveSessions,
    /// The provider that the portal's calls are forwarded to; `None` when it is this service itself.
    pub provider: Option<Arc<Provider>>,
    /// Claims and results of payouts that wait to be written.
    pub payouts: PayoutQueues,
    /// The simulated mobile money service.
    pub mobile_money: MobileMoney,
    /// The streams by which open pages hear of changes.
    pub updates: Updates,
    /// The background tasks.
    pub tasks: Tasks,
    /// Held while reconciling, so that this process runs one round at a time.
    pub reconciling: tokio::sync::Mutex<()>,
    /// Reads the current version, one read for all waiting calls.
    pub shared_read: SharedRead,
    /// The list of pending loans.
    pub pending: List<PendingLoan>,
    /// The list of payout records.
    pub records: List<Record>,
}

impl std::ops::Deref for Sandbox {
    type Target = SandboxState;

    fn deref(&self) -> &SandboxState {
        &self.0
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sandbox").field(&self.name).finish()
    }
}

/// What is kept of a sandbox while it is closed.
#[derive(Clone, Debug)]
pub struct Kept(Arc<Traffic>);

impl Kept {
    /// Of a sandbox with `beginning`, which this server has just made.
    pub(crate) fn of_new(beginning: demo::Beginning) -> Self {
        let traffic = Traffic::new(TRAFFIC_BYTES[2]);
        traffic.begin_again(beginning);
        Self(Arc::new(traffic))
    }
}

/// The memory for recorded calls in bytes: of `main`, of another sandbox, and of one that is closed.
const TRAFFIC_BYTES: [usize; 3] = [8 * 1024 * 1024, 512 * 1024, 32 * 1024];

impl Sandbox {
    /// Opens `main`, the sandbox that `settings` describe. In demo mode, an empty database is filled with
    /// demo data.
    ///
    /// # Errors
    /// A sentence that names what can't be opened, and why.
    pub async fn open(settings: Settings, clock: Clock, randomness: Randomness) -> anyhow::Result<Self> {
        settings.check()?;
        let database = settings.store.open().await?;
        Self::on(database, settings, clock, randomness).await
    }

    /// Like [`Sandbox::open`], with a database that is already open.
    ///
    /// # Errors
    /// As [`Sandbox::open`].
    pub async fn on(
        database: Database,
        settings: Settings,
        clock: Clock,
        randomness: Randomness,
    ) -> anyhow::Result<Self> {
        let clock = clock.in_zone(settings.time_zone.clone());
        let shared_read = SharedRead::of(database.clone());
        let server = Server::new(&database, &shared_read, &settings, &clock, &randomness).await?;
        let secret = server.secret.clone();
        let identity =
            Identity { name: Name::main(), id: None, console_token: server.operator_token.clone() };
        let traffic = Arc::new(Traffic::new(TRAFFIC_BYTES[0]));
        let (sandbox, delivered) = Self::of_parts(
            server,
            identity,
            Arc::new(settings),
            clock,
            database,
            shared_read,
            &secret,
            traffic,
        );
        shared_clock::set(&sandbox.database, &sandbox.clock).await?;
        sync::reload(&sandbox).await?;
        if sandbox.settings.demo {
            demo::fill_when_empty(&sandbox).await?;
        }
        payouts::keep_settling(&sandbox, delivered);
        sandbox.tasks.spawn_background(sync::poll(sandbox.clone()));
        sandbox.tasks.spawn_background(metrics::keep_current(sandbox.clone()));
        sandbox.tasks.spawn_background(provider::keep_checking(sandbox.clone()));
        sandbox.tasks.spawn_background(retention::keep_deleting(sandbox.clone()));
        sandbox.tasks.spawn_background(watch::keep_watching(sandbox.clone()));
        let server = Arc::clone(&sandbox.server);
        sandbox.tasks.spawn_background(async move { server.lease.keep().await });
        let (database, clock) = (sandbox.database.clone(), sandbox.clock.clone());
        sandbox.tasks.spawn_background(shared_clock::keep_set(database, clock));
        if sandbox.server.sandboxes.are_on() {
            sandbox.tasks.spawn_background(sandboxes::keep(Arc::clone(&sandbox.server)));
        }
        Ok(sandbox)
    }

    /// Opens another sandbox of `server`, with what was `kept` of it. It has no background tasks of its own
    /// that wake by themselves: the scheduler calls [`Sandbox::work`].
    ///
    /// # Errors
    /// When its database can't be read.
    pub(crate) async fn open_another(
        server: &Arc<Server>,
        record: &sandboxes::Record,
        database: Database,
        kept: Option<Kept>,
    ) -> Result<Self, Failure> {
        let shared_read = SharedRead::of(database.clone());
        // What is signed or stored for one sandbox means nothing in another.
        let keys = Fingerprints::new(&server.secret);
        let secret = keys.of(&["secret of a sandbox", &record.id]).into_bytes().into();
        let identity = Identity {
            name: record.name.clone(),
            id: Some(record.id.clone()),
            console_token: server.operator_token.of_sandbox(&record.token),
        };
        let traffic = kept.map_or_else(|| Arc::new(Traffic::new(TRAFFIC_BYTES[1])), |kept| kept.0);
        traffic.bound(TRAFFIC_BYTES[1]);
        let (settings, clock) = (Arc::clone(&server.other_settings), server.clock.of_another_sandbox());
        let server = Arc::clone(server);
        let (sandbox, delivered) =
            Self::of_parts(server, identity, settings, clock, database, shared_read, &secret, traffic);
        if let Err(failure) = sync::reload(&sandbox).await {
            sandbox.close_alone().await;
            return Err(failure);
        }
        payouts::keep_receiving(&sandbox, delivered);
        Ok(sandbox)
    }

    #[expect(clippy::too_many_arguments, reason = "they are all that differs between sandboxes")]
    fn of_parts(
        server: Arc<Server>,
        identity: Identity,
        settings: Arc<Settings>,
        clock: Clock,
        database: Database,
        shared_read: SharedRead,
        secret: &SecretSlice<u8>,
        traffic: Arc<Traffic>,
    ) -> (Self, mpsc::Receiver<Delivery>) {
        let (results, delivered) = mpsc::channel(MAX_DELIVERIES);
        let Identity { name, id, console_token } = identity;
        let randomness = server.randomness.clone();
        // Nothing in the others is real.
        let provider = server.provider.clone().filter(|_| id.is_none());
        let sandbox = Self(Arc::new(SandboxState {
            provider,
            name,
            id,
            passwords: server.passwords.of_another_sandbox(),
            tokens: Tokens::new(secret),
            faults: Faults::default(),
            traffic,
            console_sync: ConsoleSync::default(),
            console_token,
            fingerprints: Fingerprints::new(secret),
            outbox: Outbox::default(),
            live_sessions: LiveSessions::default(),
            payouts: PayoutQueues::of(&database),
            mobile_money: MobileMoney::new(database.clone(), clock.clone(), randomness.clone(), results),
            updates: Updates::default(),
            tasks: Tasks::default(),
            reconciling: tokio::sync::Mutex::default(),
            shared_read,
            pending: List::of(database.clone()),
            records: List::of(database.clone()),
            server,
            settings,
            clock,
            randomness,
            database,
        }));
        (sandbox, delivered)
    }

    /// The sandbox that a request is for; `self` is `main`.
    ///
    /// # Errors
    /// [`Failure::SandboxNotFound`], [`Failure::BadParameter`], and errors of its database.
    pub async fn of_request(&self, parts: &Parts) -> Result<InUse, Failure> {
        self.server.sandboxes.of_request(self, parts).await
    }

    /// The page for browsers that ask for a sandbox that does not exist; `self` is `main`.
    pub fn not_found_page(&self, sentence: &str) -> axum::response::Response {
        sandboxes::not_found_page(&self.settings, self.server.sandboxes.addresses(), sentence)
    }

    /// The sandbox that a request is for, once it is known.
    ///
    /// # Errors
    /// [`Failure::Internal`] before that.
    pub fn of(parts: &Parts) -> Result<&Self, Failure> {
        parts.extensions.get().ok_or_else(|| Failure::Internal("the request has no sandbox".to_owned()))
    }

    /// Whether it is the sandbox that is there without any.
    pub fn is_main(&self) -> bool {
        self.id.is_none()
    }

    /// Does what is due without a call. Returns how long nothing more is to be done; `None` if there is
    /// nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn work(&self) -> Result<Option<Duration>, Failure> {
        sync::reload(self).await?;
        payouts::reconcile(self).await?;
        outbox::deliver_due(self).await?;
        self.next_work().await
    }

    /// How long nothing is to be done without a call; `None` if there is nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next_work(&self) -> Result<Option<Duration>, Failure> {
        let check = payouts::next_check(self).await?;
        let delivery = outbox::next_delivery(self).await?;
        Ok(check.into_iter().chain(delivery).min())
    }

    /// What is kept of it while it is closed.
    pub(crate) fn kept(&self) -> Kept {
        self.traffic.bound(TRAFFIC_BYTES[2]);
        Kept(Arc::clone(&self.traffic))
    }

    /// Waits up to `timeout` for running payouts, then stops the background tasks and closes the
    /// database; `main` closes the others first. Unfinished payouts are settled after the next start.
    pub async fn close(&self, timeout: Duration) {
        self.tasks.end(timeout).await;
        if self.is_main() {
            self.server.sandboxes.close_all(timeout).await;
            self.server.lease.end().await;
        }
        self.close_database().await;
    }

    /// Closes a sandbox other than `main`, and cuts its running payouts off.
    pub(crate) async fn close_alone(&self) {
        self.tasks.end(Duration::ZERO).await;
        self.close_database().await;
    }

    async fn close_database(&self) {
        self.shared_read.end().await;
        self.database.close().await;
    }
}

/// What tells a sandbox from the others.
struct Identity {
    name: Name,
    id: Option<String>,
    console_token: ConsoleToken,
}

impl Server {
    async fn new(
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
            provider: Provider::of(&settings.provider)?.map(Arc::new),
            metrics: Metrics::new(settings.has_live_screens())?,
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

/// A handler that takes a sandbox is given the one that its call is for.
impl<S: Send + Sync> FromRequestParts<S> for Sandbox {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Self::of(parts).cloned()
    }
}

/// The routes of the portal's listener.
pub fn portal_router(sandbox: Sandbox) -> Router {
    let published = middleware::from_fn(slices::files::published);
    let with_published = |builds: Router| builds.layer(published);
    let mut for_browsers = Router::new()
        .nest(API, api(&sandbox.settings))
        .merge(slices::deploy::api::routes())
        .merge(slices::reports::api::routes())
        .merge(portal::routes(&sandbox, get(slices::api::live), get(slices::api::newest_kit), with_published))
        .method_not_allowed_fallback(edge::method_not_allowed);
    if let Some(cross_origin) = edge::cross_origin(&sandbox.settings) {
        for_browsers = for_browsers.layer(cross_origin);
    }
    let routes = for_browsers
        .merge(reference::page())
        .merge(health::routes())
        .merge(console::absent())
        .method_not_allowed_fallback(edge::method_not_allowed);
    behind_edge(sandbox, routes)
}

/// The routes of the console's listener.
pub fn console_router(sandbox: Sandbox) -> Router {
    let routes = console::routes()
        .merge(health::routes())
        .merge(health::metrics_routes())
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(edge::method_not_allowed);
    behind_edge(sandbox, routes)
}

fn behind_edge(main: Sandbox, routes: Router) -> Router {
    let streams_body: StreamsBody = streams_body;
    routes.layer(middleware::from_fn_with_state((main, streams_body), edge::answer))
}

/// Whether a handler reads the request's body itself, or answers without it. Only this module knows
/// where those calls are mounted.
fn streams_body(method: &Method, path: &str) -> bool {
    path.strip_prefix(console::CALLS).is_some_and(|call| {
        slices::api::uploads_build(method, call) || sandboxes::api::takes_recording(method, call)
    }) || slices::deploy::api::uploads_build(method, path)
}

/// The calls of the contract. Access is decided here and nowhere else: the sign-in calls and the
/// contract itself are public, all other calls need a session, and some an administrator's. Who may set which of
/// the settings depends on the role too: `preferences::save` decides that. The calls of the live screens exist only
/// where the screens are live.
fn api(settings: &Settings) -> Router {
    let public = Router::new().merge(auth::api::public()).merge(reference::contract());
    let mut signed_in = Router::new()
        .merge(auth::api::signed_in())
        .merge(loans::api::signed_in())
        .merge(payouts::api::signed_in());
    if settings.has_live_screens() {
        signed_in = signed_in
            .merge(auth::api::live())
            .merge(notifications::api::live())
            .merge(preferences::api::live())
            .merge(reports::api::live())
            .merge(updates::api::live())
            .merge(rules::api::for_admins().route_layer(middleware::from_fn(session::require_admin)));
    }
    public
        .fallback(async || Failure::NotFound)
        .layer(middleware::from_fn(api_call::public))
        .merge(signed_in.route_layer(middleware::from_fn(api_call::signed_in)))
}
