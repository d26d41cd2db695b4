//! Which build of which slice is live. Builds are published and kept for good, in the store, so that
//! every server on it serves them; the portal asks for the list of those that are live. What came
//! with the portal's own files is live until something is published.

mod activate;
pub mod api;
pub mod archive;
mod build;
mod bundled;
pub mod files;
mod publish;
mod range;
mod trail;

use std::{cmp::Reverse, collections::BTreeMap};

use semver::Version;
use serde::Serialize;

pub use self::{
    activate::{activate, roll_back},
    build::{Build, SliceName},
    bundled::{Bundled, Shell},
    publish::publish,
    trail::{Mark, SliceAction, SliceEvent, trail},
};
use crate::{
    clock::UnixMillis,
    database::{Connection, query, query_as},
    error::Failure,
};

/// The folder that every build is served from, as `/slices/<name>/<version>/…`.
pub const FOLDER: &str = "/slices";

/// What a build tells about itself, by that name.
pub const MANIFEST: &str = "mf-manifest.json";

/// Where a build came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Published, and kept in the store.
    Published,
    /// With the portal's own files.
    Bundled,
}

/// A build that is there.
#[derive(Clone, Debug, Serialize)]
pub struct SliceBuild {
    /// Names it among the slice's builds.
    pub version: Version,
    /// Where it came from.
    pub origin: Origin,
    /// Versions of mfe-kit that it was built for, as npm writes them.
    pub shell: String,
    /// Of its manifest's bytes, as browsers check it.
    pub integrity: String,
    /// Bytes of its files, uncompressed.
    pub size: Option<i64>,
    /// When it was published.
    pub published_at: Option<UnixMillis>,
    /// Who had it published.
    pub published_by: Option<String>,
    /// Address of its manifest.
    #[serde(skip)]
    pub entry: String,
    /// Of all its files.
    #[serde(skip)]
    digest: Option<String>,
}

/// A slice, with all builds of it that are there.
#[derive(Clone, Debug, Serialize)]
pub struct SliceBuilds {
    /// The package's name.
    pub name: String,
    /// The version that is live.
    pub live: Option<Version>,
    /// The version that a roll-back goes to, and a browser that can't load the live one.
    pub previous: Option<Version>,
    /// The newest version first.
    pub builds: Vec<SliceBuild>,
}

impl SliceBuilds {
    /// The build of `version`.
    pub fn build(&self, version: &Version) -> Option<&SliceBuild> {
        self.builds.iter().find(|build| build.version == *version)
    }

    fn of(
        name: String,
        row: Option<LiveRow>,
        bundled: Option<&SliceBuild>,
        published: Vec<SliceBuild>,
    ) -> Self {
        // The same version can come with a newer portal, as other bytes; browsers keep the published ones.
        let bundled = bundled.filter(|bundled| published.iter().all(|one| one.version != bundled.version));
        let first = bundled.map(|bundled| bundled.version.clone());
        let mut builds: Vec<SliceBuild> = published.into_iter().chain(bundled.cloned()).collect();
        builds.sort_by_key(|build| Reverse(build.version.clone()));
        let there = |version: Option<String>| {
            let version = Version::parse(&version?).ok()?;
            builds.iter().any(|build| build.version == version).then_some(version)
        };
        let (live, previous) = row.map_or((None, None), |row| (row.live_version, row.previous_version));
        // A bundled build that was live is gone when a newer portal came without it.
        let live = there(live).or(first);
        let next_older = || {
            let live = live.as_ref()?;
            builds.iter().map(|build| &build.version).find(|version| *version < live).cloned()
        };
        let previous = there(previous).filter(|previous| live.as_ref() != Some(previous)).or_else(next_older);
        Self { name, live, previous, builds }
    }
}

#[derive(sqlx::FromRow)]
struct LiveRow {
    name: String,
    live_version: Option<String>,
    previous_version: Option<String>,
}

#[derive(sqlx::FromRow)]
struct BuildRow {
    name: String,
    version: String,
    shell: String,
    integrity: String,
    digest: String,
    size: i64,
    published_at: UnixMillis,
    published_by: String,
}

impl BuildRow {
    fn build(self) -> Result<SliceBuild, Failure> {
        let version = Version::parse(&self.version)
            .map_err(|error| Failure::Internal(format!("{} {}: {error}", self.name, self.version)))?;
        Ok(SliceBuild {
            entry: address(&self.name, &version),
            version,
            origin: Origin::Published,
            shell: self.shell,
            integrity: self.integrity,
            size: Some(self.size),
            published_at: Some(self.published_at),
            published_by: Some(self.published_by),
            digest: Some(self.digest),
        })
    }
}

/// Where a published build's manifest is.
fn address(name: &str, version: &Version) -> String {
    format!("{FOLDER}/{name}/{version}/{MANIFEST}")
}

const LIVE: &str = "SELECT name, live_version, previous_version FROM slice";

const BUILDS: &str = "
    SELECT name, version, shell, integrity, digest, size, published_at, published_by FROM slice_build";

/// Every slice that there is a build of, by name.
///
/// # Errors
/// When the store can't be read.
pub async fn all(connection: &mut Connection, bundled: &Bundled) -> Result<Vec<SliceBuilds>, Failure> {
    let live: Vec<LiveRow> = query_as(LIVE).fetch_all(&mut *connection).await?;
    let builds: Vec<BuildRow> = query_as(BUILDS).fetch_all(connection).await?;
    let mut live: BTreeMap<String, LiveRow> = live.into_iter().map(|row| (row.name.clone(), row)).collect();
    let mut slices: BTreeMap<String, Vec<SliceBuild>> =
        bundled.slices.keys().map(|name| (name.clone(), Vec::new())).collect();
    for row in builds {
        slices.entry(row.name.clone()).or_default().push(row.build()?);
    }
    let slices = slices.into_iter().map(|(name, published)| {
        let (row, bundled) = (live.remove(&name), bundled.slices.get(&name));
        SliceBuilds::of(name, row, bundled, published)
    });
    Ok(slices.collect())
}

const LIVE_OF_ONE: &str = "SELECT name, live_version, previous_version FROM slice WHERE name = $1";

const BUILDS_OF_ONE: &str = "
    SELECT name, version, shell, integrity, digest, size, published_at, published_by
    FROM slice_build WHERE name = $1";

/// The slice of that name; one that nobody has heard of has no build.
async fn one(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
) -> Result<SliceBuilds, Failure> {
    let row = query_as(LIVE_OF_ONE).bind(name.as_str()).fetch_optional(&mut *connection).await?;
    let builds: Vec<BuildRow> = query_as(BUILDS_OF_ONE).bind(name.as_str()).fetch_all(connection).await?;
    let builds = builds.into_iter().map(BuildRow::build).collect::<Result<_, _>>()?;
    Ok(SliceBuilds::of(name.as_str().to_owned(), row, bundled.slices.get(name.as_str()), builds))
}

// Where it is known already this does nothing but hold its row, so that what two servers do about
// one slice is done one after the other.
const HOLD: &str = "
    INSERT INTO slice (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name";

async fn hold(connection: &mut Connection, name: &SliceName) -> Result<(), Failure> {
    query(HOLD).bind(name.as_str()).execute(connection).await?;
    Ok(())
}

const SET_LIVE: &str = "UPDATE slice SET live_version = $2, previous_version = $3 WHERE name = $1";

async fn set_live(
    connection: &mut Connection,
    name: &SliceName,
    live: &Version,
    previous: Option<&Version>,
) -> Result<(), Failure> {
    query(SET_LIVE)
        .bind(name.as_str())
        .bind(live.to_string())
        .bind(previous.map(ToString::to_string))
        .execute(connection)
        .await?;
    Ok(())
}
