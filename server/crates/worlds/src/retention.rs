//! Deletes data that is no longer needed, in small batches.

use std::{sync::Arc, time::Duration};

use base::error::Failure;
use lending::{
    auth::{limits, session},
    events, outbox, payouts,
};
use slices::Slices;
use store::server_lease::ServerLease;

/// The interval between two rounds.
const INTERVAL: Duration = Duration::from_hours(1);

/// The wait before a failed round is repeated.
const RETRY_INTERVAL: Duration = Duration::from_mins(1);

/// Deletes old data for as long as the future is polled. Of several servers, only one does so.
pub async fn keep_deleting(slices: Slices, lease: Arc<ServerLease>) {
    loop {
        let round = async { if lease.is_first().await? { delete_old(&slices).await } else { Ok(()) } };
        let next = match round.await {
            Ok(()) => INTERVAL,
            Err(failure) => {
                tracing::warn!(?failure, "retention.round_failed");
                RETRY_INTERVAL
            }
        };
        slices.clock.sleep(next).await;
    }
}

/// Deletes everything in the world of `slices` that is older than the settings allow, by real time too: nothing is lost when the
/// console moves the clock ahead and back. If it fails, earlier deletions stay done.
pub async fn delete_old(slices: &Slices) -> Result<(), Failure> {
    let (database, settings, now) = (&slices.database, &slices.settings, slices.clock.earliest());
    let days = |days: u32| Duration::from_hours(u64::from(days) * 24);
    let keys = payouts::delete_expired_keys(database, now).await?;
    let sessions = session::delete_old(database, now.minus(days(settings.keep_sessions_days))).await?;
    let messages = outbox::delete_old(database, now.minus(days(settings.keep_messages_days))).await?;
    // In base time: the console can't make events and deployments old.
    let base = slices.clock.unset_now();
    let events = events::delete_old(database, base.minus(days(settings.keep_events_days))).await?;
    let limits = limits::delete_expired(database, now).await?;
    let builds = if slices.are_of_main() {
        slices::reports::delete_old(database, base.minus(slices::reports::KEPT)).await?
            + slices::delete_old(slices, settings.keep_builds as usize, base).await?
    } else {
        0
    };
    if sessions + messages + keys + events + limits + builds > 0 {
        tracing::info!(sessions, messages, keys, events, limits, builds, "retention.deleted");
    }
    Ok(())
}
