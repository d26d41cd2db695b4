//! One task for the background work of all sandboxes besides `main`: settling, sending, sweeping, closing
//! and removing.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    IDLE_TIMEOUT, Record, Sandbox, SandboxRefusal, Sandboxes, Server,
    known::{Known, TAKE_OVER},
    records,
};
use crate::retention;
use base::{clock::UnixMillis, error::Failure};
use lending::events::Trail;

/// Interval between rounds.
const INTERVAL: Duration = Duration::from_secs(1);

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
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Runs one round: removes and closes sandboxes, and starts the work that is due in the background.
pub async fn tend(server: &Arc<Server>) -> Result<(), Failure> {
    let sandboxes = &server.sandboxes;
    let now = sandboxes.clock.unset_now();
    // Before the rows: a sandbox that is made in the meantime has a row.
    let met = sandboxes.met();
    let all = records::all(&mut sandboxes.database.read().await?).await?;
    sandboxes.notice_removed(&met, &all).await?;
    let (expired, mut others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|record| record.expires_at(record.last_used_at) <= now);
    sandboxes.remove_expired(expired, now).await?;
    others.sort_by_key(|record| record.due_at);
    let is_due = |record: &Record| record.due_at.is_some_and(|at| at <= now);
    for record in others.into_iter().filter(is_due).filter(|record| sandboxes.databases.has(&record.id)) {
        let known = sandboxes.meet(record);
        // Opening a sandbox makes its work due.
        if let Err(failure) = sandboxes.opened(server, &known).await {
            tracing::error!(?failure, sandbox = known.record.name.as_str(), "sandbox.not_opened");
        }
    }
    let open = sandboxes.open_ones();
    let used = open.iter().filter(|known| known.has_use_to_store(now));
    sandboxes.store_uses(used.map(|known| known.take_use(now, Some(now.plus(TAKE_OVER)))).collect()).await?;
    for known in open {
        sandboxes.look_after(&known, now).await?;
    }
    Ok(())
}

impl Sandboxes {
    /// Deletes data without a row, if there are rows: a process died while it made or removed the sandbox.
    pub async fn delete_orphans(&self) -> Result<(), Failure> {
        let now = self.clock.unset_now();
        let stored = self.databases.sizes().await?;
        // Read after the data: a sandbox that is made in the meantime has a row.
        let all = records::all(&mut self.database.read().await?).await?;
        // The data may be that of another database, from before a move.
        if all.is_empty() {
            return Ok(());
        }
        let ids = ids_of(&all);
        for id in stored.keys().filter(|id| !ids.contains(id.as_str())) {
            if made_at(id).map_or(Duration::ZERO, |at| now.since(at)) >= ORPHAN_AGE {
                self.databases.delete(id).await?;
                tracing::info!(sandbox.id = id, "sandbox.orphan_deleted");
            }
        }
        Ok(())
    }

    /// Removes the sandboxes of `expired`, the records of those that have expired as stored.
    async fn remove_expired(&self, mut expired: Vec<Record>, now: UnixMillis) -> Result<(), Failure> {
        // Only the server with the data knows when a sandbox was used last. On a file, there is no other server; a
        // server that does not report for long has lost the data.
        expired.retain(|record| {
            let expires_at = record.expires_at(record.last_used_at);
            !self.database.is_shared() || self.databases.has(&record.id) || expires_at.plus(TAKE_OVER) <= now
        });
        for record in expired {
            let known = self.meet(record);
            if known.expires_at() <= now {
                match self.remove_record(&known.record, &Trail::default()).await {
                    // A call or another server has just removed it.
                    Err(failure) if matches!(failure.refusal(), Some(SandboxRefusal::SandboxNotFound(_))) => {
                    }
                    removed => removed?,
                }
            } else {
                // The sandbox was used since its use was stored.
                self.store_open(&known).await?;
            }
        }
        Ok(())
    }

    /// Closes those of the sandboxes `met` that another server or a call of their own has removed.
    async fn notice_removed(&self, met: &[Arc<Known>], all: &[Record]) -> Result<(), Failure> {
        let ids = ids_of(all);
        for known in met.iter().filter(|known| !ids.contains(known.record.id.as_str())) {
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
}

fn ids_of(records: &[Record]) -> HashSet<&str> {
    records.iter().map(|record| record.id.as_str()).collect()
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
