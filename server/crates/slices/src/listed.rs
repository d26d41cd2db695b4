//! The slices of a world as its pages load them.

use semver::Version;
use serde_json::{Map, Value, json};

use crate::{
    brings::Brings,
    builds::{Bundled, SliceBuilds, all},
    of_world::Slices,
    rollout::Bucket,
};
use base::error::Failure;

/// The entries of all slices that have a build for browsers in `bucket`, by name.
///
/// # Errors
/// When the database can't be read.
pub async fn listed(
    slices: &Slices,
    bundled: &Bundled,
    bucket: Bucket,
) -> Result<Map<String, Value>, Failure> {
    let all = all(&mut *slices.database.read().await?, bundled).await?;
    Ok(all.into_iter().filter_map(|slice| entry(slice, bucket)).collect())
}

/// The entry of a slice in the list for browsers in `bucket`; `None` while it has no build for them.
fn entry(slice: SliceBuilds, bucket: Bucket) -> Option<(String, Value)> {
    let build = |version: &Version| {
        slice.build(version).map(|build| {
            json!({
                "version": build.version,
                "entry": build.entry,
                "integrity": build.integrity,
                "shell": build.shell,
            })
        })
    };
    let (live, previous) = slice.of_bucket(bucket);
    let Brings { screens, menu, failures } = &slice.build(live?)?.brings;
    let mut listed = build(live?)?;
    listed["screens"] = json!(screens);
    listed["menu"] = json!(menu);
    listed["failures"] = json!(failures);
    listed["previous"] = previous.and_then(build).into();
    Some((slice.name, listed))
}
