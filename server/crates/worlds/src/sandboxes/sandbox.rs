//! One isolated instance of the service.

use std::{sync::Arc, time::Duration};

use axum::http::Extensions;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::{ConsoleToken, Name, Record as SandboxRecord, Server, keep, sync, undo_tools::undo_tools};
use crate::{
    faults::Faults,
    metrics::{self, Metrics},
    retention,
    traffic::Traffic,
};
use base::{clock::Clock, error::Failure, randomness::Randomness};
use lending::{
    auth::Auth,
    demo,
    lists::List,
    loans::PendingLoan,
    mobile_money::{Delivery, MAX_DELIVERIES, MobileMoney},
    outbox::{self, Outbox},
    payouts::{self, Payouts, Record},
    updates::Updates,
    world::{Happened, Listener, World, WorldState},
};
use provider::Provider;
use settings::Settings;
use slices::{Slices, watch};
use store::{
    Database, query_scalar, shared_clock,
    version::{SharedRead, Version},
};

/// One isolated instance of the service: its data, clock, randomness and mobile money. Handlers
/// receive the one that their call is for, and nothing is static, so one process can hold several.
/// Clones share the same instance.
#[derive(Clone)]
pub struct Sandbox(Arc<SandboxState>);

pub struct SandboxState {
    pub server: Arc<Server>,
    pub name: Name,
    /// The id under which the store of `main` has it; `None` for `main` itself.
    pub id: Option<String>,
    pub world: World,
    pub auth: Auth,
    pub payouts: Payouts,
    /// The simulated mobile money service.
    pub mobile_money: MobileMoney,
    pub slices: Slices,
    pub outbox: Outbox,
    /// The streams that tell open pages about changes.
    pub updates: Updates,
    pub pending: List<PendingLoan>,
    pub records: List<Record>,
    pub faults: Faults,
    pub traffic: Arc<Traffic>,
    /// Held while its story begins again, so that of several callers at once one begins it.
    pub beginning_again: AsyncMutex<()>,
    /// The version of the data at which the clock and the faults in memory were loaded.
    pub(super) loaded_at: Mutex<Version>,
    pub console_token: ConsoleToken,
    /// The provider that the portal's calls are forwarded to; `None` when it is this service itself.
    pub provider: Option<Arc<Provider>>,
}

impl std::ops::Deref for SandboxState {
    type Target = WorldState;

    fn deref(&self) -> &WorldState {
        &self.world
    }
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

/// The state that a sandbox keeps in memory while it is closed: its recorded calls and their traces.
#[derive(Clone, Debug)]
pub struct Kept {
    traffic: Arc<Traffic>,
    traces: traces::Kept,
}

impl Kept {
    /// Returns the state of a sandbox with `beginning`, which this server has just made.
    pub(crate) fn of_new(name: &Name, beginning: demo::Beginning) -> Self {
        let kept = Self::new(name, &CLOSED);
        kept.traffic.begin_again(beginning);
        kept
    }

    /// Nothing yet, and at most as much as `memory` has room for.
    fn new(name: &Name, memory: &Memory) -> Self {
        let traffic = Arc::new(Traffic::new(memory.traffic));
        Self { traffic, traces: traces::Kept::new(name.as_str(), memory.traces) }
    }

    /// Keeps at most as much as `memory` has room for from now on.
    fn bound(&self, memory: &Memory) {
        self.traffic.bound(memory.traffic);
        self.traces.bound(memory.traces);
    }
}

/// The memory for recorded calls and for traces, in bytes.
struct Memory {
    traffic: usize,
    traces: usize,
}

/// That of `main`.
const MAIN: Memory = Memory { traffic: 8 * 1024 * 1024, traces: 2 * 1024 * 1024 };
/// That of another sandbox while it is open.
const OPEN: Memory = Memory { traffic: 512 * 1024, traces: 512 * 1024 };
/// That of another sandbox while it is closed.
const CLOSED: Memory = Memory { traffic: 32 * 1024, traces: 32 * 1024 };

const STORY: &str = "SELECT name FROM story";

impl Sandbox {
    /// Opens `main`, the sandbox that `settings` describe. In demo mode, an empty database is filled with
    /// demo data.
    pub async fn open(settings: Settings, clock: Clock, randomness: Randomness) -> anyhow::Result<Self> {
        settings.check()?;
        let database = settings.store.open().await?;
        Self::on(database, settings, clock, randomness).await
    }

    /// Like [`Sandbox::open`], with a database that is already open.
    pub async fn on(
        database: Database,
        settings: Settings,
        clock: Clock,
        randomness: Randomness,
    ) -> anyhow::Result<Self> {
        let clock = clock.in_zone(settings.time_zone.clone());
        let shared_read = SharedRead::of(database.clone());
        let server = Server::new(&database, &shared_read, &settings, &clock, &randomness).await?;
        let kept = Kept::new(&Name::main(), &MAIN);
        let (sandbox, delivered) =
            Self::of_parts(server, None, Arc::new(settings), clock, database, shared_read, kept);
        shared_clock::set(&sandbox.database, &sandbox.clock).await?;
        undo_tools(&sandbox).await?;
        sync::reload(&sandbox).await?;
        if sandbox.settings.demo
            && let Some(beginning) = demo::fill_when_empty(&sandbox.auth).await?
        {
            sandbox.traffic.begin_again(beginning);
        }
        payouts::keep_settling(&sandbox.payouts, delivered);
        sandbox.tasks.spawn_background(sync::poll(sandbox.clone()));
        let metrics = Arc::clone(&sandbox.server.metrics);
        sandbox.tasks.spawn_background(metrics::keep_current(metrics, sandbox.slices.clone()));
        if let Some(provider) = sandbox.provider.clone() {
            let server = Arc::clone(&sandbox.server);
            let count =
                move |operation: &str, kind: &str| server.metrics.contract_difference(operation, kind);
            sandbox.tasks.spawn_background(provider::keep_checking(provider, sandbox.world.clone(), count));
        }
        sandbox.tasks.spawn_background(retention::keep_deleting(
            sandbox.slices.clone(),
            Arc::clone(&sandbox.server.lease),
        ));
        sandbox.tasks.spawn_background(watch::keep_watching(sandbox.slices.clone()));
        let lease = Arc::clone(&sandbox.server.lease);
        sandbox.tasks.spawn_background(async move { lease.keep().await });
        let (database, clock) = (sandbox.database.clone(), sandbox.clock.clone());
        sandbox.tasks.spawn_background(shared_clock::keep_set(database, clock));
        if sandbox.server.sandboxes.are_on() {
            sandbox.tasks.spawn_background(keep(Arc::clone(&sandbox.server)));
        }
        Ok(sandbox)
    }

    /// Opens another sandbox of `server`, with the state `kept` of it. It has no background tasks that wake
    /// by themselves: the scheduler calls [`Sandbox::work`].
    pub(crate) async fn open_another(
        server: &Arc<Server>,
        record: &SandboxRecord,
        database: Database,
        kept: Option<Kept>,
    ) -> Result<Self, Failure> {
        let shared_read = SharedRead::of(database.clone());
        let kept = kept.unwrap_or_else(|| Kept::new(&record.name, &OPEN));
        kept.bound(&OPEN);
        let (settings, clock) = (server.settings_of(record), server.clock.of_another_sandbox());
        let server = Arc::clone(server);
        let (sandbox, delivered) =
            Self::of_parts(server, Some(record), settings, clock, database, shared_read, kept);
        if let Err(failure) = sync::reload(&sandbox).await {
            sandbox.close_alone().await;
            return Err(failure);
        }
        payouts::keep_receiving(&sandbox.payouts, delivered);
        Ok(sandbox)
    }

    /// The sandbox of `record`, or else `main`, and the results that mobile money delivers to it.
    fn of_parts(
        server: Arc<Server>,
        record: Option<&SandboxRecord>,
        settings: Arc<Settings>,
        clock: Clock,
        database: Database,
        shared_read: SharedRead,
        Kept { traffic, traces }: Kept,
    ) -> (Self, mpsc::Receiver<Delivery>) {
        let (results, delivered) = mpsc::channel(MAX_DELIVERIES);
        let (name, id, console_token, secret) = match record {
            None => (Name::main(), None, server.operator_token.clone(), server.secret.clone()),
            Some(record) => {
                // What is signed or stored for one sandbox means nothing in another.
                let secret = server.fingerprints().of(&["secret of a sandbox", &record.id]);
                let console_token = server.operator_token.of_sandbox(&record.token);
                (record.name.clone(), Some(record.id.clone()), console_token, secret.into_bytes().into())
            }
        };
        let randomness = server.randomness.clone();
        let metrics = id.is_none().then(|| Arc::clone(&server.metrics));
        let listener = listener(Arc::clone(&traffic), metrics);
        let mobile_money = MobileMoney::new(database.clone(), clock.clone(), randomness.clone(), results);
        let world = World::new(settings, clock, randomness, database, shared_read, traces, listener);
        let outbox = Outbox::of(world.clone());
        let (pending, records) = (List::of(world.database.clone()), List::of(world.database.clone()));
        let (stopping, streams) = (server.stopping.clone(), Arc::clone(&server.event_streams));
        let auth = Auth::new(world.clone(), server.passwords.of_another_sandbox(), &secret, outbox.clone());
        let slices = Slices {
            world: world.clone(),
            auth: auth.clone(),
            sandbox_id: id.clone(),
            shared: Arc::clone(&server.slices),
        };
        let sandbox = Self(Arc::new(SandboxState {
            // Only `main` is forwarded: nothing in other sandboxes is real.
            provider: server.provider.clone().filter(|_| id.is_none()),
            name,
            id,
            auth,
            slices,
            payouts: Payouts::new(world.clone(), mobile_money.clone(), outbox.clone()),
            updates: Updates::new(world.clone(), pending.clone(), records.clone(), stopping, streams),
            mobile_money,
            outbox,
            pending,
            records,
            faults: Faults::default(),
            traffic,
            beginning_again: AsyncMutex::default(),
            loaded_at: Mutex::default(),
            console_token,
            server,
            world,
        }));
        (sandbox, delivered)
    }

    /// Adds the parts of this sandbox that handlers extract to the `extensions` of a request.
    pub fn serve(&self, extensions: &mut Extensions) {
        extensions.insert(self.clone());
        extensions.insert(self.world.clone());
        extensions.insert(self.auth.clone());
        extensions.insert(self.payouts.clone());
        extensions.insert(self.updates.clone());
        extensions.insert(self.pending.clone());
        extensions.insert(self.records.clone());
        extensions.insert(self.slices.clone());
    }

    /// The name of the story that it tells; `None` if it tells none.
    pub async fn story(&self) -> Result<Option<String>, Failure> {
        Ok(query_scalar(STORY).fetch_optional(&mut self.database.read().await?).await?)
    }

    pub fn is_main(&self) -> bool {
        self.id.is_none()
    }

    /// Does the work that is due without a call. Returns the time until the next work is due; `None` if there
    /// is none.
    pub async fn work(&self) -> Result<Option<Duration>, Failure> {
        sync::reload(self).await?;
        payouts::reconcile(&self.payouts).await?;
        outbox::deliver_due(&self.outbox).await?;
        self.next_work().await
    }

    /// Returns the time until work is due without a call; `None` if there is none.
    pub async fn next_work(&self) -> Result<Option<Duration>, Failure> {
        let check = payouts::next_check(&self.payouts).await?;
        let delivery = outbox::next_delivery(&self.outbox).await?;
        Ok(check.into_iter().chain(delivery).min())
    }

    pub(crate) fn kept(&self) -> Kept {
        let kept = Kept { traffic: Arc::clone(&self.traffic), traces: self.traces.clone() };
        kept.bound(&CLOSED);
        kept
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

/// Tells the traffic and, for `main`, the metrics what happens in a world.
fn listener(traffic: Arc<Traffic>, metrics: Option<Arc<Metrics>>) -> Listener {
    Box::new(move |happened| match (happened, &metrics) {
        (Happened::CodeSent(code), _) => traffic.code_sent(&code),
        (Happened::PayoutSettled { status, result_code }, Some(metrics)) => {
            metrics.payout_settled(&status, result_code.as_deref());
        }
        (Happened::DataCopyFound { missing }, Some(metrics)) => metrics.data_copy_found(missing),
        (Happened::PayoutSettled { .. } | Happened::DataCopyFound { .. }, None) => {}
    })
}

base::from_extensions!(Sandbox, Failure::internal("the request has no sandbox"));
