//! Deletes the files of builds that nobody needs any more.

use std::cmp::Reverse;

use semver::Version;

use super::{Bundled, Origin, SliceBuild, SliceBuilds, SliceName, all, lock, read_one};
use crate::{
    clock::UnixMillis,
    database::{Connection, Database, query},
    error::Failure,
};

/// Deletes published builds that are neither live nor previous, except the `keep` newest of each slice.
/// Each is one transaction, because a build can have 16 MiB. Returns how many there were.
///
/// # Errors
/// When the database fails; earlier builds stay deleted.
pub async fn delete_old(
    database: &Database,
    bundled: &Bundled,
    keep: usize,
    now: UnixMillis,
) -> Result<u64, Failure> {
    let slices = all(&mut *database.read().await?, bundled).await?;
    let mut deleted = 0;
    for slice in slices {
        for version in old_builds(&slice, keep) {
            let name = SliceName::from_request(&slice.name)?;
            let build = OldBuild { name, version, bundled: bundled.clone(), keep, now };
            let is_deleted = database
                .write_in_turn(move |connection: &mut Connection| Box::pin(build.delete(connection)))
                .await?;
            deleted += u64::from(is_deleted);
        }
    }
    Ok(deleted)
}

/// The versions to delete.
fn old_builds(slice: &SliceBuilds, keep: usize) -> Vec<Version> {
    let in_use = [&slice.live, &slice.previous];
    let mut unused: Vec<&SliceBuild> = slice
        .builds
        .iter()
        .filter(|build| build.origin == Origin::Published)
        .filter(|build| in_use.iter().all(|version| version.as_ref() != Some(&build.version)))
        .collect();
    unused.sort_by_key(|build| Reverse(build.published_at));
    unused.into_iter().skip(keep).map(|build| build.version.clone()).collect()
}

struct OldBuild {
    name: SliceName,
    version: Version,
    bundled: Bundled,
    keep: usize,
    now: UnixMillis,
}

const DELETE_FILES: &str = "DELETE FROM slice_file WHERE name = $1 AND version = $2";

// The row stays, as for a slice that is removed.
const REMOVE_BUILD: &str = "UPDATE slice_build SET removed_at = $3 WHERE name = $1 AND version = $2";

impl OldBuild {
    /// Deletes the build, unless it is needed after all since the list was read.
    async fn delete(self, connection: &mut Connection) -> Result<bool, Failure> {
        let Self { name, version, bundled, keep, now } = self;
        lock(connection, &name).await?;
        let slice = read_one(connection, &bundled, &name).await?;
        if !old_builds(&slice, keep).contains(&version) {
            return Ok(false);
        }
        let of_build = |statement| query(statement).bind(name.as_str()).bind(version.to_string());
        of_build(DELETE_FILES).execute(&mut *connection).await?;
        of_build(REMOVE_BUILD).bind(now).execute(&mut *connection).await?;
        tracing::info!(slice.name = name.as_str(), %version, "slice.build_deleted");
        Ok(true)
    }
}
