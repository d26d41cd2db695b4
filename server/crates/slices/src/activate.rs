//! Makes another existing build live.

use semver::Version;

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuilds, locked, set_live, set_previous},
    of_world::Slices,
    refusal::SliceRefusal,
    roll_out,
    trail::{self, Mark, SliceAction},
    watched,
};
use base::error::Failure;
use store::Connection;

/// Makes the build of `version` live; does nothing if it is live already. If the build `is_watched`, it is
/// taken back when it fails. If it `is_forced`, a shell is accepted that can't load what is live. Returns the new state
/// of the slice.
pub async fn activate(
    slices: &Slices,
    name: SliceName,
    version: Version,
    is_watched: bool,
    is_forced: bool,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    change(slices, name, Some(version), None, is_watched, is_forced, mark).await
}

/// Makes the build live again that was live before; if a version was `seen`, only while it is that one. Another roll-back
/// goes to the one before that, never to one that was rolled back, taken back or aborted, or that was never live.
pub async fn roll_back(
    slices: &Slices,
    name: SliceName,
    seen: Option<Version>,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    change(slices, name, None, seen, false, false, mark).await
}

/// Makes the build of `version` live, or the previous one, if that is the one that was `seen`.
async fn change(
    slices: &Slices,
    name: SliceName,
    version: Option<Version>,
    seen: Option<Version>,
    is_watched: bool,
    is_forced: bool,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let act = if version.is_some() { SliceAction::Activated } else { SliceAction::RolledBack };
    let entry = act.entry(&name).with_some("version", version.as_ref());
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    trail
        .write_done(slices.database.begin().await?, async move |connection: &mut Connection| {
            let before = locked(connection, &bundled, &name).await?.existing()?;
            let version = version.or_else(|| before.previous.clone()).ok_or(SliceRefusal::NoPreviousBuild)?;
            roll_out::refuse_unless_seen(&before, seen.as_ref(), &version)?;
            let build = before.existing_build(&version)?;
            if before.live.as_ref() == Some(&version) {
                return Ok((before, None));
            }
            roll_out::refuse_during(&before)?;
            build.check_fits(&name, is_forced, connection, &bundled).await?;
            let live_before = before.live.as_ref();
            set_live(connection, &name, Some(&version)).await?;
            watched::begin_live(connection, &bundled, &name, &version, live_before, is_watched, &mark)
                .await?;
            trail::add(connection, mark, act, &name, Some(&version), live_before, None).await?;
            Ok((set_previous(connection, &bundled, &name).await?, Some(entry)))
        })
        .await
}
