//! Removes the published builds of a slice.

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuilds, locked, read_one, set_live, set_previous},
    of_world::Slices,
    refusal::SliceRefusal,
    roll_out,
    trail::{self, Mark, SliceAction},
    watched,
};
use base::error::Failure;
use store::{Connection, query};

const REMOVE_FILES: &str = "DELETE FROM slice_file WHERE name = $1";

const REMOVE_BUILDS: &str = "
    UPDATE slice_build SET removed_at = $2 WHERE name = $1 AND removed_at IS NULL";

/// Removes all published builds of a slice. The build that is bundled with the portal goes live; without
/// one, the slice is gone. A sandbox returns to the build that is live in `main`. Returns the slice's new state.
pub async fn remove(slices: &Slices, name: SliceName, mark: Mark) -> Result<SliceBuilds, Failure> {
    if name.is_shell() {
        return Err(SliceRefusal::ShellStays.into());
    }
    let entry = SliceAction::Removed.entry(&name);
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    trail
        .write(slices.database.begin().await?, [entry], async move |connection: &mut Connection| {
            let before = locked(connection, &bundled, &name).await?.existing()?;
            let given = bundled.slices.get(name.as_str()).and_then(|given| given.live_build());
            if before.builds.iter().all(|build| !build.is_own)
                && before.live.as_ref() == given.map(|given| &given.version)
            {
                return Err(SliceRefusal::NothingPublished(before.name).into());
            }
            roll_out::refuse_during(&before)?;
            if let Some(given) = given {
                given.check_fits(&name, false, connection, &bundled).await?;
            }
            watched::end(connection, &name).await?;
            query(REMOVE_FILES).bind(name.as_str()).run(connection).await?;
            query(REMOVE_BUILDS).bind(name.as_str()).bind(mark.at).run(connection).await?;
            set_live(connection, &name, None).await?;
            let live = read_one(connection, &bundled, &name).await?.live;
            let live_before = before.live.as_ref();
            trail::add(connection, mark, SliceAction::Removed, &name, live.as_ref(), live_before, None)
                .await?;
            set_previous(connection, &bundled, &name).await
        })
        .await
}
