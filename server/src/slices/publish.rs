//! Stores a build permanently and makes it live.

use std::{collections::BTreeMap, io::Write};

use super::{Build, Bundled, Mark, Origin, SliceBuilds, lock, read_one, set_live, trail, trail::SliceAction};
use crate::{
    database::{Connection, Database, query},
    error::Failure,
};

const ADD_BUILD: &str = "
    INSERT INTO slice_build (name, version, shell, integrity, digest, size, published_at, published_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const ADD_FILE: &str = "
    INSERT INTO slice_file (name, version, path, content, brotli, gzip) VALUES ($1, $2, $3, $4, $5, $6)";

/// Publishes a checked build. It goes live, unless `is_held`. Publishing an existing build again
/// changes nothing. Returns the new state of the slice, and whether the build is new.
///
/// # Errors
/// [`Failure::BuildExists`] when the version exists with other files, [`Failure::BuildOutdated`]
/// when a newer version exists.
pub async fn publish(
    database: &Database,
    bundled: &Bundled,
    build: Build,
    is_held: bool,
    mark: Mark,
) -> Result<(SliceBuilds, bool), Failure> {
    let publication = Publication { build, is_held, mark };
    let files = publication.compressed_files().await?;
    let bundled = bundled.clone();
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move { publication.store(connection, &bundled, files).await })
        })
        .await
}

struct Publication {
    build: Build,
    is_held: bool,
    mark: Mark,
}

impl Publication {
    /// Runs before the transaction, because it takes seconds and other writes would have to wait.
    async fn compressed_files(&self) -> Result<BTreeMap<String, File>, Failure> {
        let files = self.build.files.clone();
        let compressed = tokio::task::spawn_blocking(|| compress(files)).await;
        compressed.map_err(|panicked| Failure::Internal(panicked.to_string()))?
    }

    async fn store(
        self,
        connection: &mut Connection,
        bundled: &Bundled,
        files: BTreeMap<String, File>,
    ) -> Result<(SliceBuilds, bool), Failure> {
        let Build { name, version, .. } = &self.build;
        lock(connection, name).await?;
        let before = read_one(connection, bundled, name).await?;
        if self.exists(&before)? {
            return Ok((before, false));
        }
        self.insert(connection, files).await?;
        let live_before = before.live.as_ref();
        let action = if self.is_held {
            SliceAction::Held
        } else {
            set_live(connection, name, version, live_before).await?;
            SliceAction::Published
        };
        trail::add(connection, self.mark, action, name, version, live_before).await?;
        Ok((read_one(connection, bundled, name).await?, true))
    }

    /// Whether the same build exists already.
    fn exists(&self, before: &SliceBuilds) -> Result<bool, Failure> {
        let Build { version, integrity, digest, .. } = &self.build;
        if let Some(existing) = before.build(version) {
            let is_same = match existing.origin {
                Origin::Published => existing.digest.as_ref() == Some(digest),
                Origin::Bundled => existing.integrity == *integrity,
            };
            return if is_same { Ok(true) } else { Err(Failure::BuildExists) };
        }
        match before.builds.first().filter(|newest| newest.version > *version) {
            Some(newest) => Err(Failure::BuildOutdated {
                version: version.to_string(),
                newest: newest.version.to_string(),
            }),
            None => Ok(false),
        }
    }

    async fn insert(
        &self,
        connection: &mut Connection,
        files: BTreeMap<String, File>,
    ) -> Result<(), Failure> {
        let Build { name, version, shell, integrity, digest, .. } = &self.build;
        let size: usize = files.values().map(|file| file.content.len()).sum();
        query(ADD_BUILD)
            .bind(name.as_str())
            .bind(version.to_string())
            .bind(shell)
            .bind(integrity)
            .bind(digest)
            .bind(i64::try_from(size).unwrap_or(i64::MAX))
            .bind(self.mark.at)
            .bind(&self.mark.by)
            .execute(&mut *connection)
            .await?;
        for (path, file) in files {
            query(ADD_FILE)
                .bind(name.as_str())
                .bind(version.to_string())
                .bind(path)
                .bind(file.content)
                .bind(file.brotli)
                .bind(file.gzip)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}

/// A file, uncompressed and compressed.
struct File {
    content: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
}

/// Compresses the files once, so that no server does it for every request.
fn compress(files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, File>, Failure> {
    let failed = |error: std::io::Error| Failure::Internal(format!("compressing: {error}"));
    let mut done = BTreeMap::new();
    for (path, content) in files {
        let is_text = matches!(path.rsplit('.').next(), Some("js" | "mjs" | "css" | "json" | "svg" | "txt"));
        let (brotli, gzip) = if is_text {
            const BUFFER: usize = 64 * 1024;
            let mut brotli = brotli::CompressorWriter::new(Vec::new(), BUFFER, 11, 22);
            brotli.write_all(&content).map_err(failed)?;
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            gzip.write_all(&content).map_err(failed)?;
            (Some(brotli.into_inner()), Some(gzip.finish().map_err(failed)?))
        } else {
            (None, None)
        };
        done.insert(path, File { content, brotli, gzip });
    }
    Ok(done)
}
