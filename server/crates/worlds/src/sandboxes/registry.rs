//! Finds the sandbox of a call, and opens it if it is closed.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::http::request::Parts;
use futures::FutureExt;
use parking_lot::Mutex;
use serde::Serialize;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    Name, Record, Sandbox, SandboxRefusal, Sandboxes, Server,
    known::{Known, OpenSandbox, TAKE_OVER},
    open_files::max_open,
    records::{self, Use},
};
use crate::metrics::SandboxLoad;
use base::{clock::UnixMillis, error::Failure};
use store::Connection;

/// Maximum number of names that the console offers to open.
const NAMED: usize = 20;

/// A sandbox that a call uses, and that is not closed meanwhile.
#[derive(Clone, Debug)]
pub struct InUse {
    pub sandbox: Sandbox,
    /// Its state, and what keeps it from being closed; `None` for `main`, which is never closed.
    known: Option<(Arc<Known>, TaskTrackerToken)>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    pub name: Name,
    pub url: String,
    /// The address of its console; `None` if the console is off.
    pub console_url: Option<String>,
    /// When it was created; `None` for `main`.
    pub created_at: Option<UnixMillis>,
    /// When it expires if it is not used again; `None` for `main`.
    pub expires_at: Option<UnixMillis>,
    /// When it was last used; `None` if `main` was not used since the server started.
    pub last_used_at: Option<UnixMillis>,
    /// The number of calls; for `main`, since the server started.
    pub calls: i64,
    /// The size of its data in bytes; `None` if it is not known.
    pub size: Option<u64>,
}

impl Sandboxes {
    pub async fn of_request(&self, main: &Sandbox, parts: &Parts) -> Result<InUse, Failure> {
        // Balancers ask for the state of a server by any name.
        if !matches!(parts.uri.path(), "/healthz" | "/readyz") {
            self.addresses.check_host(&parts.headers, &parts.uri)?;
        }
        if !self.are_on() {
            self.refuse_if_elsewhere(parts).await?;
            return Ok(InUse { sandbox: main.clone(), known: None });
        }
        let now = self.clock.unset_now();
        let Some(name) = self.addresses.named(&parts.headers, &parts.uri)? else {
            self.main_calls.fetch_add(1, Ordering::Relaxed);
            self.main_last_used_at.store(now.0, Ordering::Relaxed);
            return Ok(InUse { sandbox: main.clone(), known: None });
        };
        let in_use = self.find(&main.server, &name).boxed().await?;
        if let Some((known, _)) = &in_use.known {
            known.count_call(now);
        }
        Ok(in_use)
    }

    /// Refuses a call that names a sandbox, if another server on the same database may have it. This server has none.
    async fn refuse_if_elsewhere(&self, parts: &Parts) -> Result<(), Failure> {
        if !self.database.is_shared() {
            return Ok(());
        }
        let Some(name) = self.addresses.named(&parts.headers, &parts.uri)? else { return Ok(()) };
        let found = records::find(&mut self.database.read().await?, &name).await?;
        let refusal =
            if found.is_some() { SandboxRefusal::SandboxElsewhere } else { SandboxRefusal::SandboxNotFound };
        Err(refusal(name.to_string()).into())
    }

    /// Finds the sandbox with this name, and opens it if it is closed.
    pub async fn find(&self, server: &Arc<Server>, name: &Name) -> Result<InUse, Failure> {
        loop {
            let known = self.known(name).await?;
            if known.expires_at() <= self.clock.unset_now() {
                return Err(SandboxRefusal::SandboxNotFound(name.to_string()).into());
            }
            if let Some(in_use) = self.opened(server, &known).await? {
                return Ok(in_use);
            }
            // It was removed in the meantime. There may be a new one with the same name.
            self.forget(&known);
        }
    }

    /// The failure of a call whose sandbox was removed while it ran; `None` if it was not removed.
    pub async fn if_removed(&self, in_use: &InUse) -> Option<Failure> {
        let record = &in_use.known.as_ref()?.0.record;
        let mut reader = self.database.read().await.ok()?;
        let found = records::find(&mut reader, &record.name).await.ok()?;
        let is_removed = found.is_none_or(|found| found.id != record.id);
        is_removed.then(|| SandboxRefusal::SandboxNotFound(record.name.to_string()).into())
    }

    /// Uses `known`, and opens it if it is closed; `None` if it was removed.
    pub(super) async fn opened(
        &self,
        server: &Arc<Server>,
        known: &Arc<Known>,
    ) -> Result<Option<InUse>, Failure> {
        let in_use = |open: &OpenSandbox| InUse {
            sandbox: open.sandbox.clone(),
            known: Some((Arc::clone(known), known.in_use.token())),
        };
        if let Some(open) = &*known.open.read().await {
            return Ok((!known.is_removed()).then(|| in_use(open)));
        }
        self.make_room().await;
        let mut slot = known.open.write().await;
        if known.is_removed() {
            return Ok(None);
        }
        if slot.is_none() {
            // Boxed, because the future is large and rarely used.
            *slot = Some(self.open(server, known).boxed().await?);
        }
        Ok(slot.as_ref().map(in_use))
    }

    async fn open(&self, server: &Arc<Server>, known: &Known) -> Result<OpenSandbox, Failure> {
        let record = &known.record;
        let opening = async {
            let database = self.databases.open(&record.id).await?;
            Sandbox::open_another(server, record, database, known.take_kept()).await
        };
        // If this process dies, another one must know that there may be work to do.
        let (sandbox, stored) = tokio::join!(opening, self.store_open(known));
        let sandbox = sandbox?;
        stored?;
        known.opened();
        let commits = Mutex::new(sandbox.database.commits());
        Ok(OpenSandbox { sandbox, commits })
    }

    /// The state of the sandbox with this name; its row is read if this server does not know it yet.
    pub(super) async fn known(&self, name: &Name) -> Result<Arc<Known>, Failure> {
        if let Some(known) = self.known.lock().get(name) {
            return Ok(Arc::clone(known));
        }
        let record = self.record(name).await?;
        if !self.databases.has(&record.id) {
            return Err(SandboxRefusal::SandboxElsewhere(name.to_string()).into());
        }
        Ok(self.meet(record))
    }

    pub async fn record(&self, name: &Name) -> Result<Record, Failure> {
        let found = records::find(&mut self.database.read().await?, name).await?;
        found.ok_or_else(|| SandboxRefusal::SandboxNotFound(name.to_string()).into())
    }

    /// The state of the sandbox of `record`, which is new if this server does not know it yet.
    pub(super) fn meet(&self, record: Record) -> Arc<Known> {
        let mut all = self.known.lock();
        if let Some(known) = all.get(&record.name).filter(|known| known.record.id == record.id) {
            return Arc::clone(known);
        }
        let known = Arc::new(Known::new(record));
        if let Some(earlier) = all.insert(known.record.name.clone(), Arc::clone(&known)) {
            earlier.set_removed();
        }
        known
    }

    pub(super) fn forget(&self, removed: &Known) {
        let mut all = self.known.lock();
        if all.get(&removed.record.name).is_some_and(|known| known.record.id == removed.record.id) {
            all.remove(&removed.record.name);
        }
    }

    /// All sandboxes that this server knows.
    pub(super) fn met(&self) -> Vec<Arc<Known>> {
        self.known.lock().values().map(Arc::clone).collect()
    }

    /// The sandboxes that are open, without those that are just being opened or closed.
    pub(super) fn open_ones(&self) -> Vec<Arc<Known>> {
        let mut met = self.met();
        met.retain(|known| known.open.try_read().is_ok_and(|open| open.is_some()));
        met
    }

    /// Closes the least recently used sandboxes if the maximum number is open.
    async fn make_room(&self) {
        let mut open = self.open_ones();
        let Some(excess) = (open.len() + 1).checked_sub(max_open()).filter(|excess| *excess > 0) else {
            return;
        };
        open.sort_by_key(|known| known.last_used_at());
        let idle = open.into_iter().filter(|known| known.in_use.is_empty());
        for known in idle.take(excess) {
            if let Err(failure) = self.close(&known, Duration::ZERO).await {
                tracing::warn!(?failure, "sandbox.not_closed");
            }
        }
    }

    /// Closes `known`, unless it is in use or was used within `idle`, and stores when work is due in it.
    /// If that can't be stored, it is closed all the same.
    pub(super) async fn close(&self, known: &Known, idle: Duration) -> Result<(), Failure> {
        let mut slot = known.open.write().await;
        let now = self.clock.unset_now();
        if !known.in_use.is_empty() || known.is_working() || now.since(known.last_used_at()) < idle {
            return Ok(());
        }
        let Some(OpenSandbox { sandbox, .. }) = slot.take() else { return Ok(()) };
        let due = sandbox.next_work().await;
        known.keep(sandbox.kept());
        sandbox.close_alone().await;
        tracing::debug!(sandbox = known.record.name.as_str(), "sandbox.closed");
        self.store_uses(vec![known.take_use(now, due?.map(|wait| now.plus(wait)))]).await
    }

    /// Closes all sandboxes, for a shutdown.
    pub async fn close_all(&self, timeout: Duration) {
        let closing = self.met().into_iter().map(|known| self.close_now(known, timeout).boxed());
        futures::future::join_all(closing).await;
        self.known.lock().clear();
    }

    async fn close_now(&self, known: Arc<Known>, timeout: Duration) {
        known.set_removed();
        let open = known.open.write().await.take();
        if let Some(OpenSandbox { sandbox, .. }) = open {
            sandbox.tasks.end(timeout).await;
            sandbox.close_alone().await;
            let now = self.clock.unset_now();
            if let Err(failure) = self.store_uses(vec![known.take_use(now, Some(now))]).await {
                tracing::warn!(?failure, "sandbox.use_not_stored");
            }
        }
    }

    /// Stores the use of a sandbox that is open here: this server does its work, as long as it runs.
    pub(super) async fn store_open(&self, known: &Known) -> Result<(), Failure> {
        let now = self.clock.unset_now();
        self.store_uses(vec![known.take_use(now, Some(now.plus(TAKE_OVER)))]).await
    }

    /// Stores what [`Known::take_use`] returned, in one transaction.
    pub(super) async fn store_uses(&self, uses: Vec<Use>) -> Result<(), Failure> {
        if uses.is_empty() {
            return Ok(());
        }
        self.database
            .write_in_turn(async move |connection: &mut Connection| {
                Ok(records::store_uses(connection, &uses).await?)
            })
            .await
    }

    /// All sandboxes: `main`, then the others, the most recently used first.
    pub async fn list(&self) -> Result<Vec<Listed>, Failure> {
        let records = records::all(&mut self.database.read().await?).await?;
        let mut sizes = self.databases.sizes().await?;
        let now = self.clock.unset_now();
        let main_size = self.database.size().await?;
        let others = records.into_iter().map(|record| {
            let size = sizes.remove(&record.id);
            self.listed(&record, size)
        });
        let mut others: Vec<Listed> = others.filter(|one| one.expires_at.is_none_or(|at| at > now)).collect();
        others.sort_by_key(|listed| std::cmp::Reverse(listed.last_used_at));
        let mut all = vec![self.listed_main(main_size)];
        all.append(&mut others);
        Ok(all)
    }

    /// The names of the most recently used sandboxes, without `main`.
    pub async fn names(&self) -> Result<Vec<Name>, Failure> {
        if !self.are_on() {
            return Ok(Vec::new());
        }
        let records = records::all(&mut self.database.read().await?).await?;
        Ok(records.into_iter().take(NAMED).map(|record| record.name).collect())
    }

    pub async fn show(&self, name: &Name) -> Result<Listed, Failure> {
        let found = self.list().await?.into_iter().find(|listed| listed.name == *name);
        found.ok_or_else(|| SandboxRefusal::SandboxNotFound(name.to_string()).into())
    }

    pub fn listed(&self, record: &Record, size: Option<u64>) -> Listed {
        let known =
            self.known.lock().get(&record.name).filter(|known| known.record.id == record.id).map(Arc::clone);
        let used = known.map(|known| (known.last_used_at(), known.calls()));
        let (last_used_at, calls) = used.unwrap_or((record.last_used_at, record.calls));
        let last_used_at = last_used_at.max(record.last_used_at);
        Listed {
            name: record.name.clone(),
            url: self.addresses.portal(&record.name),
            console_url: self.addresses.console_url(&record.name),
            created_at: Some(record.created_at),
            expires_at: Some(record.expires_at(last_used_at)),
            last_used_at: Some(last_used_at),
            calls: calls.max(record.calls),
            size,
        }
    }

    fn listed_main(&self, size: Option<u64>) -> Listed {
        let last_used_at = UnixMillis(self.main_last_used_at.load(Ordering::Relaxed));
        let name = Name::main();
        Listed {
            url: self.addresses.portal(&name),
            console_url: self.addresses.console_url(&name),
            name,
            created_at: None,
            expires_at: None,
            last_used_at: Some(last_used_at).filter(|at| at.0 > 0),
            calls: self.main_calls.load(Ordering::Relaxed),
            size,
        }
    }

    pub fn count_open(&self) -> usize {
        self.open_ones().len()
    }

    /// The calls since this server started, of each of the `named` busiest sandboxes, the busiest first, and of the
    /// rest; and the number of open sandboxes.
    pub fn load(&self, named: usize) -> SandboxLoad {
        let calls = |known: &Arc<Known>| (known.record.name.to_string(), known.calls() - known.record.calls);
        let mut busiest: Vec<(String, i64)> = self.met().iter().map(calls).collect();
        busiest.sort_by(|(one, calls), (other, more)| more.cmp(calls).then_with(|| one.cmp(other)));
        let rest = busiest.split_off(named.min(busiest.len())).iter().map(|(_, calls)| calls).sum();
        let main = self.main_calls.load(Ordering::Relaxed);
        SandboxLoad { main, busiest, rest, open: self.count_open() }
    }
}
