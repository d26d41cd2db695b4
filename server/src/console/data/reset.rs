//! Resets to the demo data.

use crate::{
    Sandbox,
    clock::{Setting, UnixMillis},
    console::clock,
    database::Connection,
    demo,
    error::Failure,
    events::Trail,
    mobile_money::ScenarioChange,
    rules,
};

/// What is there after a reset. The same gives the same loans and records, ids included.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The data.
    pub world: demo::World,
    /// The time that the clock shows, and that dates are relative to; the real time if `None`.
    pub now: Option<UnixMillis>,
    /// Whether the clock is stopped.
    pub is_frozen: bool,
}

impl Start {
    /// `world`, with the clock at the real time.
    pub fn of(world: demo::World) -> Self {
        Self { world, now: None, is_frozen: false }
    }
}

/// Replaces all data with the demo data of `start`: ends all sessions, clears limits, messages, faults,
/// the scenario and this server's recorded calls, and sets the clock. Keeps the snapshots.
/// Payouts that run are cut off, in every server: the generation of the data moves on.
///
/// # Errors
/// [`Failure::NotInDemoMode`]: demo accounts have a known password, and exist in demo mode only.
pub async fn reset(sandbox: &Sandbox, start: Start, trail: &Trail) -> Result<(), Failure> {
    if !sandbox.settings.demo {
        return Err(Failure::NotInDemoMode);
    }
    let hashes = demo::hash_passwords(&sandbox.passwords).await?;
    let sandbox_clock = sandbox.clock.clone();
    let now = trail
        .write(sandbox.database.begin_alone().await?, async move |connection: &mut Connection| {
            super::empty(connection).await?;
            ScenarioChange::back_to_start().apply(connection).await?;
            rules::reset(connection).await?;
            let base = sandbox_clock.unset_now();
            let setting = Setting::at(start.now, start.is_frozen, base);
            clock::store(connection, setting).await?;
            let now = start.now.unwrap_or(base);
            demo::fill(connection, start.world, now, hashes).await?;
            Ok(now)
        })
        .await?;
    sandbox.traffic.begin_again(demo::Beginning { world: start.world, now, is_frozen: start.is_frozen });
    Ok(())
}
