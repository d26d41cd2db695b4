//! Makes a sandbox that tells a story.

use std::sync::Arc;

use super::{
    file::{Slice, Story},
    folder::{File, refused},
    told,
};
use crate::{
    data::{self, Start},
    loans,
    refusal::ConsoleRefusal,
    staff,
};
use ::slices::Mark;
use base::error::Failure;
use lending::{
    auth::session::{self, Session},
    demo::{DemoData, FIRST_SEED},
    events::Trail,
    rules,
};
use store::Connection;
use worlds::{
    faults,
    sandboxes::{Made, Name, Sandbox, Server, Wish, sync},
};

/// Makes a sandbox that begins as the story in `file` says. All of it is there, or nothing is made. Only the name, the
/// expiry and the link are those of `wish`.
///
/// # Errors
/// Those of [`Sandboxes::make`](worlds::sandboxes::Sandboxes::make); [`Failure::BadField`] for what the story has.
pub async fn begin(server: &Arc<Server>, file: &File, wish: Wish, trail: &Trail) -> Result<Made, Failure> {
    let Story { clock, screens, .. } = &file.story;
    let wish = Wish {
        world: Some(data_of(&file.story)),
        now: clock.now.map(|now| now.0),
        is_frozen: clock.frozen,
        screens: *screens,
        ..wish
    };
    let made = server.sandboxes.make(wish, trail).await?;
    let filled = async {
        let in_use = server.sandboxes.find(server, &made.record.name).await?;
        prepare(&in_use.sandbox, &file.story).await?;
        fill(&in_use.sandbox, file.story.clone()).await?;
        let tell = async |connection: &mut Connection| told::tell(connection, &file.name, &file.text).await;
        in_use.sandbox.database.write(tell).await
    };
    if let Err(failure) = filled.await {
        server.sandboxes.remove(&made.record.name, &Name::main(), &Trail::default()).await?;
        return Err(of_story(failure));
    }
    Ok(made)
}

/// Begins the story of `sandbox` again for the user of `session`. All that has happened in it is gone, sessions too: if
/// this one has ended, somebody else has just begun it again.
///
/// # Errors
/// [`ConsoleRefusal::NoStory`]; [`Failure::BadField`] for the builds and settings of the story, then no data has changed.
pub async fn begin_again(sandbox: &Sandbox, session: &Session) -> Result<(), Failure> {
    let _begins_alone = sandbox.beginning_again.lock().await;
    let (id, now) = (&session.session_id, sandbox.clock.now());
    if session::live_staff_id(&mut sandbox.database.read().await?, id, now).await?.is_none() {
        return Ok(());
    }
    let (told, story) = told::stored(sandbox).await?.ok_or(ConsoleRefusal::NoStory)?;
    prepare(sandbox, &story).await.map_err(of_story)?;
    let start = Start {
        world: data_of(&story),
        now: story.clock.now.map(|now| now.0),
        is_frozen: story.clock.frozen,
    };
    // With the reset, so that it can begin again if the rest is not done.
    let tell = async |connection: &mut Connection| told::tell(connection, &told.name, &told.content).await;
    data::reset_and(sandbox, start, &Trail::default(), tell).await?;
    sync::reload(sandbox).await?;
    fill(sandbox, story).await
}

fn data_of(story: &Story) -> DemoData {
    story.seed.map_or(DemoData::Seeded(FIRST_SEED), |seed| seed.0)
}

/// Checks what the file can't know: that this server has the builds that the story names, and allows its settings.
pub async fn check(sandbox: &Sandbox, story: &Story) -> Result<(), Failure> {
    check_settings(sandbox, story).map_err(of_story)?;
    let all = ::slices::all(&sandbox.slices).await?;
    let find = |name: &Slice| all.iter().find(|slice| slice.name == name.0.as_str());
    for (name, version) in &story.slices {
        if find(name).is_none_or(|slice| slice.build(version).is_none()) {
            return Err(refused(&format!("There is no build {version} of {}", name.0.as_str())));
        }
    }
    for name in &story.breaks {
        if find(name).is_none_or(|slice| slice.live.is_none()) {
            return Err(refused(&format!("There is no live build of {}", name.0.as_str())));
        }
    }
    Ok(())
}

/// A refusal of what the story has is one of the story.
fn of_story(failure: Failure) -> Failure {
    if failure.status_and_code().0.is_client_error() { refused(&failure.to_string()) } else { failure }
}

/// Does what this server may refuse, before any data change.
async fn prepare(sandbox: &Sandbox, story: &Story) -> Result<(), Failure> {
    check_settings(sandbox, story)?;
    set_slices(sandbox, story).await
}

fn check_settings(sandbox: &Sandbox, story: &Story) -> Result<(), Failure> {
    story.settings.as_ref().map_or(Ok(()), |settings| settings.0.check(&sandbox.world))
}

/// Adds all that the story has, besides the demo data and the builds, to a new sandbox.
async fn fill(sandbox: &Sandbox, story: Story) -> Result<(), Failure> {
    // That it was made is an event already.
    let trail = Trail::default();
    for colleague in story.staff {
        staff::open(sandbox, colleague.0.account(), &trail).await?;
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
        let world = &sandbox.world;
        let set = async move |connection: &mut Connection| rules::set(world, connection, settings.0).await;
        world.database.write(set).await?;
    }
    sync::reload(sandbox).await
}

async fn set_slices(sandbox: &Sandbox, story: &Story) -> Result<(), Failure> {
    let slices = &sandbox.slices;
    for (name, version) in &story.slices {
        let mark = Mark::now(slices, Some("a story".to_owned()), Trail::default())?;
        let (name, version) = (name.0.clone(), version.clone());
        ::slices::activate(slices, name, version, false, false, mark).await?;
    }
    for name in &story.breaks {
        ::slices::publish_breaking(slices, &name.0).await?;
    }
    Ok(())
}
