//! Stores a build and makes it live.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::{
    build::Build,
    builds::{Bundled, Origin, SliceBuilds, locked, read_one, set_live, set_previous},
    compress,
    of_world::Slices,
    refusal::SliceRefusal,
    roll_out,
    rollout::Share,
    sandbox_bound,
    trail::{self, Mark, SliceAction},
    watched,
};
use base::{clock::UnixMillis, error::Failure};
use store::{Connection, query, query_scalar};

const ADD_BUILD: &str = "
    INSERT INTO slice_build (name, version, shell, integrity, digest, size, published_at, published_by, brings)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const ADD_FILE: &str = "
    INSERT INTO slice_file (name, version, path, content, digest, compress_at)
    VALUES ($1, $2, $3, $4, $5, $6)";

const COPY_COMPRESSED: &str = "
    UPDATE slice_file SET brotli = done.brotli, gzip = done.gzip, compress_at = NULL
    FROM slice_file AS done
    WHERE slice_file.name = $1 AND slice_file.version = $2 AND slice_file.compress_at IS NOT NULL
      AND done.digest = slice_file.digest AND done.brotli IS NOT NULL";

const REMOVED: &str = "
    SELECT digest FROM slice_build WHERE name = $1 AND version = $2 AND removed_at IS NOT NULL";

const FORGET_REMOVED: &str = "
    DELETE FROM slice_build WHERE name = $1 AND version = $2 AND removed_at IS NOT NULL";

/// Options for publishing a build.
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

/// Publishes a checked build, and makes it live unless `publication` says otherwise. Its files are
/// compressed later, except those that an earlier build has compressed already. Publishing a build again
/// changes nothing. Returns the new state of the slice, and `true` if the build is new.
///
/// # Errors
/// [`SliceRefusal::BuildExists`] when the version exists with other files, [`SliceRefusal::BuildOutdated`]
/// when it is below the live one, [`SliceRefusal::PathTaken`] when another slice has one of its paths,
/// [`SliceRefusal::RolloutRuns`] when it would go live during the rollout of another, [`SliceRefusal::ShellNeeded`]
/// when it is a shell that can't load what is live.
pub async fn publish(
    slices: &Slices,
    build: Build,
    publication: Publication,
    mark: Mark,
) -> Result<(SliceBuilds, bool), Failure> {
    // Before the transaction, so that other writes do not wait for it.
    let build = tokio::task::spawn_blocking(|| build.with_digests()).await;
    let (build, digests) = build.map_err(Failure::internal)?;
    let entry = SliceAction::Published.entry(&build.name).with("version", &build.version);
    let share = publication.share.as_ref();
    let entry = entry
        .with_some("hold", publication.hold.then_some(true))
        .with_some("percent", share.map(|share| share.percent))
        .with_some("plan", share.and_then(|share| share.plan.as_ref()));
    let (bundled, trail) = (Bundled::of(slices).await?, mark.trail.clone());
    // Only those of `main` are compressed: the builds of sandboxes are not for many visitors.
    let compress_at = slices.are_of_main().then(|| slices.clock.unset_now());
    trail
        .write(slices.database.begin().await?, [entry], async move |connection: &mut Connection| {
            store(connection, &bundled, build, digests, publication, compress_at, mark).await
        })
        .await
}

impl Build {
    /// The size of its files in bytes, without compression.
    pub(super) fn size(&self) -> i64 {
        let size: usize = self.files.values().map(Vec::len).sum();
        i64::try_from(size).unwrap_or(i64::MAX)
    }

    /// The build, and the digest of each of its files, by path.
    fn with_digests(self) -> (Self, BTreeMap<String, String>) {
        let digests =
            self.files.iter().map(|(path, content)| (path.clone(), hex::encode(Sha256::digest(content))));
        let digests = digests.collect();
        (self, digests)
    }
}

async fn store(
    connection: &mut Connection,
    bundled: &Bundled,
    build: Build,
    digests: BTreeMap<String, String>,
    publication: Publication,
    compress_at: Option<UnixMillis>,
    mark: Mark,
) -> Result<(SliceBuilds, bool), Failure> {
    let (name, version) = (build.name.clone(), build.version.clone());
    if publication.share.is_some() {
        roll_out::refuse_for_everybody(bundled, &name)?;
    }
    let before = locked(connection, bundled, &name).await?;
    if exists(&before, &build, bundled, publication.force)? {
        let is_wanted = bundled.sandbox_id.is_some() && !publication.hold;
        if is_wanted && before.live.as_ref() != Some(&version) {
            // `main` has the build.
            build.check_fits(publication.force, connection, bundled).await?;
            let (activated, live_before) = (SliceAction::Activated, before.live.as_ref());
            set_live(connection, &name, Some(&version)).await?;
            trail::add(connection, mark, activated, &name, Some(&version), live_before, None).await?;
            return Ok((set_previous(connection, bundled, &name).await?, false));
        }
        return Ok((before, false));
    }
    if !publication.hold {
        roll_out::refuse_during(&before)?;
    }
    check_removed(connection, &build).await?;
    build.check_fits(publication.force || publication.hold, connection, bundled).await?;
    if bundled.sandbox_id.is_some() {
        sandbox_bound::make_room(connection, &before, &build, mark.at).await?;
    }
    insert(connection, build, digests, compress_at, &mark).await?;
    if let Some(share) = &publication.share {
        roll_out::begin(connection, bundled, &name, &version, share, publication.is_watched, mark).await?;
        return Ok((read_one(connection, bundled, &name).await?, true));
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
    Ok((set_previous(connection, bundled, &name).await?, true))
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
    mut digests: BTreeMap<String, String>,
    compress_at: Option<UnixMillis>,
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
        let compress_at = compress_at.filter(|_| compress::is_worthwhile(&path));
        let digest = digests.remove(&path);
        query(ADD_FILE)
            .bind_all((name.as_str(), &version, &path, content, digest, compress_at))
            .run(connection)
            .await?;
    }
    Ok(query(COPY_COMPRESSED).bind(name.as_str()).bind(version).run(connection).await?)
}
