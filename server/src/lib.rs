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
// The audit trail: who did what, when and from where.
pub mod events;
// Builds of slices: publishing them, and which one is live.
pub mod slices;
// Realistic data for demos and tests.
pub mod demo;
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

use axum::{Router, http::Method, middleware, routing::get};

use crate::{
    auth::{
        fingerprint::Fingerprints, live_sessions::LiveSessions, password::Passwords, session, session::Tokens,
    },
    clock::Clock,
    console::{api_call, door::ConsoleToken, faults::Faults, sync, sync::ConsoleSync, traffic::Traffic},
    database::{Database, server_lease::ServerLease, shared_clock, versions::SharedRead},
    error::Failure,
    http::{API, edge, edge::StreamsBody, portal, reference},
    lists::List,
    loans::PendingLoan,
    mobile_money::{MAX_DELIVERIES, MobileMoney},
    monitoring::{health, metrics, metrics::Metrics},
    outbox::Outbox,
    payouts::Record,
    provider::Provider,
    randomness::Randomness,
    settings::Settings,
    slices::files::FileCache,
    tasks::Tasks,
};

/// One isolated instance of the service: its data, clock, randomness and mobile money. Handlers
/// receive it as their state and nothing is static, so one process can hold several. Clones share
/// the same instance.
#[derive(Clone)]
pub struct Sandbox(Arc<SandboxState>);

/// The state of a [`Sandbox`].
pub struct SandboxState {
    /// The settings of the deployment.
    pub settings: Settings,
    /// The clock.
    pub clock: Clock,
    /// The source of ids and random numbers.
    pub randomness: Randomness,
    /// The database.
    pub database: Database,
    /// Shows others that this server runs on the database.
    pub lease: ServerLease,
    /// Hashes passwords, a limited number at a time.
    pub passwords: Passwords,
    /// Signs and reads session tokens.
    pub tokens: Tokens,
    /// The faults to inject into calls.
    pub faults: Faults,
    /// The most recent calls.
    pub traffic: Traffic,
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
    /// The simulated mobile money service.
    pub mobile_money: MobileMoney,
    /// The background tasks.
    pub tasks: Tasks,
    /// Held while reconciling, so that this process runs one round at a time.
    pub reconciling: tokio::sync::Mutex<()>,
    /// The metrics.
    pub metrics: Metrics,
    /// Reads the current versions, one read for all waiting calls.
    pub shared_read: SharedRead,
    /// The list of pending loans.
    pub pending: List<PendingLoan>,
    /// The list of payout records.
    pub records: List<Record>,
    /// The cache of published slice files.
    pub slice_files: FileCache,
}

impl std::ops::Deref for Sandbox {
    type Target = SandboxState;

    fn deref(&self) -> &SandboxState {
        &self.0
    }
}

impl Sandbox {
    /// Opens the sandbox that `settings` describe. In demo mode, an empty database is filled with
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
        use anyhow::Context;
        let clock = clock.in_zone(settings.time_zone.clone());
        let unwritable = |what: &str| {
            format!(
                "can't store {what} in the data folder {}; set MKOPO_DATA_DIR to a writable folder",
                settings.store.data_dir.display()
            )
        };
        let secret = settings.token_secret(&randomness).with_context(|| unwritable("the token secret"))?;
        let console_token =
            settings.console_token(&randomness).with_context(|| unwritable("the console token"))?;
        let fingerprints = Fingerprints::new(&secret);
        let (results, delivered) = tokio::sync::mpsc::channel(MAX_DELIVERIES);
        let shared_read = SharedRead::of(database.clone());
        let lease =
            ServerLease::take(&database, &shared_read).await.context("the database can't be written")?;
        let sandbox = Self(Arc::new(SandboxState {
            lease,
            passwords: Passwords::new(randomness.clone()),
            tokens: Tokens::new(&secret),
            faults: Faults::default(),
            traffic: Traffic::default(),
            console_sync: ConsoleSync::default(),
            console_token: ConsoleToken::new(console_token, fingerprints.clone()),
            fingerprints,
            outbox: Outbox::default(),
            live_sessions: LiveSessions::default(),
            provider: Provider::of(&settings.provider)?.map(Arc::new),
            mobile_money: MobileMoney::new(database.clone(), clock.clone(), randomness.clone(), results),
            tasks: Tasks::default(),
            reconciling: tokio::sync::Mutex::default(),
            metrics: Metrics::new()?,
            shared_read,
            pending: List::of(database.clone()),
            records: List::of(database.clone()),
            slice_files: FileCache::default(),
            settings,
            clock,
            randomness,
            database,
        }));
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
        sandbox.tasks.spawn_background(retention::keep_trimming_changes(sandbox.clone()));
        let leased = sandbox.clone();
        sandbox.tasks.spawn_background(async move { leased.lease.keep().await });
        let (database, clock) = (sandbox.database.clone(), sandbox.clock.clone());
        sandbox.tasks.spawn_background(shared_clock::keep_set(database, clock));
        Ok(sandbox)
    }

    /// Waits up to `timeout` for running payouts, then stops the background tasks and closes the
    /// database. Unfinished payouts are settled after the next start.
    pub async fn close(&self, timeout: Duration) {
        self.tasks.end(timeout).await;
        self.shared_read.end().await;
        self.lease.end().await;
        self.database.close().await;
    }
}

/// The routes of the portal's listener.
pub fn portal_router(sandbox: Sandbox) -> Router {
    let published = middleware::from_fn_with_state(sandbox.clone(), slices::files::published);
    let with_published = |builds: Router<Sandbox>| builds.layer(published);
    let mut for_browsers = Router::new()
        .nest(API, api(&sandbox))
        .merge(slices::deploy::api::routes())
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
    let routes = console::routes(&sandbox)
        .merge(health::routes())
        .merge(health::metrics_routes())
        .fallback(async || Failure::NotFound)
        .method_not_allowed_fallback(edge::method_not_allowed);
    behind_edge(sandbox, routes)
}

fn behind_edge(sandbox: Sandbox, routes: Router<Sandbox>) -> Router {
    let streams_body: StreamsBody = streams_body;
    routes
        .layer(middleware::from_fn_with_state((sandbox.clone(), streams_body), edge::answer))
        .with_state(sandbox)
}

/// Whether a handler reads the request's body itself, or answers without it. Only this module knows
/// where the slices' calls are mounted.
fn streams_body(method: &Method, path: &str) -> bool {
    path.strip_prefix(console::CALLS).is_some_and(|call| slices::api::uploads_build(method, call))
        || slices::deploy::api::uploads_build(method, path)
}

/// The calls of the contract. Access is decided here and nowhere else: the sign-in calls and the
/// contract itself are public, all other calls need a session.
fn api(sandbox: &Sandbox) -> Router<Sandbox> {
    let public = Router::new().merge(auth::api::public()).merge(reference::contract());
    let signed_in = Router::new()
        .merge(auth::api::signed_in())
        .merge(loans::api::signed_in())
        .merge(payouts::api::signed_in())
        .route_layer(middleware::from_fn_with_state(sandbox.clone(), session::require));
    public
        .merge(signed_in)
        .fallback(async || Failure::NotFound)
        .layer(middleware::from_fn_with_state(sandbox.clone(), provider::forward::instead))
        .layer(middleware::from_fn_with_state(sandbox.clone(), api_call::run))
}
