//! Stores a build and makes it live.

use std::collections::BTreeMap;

use crate::{
    build::Build,
    builds::{Bundled, Origin, SliceBuilds, locked, read_one, set_live, set_previous},
    compress::{self, Compressed},
    of_world::Slices,
    refusal::SliceRefusal,
    roll_out,
    rollout::Share,
    sandbox_bound,
    trail::{self, Mark, SliceAction},
    watched,
};
use base::error::Failure;
use store::{Connection, query, query_scalar};

const ADD_BUILD: &str = "
    INSERT INTO slice_build (name, version, shell, integrity, digest, size, published_at, published_by, brings)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const ADD_FILE: &str = "
    INSERT INTO slice_file (name, version, path, content, brotli, gzip)
    VALUES ($1, $2, $3, $4, $5, $6)";

const REMOVED: &str = "
    SELECT digest FROM slice_build WHERE name = $1 AND version = $2 AND removed_at IS NOT NULL";

const FORGET_REMOVED: &str = "
    DELETE FROM slice_build WHERE name = $1 AND version = $2 AND removed_at IS NOT NULL";

#[derive(Clone, Debug)]
pub struct Publication {
    /// Store the build without making it live.
    pub hold: bool,
    /// Give the build to some browsers only, instead of making it live.
    pub share: Option<Share>,
    /// Take the build back automatically if it fails.
    pub is_watched: bool,
    /// Accept a version below the live one.
    pub force: bool,
}

/// Publishes a checked build, and makes it live unless `publication` says otherwise. Publishing a
/// build again changes nothing. Returns the new state of the slice, and `true` if the build is new.
pub async fn publish(
    slices: &Slices,
    build: Build,
    publication: Publication,
    mark: Mark,
) -> Result<(SliceBuilds, bool), Failure> {
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    let before = read_one(&mut slices.database.read().await?, &bundled, &build.name).await?;
    let is_new = before.build(&build.version).is_none();
    // Before the transaction, so that other writes do not wait for it. A container sends its build again at each start, and
    // the builds of sandboxes are not for many visitors.
    let (build, compressed) = if is_new && slices.are_of_main() {
        let compressing =
            tokio::task::spawn_blocking(|| compress::compressed(&build.files).map(|done| (build, done)));
        compressing.await.map_err(Failure::internal)?.map_err(Failure::internal)?
    } else {
        (build, BTreeMap::new())
    };
    let (name, version, share) = (build.name.clone(), build.version.clone(), publication.share.clone());
    let hold = publication.hold.then_some(true);
    trail
        .write_done(slices.database.begin().await?, async move |connection: &mut Connection| {
            let (slice, done) = store(connection, &bundled, build, compressed, publication, mark).await?;
            let entry = done.map(|done| {
                done.entry(&name)
                    .with("version", &version)
                    .with_some("hold", hold)
                    .with_some("percent", share.as_ref().map(|share| share.percent))
                    .with_some("plan", share.as_ref().and_then(|share| share.plan.as_ref()))
            });
            Ok(((slice, done == Some(SliceAction::Published)), entry))
        })
        .await
}

impl Build {
    /// The size of its files in bytes, without compression.
    pub(super) fn size(&self) -> i64 {
        let size: usize = self.files.values().map(Vec::len).sum();
        i64::try_from(size).unwrap_or(i64::MAX)
    }
}

/// Returns the new state of the slice and what was done, if anything: a build that a sandbox did not have to store is
/// activated.
async fn store(
    connection: &mut Connection,
    bundled: &Bundled,
    build: Build,
    compressed: BTreeMap<String, Compressed>,
    publication: Publication,
    mark: Mark,
) -> Result<(SliceBuilds, Option<SliceAction>), Failure> {
    let (name, version) = (build.name.clone(), build.version.clone());
    if publication.share.is_some() {
        roll_out::refuse_for_everybody(bundled, &name)?;
    }
    let before = locked(connection, bundled, &name).await?;
    if exists(&before, &build, bundled, publication.force)? {
        let is_wanted = bundled.sandbox_id.is_some() && !publication.hold;
        if is_wanted && before.live.as_ref() != Some(&version) {
            // `main` has the build.
            let existing = before.existing_build(&version)?;
            existing.check_fits(&name, publication.force, connection, bundled).await?;
            let (activated, live_before) = (SliceAction::Activated, before.live.as_ref());
            set_live(connection, &name, Some(&version)).await?;
            trail::add(connection, mark, activated, &name, Some(&version), live_before, None).await?;
            return Ok((set_previous(connection, bundled, &name).await?, Some(activated)));
        }
        return Ok((before, None));
    }
    if !publication.hold {
        roll_out::refuse_during(&before)?;
    }
    check_removed(connection, &build).await?;
    if bundled.sandbox_id.is_some() {
        sandbox_bound::make_room(connection, &before, &build, mark.at).await?;
    }
    insert(connection, build, compressed, &mark).await?;
    let stored = read_one(connection, bundled, &name).await?;
    let is_forced = publication.force || publication.hold;
    stored.existing_build(&version)?.check_fits(&name, is_forced, connection, bundled).await?;
    if let Some(share) = &publication.share {
        roll_out::begin(connection, bundled, &name, &version, share, publication.is_watched, mark).await?;
        return Ok((read_one(connection, bundled, &name).await?, Some(SliceAction::Published)));
    }
    let live_before = before.live.as_ref();
    let action = if publication.hold {
        SliceAction::Held
    } else {
        set_live(connection, &name, Some(&version)).await?;
        let is_watched = publication.is_watched;
        watched::begin_live(connection, bundled, &name, &version, live_before, is_watched, &mark).await?;
        SliceAction::Published
    };
    trail::add(connection, mark, action, &name, Some(&version), live_before, None).await?;
    Ok((set_previous(connection, bundled, &name).await?, Some(SliceAction::Published)))
}

/// Returns `true` if the same build exists already.
fn exists(before: &SliceBuilds, build: &Build, bundled: &Bundled, is_forced: bool) -> Result<bool, Failure> {
    let Build { version, integrity, digest, .. } = build;
    if let Some(existing) = before.build(version) {
        let is_same = match existing.origin {
            Origin::Published => existing.digest.as_ref() == Some(digest),
            Origin::Bundled => existing.integrity == *integrity,
        };
        // A sandbox has version numbers of its own.
        let is_taken = existing.is_own || bundled.sandbox_id.is_none();
        if is_same || is_taken {
            return if is_same { Ok(true) } else { Err(SliceRefusal::BuildExists.into()) };
        }
    }
    match before.live.as_ref().filter(|live| *live > version && !is_forced) {
        Some(live) => {
            Err(SliceRefusal::BuildOutdated { version: version.to_string(), live: live.to_string() }.into())
        }
        None => Ok(false),
    }
}

/// A removed version can be published again with the same files only.
async fn check_removed(connection: &mut Connection, build: &Build) -> Result<(), Failure> {
    let (name, version) = (build.name.as_str(), build.version.to_string());
    let removed: Option<String> =
        query_scalar(REMOVED).bind(name).bind(&version).fetch_optional(&mut *connection).await?;
    if removed.is_some_and(|digest| digest != build.digest) {
        return Err(SliceRefusal::BuildExists.into());
    }
    Ok(query(FORGET_REMOVED).bind(name).bind(version).run(connection).await?)
}

async fn insert(
    connection: &mut Connection,
    build: Build,
    mut compressed: BTreeMap<String, Compressed>,
    mark: &Mark,
) -> Result<(), Failure> {
    let size = build.size();
    let Build { name, version, shell, integrity, brings, as_shell, digest, files, .. } = build;
    let version = version.to_string();
    let described = match as_shell {
        Some(shell) => serde_json::to_string(&shell),
        None => serde_json::to_string(&brings),
    };
    let described = described.map_err(Failure::internal)?;
    query(ADD_BUILD)
        .bind_all((name.as_str(), &version, shell, integrity, digest))
        .bind_all((size, mark.at, &mark.by, described))
        .run(connection)
        .await?;
    for (path, content) in files {
        let (brotli, gzip) = compressed.remove(&path).unzip();
        query(ADD_FILE)
            .bind_all((name.as_str(), &version, &path, content, brotli, gzip))
            .run(connection)
            .await?;
    }
    Ok(())
}
