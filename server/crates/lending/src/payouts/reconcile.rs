//! Settles payouts that were left open because the answer was lost, or because the process died
//! before it could record the answer. No manual work is needed.
//!
//! The status of every PENDING payout is queried: first ten seconds after its start, then every five seconds, and
//! immediately after a restart. If a server dies during a query, another one asks 5 s later; after two such deaths there
//! is still time for a third query within 30 s. A payout is due by the sandbox's clock or in base time, whichever comes
//! first, so that setting the clock back delays nothing. Times too far ahead come from a machine whose clock was ahead,
//! and are set again, so that no payout waits for them. If mobile money does not know a payout whose request has expired,
//! the request is voided: it can't be paid from then on, even if it still arrives. Then the payout fails as not received,
//! and its loan can be tried again. A server leases a payout before it queries it, so that several servers can reconcile
//! concurrently. Settling is idempotent, in case a lease expires.

use std::time::Duration;

use futures::{StreamExt, future::join_all, stream};
use tokio::sync::mpsc;
use tracing::Instrument;

use super::{FIRST_CHECK, Payouts, REQUEST_LIFETIME, answered::keep_comparing, settle::settle};
use crate::mobile_money::{Answer, Delivery};
use base::{
    clock::{Clock, UnixMillis},
    error::Failure,
    ids::{PayoutId, TransactionId},
    kes::Kes,
    phone::Msisdn,
};
use store::{QueryAs, query, query_as, version::DataCopy};

/// Poll interval for payouts that are due: those of other servers, too. If one is due sooner, this server wakes then.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest one, for a payout that is due and that somebody else has locked.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The interval between two status queries of a payout.
const INTERVAL: Duration = Duration::from_secs(5);
/// The time by which another machine's clock may be ahead before its times are set again.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);
/// The maximum number of payouts leased at once.
const BATCH_SIZE: i64 = 64;
/// The maximum number of delivered results settled at once.
const CONCURRENT_RESULTS: usize = 16;

/// Settles open payouts for as long as the sandbox runs: by querying their status, and by receiving the
/// results that mobile money delivers. Compares what was answered with other copies of the data.
pub fn keep_settling(payouts: &Payouts, results: mpsc::Receiver<Delivery>) {
    payouts.world.tasks.spawn_background(receive_results(payouts.clone(), results));
    payouts.world.tasks.spawn_background(keep_reconciling(payouts.clone()));
    payouts.world.tasks.spawn_background(keep_comparing(payouts.clone()));
}

/// Receives the results only: the scheduler of sandboxes calls [`reconcile`].
pub fn keep_receiving(payouts: &Payouts, results: mpsc::Receiver<Delivery>) {
    payouts.world.tasks.spawn_background(receive_results(payouts.clone(), results));
}

const NEXT_CHECK: &str = "SELECT min(check_at), min(check_by) FROM payout WHERE status = 'PENDING'";

/// Returns the time until a payout is due to be queried; `None` if none is pending.
pub async fn next_check(payouts: &Payouts) -> Result<Option<Duration>, Failure> {
    let (check_at, check_by): (Option<UnixMillis>, Option<UnixMillis>) =
        query_as(NEXT_CHECK).fetch_one(&mut payouts.world.database.read().await?).await?;
    let Now { set, unset } = Now::on(&payouts.world.clock);
    // A frozen clock does not reach a later time.
    let is_reached = |at: &UnixMillis| payouts.world.clock.setting().frozen_at.is_none() || *at <= set;
    let by_set = check_at.filter(is_reached).map(|at| at.since(set));
    let by_unset = check_by.map(|at| at.since(unset).min(FIRST_CHECK));
    Ok(by_set.into_iter().chain(by_unset).min())
}

/// Results that arrive together are settled together, in one commit of the writer.
async fn receive_results(payouts: Payouts, results: mpsc::Receiver<Delivery>) {
    let results = stream::unfold(results, async |mut results| Some((results.recv().await?, results)));
    results.for_each_concurrent(CONCURRENT_RESULTS, |delivery| receive_result(&payouts, delivery)).await;
}

async fn receive_result(payouts: &Payouts, delivery: Delivery) {
    let Delivery { originator_id, copy, answer, traceparent, processed } = delivery;
    let verdict = match answer {
        Answer::Result(verdict) => verdict,
        Answer::DuplicateOriginator | Answer::DataReplaced => return,
    };
    let step = traces::later(&payouts.world.traces, "receive the result", traceparent.as_deref());
    match settle(payouts, originator_id.clone(), copy, verdict).instrument(step).await {
        Ok(Some(_)) => {}
        Ok(None) => {
            tracing::warn!(transaction.id = %originator_id, "received a result for an unknown payment");
        }
        // The payout stays PENDING, and its status will be queried.
        Err(failure) => {
            tracing::error!(transaction.id = %originator_id, ?failure, "payout.result_not_kept");
        }
    }
    _ = processed.send(());
}

async fn keep_reconciling(payouts: Payouts) {
    let mut make_due_pending = true;
    loop {
        if make_due_pending {
            make_due_pending = !succeeded(&make_due(&payouts).await);
        }
        succeeded(&reconcile(&payouts).await);
        let next = next_check(&payouts).await.ok().flatten().unwrap_or(POLL_INTERVAL);
        payouts.world.clock.sleep(next.clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)).await;
    }
}

/// Logs a failure, which is retried in the next round. Returns whether `result` is `Ok`.
fn succeeded(result: &Result<(), Failure>) -> bool {
    if let Err(failure) = result {
        tracing::warn!(?failure, "reconciling failed");
    }
    result.is_ok()
}

const MAKE_DUE: &str = "UPDATE payout SET check_at = $1 WHERE status = 'PENDING' AND check_at > $1";

async fn make_due(payouts: &Payouts) -> Result<(), Failure> {
    let make_due = query(MAKE_DUE).bind(payouts.world.clock.now());
    payouts.world.database.execute_in_turn(make_due).await?;
    Ok(())
}

/// Queries every payout that is due now. Rounds of one process are serialized, so when this returns, no query of a due
/// payout is still running.
pub async fn reconcile(payouts: &Payouts) -> Result<(), Failure> {
    let _guard = payouts.reconciling.lock().await;
    while is_any_due(payouts).await? {
        let due = lease(payouts).await?;
        if due.is_empty() {
            break;
        }
        let checks = due.into_iter().map(|open| {
            let step = traces::later(&payouts.world.traces, "ask again", open.traceparent.as_deref());
            check(payouts, open).instrument(step)
        });
        for outcome in join_all(checks).await {
            // It is due again when its lease expires.
            if let Err(failure) = outcome {
                tracing::warn!(?failure, "payout.status_not_heard");
            }
        }
    }
    Ok(())
}

/// Checked with a reader first: usually nothing is due, and the writer is not needed.
async fn is_any_due(payouts: &Payouts) -> Result<bool, Failure> {
    let mut reader = payouts.world.database.read().await?;
    Ok(!due(Now::on(&payouts.world.clock), 1).fetch_all(&mut reader).await?.is_empty())
}

#[derive(Clone, Copy)]
struct Now {
    /// The time on the sandbox's clock, which the console sets.
    set: UnixMillis,
    /// The base time, without the console's setting.
    unset: UnixMillis,
}

impl Now {
    fn on(clock: &Clock) -> Self {
        Self { set: clock.now(), unset: clock.unset_now() }
    }
}

#[derive(sqlx_macros::FromRow)]
struct OpenPayout {
    payout_id: PayoutId,
    transaction_id: TransactionId,
    amount: Kes,
    phone_number: Msisdn,
    created_at: UnixMillis,
    claimed_at: UnixMillis,
    checks: i64,
    traceparent: Option<String>,
    #[sqlx(flatten)]
    copy: DataCopy,
}

impl OpenPayout {
    /// Returns whether the payment request is refused from now on.
    fn is_expired(&self, now: Now) -> bool {
        now.set >= self.created_at.plus(REQUEST_LIFETIME)
            || now.unset >= self.claimed_at.plus(REQUEST_LIFETIME)
    }

    /// Returns the interval until the next query, which is due no later than the request expires.
    fn next_interval(&self, now: Now) -> Duration {
        if self.is_expired(now) {
            return INTERVAL;
        }
        let left = self.claimed_at.plus(REQUEST_LIFETIME).since(now.unset);
        INTERVAL.min(left.min(self.created_at.plus(REQUEST_LIFETIME).since(now.set)))
    }
}

/// `$1` and `$2` are the time on both clocks. A `check_by` after `$3` was set by a clock that is ahead of this one; that
/// payout is due now.
const DUE: &str = "
    SELECT payout_id, transaction_id, amount, phone_number, created_at, claimed_at, checks,
           traceparent, generation, timeline
    FROM payout CROSS JOIN data_copy
    WHERE status = 'PENDING' AND (
        check_at <= $1 OR check_by <= $2 OR check_by > $3)
    ORDER BY check_at, payout_id LIMIT $4";

/// The payouts to be queried at `now`, `limit` at most.
fn due(now: Now, limit: i64) -> QueryAs<OpenPayout> {
    let latest = now.unset.plus(FIRST_CHECK + 2 * CLOCK_TOLERANCE);
    query_as(DUE).bind(now.set).bind(now.unset).bind(latest).bind(limit)
}

const LEASE: &str = "
    UPDATE payout SET check_at = $3, check_by = $4, claimed_at = $5, checks = checks + 1
    WHERE payout_id = $1 AND checks = $2 AND status = 'PENDING'";

/// Leases due payouts for this server until they are due again.
async fn lease(payouts: &Payouts) -> Result<Vec<OpenPayout>, Failure> {
    let mut transaction = payouts.world.begin_with_current_clock().await?;
    let now = Now::on(&payouts.world.clock);
    let mut leased = Vec::new();
    // Skips payouts that are being settled or leased.
    let open = due(now, BATCH_SIZE).locking("FOR UPDATE OF payout SKIP LOCKED");
    for mut open in open.fetch_all(&mut transaction).await? {
        open.claimed_at = open.claimed_at.min(now.unset);
        let mine = query(LEASE)
            .bind(&open.payout_id)
            .bind(open.checks)
            .bind(now.set.plus(open.next_interval(now)))
            .bind(now.unset.plus(open.next_interval(now)))
            .bind(open.claimed_at)
            .execute(&mut transaction)
            .await?;
        if mine == 1 {
            leased.push(open);
        }
    }
    transaction.commit().await?;
    Ok(leased)
}

/// Queries the status of `open` and settles it if possible.
async fn check(payouts: &Payouts, open: OpenPayout) -> Result<(), Failure> {
    let verdict = if open.is_expired(Now::on(&payouts.world.clock)) {
        let OpenPayout { transaction_id, amount, phone_number, copy, .. } = &open;
        payouts.mobile_money.void(transaction_id.clone(), phone_number.clone(), *amount, *copy).await?
    } else {
        payouts.mobile_money.status(&open.transaction_id).await?
    };
    if let Some(verdict) = verdict {
        settle(payouts, open.transaction_id, open.copy, verdict).await?;
    }
    Ok(())
}
