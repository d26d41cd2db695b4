//! Keep a build for good, and make it live.

use std::{collections::BTreeMap, io::Write};

use super::{Build, Bundled, Mark, Origin, SliceBuilds, hold, one, set_live, trail, trail::SliceAction};
use crate::{
    database::{Connection, Database, query},
    error::Failure,
};

const ADD_BUILD: &str = "
    INSERT INTO slice_build (name, version, shell, integrity, digest, size, published_at, published_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const ADD_FILE: &str = "
    INSERT INTO slice_file (name, version, path, content, brotli, gzip) VALUES ($1, $2, $3, $4, $5, $6)";

/// Publishes a build that has been checked. It goes live, unless `is_held`. One that is there
/// already is left as it is. Answers how the slice stands now, and whether the build is new.
///
/// # Errors
/// [`Failure::BuildExists`] when the version is there with other bytes, [`Failure::BuildOutdated`]
/// when it is below the newest there is.
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
            Box::pin(async move { publication.enter(connection, &bundled, files).await })
        })
        .await
}

struct Publication {
    build: Build,
    is_held: bool,
    mark: Mark,
}

impl Publication {
    /// Before the transaction: it takes seconds, and nobody else's write waits for it.
    async fn compressed_files(&self) -> Result<BTreeMap<String, File>, Failure> {
        let files = self.build.files.clone();
        let compressed = tokio::task::spawn_blocking(|| compressed(files)).await;
        compressed.map_err(|panicked| Failure::Internal(panicked.to_string()))?
    }

    async fn enter(
        self,
        connection: &mut Connection,
        bundled: &Bundled,
        files: BTreeMap<String, File>,
    ) -> Result<(SliceBuilds, bool), Failure> {
        let Build { name, version, .. } = &self.build;
        hold(connection, name).await?;
        let before = one(connection, bundled, name).await?;
        if self.is_there(&before)? {
            return Ok((before, false));
        }
        self.keep(connection, files).await?;
        let live_before = before.live.as_ref();
        let action = if self.is_held {
            SliceAction::Held
        } else {
            set_live(connection, name, version, live_before).await?;
            SliceAction::Published
        };
        trail::add(connection, self.mark, action, name, version, live_before).await?;
        Ok((one(connection, bundled, name).await?, true))
    }

    /// Whether the same build is there already.
    fn is_there(&self, before: &SliceBuilds) -> Result<bool, Failure> {
        let Build { version, integrity, digest, .. } = &self.build;
        if let Some(there) = before.build(version) {
            let is_same = match there.origin {
                Origin::Published => there.digest.as_ref() == Some(digest),
                Origin::Bundled => there.integrity == *integrity,
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

    async fn keep(&self, connection: &mut Connection, files: BTreeMap<String, File>) -> Result<(), Failure> {
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

/// A file as it is, and as it goes over the wire.
struct File {
    content: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
}

/// Compressed once, so that no server does it for a caller.
fn compressed(files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, File>, Failure> {
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
