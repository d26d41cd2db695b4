//! Undoes at a start what the console's tools have set, where they are refused: nobody could remove it there.

use super::Sandbox;
use crate::faults;
use base::{clock::Setting, error::Failure};
use lending::{events::Trail, mobile_money::ScenarioChange, world::stored_clock};

/// Puts the clock and the scenario back and removes the faults, each where its tool is refused. The float stays: it is
/// a balance, which payouts change, too. If it fails, the next start does what is left.
pub(super) async fn undo_tools(sandbox: &Sandbox) -> Result<(), Failure> {
    let removes_faults = !sandbox.settings.allows_tools();
    let puts_back = removes_faults || sandbox.provider.is_some();
    let mut reader = sandbox.database.read().await?;
    let clock = puts_back && stored_clock(&mut reader).await? != Setting::default();
    let faults = removes_faults && !faults::all(&mut reader).await?.is_empty();
    drop(reader);
    let scenario = puts_back && !sandbox.mobile_money.scenario().await?.is_plain();
    if !clock && !faults && !scenario {
        return Ok(());
    }
    tracing::warn!(
        clock,
        faults,
        scenario,
        "undoing what the console's tools have set, because they are off"
    );
    let trail = Trail::of_command_line(sandbox.clock.unset_now());
    if clock {
        sandbox.world.unset_clock(&trail).await?;
    }
    if faults {
        faults::remove(&sandbox.world, None, &trail).await?;
    }
    if scenario {
        let plain = ScenarioChange { float: None, ..ScenarioChange::back_to_start() };
        sandbox.mobile_money.change_scenario(plain, &trail).await?;
    }
    Ok(())
}
