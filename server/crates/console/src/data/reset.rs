//! Resets to the demo data.

use crate::refusal::ConsoleRefusal;
use base::{
    clock::{Setting, UnixMillis},
    error::Failure,
};
use lending::{
    demo,
    events::{Entry, EventKind, Trail},
    mobile_money::ScenarioChange,
    rules,
    world::store_clock,
};
use store::Connection;
use worlds::sandboxes::Sandbox;

/// The state after a reset. Equal values give the same loans and records, ids included.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub world: demo::DemoData,
    /// The time of the clock, which dates are relative to; `None` for the real time.
    pub now: Option<UnixMillis>,
    pub is_frozen: bool,
}

impl Start {
    /// `world`, with the clock at the real time.
    pub fn of(world: demo::DemoData) -> Self {
        Self { world, now: None, is_frozen: false }
    }
}

/// Replaces all data with the demo data of `start`: ends all sessions, clears limits, messages, faults,
/// the scenario and this server's recorded calls, and sets the clock. Keeps the snapshots.
/// Running payouts are cut off, on every server, because the generation of the data changes.
///
/// # Errors
/// [`ConsoleRefusal::NotInDemoMode`]: demo accounts have a known password, and exist in demo mode only, which sandboxes
/// besides `main` always are in.
pub async fn reset(sandbox: &Sandbox, start: Start, trail: &Trail) -> Result<(), Failure> {
    reset_and(sandbox, start, trail, async |_: &mut Connection| Ok(())).await
}

/// Like [`reset`], with `add` in the same transaction.
///
/// # Errors
/// Those of [`reset`] and of `add`.
pub async fn reset_and(
    sandbox: &Sandbox,
    start: Start,
    trail: &Trail,
    add: impl AsyncFnOnce(&mut Connection) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !sandbox.settings.demo {
        return Err(ConsoleRefusal::NotInDemoMode.into());
    }
    let hashes = demo::hash_passwords(&sandbox.auth.passwords).await?;
    let sandbox_clock = sandbox.clock.clone();
    let entry = Entry::of(EventKind::DataReset).with("seed", start.world).with_some("now", start.now);
    let now = trail
        .write(sandbox.database.begin_alone().await?, [entry], async move |connection: &mut Connection| {
            super::empty(connection).await?;
            ScenarioChange::back_to_start().apply(connection).await?;
            rules::reset(connection).await?;
            let base = sandbox_clock.unset_now();
            let setting = Setting::at(start.now, start.is_frozen, base);
            store_clock(connection, setting).await?;
            let now = start.now.unwrap_or(base);
            demo::fill(connection, start.world, now, hashes).await?;
            add(connection).await?;
            Ok(now)
        })
        .await?;
    sandbox.traffic.begin_again(demo::Beginning { world: start.world, now, is_frozen: start.is_frozen });
    Ok(())
}
