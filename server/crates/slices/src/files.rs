//! Serves the files of published builds.

use axum::{
    body::Bytes,
    extract::Request,
    http::Method,
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    build::{SHELL, SliceName},
    builds::OF_SANDBOX,
    file::File,
    of_world::Slices,
    shell_build,
};
use base::error::Failure;
use store::{Database, query_as, query_scalar};

pub use crate::source_map::is_source_map;

/// Serves the files of published builds. All other paths are left to the portal's own files.
pub async fn published(slices: Slices, request: Request, next: Next) -> Response {
    if !is_read(&request) {
        return next.run(request).await;
    }
    let found = find(&slices, request.uri().path().trim_start_matches('/')).await;
    let found = found.map(|file| file.map(|file| file.answer(request.headers())));
    or_own(found, request, next).await
}

/// Returns whether a file may answer the request.
pub fn is_read(request: &Request) -> bool {
    request.method() == Method::GET || request.method() == Method::HEAD
}

/// Answers with what was `found` among the published files, or else with the portal's own.
pub async fn or_own(found: Result<Option<Response>, Failure>, request: Request, next: Next) -> Response {
    match found {
        Ok(Some(answer)) => answer,
        Ok(None) => next.run(request).await,
        Err(failure) => {
            // The portal's own files do not need the database.
            let response = next.run(request).await;
            if response.status().is_success() { response } else { failure.into_response() }
        }
    }
}

/// The file at `path`, which begins with slice and version. A sandbox has its own builds and those of `main`.
async fn find(slices: &Slices, path: &str) -> Result<Option<File>, Failure> {
    let mut parts = path.splitn(3, '/');
    let (Some(name), Some(version), Some(file)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    if SliceName::parse(name).is_none() {
        return Ok(None);
    }
    match version.split_once(OF_SANDBOX) {
        // In a sandbox, this is also the address for looking at a build that is held there.
        None => find_among_all(slices, name, Some(version), file).await,
        Some((version, id)) if slices.sandbox_id.as_deref() == Some(id) => {
            read(&slices.database, name, Some(version), file).await
        }
        Some(_) => Ok(None),
    }
}

/// The file at `path` of a build of the slice `name`, or of any of its builds without a `version`: in `main`, or else
/// in the sandbox.
async fn find_among_all(
    slices: &Slices,
    name: &str,
    version: Option<&str>,
    path: &str,
) -> Result<Option<File>, Failure> {
    match read(&slices.shared.database, name, version, path).await? {
        None if !slices.are_of_main() => read(&slices.database, name, version, path).await,
        found => Ok(found),
    }
}

const LIVE: &str = "SELECT live_version FROM slice WHERE name = $1";

/// A file of the build of the shell that is live in the world, with the policy of this build; `None` unless it is a
/// published one that has the file.
pub async fn of_live_shell(slices: &Slices, path: &str) -> Result<Option<(File, Bytes)>, Failure> {
    let (own, of_main) = (&slices.database, &slices.shared.database);
    let stores = [Some(own).filter(|_| !slices.are_of_main()), Some(of_main)];
    let mut live = None;
    for store in stores.into_iter().flatten() {
        let chosen = query_scalar(LIVE).bind(SHELL).fetch_optional(&mut store.read().await?).await?;
        live = live.or(chosen.flatten());
    }
    let Some(live): Option<String> = live else { return Ok(None) };
    for store in stores.into_iter().flatten() {
        let Some(mut file) = read(store, SHELL, Some(&live), path).await? else { continue };
        if path.rsplit('.').next() == Some("html") {
            file.media_type = "text/html";
        }
        let policy = read(store, SHELL, Some(&live), shell_build::POLICY).await?;
        return Ok(policy.map(|policy| (file, policy.content)));
    }
    Ok(None)
}

/// A file whose name has its digest, of any build of the shell: pages may be open that an earlier one has drawn.
pub async fn of_any_shell(slices: &Slices, path: &str) -> Result<Option<File>, Failure> {
    find_among_all(slices, SHELL, None, path).await
}

#[derive(sqlx_macros::FromRow)]
struct FileRow {
    content: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
}

const FILE: &str = "
    SELECT content, brotli, gzip FROM slice_file
    WHERE name = $1 AND path = $2 AND version = $3";

const OF_ANY_BUILD: &str = "
    SELECT content, brotli, gzip FROM slice_file WHERE name = $1 AND path = $2 LIMIT 1";

async fn read(
    database: &Database,
    name: &str,
    version: Option<&str>,
    path: &str,
) -> Result<Option<File>, Failure> {
    let row = match version {
        Some(version) => query_as(FILE).bind_all((name, path, version)),
        None => query_as(OF_ANY_BUILD).bind(name).bind(path),
    };
    let row: Option<FileRow> = row.fetch_optional(&mut database.read().await?).await?;
    Ok(row.map(|row| File {
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
        Some("json") => "application/json",
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
