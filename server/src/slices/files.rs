//! The files of published builds, as they go over the wire.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::SliceName;
use crate::{
    Sandbox,
    database::{Connection, query_as},
    error::Failure,
    http::accept,
};

/// How many bytes of files are kept in memory; the builds that are live take a few hundred KB.
const KEPT_AT_MOST: usize = 16 * 1024 * 1024;

/// The files that were asked for. They never change, so that they are read once.
#[derive(Debug, Default)]
pub struct KeptFiles(Mutex<FileCache>);

#[derive(Debug, Default)]
struct FileCache {
    files: HashMap<String, Arc<File>>,
    size: usize,
}

impl KeptFiles {
    fn get(&self, path: &str) -> Option<Arc<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).files.get(path).map(Arc::clone)
    }

    fn keep(&self, path: &str, file: &Arc<File>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = file.size();
        if size > KEPT_AT_MOST {
            return;
        }
        if kept.size + size > KEPT_AT_MOST {
            *kept = FileCache::default();
        }
        if kept.files.insert(path.to_owned(), Arc::clone(file)).is_none() {
            kept.size += size;
        }
    }
}

/// A file, as it is and compressed.
#[derive(Debug)]
struct File {
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

    fn answer(&self, asked: &HeaderMap) -> Response {
        let (encoding, body) = match (&self.brotli, &self.gzip) {
            (Some(brotli), _) if accepts(asked, "br") => (Some("br"), brotli),
            (_, Some(gzip)) if accepts(asked, "gzip") => (Some("gzip"), gzip),
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

fn accepts(asked: &HeaderMap, encoding: &str) -> bool {
    accept::listed(asked, header::ACCEPT_ENCODING).any(|item| {
        let (name, thousandths) = accept::quality(item);
        name.eq_ignore_ascii_case(encoding) && thousandths > 0
    })
}

/// Answers from the store what was published, and leaves the rest to the portal's own files.
pub async fn published(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return next.run(request).await;
    }
    match find(&sandbox, request.uri().path().trim_start_matches('/')).await {
        Ok(Some(file)) => file.answer(request.headers()),
        Ok(None) => next.run(request).await,
        Err(failure) => {
            // What came with the portal does not need the store.
            let response = next.run(request).await;
            if response.status().is_success() { response } else { failure.into_response() }
        }
    }
}

/// The file at `path`, which begins with slice and version.
async fn find(sandbox: &Sandbox, path: &str) -> Result<Option<Arc<File>>, Failure> {
    if let Some(file) = sandbox.slice_files.get(path) {
        return Ok(Some(file));
    }
    let mut parts = path.splitn(3, '/');
    let (Some(name), Some(version), Some(file)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    if SliceName::parse(name).is_none() {
        return Ok(None);
    }
    let Some(row) = read(&mut *sandbox.database.read().await?, name, version, file).await? else {
        return Ok(None);
    };
    let file = Arc::new(File {
        media_type: media_type(file),
        content: row.content.into(),
        brotli: row.brotli.map(Bytes::from),
        gzip: row.gzip.map(Bytes::from),
    });
    sandbox.slice_files.keep(path, &file);
    Ok(Some(file))
}

#[derive(sqlx::FromRow)]
struct FileRow {
    content: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
}

const FILE: &str = "
    SELECT content, brotli, gzip FROM slice_file WHERE name = $1 AND version = $2 AND path = $3";

async fn read(
    connection: &mut Connection,
    name: &str,
    version: &str,
    path: &str,
) -> Result<Option<FileRow>, Failure> {
    Ok(query_as(FILE).bind(name).bind(version).bind(path).fetch_optional(connection).await?)
}

/// What a slice's build can have in it; the rest is bytes that no browser runs or draws.
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
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
