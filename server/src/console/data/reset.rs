//! Resets to the demo data.

use crate::{
    Sandbox, clock::Setting, console::clock, database::Connection, demo, error::Failure,
    mobile_money::ScenarioChange,
};

/// Replaces all data with the demo data of `world`: ends all sessions, clears limits, messages, faults,
/// the scenario and this server's recorded calls, and sets the clock to the real time. Keeps the snapshots.
/// Payouts that run are cut off, in every server: the generation of the data moves on.
///
/// # Errors
/// [`Failure::NotInDemoMode`]: demo accounts have a known password, and exist in demo mode only.
pub async fn reset(sandbox: &Sandbox, world: demo::World) -> Result<(), Failure> {
    if !sandbox.settings.demo {
        return Err(Failure::NotInDemoMode);
    }
    let hashes = demo::hash_passwords(&sandbox.passwords).await?;
    let sandbox_clock = sandbox.clock.clone();
    sandbox
        .database
        .write_alone(move |connection: &mut Connection| {
            Box::pin(async move {
                super::empty(connection).await?;
                ScenarioChange::back_to_start().apply(connection).await?;
                clock::store(connection, Setting::default()).await?;
                demo::fill(connection, world, sandbox_clock.unset_now(), hashes).await?;
                // Before the commit: what reads the new data must not do it at the old time.
                sandbox_clock.set(Setting::default());
                Ok(())
            })
        })
        .await?;
    sandbox.traffic.clear();
    Ok(())
}
