//! One task for the background work of all sandboxes besides `main`: settling, sending, sweeping, closing
//! and removing. The task sleeps while no sandbox is open and no work is due in closed ones.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    IDLE_TIMEOUT, Record, Sandbox, Sandboxes, Server,
    known::{Due, Known},
    records,
};
use crate::retention;
use base::{clock::UnixMillis, error::Failure};
use lending::events::Trail;

/// Interval between rounds while sandboxes are open.
const OPEN_INTERVAL: Duration = Duration::from_secs(1);

/// Poll interval for changes made by other servers or commands, while no sandbox is open.
const CLOSED_INTERVAL: Duration = Duration::from_mins(1);

/// The longest time between two rounds of work in an open sandbox; old rows are deleted then.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// Time until failed work is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// Minimum age of data without a row to be deleted: in newer data, the row may not be written yet.
const ORPHAN_AGE: Duration = Duration::from_mins(10);

/// Interval for deleting data without a row.
const ORPHAN_INTERVAL: Duration = Duration::from_mins(10);

/// Runs [`tend`] again and again, for as long as the future is polled.
pub async fn keep(server: Arc<Server>) {
    let sandboxes = &server.sandboxes;
    if let Err(failure) = records::make_due(&sandboxes.database, sandboxes.clock.unset_now()).await {
        tracing::warn!(?failure, "sandboxes.not_started");
    }
    let mut orphans_deleted_at: Option<Instant> = None;
    loop {
        if orphans_deleted_at.is_none_or(|at| at.elapsed() >= ORPHAN_INTERVAL) {
            orphans_deleted_at = Some(Instant::now());
            if let Err(failure) = sandboxes.delete_orphans().await {
                tracing::warn!(?failure, "sandboxes.orphans_not_deleted");
            }
        }
        if let Err(failure) = tend(&server).await {
            tracing::warn!(?failure, "sandboxes.round_failed");
        }
        let wait = async {
            if sandboxes.open_ones().is_empty() {
                let wait = sandboxes.next_event().await.unwrap_or(CLOSED_INTERVAL).min(CLOSED_INTERVAL);
                sandboxes.clock.sleep(wait.max(OPEN_INTERVAL)).await;
            } else {
                tokio::time::sleep(OPEN_INTERVAL).await;
            }
        };
        tokio::select! { () = wait => {}, () = sandboxes.wake.notified() => {} }
    }
}

/// Runs one round: removes and closes sandboxes, and starts the work that is due in the background.
///
/// # Errors
/// When the store of `main` fails.
pub async fn tend(server: &Arc<Server>) -> Result<(), Failure> {
    let sandboxes = &server.sandboxes;
    let now = sandboxes.clock.unset_now();
    sandboxes.remove_expired(now).await?;
    sandboxes.notice_removed().await?;
    let mut due = records::due(&mut sandboxes.database.read().await?, now).await?;
    due.retain(|record| sandboxes.databases.has(&record.id));
    for record in due {
        let known = sandboxes.meet(record);
        // Opening a sandbox makes its work due.
        if let Err(failure) = sandboxes.opened(server, &known).await {
            tracing::error!(?failure, sandbox = known.record.name.as_str(), "sandbox.not_opened");
        }
    }
    let open = sandboxes.open_ones();
    let used = open.iter().filter(|known| known.has_use_to_store(now));
    sandboxes.store_uses(used.map(|known| known.take_use(now, Due::WhileOpen)).collect()).await?;
    for known in open {
        sandboxes.look_after(&known, now).await?;
    }
    Ok(())
}

impl Sandboxes {
    /// Deletes data without a row, if there are rows: a process died while it made or removed the sandbox.
    ///
    /// # Errors
    /// When the databases fail.
    pub async fn delete_orphans(&self) -> Result<(), Failure> {
        let now = self.clock.unset_now();
        let stored = self.databases.sizes().await?;
        // Read after the data: a sandbox that is made in the meantime has a row.
        let ids = records::ids(&mut self.database.read().await?).await?;
        // The data may be that of another database, from before a move.
        if ids.is_empty() {
            return Ok(());
        }
        for id in stored.keys().filter(|id| !ids.contains(*id)) {
            if made_at(id).map_or(Duration::ZERO, |at| now.since(at)) >= ORPHAN_AGE {
                self.databases.delete(id).await?;
                tracing::info!(sandbox.id = id, "sandbox.orphan_deleted");
            }
        }
        Ok(())
    }

    async fn remove_expired(&self, now: UnixMillis) -> Result<(), Failure> {
        let mut expired = records::expired(&mut self.database.read().await?, now).await?;
        // Only the server with the data knows when a sandbox was used last. On a file, there is no other server.
        expired.retain(|record| !self.database.is_shared() || self.databases.has(&record.id));
        for known in self.met() {
            if known.expires_at() <= now && expired.iter().all(|record| record.id != known.record.id) {
                expired.push(known.record.clone());
            }
        }
        for record in expired {
            let known = self.meet(record);
            if known.expires_at() <= now {
                self.remove_record(&known.record, &Trail::default()).await?;
            } else {
                // The sandbox was used since its use was stored.
                self.store_use(&known, Due::WhileOpen).await?;
            }
        }
        Ok(())
    }

    /// Closes the sandboxes that another server or a call of their own has removed.
    async fn notice_removed(&self) -> Result<(), Failure> {
        let met = self.met();
        if met.is_empty() {
            return Ok(());
        }
        let ids = records::ids(&mut self.database.read().await?).await?;
        for known in met.iter().filter(|known| !ids.contains(&known.record.id)) {
            self.delete_data(known).await?;
        }
        Ok(())
    }

    async fn look_after(&self, known: &Arc<Known>, now: UnixMillis) -> Result<(), Failure> {
        // Running work may miss what is committed meanwhile: the next round finds it.
        if known.is_working() {
            return Ok(());
        }
        let idle = now.since(known.last_used_at());
        let sandbox = {
            let slot = known.open.read().await;
            let Some(open) = &*slot else { return Ok(()) };
            (open.has_changed() || known.has_work(now)).then(|| open.sandbox.clone())
        };
        if let Some(sandbox) = sandbox {
            if let Some(working) = known.begin_work() {
                // Provisional; set again once the work is done.
                known.work_at(now.plus(SWEEP_INTERVAL));
                let (this, known) = (sandbox.clone(), Arc::clone(known));
                sandbox.tasks.spawn_background(async move {
                    let next = work(&this, &known, now).await.unwrap_or_else(|failure| {
                        tracing::warn!(?failure, sandbox = this.name.as_str(), "sandbox.round_failed");
                        Some(RETRY_INTERVAL)
                    });
                    known.work_at(now.plus(next.unwrap_or(SWEEP_INTERVAL).min(SWEEP_INTERVAL)));
                    drop(working);
                });
            }
        } else if idle >= IDLE_TIMEOUT && known.in_use.is_empty() {
            self.close(known, IDLE_TIMEOUT).await?;
        }
        Ok(())
    }

    /// The time until work is due or a sandbox expires.
    async fn next_event(&self) -> Result<Duration, Failure> {
        let now = self.clock.unset_now();
        let mut all = records::all(&mut self.database.read().await?).await?;
        all.retain(|record| self.databases.has(&record.id));
        let next = all.iter().filter_map(Record::next_event).min();
        Ok(next.map_or(CLOSED_INTERVAL, |next| next.since(now)))
    }
}

/// Does the work that is due in a sandbox, and returns the time until more is due.
async fn work(sandbox: &Sandbox, known: &Known, now: UnixMillis) -> Result<Option<Duration>, Failure> {
    // First, because it loads the clock, by which old rows are deleted.
    let next = sandbox.work().await?;
    if known.is_sweep_due(now, SWEEP_INTERVAL) {
        retention::delete_old(&sandbox.slices).await?;
    }
    Ok(next)
}

/// The time at which an id was made, which is its beginning.
fn made_at(id: &str) -> Option<UnixMillis> {
    let digits: String = id.chars().filter(|c| *c != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 12).map(UnixMillis)
}
