//! Back to the demo data.

use crate::{
    Sandbox, clock::Setting, console::clock, database::Connection, demo, error::Failure,
    mobile_money::ScenarioChange,
};

/// Puts the demo data of `seed` in the place of all data: nobody is signed in, no limit is
/// reached, no message, fault or scenario is left, and the clock goes with the machine's again.
/// Snapshots stay.
///
/// # Errors
/// [`Failure::NotInDemoMode`]: demo accounts have a known password, and exist in demo mode only.
pub async fn reset(sandbox: &Sandbox, seed: u64) -> Result<(), Failure> {
    if !sandbox.settings.demo {
        return Err(Failure::NotInDemoMode);
    }
    let hashes = demo::hash_passwords(&sandbox.passwords).await?;
    // A round that began on the other data must not settle what is put in its place.
    let _no_round = sandbox.reconciling.lock().await;
    let machine = sandbox.clock.clone();
    sandbox
        .database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                super::empty(connection).await?;
                ScenarioChange::back_to_start().apply(connection).await?;
                clock::store(connection, Setting::default()).await?;
                demo::fill(connection, seed, machine.unset_now(), hashes).await
            })
        })
        .await
}
