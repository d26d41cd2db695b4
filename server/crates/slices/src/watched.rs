//! The builds that are watched: new ones, until they have been live for long enough.

use std::time::Duration;

use semver::Version;

use crate::{build::SliceName, builds::Bundled, trail::Mark};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query, query_as};

/// Pages of the earlier build count from this long before the watch began.
const BEFORE: Duration = Duration::from_hours(24);

/// A build that is watched.
#[derive(Clone, Debug, sqlx_macros::FromRow)]
pub(super) struct Watch {
    pub name: String,
    pub version: String,
    /// The build to compare with: the one that others get, or that was live before.
    pub against: Option<String>,
    pub began_at: UnixMillis,
    /// When it went live for everybody; `None` during a rollout.
    pub live_since: Option<UnixMillis>,
}

impl Watch {
    pub fn is_of(&self, version: &Version) -> bool {
        version.to_string() == self.version
    }

    /// The time from which the pages of the earlier build count.
    pub fn before(&self) -> UnixMillis {
        self.began_at.minus(BEFORE)
    }
}

const ALL: &str = "SELECT name, version, against, began_at, live_since FROM slice_watch";

pub(super) async fn all(connection: &mut Connection) -> Result<Vec<Watch>, Failure> {
    Ok(query_as(ALL).fetch_all(connection).await?)
}

// When only the share of a rollout changes, the watch keeps its start.
const BEGIN: &str = "
    INSERT INTO slice_watch (name, version, against, began_at, live_since) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (name) DO UPDATE SET
        version = excluded.version, against = excluded.against, began_at = excluded.began_at,
        live_since = excluded.live_since
    WHERE slice_watch.version <> excluded.version OR slice_watch.live_since IS NOT NULL
       OR excluded.live_since IS NOT NULL";

/// Watches a build during its rollout, unless it is watched already; ends the slice's watch unless it `is_watched`. Returns
/// `false` if there was nothing to change.
pub(super) async fn begin_rollout(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    is_watched: bool,
    mark: &Mark,
) -> Result<bool, Failure> {
    if is_watched {
        begin(connection, name, version, against, mark, None).await
    } else {
        end(connection, name).await
    }
}

/// Watches a build that goes live for everybody; ends the watch of the slice unless it `is_watched` and there is an
/// earlier build to go back to.
pub(super) async fn begin_live(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    is_watched: bool,
    mark: &Mark,
) -> Result<(), Failure> {
    match against {
        // Builds in other sandboxes are not watched, nor the shell: pages report what slices do.
        _ if is_watched && (bundled.sandbox_id.is_some() || name.is_shell()) => return Ok(()),
        Some(_) if is_watched => begin(connection, name, version, against, mark, Some(mark.at)).await?,
        _ => end(connection, name).await?,
    };
    Ok(())
}

async fn begin(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    against: Option<&Version>,
    mark: &Mark,
    live_since: Option<UnixMillis>,
) -> Result<bool, Failure> {
    let against = against.map(ToString::to_string);
    let begin = query(BEGIN).bind_all((name.as_str(), version.to_string(), against, mark.at, live_since));
    Ok(begin.execute(connection).await? > 0)
}

const WENT_LIVE: &str = "
    UPDATE slice_watch SET live_since = $3 WHERE name = $1 AND version = $2 AND live_since IS NULL";

/// Continues the watch of a build whose rollout ends because it goes live.
pub(super) async fn went_live(
    connection: &mut Connection,
    name: &SliceName,
    version: &Version,
    at: UnixMillis,
) -> Result<(), Failure> {
    Ok(query(WENT_LIVE).bind_all((name.as_str(), version.to_string(), at)).run(connection).await?)
}

const END: &str = "DELETE FROM slice_watch WHERE name = $1";

/// Ends the watch of a slice. Returns `false` if there was none.
pub(super) async fn end(connection: &mut Connection, name: &SliceName) -> Result<bool, Failure> {
    Ok(query(END).bind(name.as_str()).execute(connection).await? > 0)
}
