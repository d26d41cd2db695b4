//! The shell and the slices of a world as its pages load them.

use semver::Version;
use serde_json::{Map, Value, json};

use crate::{
    brings::{Brings, Shell},
    builds::{SliceBuilds, all, live_shell},
    of_world::Slices,
    rollout::Bucket,
};
use base::error::Failure;

/// The list that a page reads.
pub struct Listed {
    /// The live shell; `None` while there is none.
    pub shell: Option<Shell>,
    pub slices: Map<String, Value>,
}

/// The live shell, and the entries of all slices that have a build for browsers in `bucket`.
pub async fn listed(slices: &Slices, bucket: Bucket) -> Result<Listed, Failure> {
    let all = all(slices).await?;
    let shell = live_shell(&all).cloned();
    let slices = all.into_iter().filter(|slice| !slice.is_shell());
    Ok(Listed { shell, slices: slices.filter_map(|slice| entry(slice, bucket)).collect() })
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
