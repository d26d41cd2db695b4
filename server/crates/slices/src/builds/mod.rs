//! The builds of each slice in a world, and which of them browsers get.

mod bundled;

use std::{cmp::Reverse, collections::BTreeMap};

use semver::Version;
use serde::Serialize;

pub(super) use self::bundled::Bundled;
use self::bundled::Given;
use crate::{
    brings::{Brings, Shell},
    build::{Library, MANIFEST, SHELL, SliceName},
    of_world::Slices,
    refusal::SliceRefusal,
    rollout::{self, Bucket, Rollout},
    trail,
};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query, query_as, query_scalar};

/// The folder that every build of a slice is served from, as `/slices/<name>/<version>/…`.
pub const SLICES_FOLDER: &str = "/slices";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Published, and stored in the database.
    Published,
    /// Bundled with the portal's own files.
    Bundled,
}

#[derive(Clone, Debug, Serialize)]
pub struct SliceBuild {
    pub version: Version,
    pub origin: Origin,
    /// Versions of mfe-kit that it was built for, as npm writes them; for a build of the shell, the version that it has.
    pub shell: String,
    /// The subresource integrity of its manifest, as browsers check it; for a build of the shell, that of its page.
    pub integrity: String,
    /// The size of its files in bytes, uncompressed.
    pub size: Option<i64>,
    pub published_at: Option<UnixMillis>,
    pub published_by: Option<String>,
    /// The address of its manifest.
    #[serde(skip)]
    pub entry: String,
    /// The digest of all its files.
    #[serde(skip)]
    pub(super) digest: Option<String>,
    /// `true` if it is in the database of this world, and not in the portal's files or, for a sandbox, in `main`.
    #[serde(skip)]
    pub(super) is_own: bool,
    #[serde(skip)]
    pub brings: Brings,
    /// The shell, if this is a build of it.
    #[serde(skip)]
    pub as_shell: Option<Shell>,
}

const FILE: &str = "SELECT content FROM slice_file WHERE name = $1 AND version = $2 AND path = $3";

impl SliceBuild {
    /// The libraries of the shell that this build of the slice `name` uses, as its manifest says. If the manifest is on
    /// another origin, only the range of the kit is known. A build of the shell uses none.
    pub(super) async fn libraries(
        &self,
        name: &str,
        connection: &mut Connection,
        bundled: &Bundled,
    ) -> Result<Vec<Library>, Failure> {
        if self.as_shell.is_some() {
            return Ok(Vec::new());
        }
        let manifest = match (self.origin, &bundled.main) {
            (Origin::Bundled, _) => bundled.file(&self.entry).await,
            (Origin::Published, Some(main)) if !self.is_own => {
                self.manifest(name, &mut main.read().await?).await?
            }
            (Origin::Published, _) => self.manifest(name, connection).await?,
        };
        let libraries = manifest.and_then(|manifest| Library::all_in(&manifest));
        Ok(libraries.unwrap_or_else(|| vec![Library::kit(&self.shell)]))
    }

    async fn manifest(&self, name: &str, connection: &mut Connection) -> Result<Option<Vec<u8>>, Failure> {
        let manifest = query_scalar(FILE).bind_all((name, self.version.to_string(), MANIFEST));
        Ok(manifest.fetch_optional(connection).await?)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct SliceBuilds {
    /// The package's name.
    pub name: String,
    pub live: Option<Version>,
    /// The version that a roll-back makes live, and that browsers load when the live one fails.
    pub previous: Option<Version>,
    pub rollout: Option<Rollout>,
    /// Its builds, the newest version first.
    pub builds: Vec<SliceBuild>,
}

impl SliceBuilds {
    /// Returns the slice if it has a build.
    pub(super) fn existing(self) -> Result<Self, Failure> {
        if self.builds.is_empty() { Err(SliceRefusal::SliceNotFound(self.name).into()) } else { Ok(self) }
    }

    pub fn build(&self, version: &Version) -> Option<&SliceBuild> {
        self.builds.iter().find(|build| build.version == *version)
    }

    /// Like [`Self::build`], for a build that must exist.
    pub(super) fn existing_build(&self, version: &Version) -> Result<&SliceBuild, Failure> {
        let (name, version_text) = (self.name.clone(), version.to_string());
        self.build(version).ok_or_else(|| SliceRefusal::BuildNotFound { name, version: version_text }.into())
    }

    /// The version for the browsers of `bucket`, and the version that they load when it fails.
    pub fn of_bucket(&self, bucket: Bucket) -> (Option<&Version>, Option<&Version>) {
        let gets = |rollout: &&Rollout| bucket.gets(&self.name, &rollout.version, rollout.percent);
        match self.rollout.as_ref().filter(gets) {
            Some(rollout) => (Some(&rollout.version), self.live.as_ref()),
            None => (self.live.as_ref(), self.previous.as_ref()),
        }
    }

    /// The versions that browsers may get: the live version, and the version that is rolled out.
    pub fn served(&self) -> impl Iterator<Item = &Version> {
        self.live.iter().chain(self.rollout.as_ref().map(|rollout| &rollout.version))
    }

    pub fn is_shell(&self) -> bool {
        self.name == SHELL
    }

    fn of(
        name: String,
        row: Option<LiveRow>,
        rollout: Option<Rollout>,
        given: Option<&Given>,
        published: Vec<SliceBuild>,
    ) -> Self {
        // A newer portal may bundle the same version with other bytes, but browsers have cached the
        // published ones.
        let is_replaced = |build: &SliceBuild| published.iter().any(|one| one.version == build.version);
        let kept: Vec<SliceBuild> = given
            .iter()
            .flat_map(|given| &given.builds)
            .filter(|&build| !is_replaced(build))
            .cloned()
            .collect();
        let mut builds: Vec<SliceBuild> = published.into_iter().chain(kept).collect();
        builds.sort_by_key(|build| Reverse(build.version.clone()));
        let existing = |version: Option<String>| {
            let version = Version::parse(&version?).ok()?;
            builds.iter().any(|build| build.version == version).then_some(version)
        };
        let (live, previous) = row.map_or((None, None), |row| (row.live_version, row.previous_version));
        // A live bundled build is gone when a newer portal no longer has it.
        let (live, previous) = match existing(live) {
            Some(live) => (Some(live), existing(previous)),
            None => given.map_or((None, None), |given| (given.live.clone(), given.previous.clone())),
        };
        // A newer portal may bundle another build than the one that was live before.
        let older_bundled = || {
            let live = live.as_ref()?;
            let is_older = |build: &&SliceBuild| build.origin == Origin::Bundled && build.version < *live;
            builds.iter().find(is_older).map(|build| build.version.clone())
        };
        let previous = previous.filter(|previous| live.as_ref() != Some(previous)).or_else(older_bundled);
        // A bundled build is gone when a newer portal no longer has it.
        let rollout = rollout.filter(|rollout| builds.iter().any(|build| build.version == rollout.version));
        Self { name, live, previous, rollout, builds }
    }
}

#[derive(sqlx_macros::FromRow)]
struct LiveRow {
    name: String,
    live_version: Option<String>,
    previous_version: Option<String>,
}

#[derive(sqlx_macros::FromRow)]
struct BuildRow {
    name: String,
    version: String,
    shell: String,
    integrity: String,
    digest: String,
    size: i64,
    published_at: UnixMillis,
    published_by: String,
    brings: Option<String>,
}

impl BuildRow {
    /// The build, in the world that `bundled` is for.
    fn build(self, bundled: &Bundled) -> Result<SliceBuild, Failure> {
        let unreadable = |error: &dyn std::error::Error| {
            Failure::Internal(format!("{} {}: {error}", self.name, self.version))
        };
        let version = Version::parse(&self.version).map_err(|error| unreadable(&error))?;
        let described = self.brings.as_deref();
        let (brings, as_shell) = if self.name == SHELL {
            let shell: Shell =
                serde_json::from_str(described.unwrap_or_default()).map_err(|error| unreadable(&error))?;
            (shell.brings(), Some(shell))
        } else {
            let brings = described.map(serde_json::from_str).transpose();
            (brings.map_err(|error| unreadable(&error))?.unwrap_or_default(), None)
        };
        Ok(SliceBuild {
            entry: address(&self.name, &version, bundled.sandbox_id.as_deref()),
            version,
            origin: Origin::Published,
            shell: self.shell,
            integrity: self.integrity,
            size: Some(self.size),
            published_at: Some(self.published_at),
            published_by: Some(self.published_by),
            digest: Some(self.digest),
            is_own: true,
            brings,
            as_shell,
        })
    }
}

/// Between a version and the id of the sandbox that it was published in, in an address. No version has it.
pub(super) const OF_SANDBOX: char = '~';

/// The address of a published build's manifest. A sandbox may have a version of its own with a number that `main`
/// has, and browsers keep files by their address.
fn address(name: &str, version: &Version, sandbox_id: Option<&str>) -> String {
    let of_sandbox = sandbox_id.map(|id| format!("{OF_SANDBOX}{id}")).unwrap_or_default();
    format!("{SLICES_FOLDER}/{name}/{version}{of_sandbox}/{MANIFEST}")
}

const LIVE: &str = "SELECT name, live_version, previous_version FROM slice";

const BUILDS: &str = "
    SELECT name, version, shell, integrity, digest, size, published_at, published_by, brings
    FROM slice_build WHERE removed_at IS NULL";

/// Every slice that has a build, sorted by name.
pub async fn all(slices: &Slices) -> Result<Vec<SliceBuilds>, Failure> {
    let bundled = Bundled::of(slices).await?;
    read_all(&mut slices.database.read().await?, &bundled).await
}

/// Every slice that has a build in the world that `bundled` is for, sorted by name.
pub(super) async fn read_all(
    connection: &mut Connection,
    bundled: &Bundled,
) -> Result<Vec<SliceBuilds>, Failure> {
    let live: Vec<LiveRow> = query_as(LIVE).fetch_all(&mut *connection).await?;
    let mut rollouts = rollout::all(connection).await?;
    let builds: Vec<BuildRow> = query_as(BUILDS).fetch_all(connection).await?;
    let mut live: BTreeMap<String, LiveRow> = live.into_iter().map(|row| (row.name.clone(), row)).collect();
    let mut slices: BTreeMap<String, Vec<SliceBuild>> =
        bundled.slices.keys().map(|name| (name.clone(), Vec::new())).collect();
    for row in builds {
        slices.entry(row.name.clone()).or_default().push(row.build(bundled)?);
    }
    let slices = slices.into_iter().map(|(name, published)| {
        let (row, rollout) = (live.remove(&name), rollouts.remove(&name));
        let given = bundled.slices.get(&name);
        SliceBuilds::of(name, row, rollout, given, published)
    });
    Ok(slices.collect())
}

/// The slice with this name; an unknown slice has no builds.
pub(super) async fn read_one(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
) -> Result<SliceBuilds, Failure> {
    let found = read_all(connection, bundled).await?.into_iter().find(|slice| slice.name == name.as_str());
    let unknown = || SliceBuilds::of(name.as_str().to_owned(), None, None, None, Vec::new());
    Ok(found.unwrap_or_else(unknown))
}

// For a known slice this only locks its row, so that two servers can't change the slice at once.
const LOCK: &str = "
    INSERT INTO slice (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name";

const LOCK_ALL: &str = "UPDATE slice_lock SET holder = $1";

/// Locks this slice and all others: some checks, such as on paths, involve other slices.
pub(super) async fn lock(connection: &mut Connection, name: &SliceName) -> Result<(), Failure> {
    query(LOCK_ALL).bind(name.as_str()).execute(&mut *connection).await?;
    Ok(query(LOCK).bind(name.as_str()).run(connection).await?)
}

/// Locks the slice until the transaction ends, and returns it.
pub(super) async fn locked(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
) -> Result<SliceBuilds, Failure> {
    lock(connection, name).await?;
    read_one(connection, bundled, name).await
}

/// The shell that is live, among all `slices`; `None` while there is none.
pub fn live_shell(slices: &[SliceBuilds]) -> Option<&Shell> {
    let shell = slices.iter().find(|slice| slice.is_shell())?;
    shell.build(shell.live.as_ref()?)?.as_shell.as_ref()
}

const SET_LIVE: &str = "UPDATE slice SET live_version = $2 WHERE name = $1";

/// Makes a build live; [`set_previous`] follows, once the change is in the trail.
pub(super) async fn set_live(
    connection: &mut Connection,
    name: &SliceName,
    live: Option<&Version>,
) -> Result<(), Failure> {
    Ok(query(SET_LIVE).bind_all((name.as_str(), live.map(ToString::to_string))).run(connection).await?)
}

const SET_PREVIOUS: &str = "UPDATE slice SET previous_version = $2 WHERE name = $1";

/// Sets which build a roll-back makes live, by what the trail says was live before. Returns the new state of the slice.
pub(super) async fn set_previous(
    connection: &mut Connection,
    bundled: &Bundled,
    name: &SliceName,
) -> Result<SliceBuilds, Failure> {
    let slice = read_one(connection, bundled, name).await?;
    let others = slice.builds.iter().filter(|build| slice.live.as_ref() != Some(&build.version));
    let others: Vec<String> = others.map(|build| build.version.to_string()).collect();
    let replaced = trail::replaced(connection, name).await?;
    let previous = replaced.into_iter().rev().find(|version| others.contains(version));
    query(SET_PREVIOUS).bind_all((name.as_str(), previous)).run(connection).await?;
    read_one(connection, bundled, name).await
}
