//! Deletes the files of builds that are no longer needed.

use std::{cmp::Reverse, time::Duration};

use semver::Version;

use super::{Bundled, Origin, SliceBuild, SliceBuilds, SliceName, all, locked};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, Database, query, query_as};

/// Deletes published builds that are neither live nor previous nor rolled out, except the `keep` newest
/// of each slice. Each has its own transaction: a build can have 16 MiB. Returns the number of builds.
///
/// # Errors
/// When the database fails; earlier builds stay deleted.
pub async fn delete_old(
    database: &Database,
    bundled: &Bundled,
    keep: usize,
    now: UnixMillis,
) -> Result<u64, Failure> {
    let mut reader = database.read().await?;
    let slices = all(&mut reader, bundled).await?;
    let mut chosen = Vec::new();
    for slice in &slices {
        chosen.push(chosen_in_sandboxes(&mut reader, &slice.name).await?);
    }
    drop(reader);
    let mut deleted = 0;
    for (slice, chosen) in slices.into_iter().zip(chosen) {
        for version in old_builds(&slice, &chosen, keep, now) {
            let name = SliceName::from_request(&slice.name)?;
            let build = OldBuild { name, version, bundled: bundled.clone(), keep, now };
            let is_deleted = database
                .write_in_turn(async move |connection: &mut Connection| build.delete(connection).await)
                .await?;
            deleted += u64::from(is_deleted);
        }
    }
    Ok(deleted)
}

const CHOSEN: &str = "SELECT live_version, previous_version FROM sandbox_slice WHERE name = $1";

/// The versions that are live or previous in a sandbox.
async fn chosen_in_sandboxes(connection: &mut Connection, name: &str) -> Result<Vec<String>, Failure> {
    let chosen: Vec<(Option<String>, Option<String>)> =
        query_as(CHOSEN).bind(name).fetch_all(connection).await?;
    Ok(chosen.into_iter().flat_map(|(live, previous)| [live, previous]).flatten().collect())
}

/// Retention of builds that were published for a sandbox and are not live there.
const UNUSED_IN_SANDBOX: Duration = Duration::from_hours(24);

/// The versions to delete.
fn old_builds(slice: &SliceBuilds, chosen: &[String], keep: usize, now: UnixMillis) -> Vec<Version> {
    let in_use: Vec<&Version> = slice.served().chain(&slice.previous).collect();
    let mut unused: Vec<&SliceBuild> = slice
        .builds
        .iter()
        .filter(|build| build.origin == Origin::Published)
        .filter(|build| !in_use.contains(&&build.version))
        .filter(|build| !chosen.contains(&build.version.to_string()))
        .collect();
    // Builds that were published for sandboxes do not count towards `keep`.
    let is_left = |build: &&SliceBuild| {
        let age = build.published_at.map_or(Duration::ZERO, |at| now.since(at));
        build.published_for.is_some() && age >= UNUSED_IN_SANDBOX
    };
    let left: Vec<&SliceBuild> = unused.iter().copied().filter(is_left).collect();
    unused.retain(|build| build.published_for.is_none());
    unused.sort_by_key(|build| Reverse(build.published_at));
    unused.into_iter().skip(keep).chain(left).map(|build| build.version.clone()).collect()
}

struct OldBuild {
    name: SliceName,
    version: Version,
    bundled: Bundled,
    keep: usize,
    now: UnixMillis,
}

const DELETE_FILES: &str = "DELETE FROM slice_file WHERE name = $1 AND version = $2";

// The row is kept, as when a slice is removed.
const REMOVE_BUILD: &str = "UPDATE slice_build SET removed_at = $3 WHERE name = $1 AND version = $2";

impl OldBuild {
    /// Deletes the build, unless it has become needed since the list was read.
    async fn delete(self, connection: &mut Connection) -> Result<bool, Failure> {
        let Self { name, version, bundled, keep, now } = self;
        let slice = locked(connection, &bundled, &name).await?;
        let chosen = chosen_in_sandboxes(connection, name.as_str()).await?;
        if !old_builds(&slice, &chosen, keep, now).contains(&version) {
            return Ok(false);
        }
        let of_build = |statement| query(statement).bind(name.as_str()).bind(version.to_string());
        of_build(DELETE_FILES).execute(&mut *connection).await?;
        of_build(REMOVE_BUILD).bind(now).execute(&mut *connection).await?;
        tracing::info!(slice.name = name.as_str(), %version, "slice.build_deleted");
        Ok(true)
    }
}
