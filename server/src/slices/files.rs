//! Serves the files of published builds.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{OF_SANDBOX, SliceName};
use crate::Sandbox;
use base::{clock::UnixMillis, error::Failure};
use store::{Database, query_as};
use web::accept;

/// Maximum size of the cache, in bytes; live builds take a few hundred KB.
const MAX_CACHED: usize = 16 * 1024 * 1024;

/// Maximum age of a cached file. Files never change, but any server can remove their slice or restore
/// other data.
const MAX_AGE: Duration = Duration::from_mins(1);

/// A cache of requested files.
#[derive(Debug, Default)]
pub struct FileCache(Mutex<CachedFiles>);

#[derive(Debug, Default)]
struct CachedFiles {
    files: HashMap<String, Arc<File>>,
    size: usize,
}

impl FileCache {
    fn get(&self, path: &str, now: UnixMillis) -> Option<Arc<File>> {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = cache.files.get(path)?;
        (now.since(file.read_at) < MAX_AGE).then(|| Arc::clone(file))
    }

    fn insert(&self, path: &str, file: &Arc<File>) {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = file.size();
        if size > MAX_CACHED {
            return;
        }
        if cache.size + size > MAX_CACHED {
            *cache = CachedFiles::default();
        }
        cache.size += size;
        if let Some(replaced) = cache.files.insert(path.to_owned(), Arc::clone(file)) {
            cache.size -= replaced.size();
        }
    }
}

/// A file, uncompressed and compressed.
#[derive(Debug)]
struct File {
    read_at: UnixMillis,
    /// Whether it will not be compressed any more.
    is_final: bool,
    media_type: &'static str,
    content: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
}

impl File {
    fn size(&self) -> usize {
        self.content.len()
            + self.brotli.as_ref().map_or(0, Bytes::len)
            + self.gzip.as_ref().map_or(0, Bytes::len)
    }

    fn answer(&self, request_headers: &HeaderMap) -> Response {
        let (encoding, body) = match (&self.brotli, &self.gzip) {
            (Some(brotli), _) if accepts(request_headers, "br") => (Some("br"), brotli),
            (_, Some(gzip)) if accepts(request_headers, "gzip") => (Some("gzip"), gzip),
            _ => (None, &self.content),
        };
        let mut response = Body::from(body.clone()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    accept::items(headers, header::ACCEPT_ENCODING).any(|item| {
        let (name, thousandths) = accept::quality(item);
        name.eq_ignore_ascii_case(encoding) && thousandths > 0
    })
}

/// Serves the files of published builds. All other paths are left to the portal's own files.
pub async fn published(sandbox: Sandbox, request: Request, next: Next) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return next.run(request).await;
    }
    match find(&sandbox, request.uri().path().trim_start_matches('/')).await {
        Ok(Some(file)) => file.answer(request.headers()),
        Ok(None) => next.run(request).await,
        Err(failure) => {
            // The portal's own files do not need the database.
            let response = next.run(request).await;
            if response.status().is_success() { response } else { failure.into_response() }
        }
    }
}

/// The file at `path`, which begins with slice and version. A sandbox has its own builds and those of `main`.
async fn find(sandbox: &Sandbox, path: &str) -> Result<Option<Arc<File>>, Failure> {
    let now = sandbox.clock.unset_now();
    let mut parts = path.splitn(3, '/');
    let (Some(name), Some(version), Some(file)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    if SliceName::parse(name).is_none() {
        return Ok(None);
    }
    let (version, own) = match version.split_once(OF_SANDBOX) {
        Some((version, id)) if sandbox.id.as_deref() == Some(id) => (version, true),
        Some(_) => return Ok(None),
        None => (version, false),
    };
    if own {
        return Ok(read(sandbox, &sandbox.database, [name, version, file]).await?.map(Arc::new));
    }
    if let Some(file) = sandbox.server.slice_files.get(path, now) {
        return Ok(Some(file));
    }
    let Some(found) = read(sandbox, &sandbox.server.database, [name, version, file]).await? else {
        // The address for looking at a build that is held there.
        let own = !sandbox.is_main();
        let found = if own { read(sandbox, &sandbox.database, [name, version, file]).await? } else { None };
        return Ok(found.map(Arc::new));
    };
    let (is_final, found) = (found.is_final, Arc::new(found));
    if is_final {
        sandbox.server.slice_files.insert(path, &found);
    }
    Ok(Some(found))
}

#[derive(sqlx_macros::FromRow)]
struct FileRow {
    content: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
    compress_at: Option<UnixMillis>,
}

const FILE: &str = "
    SELECT content, brotli, gzip, compress_at FROM slice_file
    WHERE name = $1 AND version = $2 AND path = $3";

async fn read(
    sandbox: &Sandbox,
    database: &Database,
    [name, version, path]: [&str; 3],
) -> Result<Option<File>, Failure> {
    let row = query_as(FILE).bind(name).bind(version).bind(path);
    let row: Option<FileRow> = row.fetch_optional(&mut *database.read().await?).await?;
    Ok(row.map(|row| File {
        read_at: sandbox.clock.unset_now(),
        is_final: row.compress_at.is_none(),
        media_type: media_type(path),
        content: row.content.into(),
        brotli: row.brotli.map(Bytes::from),
        gzip: row.gzip.map(Bytes::from),
    }))
}

/// The media type of a build's file. Unknown types are served as bytes that browsers neither run nor draw.
fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js" | "mjs") => "text/javascript",
        Some("css") => "text/css",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("avif") => "image/avif",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain",
        _ => "application/octet-stream",
    }
}
