//! Removes the published builds of a slice.

use super::{
    Bundled, Mark, Origin, SliceBuilds, SliceName, lock, read_one, set_live, trail, trail::SliceAction,
};
use crate::{
    database::{Connection, Database, query},
    error::Failure,
};

const REMOVE_FILES: &str = "DELETE FROM slice_file WHERE name = $1";

const REMOVE_BUILDS: &str = "
    UPDATE slice_build SET removed_at = $2 WHERE name = $1 AND removed_at IS NULL";

/// Removes all published builds of a slice. The build that is bundled with the portal goes live; without
/// one, the slice is gone. Returns the new state of the slice.
///
/// # Errors
/// [`Failure::SliceNotFound`], [`Failure::NothingPublished`].
pub async fn remove(
    database: &Database,
    bundled: &Bundled,
    name: SliceName,
    mark: Mark,
) -> Result<SliceBuilds, Failure> {
    let bundled = bundled.clone();
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                lock(connection, &name).await?;
                let before = read_one(connection, &bundled, &name).await?;
                if before.builds.is_empty() {
                    return Err(Failure::SliceNotFound(before.name));
                }
                if before.builds.iter().all(|build| build.origin == Origin::Bundled) {
                    return Err(Failure::NothingPublished(before.name));
                }
                query(REMOVE_FILES).bind(name.as_str()).execute(&mut *connection).await?;
                query(REMOVE_BUILDS).bind(name.as_str()).bind(mark.at).execute(&mut *connection).await?;
                set_live(connection, &name, None, None).await?;
                let after = read_one(connection, &bundled, &name).await?;
                let live_before = before.live.as_ref();
                trail::add(connection, mark, SliceAction::Removed, &name, after.live.as_ref(), live_before)
                    .await?;
                Ok(after)
            })
        })
        .await
}
