//! The trail: the author, the time and the kind of each change of a slice.

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{build::SliceName, of_world::Slices};
use base::{clock::UnixMillis, error::Failure};
use lending::events::{Entry, EventKind, Trail};
use store::{Connection, query, query_as};

/// Maximum number of trail entries shown.
const SHOWN: i64 = 100;

/// The author and the time of a change.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The id of the trail's entry; ids sort by time of creation.
    pub id: String,
    /// The machine's time: the console can't make a deployment old, or newer than the next.
    pub at: UnixMillis,
    /// The time of the console's clock, which the plans of rollouts follow.
    pub set_at: UnixMillis,
    /// The author, as the caller states it: everybody has the same console token.
    pub by: String,
    /// The author of the events that are written with the change.
    pub trail: Trail,
}

impl Mark {
    /// A change made now, by `by`.
    pub fn now(slices: &Slices, by: Option<String>, trail: Trail) -> Result<Self, Failure> {
        let (at, set_at) = (slices.clock.unset_now(), slices.clock.now());
        let by = by.unwrap_or_else(|| "unknown".to_owned());
        if !(1..=100).contains(&by.len()) || !by.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(Failure::BadValue("`by` must be 1 to 100 printable ASCII characters".to_owned()));
        }
        Ok(Self { id: slices.randomness.id(set_at), at, set_at, by, trail })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceAction {
    /// A build was published, and went live.
    Published,
    /// A build was published without going live.
    Held,
    Activated,
    RolledBack,
    /// A build that fails stays live, because the previous one can't go live.
    NotRolledBack,
    /// All published builds were removed.
    Removed,
    /// Some browsers get a build.
    RolledOut,
    RolloutHeld,
    Promoted,
    Aborted,
}

store::stored_as_text!(SliceAction);

impl SliceAction {
    pub(super) fn kind(self) -> EventKind {
        match self {
            Self::Published | Self::Held => EventKind::SlicePublished,
            Self::Activated => EventKind::SliceActivated,
            Self::RolledBack => EventKind::SliceRolledBack,
            Self::NotRolledBack => EventKind::SliceNotRolledBack,
            Self::Removed => EventKind::SliceRemoved,
            Self::RolledOut => EventKind::SliceRolledOut,
            Self::RolloutHeld => EventKind::SliceRolloutHeld,
            Self::Promoted => EventKind::SlicePromoted,
            Self::Aborted => EventKind::SliceRolloutAborted,
        }
    }

    /// The entry of such a change of `name` in the audit trail.
    pub(super) fn entry(self, name: &SliceName) -> Entry {
        Entry::of(self.kind()).about(name.as_str())
    }
}

#[derive(Clone, Debug, Serialize, sqlx_macros::FromRow)]
pub struct SliceEvent {
    #[sqlx(rename = "event_id")]
    pub id: String,
    pub at: UnixMillis,
    #[sqlx(rename = "done_by")]
    pub by: String,
    pub act: SliceAction,
    pub name: String,
    /// The version that was published, went live or is rolled out; `None` if no build is live afterwards.
    pub version: Option<String>,
    /// The version that was live until then.
    pub live_before: Option<String>,
    /// Details besides the versions.
    pub note: Option<String>,
}

const LATEST: &str = "
    SELECT event_id, at, done_by, act, name, version, live_before, note
    FROM slice_event ORDER BY position DESC LIMIT $1";

/// The latest entries, the newest first.
pub async fn trail(connection: &mut Connection) -> Result<Vec<SliceEvent>, Failure> {
    Ok(query_as(LATEST).bind(SHOWN).fetch_all(connection).await?)
}

const OF_SLICE: &str = "SELECT act, version, live_before FROM slice_event WHERE name = $1 ORDER BY position";

/// The versions that were live for everybody until another went live, without those that were rolled back, taken back or
/// aborted since. The one that was live last comes last.
pub(super) async fn replaced(connection: &mut Connection, name: &SliceName) -> Result<Vec<String>, Failure> {
    let events: Vec<(SliceAction, Option<String>, Option<String>)> =
        query_as(OF_SLICE).bind(name.as_str()).fetch_all(connection).await?;
    let mut replaced: Vec<String> = Vec::new();
    for (act, version, live_before) in events {
        match act {
            SliceAction::Published | SliceAction::Activated | SliceAction::Promoted => {
                replaced.retain(|known| Some(known) != live_before.as_ref());
                replaced.extend(live_before);
            }
            // One of the two is live then. It is added when another replaces it.
            SliceAction::RolledBack | SliceAction::Aborted => {
                let named = [version, live_before];
                replaced.retain(|known| !named.iter().flatten().any(|version| version == known));
            }
            SliceAction::Removed => replaced.clear(),
            SliceAction::Held
            | SliceAction::RolledOut
            | SliceAction::RolloutHeld
            | SliceAction::NotRolledBack => {}
        }
    }
    Ok(replaced)
}

const ADD: &str = "
    INSERT INTO slice_event (event_id, at, done_by, act, name, version, live_before, note)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(super) async fn add(
    connection: &mut Connection,
    mark: Mark,
    act: SliceAction,
    name: &SliceName,
    version: Option<&Version>,
    live_before: Option<&Version>,
    note: Option<String>,
) -> Result<(), Failure> {
    let (version, live_before) = (version.map(ToString::to_string), live_before.map(ToString::to_string));
    let add =
        query(ADD).bind_all((mark.id, mark.at, mark.by, act, name.as_str(), version, live_before, note));
    Ok(add.run(connection).await?)
}
