//! The places of the sources at which builds crashed, for the people who saw it.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use base::{clock::UnixMillis, error::Failure, ids::StaffId};
use store::{Connection, query, query_as};

/// Maximum number of places that are kept of a build.
const MAX_PLACES: usize = 50;

/// Number of places that one person has seen from which no new ones of theirs are kept: nobody takes those of others.
const MAX_PLACES_OF_ONE: usize = 10;

/// A crash of a build, as one person has seen it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crash {
    pub name: String,
    pub version: String,
    /// The name of the error, such as `TypeError`.
    pub error: String,
    /// The place of the sources, or of a built file without a source map.
    pub place: String,
    pub staff_id: StaffId,
}

const PLACES: &str = "SELECT error, place, staff_id FROM slice_crash WHERE name = $1 AND version = $2";

const NOTE: &str = "
    INSERT INTO slice_crash (name, version, error, place, staff_id, times, seen_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (name, version, error, place, staff_id) DO UPDATE SET
        times = slice_crash.times + excluded.times, seen_at = excluded.seen_at";

/// Stores the crashes that were seen at `at`, with how often. Returns how many are not kept, because their build has as
/// many places as it may have.
pub(super) async fn note(
    connection: &mut Connection,
    crashes: &BTreeMap<Crash, i64>,
    at: UnixMillis,
) -> Result<i64, Failure> {
    let mut places: BTreeMap<(&str, &str), Places> = BTreeMap::new();
    let mut dropped = 0;
    for (Crash { name, version, error, place, staff_id }, times) in crashes {
        let build = (name.as_str(), version.as_str());
        let of_build = match places.entry(build) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let stored = query_as(PLACES).bind(name).bind(version).fetch_all(&mut *connection).await?;
                let stored: Vec<(String, String, StaffId)> = stored;
                let mut of_build = Places::default();
                for (error, place, person) in stored {
                    of_build.insert((error, place), person);
                }
                unknown.insert(of_build)
            }
        };
        let place_of_error = (error.clone(), place.clone());
        if !of_build.have_room_for(&place_of_error, staff_id) {
            dropped += times;
            continue;
        }
        of_build.insert(place_of_error, staff_id.clone());
        let note = query(NOTE).bind_all((name, version, error, place, staff_id, times, at));
        note.run(connection).await?;
    }
    Ok(dropped)
}

/// The places of a build, each with the people who have seen it.
#[derive(Default)]
struct Places(BTreeMap<(String, String), BTreeSet<StaffId>>);

impl Places {
    fn insert(&mut self, place: (String, String), person: StaffId) {
        self.0.entry(place).or_default().insert(person);
    }

    /// A place that is known has room for everybody.
    fn have_room_for(&self, place: &(String, String), person: &StaffId) -> bool {
        let own = || self.0.values().filter(|people| people.contains(person)).count();
        self.0.contains_key(place) || self.0.len() < MAX_PLACES && own() < MAX_PLACES_OF_ONE
    }
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx_macros::FromRow)]
pub struct CrashPlace {
    pub version: String,
    pub error: String,
    /// The place of the sources, such as `src/payout/DisburseDialog.tsx:42`.
    pub place: String,
    pub times: i64,
    /// The number of people who have seen one.
    pub people: i64,
    pub seen_at: UnixMillis,
}

const OF_SLICE: &str = "
    SELECT version, error, place, CAST(sum(times) AS BIGINT) AS times, count(*) AS people, max(seen_at) AS seen_at
    FROM slice_crash WHERE name = $1
    GROUP BY version, error, place ORDER BY people DESC, times DESC, error, place";

/// The places at which builds of the slice `name` crashed, those that most people have seen first.
pub async fn crash_places(connection: &mut Connection, name: &str) -> Result<Vec<CrashPlace>, Failure> {
    Ok(query_as(OF_SLICE).bind(name).fetch_all(connection).await?)
}

// By people first: one person who reloads is not many who crash.
const MOST_FREQUENT: &str = "
    SELECT error, place FROM slice_crash WHERE name = $1 AND version = $2 AND seen_at >= $3
    GROUP BY error, place ORDER BY count(*) DESC, sum(times) DESC, error, place LIMIT 1";

/// The error and the place of the crash that most people have seen since then, if any.
pub(super) async fn most_frequent(
    connection: &mut Connection,
    name: &str,
    version: &str,
    since: UnixMillis,
) -> Result<Option<(String, String)>, Failure> {
    Ok(query_as(MOST_FREQUENT).bind(name).bind(version).bind(since).fetch_optional(connection).await?)
}
