//! Deletes the files of builds that are no longer needed.

use std::cmp::Reverse;

use semver::Version;

use crate::{
    build::SliceName,
    builds::{Bundled, SliceBuild, SliceBuilds, locked, read_all},
    of_world::Slices,
};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query};

/// Deletes published builds that are neither live nor previous nor rolled out, except the `keep` newest
/// of each slice. Each has its own transaction: a build can have 16 MiB. Returns the number of builds.
/// If it fails, earlier builds stay deleted.
pub async fn delete_old(slices: &Slices, keep: usize, now: UnixMillis) -> Result<u64, Failure> {
    let bundled = Bundled::of(slices).await?;
    let all = read_all(&mut slices.database.read().await?, &bundled).await?;
    let mut deleted = 0;
    for slice in all {
        for version in old_builds(&slice, keep) {
            let (name, bundled) = (SliceName::from_request(&slice.name)?, bundled.clone());
            let is_deleted = slices
                .database
                .write_in_turn(async move |connection: &mut Connection| {
                    let slice = locked(connection, &bundled, &name).await?;
                    // It may have become needed since the list was read.
                    let is_old = old_builds(&slice, keep).contains(&version);
                    if is_old {
                        delete_build(connection, &name, &version, now).await?;
                    }
                    Ok(is_old)
                })
                .await?;
            deleted += u64::from(is_deleted);
        }
    }
    Ok(deleted)
}

/// The published builds that are neither live nor previous nor rolled out, the newest first.
pub(super) fn unused(slice: &SliceBuilds) -> Vec<&SliceBuild> {
    let in_use: Vec<&Version> = slice.served().chain(&slice.previous).collect();
    let is_unused = |build: &&SliceBuild| build.is_own && !in_use.contains(&&build.version);
    let mut unused: Vec<&SliceBuild> = slice.builds.iter().filter(is_unused).collect();
    unused.sort_by_key(|build| Reverse(build.published_at));
    unused
}

fn old_builds(slice: &SliceBuilds, keep: usize) -> Vec<Version> {
    unused(slice).into_iter().skip(keep).map(|build| build.version.clone()).collect()
}

const DELETE_FILES: &str = "DELETE FROM slice_file WHERE name = $1 AND version = $2";

// The row is kept, as when a slice is removed.
const REMOVE_BUILD: &str = "UPDATE slice_build SET removed_at = $3 WHERE name = $1 AND version = $2";

pub(super) async fn delete_build(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    now: UnixMillis,
) -> Result<(), Failure> {
    let of_build = |statement| query(statement).bind(name.as_str()).bind(version.to_string());
    of_build(DELETE_FILES).execute(&mut *connection).await?;
    of_build(REMOVE_BUILD).bind(now).execute(connection).await?;
    tracing::info!(slice.name = name.as_str(), %version, "slice.build_deleted");
    Ok(())
}
