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
    let bundled = bundled.clone();
    let Build { name, version, shell, integrity, digest, files } = build;
    let size: usize = files.values().map(Vec::len).sum();
    let files = tokio::task::spawn_blocking(|| compressed(files)).await;
    let files = files.map_err(|panicked| Failure::Internal(panicked.to_string()))??;
    database
        .write_in_turn(move |connection: &mut Connection| {
            Box::pin(async move {
                hold(connection, &name).await?;
                let before = one(connection, &bundled, &name).await?;
                if let Some(there) = before.build(&version) {
                    let is_same = match there.origin {
                        Origin::Published => there.digest.as_ref() == Some(&digest),
                        Origin::Bundled => there.integrity == integrity,
                    };
                    return if is_same { Ok((before, false)) } else { Err(Failure::BuildExists) };
                }
                if let Some(newest) = before.builds.first().filter(|newest| newest.version > version) {
                    return Err(Failure::BuildOutdated {
                        version: version.to_string(),
                        newest: newest.version.to_string(),
                    });
                }
                query(ADD_BUILD)
                    .bind(name.as_str())
                    .bind(version.to_string())
                    .bind(shell)
                    .bind(integrity)
                    .bind(digest)
                    .bind(i64::try_from(size).unwrap_or(i64::MAX))
                    .bind(mark.at)
                    .bind(mark.by.clone())
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
                let live_before = before.live.as_ref();
                if !is_held {
                    set_live(connection, &name, &version, live_before).await?;
                }
                let act = if is_held { SliceAction::Held } else { SliceAction::Published };
                trail::add(connection, mark, act, &name, &version, live_before).await?;
                Ok((one(connection, &bundled, &name).await?, true))
            })
        })
        .await
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
