//! Finds the places of the sources at which builds crashed, with the source maps that were published with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crate::{
    builds::{Origin, SLICES_FOLDER, SliceBuilds, all},
    of_world::Slices,
    source_map,
    waiting::{Dropped, Position, Received, Report},
};
use base::error::Failure;
use store::{query_as, query_scalar};

/// Maximum size of the maps that are read for the reports that are written together, in bytes.
const MAX_READ: usize = 4 * source_map::MAX_SIZE;

/// The positions at which a build crashed, from the innermost call outwards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stack {
    build: BuildKey,
    positions: Vec<Position>,
}

impl Stack {
    /// The stack of a crash with positions.
    pub fn of(received: &Received) -> Option<Self> {
        let Report { slice, version, .. } = received.report.clone();
        let positions = received.crash.as_ref()?.positions.clone();
        (!positions.is_empty()).then_some(Self { build: (slice, version), positions })
    }
}

/// A build's slice and version.
type BuildKey = (String, String);

enum Files {
    /// They are in the database: their paths.
    Published(BTreeSet<String>),
    /// They are in a folder.
    Bundled(PathBuf),
}

/// Removes the positions in files that do not exist from `waiting`, and returns the place of each stack that is left:
/// of its innermost call that comes from a source, or else its innermost call itself.
pub(super) async fn places(
    slices: &Slices,
    waiting: &mut [Received],
) -> Result<BTreeMap<Stack, String>, Failure> {
    let named: BTreeSet<BuildKey> = waiting.iter().filter_map(Stack::of).map(|stack| stack.build).collect();
    if named.is_empty() {
        return Ok(BTreeMap::new());
    }
    let builds = all(slices).await?;
    let mut files = BTreeMap::new();
    for build in named {
        if let Some(of_build) = files_of(slices, &builds, &build).await? {
            files.insert(build, of_build);
        }
    }
    let mut unknown = 0;
    for received in waiting.iter_mut() {
        let build = (received.report.slice.clone(), received.report.version.clone());
        let Some(crash) = &mut received.crash else { continue };
        let before = crash.positions.len();
        let files = files.get(&build);
        crash.positions.retain(|position| files.is_some_and(|files| files.have(&position.file)));
        unknown += before - crash.positions.len();
    }
    slices.shared.count_dropped(Dropped::UnknownFile, unknown);
    let stacks = waiting.iter().filter_map(Stack::of).collect();
    resolve(slices, &files, stacks).await
}

const PATHS: &str = "SELECT path FROM slice_file WHERE name = $1 AND version = $2";

async fn files_of(
    slices: &Slices,
    builds: &[SliceBuilds],
    (name, version): &BuildKey,
) -> Result<Option<Files>, Failure> {
    let slice = builds.iter().find(|slice| slice.name == *name);
    let build =
        slice.and_then(|slice| slice.builds.iter().find(|build| build.version.to_string() == *version));
    Ok(match build.map(|build| build.origin) {
        Some(Origin::Published) => {
            let paths = query_as(PATHS).bind(name).bind(version);
            let paths: Vec<(String,)> = paths.fetch_all(&mut slices.database.read().await?).await?;
            Some(Files::Published(paths.into_iter().map(|(path,)| path).collect()))
        }
        Some(Origin::Bundled) => {
            let portal = slices.settings.portal_dir.as_ref();
            let folder = SLICES_FOLDER.trim_start_matches('/');
            portal.map(|portal| Files::Bundled(portal.join(folder).join(name).join(version)))
        }
        None => None,
    })
}

impl Files {
    fn have(&self, path: &str) -> bool {
        match self {
            Self::Published(paths) => paths.contains(path),
            Self::Bundled(folder) => folder.join(path).is_file(),
        }
    }
}

/// Looks all positions up, file by file, so that each map is read once and one is in memory at a time.
async fn resolve(
    slices: &Slices,
    files: &BTreeMap<BuildKey, Files>,
    stacks: BTreeSet<Stack>,
) -> Result<BTreeMap<Stack, String>, Failure> {
    let mut by_file: BTreeMap<(&BuildKey, &str), BTreeSet<&Position>> = BTreeMap::new();
    for Stack { build, positions } in &stacks {
        for position in positions {
            by_file.entry((build, &position.file)).or_default().insert(position);
        }
    }
    let (mut found, mut budget) = (BTreeMap::new(), MAX_READ);
    for ((build, file), asked) in by_file {
        let Some(files) = files.get(build) else { continue };
        let positions = asked.iter().copied().cloned().collect();
        let places = look_up(slices, files, build, file, positions, &mut budget).await?;
        for (position, place) in asked.into_iter().zip(places.into_iter().flatten()) {
            found.extend(place.map(|place| ((build, position), place)));
        }
    }
    let place_of = |Stack { build, positions }: &Stack| {
        let of_source = positions.iter().find_map(|position| found.get(&(build, position)).cloned());
        of_source.or_else(|| positions.first().map(ToString::to_string))
    };
    Ok(stacks.iter().filter_map(|stack| Some((stack.clone(), place_of(stack)?))).collect())
}

const MAP: &str = "SELECT content FROM slice_file WHERE name = $1 AND version = $2 AND path = $3";

/// The places of the positions in `file`; `None` without a map that can be used.
async fn look_up(
    slices: &Slices,
    files: &Files,
    (name, version): &BuildKey,
    file: &str,
    positions: Vec<Position>,
    budget: &mut usize,
) -> Result<Option<Vec<Option<String>>>, Failure> {
    let path = format!("{file}.map");
    if *budget == 0 || !files.have(&path) {
        return Ok(None);
    }
    let map = match files {
        Files::Published(_) => {
            let map = query_scalar(MAP).bind(name).bind(version).bind(path);
            map.fetch_optional(&mut slices.database.read().await?).await?
        }
        Files::Bundled(folder) => {
            let path = folder.join(path);
            let size = tokio::fs::metadata(&path).await.map(|file| file.len());
            if size.is_ok_and(|size| size > source_map::MAX_SIZE as u64) {
                slices.shared.count_dropped(Dropped::MapTooLarge, 1);
                return Ok(None);
            }
            tokio::fs::read(path).await.ok()
        }
    };
    let Some(map): Option<Vec<u8>> = map else { return Ok(None) };
    *budget = budget.saturating_sub(map.len());
    let found = tokio::task::spawn_blocking(move || source_map::places(&map, &positions)).await;
    // A map that the library panics about can't be read either.
    let found = found.unwrap_or(Err(Dropped::MapUnreadable));
    Ok(found.inspect_err(|dropped| slices.shared.count_dropped(*dropped, 1)).ok())
}
