//! Compresses published files in the background, so that no request or upload has to wait for it. Until
//! then a file is served uncompressed.
//!
//! A file is claimed by moving its due time to the end of a lease. If the server stops before, the file
//! becomes due again, on this server or another.

use std::{io::Write, time::Duration};

use crate::of_world::Slices;
use base::error::Failure;
use store::{Connection, query, query_scalar};

/// Duration of a claim: longer than compressing the largest file takes.
const LEASE: Duration = Duration::from_mins(2);

/// Poll interval for files that are due, which may have been published through another server.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Files below this size, in bytes, are compressed with the highest effort.
const SMALL: usize = 1024 * 1024;

/// Returns `true` if compression makes the file smaller; images and fonts are compressed already.
pub(super) fn is_worthwhile(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("js" | "mjs" | "css" | "json" | "svg" | "txt" | "html"))
}

/// Compresses due files, one at a time, for as long as the future is polled.
pub async fn keep_compressing(slices: Slices) {
    loop {
        match compress_next(&slices).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(failure) => tracing::warn!(?failure, "slices.not_compressed"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

const IS_DUE: &str = "
    SELECT count(*) FROM (SELECT 1 FROM slice_file WHERE compress_at <= $1 LIMIT 1) AS due";

// Skips content that another server is compressing for another build.
const CLAIM: &str = "
    UPDATE slice_file SET compress_at = $2
    WHERE compress_at <= $1 AND digest =
        (SELECT digest FROM slice_file AS due
         WHERE compress_at <= $1 AND NOT EXISTS
             (SELECT 1 FROM slice_file AS claimed WHERE claimed.digest = due.digest AND claimed.compress_at > $1)
         ORDER BY compress_at LIMIT 1)
    RETURNING digest";

const CONTENT: &str = "SELECT content FROM slice_file WHERE digest = $1 LIMIT 1";

const STORE: &str = "
    UPDATE slice_file SET brotli = $2, gzip = $3, compress_at = NULL
    WHERE digest = $1 AND compress_at IS NOT NULL";

/// Compresses the next due file, and all files with the same content. Returns `false` if none is due.
///
/// # Errors
/// When the database can't be read or written. The file becomes due again.
pub async fn compress_next(slices: &Slices) -> Result<bool, Failure> {
    let now = slices.clock.unset_now();
    // Reads first: most rounds find nothing, and then the writer is not blocked.
    let due: i64 = query_scalar(IS_DUE).bind(now).fetch_one(&mut slices.database.read().await?).await?;
    if due == 0 {
        return Ok(false);
    }
    let claimed: Vec<String> = slices
        .database
        .write(async move |connection: &mut Connection| {
            Ok(query_scalar(CLAIM).bind(now).bind(now.plus(LEASE)).fetch_all(connection).await?)
        })
        .await?;
    let Some(digest) = claimed.into_iter().next() else { return Ok(false) };
    let content: Option<Vec<u8>> =
        query_scalar(CONTENT).bind(&digest).fetch_optional(&mut slices.database.read().await?).await?;
    // The slice was removed in the meantime.
    let Some(content) = content else { return Ok(true) };
    let compressed = tokio::task::spawn_blocking(move || compress(&content)).await;
    let compressed = compressed.map_err(Failure::internal)?;
    let (brotli, gzip) = compressed.map_err(|error| Failure::Internal(format!("compressing: {error}")))?;
    slices.database.execute_in_turn(query(STORE).bind_all((digest, brotli, gzip))).await?;
    Ok(true)
}

/// The content in brotli and in gzip.
fn compress(content: &[u8]) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    const BUFFER: usize = 64 * 1024;
    const WINDOW: u32 = 22;
    // Quality 11 takes 20 times as long as 9 and saves a few percent.
    let quality = if content.len() < SMALL { 11 } else { 9 };
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), BUFFER, quality, WINDOW);
    brotli.write_all(content)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(content)?;
    Ok((brotli.into_inner(), gzip.finish()?))
}
