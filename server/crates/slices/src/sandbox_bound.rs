//! The bound on the builds that are published in a sandbox.

use crate::{
    build::Build,
    builds::SliceBuilds,
    delete_old::{delete_build, unused},
    refusal::SliceRefusal,
};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query_scalar};

/// The maximum size of all builds of a sandbox together, in bytes without compression.
const MAX_BYTES: i64 = 64 * 1024 * 1024;

const BYTES: &str = "SELECT COALESCE(SUM(size), 0) FROM slice_build WHERE removed_at IS NULL";

/// Makes room for `build`: the oldest builds of its slice that nobody gets are deleted.
pub(super) async fn make_room(
    connection: &mut Connection,
    slice: &SliceBuilds,
    build: &Build,
    now: UnixMillis,
) -> Result<(), Failure> {
    let taken: i64 = query_scalar(BYTES).fetch_one(&mut *connection).await?;
    let mut missing = taken.saturating_add(build.size()) - MAX_BYTES;
    for old in unused(slice).into_iter().rev() {
        if missing <= 0 {
            return Ok(());
        }
        delete_build(connection, &build.name, &old.version, now).await?;
        missing -= old.size.unwrap_or_default();
    }
    if missing > 0 { Err(SliceRefusal::SandboxFull.into()) } else { Ok(()) }
}
