//! Settling what was left open: nobody heard the answer, or the process died before it could
//! write it down. Nothing of it needs a person.
//!
//! Every PENDING payout is asked after by `status`, first ten seconds after it began, then after
//! pauses that double up to five minutes; after a start, all at once. A payout that mobile money
//! does not know once its request can no longer arrive is failed as not received, and its loan
//! can be tried again. Whoever asks takes a lease on the payout first, so that several servers
//! can do this beside each other; and settling is safe to repeat, should a lease run out.

use std::time::Duration;

use futures::future::join_all;
use tokio::sync::mpsc;

use super::{
    FIRST_CHECK, MARGIN, REQUEST_LIFETIME, idempotency,
    settle::{Verdict, settle},
};
use crate::{
    Sandbox,
    clock::UnixMillis,
    database::{Connection, query, query_as, query_scalar},
    error::Failure,
    mobile_money::{Delivery, Status},
};

/// How often the clock is looked at for payouts that are due.
const ROUND: Duration = Duration::from_secs(5);
/// The longest pause between two questions after one payout.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// How many payouts one round leases at once.
const TOGETHER: i64 = 64;
/// How often keys whose time is over are swept out.
const SWEEP: Duration = Duration::from_hours(1);

/// Settles what is left open, from the start on and for as long as the sandbox lives: by asking,
/// and by hearing what mobile money delivers.
pub fn keep_settling(sandbox: &Sandbox, results: mpsc::UnboundedReceiver<Delivery>) {
    sandbox.tasks.beside(hear_results(sandbox.clone(), results));
    sandbox.tasks.beside(keep_reconciling(sandbox.clone()));
}

async fn hear_results(sandbox: Sandbox, mut results: mpsc::UnboundedReceiver<Delivery>) {
    while let Some(Delivery { originator_id, answer, taken }) = results.recv().await {
        let Some(verdict) = Verdict::of(answer) else { continue };
        match settle(&sandbox, originator_id, verdict).await {
            Ok(Some(_)) => {}
            Ok(None) => tracing::warn!("a result of a payment that is not ours"),
            // The payout stays PENDING and is asked after.
            Err(failure) => tracing::error!(?failure, "payout.result_not_kept"),
        }
        _ = taken.send(());
    }
}

async fn keep_reconciling(sandbox: Sandbox) {
    let mut left_by_earlier_process = true;
    let mut swept_at: Option<UnixMillis> = None;
    loop {
        if left_by_earlier_process {
            left_by_earlier_process = !noted(&make_due(&sandbox).await);
        }
        noted(&reconcile(&sandbox).await);
        let now = sandbox.clock.now();
        if swept_at.is_none_or(|at| now.since(at) >= SWEEP) && noted(&sweep(&sandbox, now).await) {
            swept_at = Some(now);
        }
        sandbox.clock.sleep(ROUND).await;
    }
}

/// Whether it went well; what did not is tried again in the next round.
fn noted<T>(result: &Result<T, Failure>) -> bool {
    if let Err(failure) = result {
        tracing::warn!(?failure, "reconciling failed");
    }
    result.is_ok()
}

const MAKE_DUE: &str = "UPDATE payout SET check_at = $1 WHERE status = 'PENDING' AND check_at > $1";

async fn make_due(sandbox: &Sandbox) -> Result<(), Failure> {
    let now = sandbox.clock.now();
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                query(MAKE_DUE).bind(now).execute(connection).await?;
                Ok(())
            })
        })
        .await
}

async fn sweep(sandbox: &Sandbox, now: UnixMillis) -> Result<(), Failure> {
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move { Ok(idempotency::forget_old(connection, now).await?) })
        })
        .await
}

/// Asks after every payout that is due now, and answers how many were settled. Rounds of one
/// process wait for each other, so when this returns, none that was due is still being asked
/// after.
pub async fn reconcile(sandbox: &Sandbox) -> Result<usize, Failure> {
    let _alone = sandbox.reconciling.lock().await;
    let mut settled = 0;
    while is_any_due(sandbox).await? {
        let due = lease(sandbox).await?;
        if due.is_empty() {
            break;
        }
        let asked = join_all(due.into_iter().map(|open| ask_after(sandbox, open))).await;
        for outcome in asked {
            match outcome {
                Ok(true) => settled += 1,
                Ok(false) => {}
                // It is due again when its lease ends.
                Err(failure) => tracing::warn!(?failure, "payout.status_not_heard"),
            }
        }
    }
    Ok(settled)
}

const IS_ANY_DUE: &str = "
    SELECT count(*) FROM (SELECT 1 FROM payout WHERE status = 'PENDING' AND check_at <= $1 LIMIT 1) AS due";

/// Mostly nothing is, and nobody need wait for the writer then.
async fn is_any_due(sandbox: &Sandbox) -> Result<bool, Failure> {
    let now = sandbox.clock.now();
    let mut reader = sandbox.database.read().await?;
    let due: i64 = query_scalar(IS_ANY_DUE).bind(now).fetch_one(&mut reader).await?;
    Ok(due > 0)
}

#[derive(sqlx::FromRow)]
struct Open {
    payout_id: String,
    transaction_id: String,
    created_at: UnixMillis,
    checks: i64,
}

const DUE: &str = "
    SELECT payout_id, transaction_id, created_at, checks FROM payout
    WHERE status = 'PENDING' AND check_at <= $1 ORDER BY check_at, payout_id LIMIT $2";

const LEASE: &str = "
    UPDATE payout SET check_at = $3, checks = checks + 1
    WHERE payout_id = $1 AND checks = $2 AND status = 'PENDING'";

/// Payouts that are due, and nobody else's for the pause until they are due again.
async fn lease(sandbox: &Sandbox) -> Result<Vec<Open>, Failure> {
    let now = sandbox.clock.now();
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                let due: Vec<Open> =
                    query_as(DUE).bind(now).bind(TOGETHER).fetch_all(&mut *connection).await?;
                let mut leased = Vec::new();
                for open in due {
                    let mine = query(LEASE)
                        .bind(&open.payout_id)
                        .bind(open.checks)
                        .bind(now.plus(pause_after(open.checks)))
                        .execute(&mut *connection)
                        .await?;
                    if mine == 1 {
                        leased.push(open);
                    }
                }
                Ok(leased)
            })
        })
        .await
}

fn pause_after(checks: i64) -> Duration {
    let doublings = u32::try_from(checks).unwrap_or(u32::MAX).min(10);
    (FIRST_CHECK * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

/// Whether `open` could be settled.
async fn ask_after(sandbox: &Sandbox, open: Open) -> Result<bool, Failure> {
    // Before the question: only time that has passed when mobile money looks counts.
    let now = sandbox.clock.now();
    let gone = now >= open.created_at.plus(REQUEST_LIFETIME + MARGIN);
    let verdict = match sandbox.mobile_money.status(&open.transaction_id).await? {
        Status::Paid { receipt } => Verdict::Paid(receipt),
        Status::Refused(refusal) => Verdict::Refused(refusal),
        Status::Unknown if gone => Verdict::NotReceived,
        Status::Unknown | Status::Processing => return Ok(false),
    };
    Ok(settle(sandbox, open.transaction_id, verdict).await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_minutes() {
        let pauses: Vec<u64> = (0..7).map(|checks| pause_after(checks).as_secs()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 300, 300]);
    }
}
