//! Makes a sandbox that tells a story.

use std::{sync::Arc, time::Duration};

use super::{
    file::Story,
    folder::File,
    told,
};
use crate::{
    console::{loans, staff},
    faults,
    sandboxes::{Made, Name, Sandbox, Server, Wish, sync},
};
use ::slices::{Bundled, Mark};
use base::error::Failure;
use lending::{events::Trail, rules};
use store::Connection;

/// The options of a sandbox that tells a story; the story has all others.
#[derive(Clone, Debug)]
pub struct NewTold {
    /// Its name; made up if `None`.
    pub name: Option<Name>,
    /// The time without use after which it expires.
    pub expires_in: Duration,
}

/// Makes a sandbox that begins as the story in `file` says. All of it is there, or nothing is made.
///
/// # Errors
/// Those of [`Sandboxes::make`](crate::sandboxes::Sandboxes::make), and of what the story has.
pub async fn begin(server: &Arc<Server>, file: &File, new: NewTold, trail: &Trail) -> Result<Made, Failure> {
    let Story { seed, clock, screens, .. } = &file.story;
    let wish = Wish {
        name: new.name,
        world: seed.map(|seed| seed.0),
        recording: None,
        now: clock.now.map(|now| now.0),
        is_frozen: clock.frozen,
        screens: *screens,
        expires_in: new.expires_in,
    };
    let made = server.sandboxes.make(wish, trail).await?;
    if let Err(failure) = fill(server, &made.record.name, file).await {
        server.sandboxes.remove(&made.record.name, &Trail::default()).await?;
        return Err(failure);
    }
    Ok(made)
}

async fn fill(server: &Arc<Server>, name: &Name, file: &File) -> Result<(), Failure> {
    let in_use = server.sandboxes.find(server, name).await?;
    let sandbox = &in_use.sandbox;
    // That it was made is an event already.
    let trail = Trail::default();
    let story = file.story.clone();
    for colleague in story.staff {
        staff::open(sandbox, colleague.0, &trail).await?;
    }
    for loan in story.loans {
        loans::approve(sandbox, 1, loan.0, &trail).await?;
    }
    if let Some(scenario) = story.scenario {
        sandbox.mobile_money.change_scenario(scenario.0, &trail).await?;
    }
    for fault in story.faults {
        faults::add(&sandbox.world, fault.0, &trail).await?;
    }
    if let Some(settings) = story.settings {
        settings.check(&sandbox.world)?;
        let world = &sandbox.world;
        let set = async move |connection: &mut Connection| rules::set(world, connection, settings).await;
        world.database.write(set).await?;
    }
    set_slices(sandbox, &file.story).await?;
    told::tell(sandbox, &file.name, &file.text).await?;
    sync::reload(sandbox).await
}

async fn set_slices(sandbox: &Sandbox, story: &Story) -> Result<(), Failure> {
    let slices = &sandbox.slices;
    for (name, version) in &story.slices {
        let mark = Mark::now(slices, Some("a story".to_owned()), Trail::default())?;
        let bundled = Bundled::of(slices).await?;
        let (name, version) = (name.0.clone(), version.clone());
        ::slices::activate(&slices.database, &bundled, name, version, false, mark).await?;
    }
    for name in &story.breaks {
        ::slices::publish_breaking(slices, &name.0).await?;
    }
    Ok(())
}
