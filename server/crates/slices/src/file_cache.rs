//! A cache of published files.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use parking_lot::Mutex;

use base::clock::UnixMillis;
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
    pub fn get(&self, path: &str, now: UnixMillis) -> Option<Arc<File>> {
        let cache = self.0.lock();
        let file = cache.files.get(path)?;
        (now.since(file.read_at) < MAX_AGE).then(|| Arc::clone(file))
    }

    pub fn insert(&self, path: &str, file: &Arc<File>) {
        let mut cache = self.0.lock();
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
pub struct File {
    pub read_at: UnixMillis,
    /// `true` if it will not be compressed any more.
    pub is_final: bool,
    pub media_type: &'static str,
    pub content: Bytes,
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
}

impl File {
    fn size(&self) -> usize {
        self.content.len()
            + self.brotli.as_ref().map_or(0, Bytes::len)
            + self.gzip.as_ref().map_or(0, Bytes::len)
    }

    pub fn answer(&self, request_headers: &HeaderMap) -> Response {
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
