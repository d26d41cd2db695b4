//! Make another build live that is there.

use semver::Version;

use super::{
    Bundled, Mark, SliceBuilds, SliceName, build::fits, hold, one, set_live, trail, trail::SliceAction,
};
use crate::{
    database::{Connection, Database},
    error::Failure,
};

/// Makes the build of `version` live; where it is already, nothing changes. Answers how the slice
/// stands now.
///
/// # Errors
/// [`Failure::SliceNotFound`], [`Failure::BuildNotFound`], [`Failure::WrongShell`],
/// [`Failure::NoPortal`].
pub async fn activate(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    version: Version,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    change(database, bundled, name, mark, SliceAction::Activated, |_| Ok(version)).await
}

/// Makes the build live that was before. What was live is left behind: a further roll-back goes to
/// the next older build.
///
/// # Errors
/// As [`activate`], and [`Failure::NoPreviousBuild`].
pub async fn roll_back(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    change(database, bundled, name, mark, SliceAction::RolledBack, |slice| {
        slice.previous.clone().ok_or(Failure::NoPreviousBuild)
    })
    .await
}

async fn change(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    mark: Mark,
    act: SliceAction,
    choose: impl FnOnce(&SliceBuilds) -> Result<Version, Failure> + Send + 'static,
) -> Result<SliceBuilds, Failure> {
    let bundled = bundled.clone();
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                hold(connection, &name).await?;
                let before = one(connection, &bundled, &name).await?;
                if before.builds.is_empty() {
                    return Err(Failure::SliceNotFound(before.name));
                }
                let version = choose(&before)?;
                let build = before.build(&version).ok_or_else(|| Failure::BuildNotFound {
                    name: before.name.clone(),
                    version: version.to_string(),
                })?;
                fits(&build.shell, bundled.shell()?)?;
                if before.live.as_ref() == Some(&version) {
                    return Ok(before);
                }
                let left = before.live.as_ref();
                let previous = if act == SliceAction::RolledBack { None } else { left };
                set_live(connection, &name, &version, previous).await?;
                trail::add(connection, mark, act, &name, &version, left).await?;
                one(connection, &bundled, &name).await
            })
        })
        .await
}
