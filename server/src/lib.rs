//! The provider of the Mkopo portal. Modules in the order in which a reader meets them:

// What `mkopo` can be told on the command line.
pub mod commands;
// What a deployment may set.
pub mod settings;
// What stands between the network and the handlers.
pub mod http;
// What those who run the service look at.
pub mod monitoring;

// Who is asking: staff, passwords, sessions.
pub mod auth;
// What waits to be paid out.
pub mod loans;
// Paying a loan out, once; and the records of it.
pub mod payouts;
// The two lists, kept ready.
pub mod lists;
// The simulated mobile money service.
pub mod mobile_money;
// Every e-mail and SMS that goes out.
pub mod outbox;
// Which build of which slice is live.
pub mod slices;
// Realistic data for demos and tests.
pub mod demo;
// The operator's console: codes, faults, time and data, for QA and demos.
pub mod console;

// The store, of either engine: one writer that commits waiting work together, and readers.
pub mod database;
// The one clock, which tests and the console move.
pub mod clock;
// Where ids, codes and chance come from.
pub mod randomness;
// What runs beside the calls, and how it ends.
pub mod tasks;
// Every failure, its status and its body.
pub mod error;
// Kenyan mobile numbers.
pub mod phone;
// E-mail addresses.
pub mod email;

use std::{sync::Arc, time::Duration};

use axum::{Router, http::Method, middleware};

use crate::{
    auth::{
        fingerprint::Fingerprints, live_sessions::LiveSessions, password::Passwords, session, session::Tokens,
    },
    clock::Clock,
    console::{api_call, door::ConsoleToken, faults::Faults, sync, sync::ConsoleSync, traffic::Traffic},
    database::{Database, versions::SharedRead},
    error::Failure,
    http::{API, edge, edge::StreamsBody, portal, reference},
    lists::List,
    loans::PendingLoan,
    mobile_money::MobileMoney,
    monitoring::{health, metrics::Metrics},
    outbox::Outbox,
    payouts::Record,
    randomness::Randomness,
    settings::Settings,
    slices::files::KeptFiles,
    tasks::Tasks,
};

/// One isolated world: its data, its clock, its chance, its mobile money. Every handler is given
/// it and nothing stands in statics, so that one process could hold many. Clones are the same one.
#[derive(Clone)]
pub struct Sandbox(Arc<World>);

/// What a [`Sandbox`] holds.
pub struct World {
    /// What the deployment set.
    pub settings: Settings,
    /// The time here.
    pub clock: Clock,
    /// The chance here.
    pub randomness: Randomness,
    /// The store.
    pub database: Database,
    /// Hashes passwords, a bounded number at once.
    pub passwords: Passwords,
    /// Signs and reads session tokens.
    pub tokens: Tokens,
    /// What is done to calls on purpose.
    pub faults: Faults,
    /// The latest calls.
    pub traffic: Traffic,
    /// The version of the console's settings in memory.
    pub console_sync: ConsoleSync,
    /// Opens the console.
    pub console_token: ConsoleToken,
    /// Makes what must be recognised unreadable.
    pub fingerprints: Fingerprints,
    /// Wakes who sends messages.
    pub outbox: Outbox,
    /// The sessions that need not be read again.
    pub live_sessions: LiveSessions,
    /// Where money is sent from.
    pub mobile_money: MobileMoney,
    /// What runs beside the calls.
    pub tasks: Tasks,
    /// Held by the one round of reconciling that runs in this process.
    pub reconciling: tokio::sync::Mutex<()>,
    /// What is counted.
    pub metrics: Metrics,
    /// Tells what changed.
    pub shared_read: SharedRead,
    /// The loans that wait.
    pub pending: List<PendingLoan>,
    /// What became of the payouts.
    pub records: List<Record>,
    /// Files of published slices that were asked for.
    pub slice_files: KeptFiles,
}

impl std::ops::Deref for Sandbox {
    type Target = World;

    fn deref(&self) -> &World {
        &self.0
    }
}

impl Sandbox {
    /// Opens the world that `settings` name, and fills it with demo data when that is asked for
    /// and it is empty.
    ///
    /// # Errors
    /// A sentence that names what can't be opened, and why.
    pub async fn open(settings: Settings, clock: Clock, randomness: Randomness) -> anyhow::Result<Self> {
        settings.check_shared()?;
        let database = Database::open_for(settings.database.url(), &settings.data_dir).await?;
        Self::on(database, settings, clock, randomness).await
    }

    /// Like [`Sandbox::open`], on a store that is open.
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
        let unusable = |what: &str| {
            format!(
                "can't keep {what} in the data folder {}; set MKOPO_DATA_DIR to one that can be written",
                settings.data_dir.display()
            )
        };
        let secret = settings.token_secret(&randomness).with_context(|| unusable("the token secret"))?;
        let console_token =
            settings.console_token(&randomness).with_context(|| unusable("the console's token"))?;
        let fingerprints = Fingerprints::new(&secret);
        let (results, delivered) = tokio::sync::mpsc::unbounded_channel();
        let sandbox = Self(Arc::new(World {
            passwords: Passwords::new(randomness.clone()),
            tokens: Tokens::new(&secret),
            faults: Faults::default(),
            traffic: Traffic::default(),
            console_sync: ConsoleSync::default(),
            console_token: ConsoleToken::new(console_token, fingerprints.clone()),
            fingerprints,
            outbox: Outbox::default(),
            live_sessions: LiveSessions::default(),
            mobile_money: MobileMoney::new(database.clone(), clock.clone(), randomness.clone(), results),
            tasks: Tasks::default(),
            reconciling: tokio::sync::Mutex::default(),
            metrics: Metrics::new()?,
            shared_read: SharedRead::of(database.clone()),
            pending: List::of(database.clone()),
            records: List::of(database.clone()),
            slice_files: KeptFiles::default(),
            settings,
            clock,
            randomness,
            database,
        }));
        sync::reload(&sandbox).await?;
        if sandbox.settings.demo {
            demo::fill_when_empty(&sandbox).await?;
        }
        payouts::keep_settling(&sandbox, delivered);
        sandbox.tasks.spawn_background(sync::poll(sandbox.clone()));
        Ok(sandbox)
    }

    /// Lets running payouts finish for as long as `patience`, then ends what runs beside the
    /// calls and closes the store. What is left is settled after the next start.
    pub async fn close(&self, patience: Duration) {
        self.tasks.end(patience).await;
        self.shared_read.end().await;
        self.database.close().await;
    }
}

/// Everything the service answers.
pub fn router(sandbox: Sandbox) -> Router {
    let mut for_browsers = Router::new()
        .nest(API, api(&sandbox))
        .merge(portal::routes(&sandbox))
        .method_not_allowed_fallback(edge::other_method);
    if let Some(cross_origin) = edge::cross_origin(&sandbox.settings) {
        for_browsers = for_browsers.layer(cross_origin);
    }
    for_browsers
        .merge(console::routes(&sandbox))
        .merge(reference::page())
        .merge(health::routes())
        .method_not_allowed_fallback(edge::other_method)
        .layer(middleware::from_fn_with_state((sandbox.clone(), streams_body as StreamsBody), edge::answer))
        .with_state(sandbox)
}

/// Where slices' calls are mounted is known here alone, and so is which of them takes a large body.
fn streams_body(method: &Method, path: &str) -> bool {
    path.strip_prefix(console::CALLS).is_some_and(|call| slices::api::takes_build(method, call))
}

/// The contract's calls. This is the one place that decides who may call what: the sign-in calls
/// and the contract itself are open, all else needs a session.
fn api(sandbox: &Sandbox) -> Router<Sandbox> {
    let open = Router::new().merge(auth::api::public()).merge(reference::contract());
    let signed_in = Router::new()
        .merge(auth::api::signed_in())
        .merge(loans::api::signed_in())
        .merge(payouts::api::signed_in())
        .route_layer(middleware::from_fn_with_state(sandbox.clone(), session::require));
    open.merge(signed_in)
        .fallback(async || Failure::NotFound)
        .layer(middleware::from_fn_with_state(sandbox.clone(), api_call::run))
}
