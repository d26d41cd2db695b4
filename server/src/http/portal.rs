//! Serves the built shell and its slices as precompressed files.
//!
//! Files whose names contain a version or a hash never change and are cached for a year; the page
//! and `slices.json` are revalidated each time.

use std::path::{Path, PathBuf};

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use percent_encoding::percent_decode_str;
use tower_http::services::{ServeDir, ServeFile};

use super::{charset, live_slices};
use crate::sandboxes::Sandbox;
use base::error::Failure;
use settings::Settings;
use slices::{Bundled, SLICES_FOLDER, Slices, files::published};
use web::accept;

const CACHE_FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// The portal's files, the shell's page for every path of a screen, and the kit with its gallery.
/// `/slices.json` is served even without a portal folder.
pub fn routes(sandbox: &Sandbox) -> Router {
    let live = Router::new().route("/slices.json", get(live_slices::live));
    let Some(folder) = &sandbox.settings.portal_dir else {
        return live.fallback(async || Failure::NotFound);
    };
    let page = ServeFile::new(folder.join("index.html")).precompressed_br().precompressed_gzip();
    // Without folder indexes there are no redirects to them, which `//host` could lead to another site.
    let files = |path: PathBuf| {
        ServeDir::new(path).append_index_html_on_directories(false).precompressed_br().precompressed_gzip()
    };
    let page = Router::new().fallback_service(page).layer(middleware::from_fn(answer_only_people));
    let policy = content_security_policy(folder, &sandbox.settings);
    // A missing file of a slice must be answered with 404, not with the shell's page.
    let builds =
        Router::new().fallback_service(files(folder.join("slices"))).layer(middleware::from_fn(published));
    let gallery = ServeFile::new(folder.join("kit/gallery/index.html"));
    let kit = Router::new()
        .route("/gallery", get(async || Redirect::permanent("/kit/gallery/")))
        .route_service("/gallery/", gallery.precompressed_br().precompressed_gzip())
        .route("/mfe-kit.tgz", get(newest_kit))
        .fallback_service(files(folder.join("kit")));
    Router::new()
        .route_service("/kit/", ServeFile::new(folder.join("kit/index.html")))
        .nest("/kit", kit)
        .route("/slices/", get(async || Failure::NotFound))
        .nest(SLICES_FOLDER, builds)
        .nest_service("/assets", files(folder.join("assets")))
        .route("/.well-known/change-password", get(async || Redirect::to("/password-reset")))
        .fallback_service(files(folder.clone()).fallback(page))
        .layer(middleware::from_fn(answer_unopenable_names))
        .layer(middleware::from_fn(move |request, next| set_headers(policy.clone(), request, next)))
        .merge(live)
}

/// Redirects to the package of mfe-kit that this portal has. Its address contains the version, because
/// npm caches a package by its address forever.
async fn newest_kit(slices: Slices) -> Result<Response, Failure> {
    let shell = Bundled::of(&slices).await?.shell;
    let package = shell.and_then(|shell| shell.kit_package).ok_or(Failure::NotFound)?;
    Ok((StatusCode::FOUND, [(header::LOCATION, package.address)]).into_response())
}

/// Answers paths that the file system would reject with an error: a segment is over 255 bytes with the
/// `.gz` of the compressed file, or contains NUL. Screens may have such addresses.
async fn answer_unopenable_names(mut request: Request, next: Next) -> Response {
    const MAX_NAME_BYTES: usize = 255 - ".gz".len();
    let is_unopenable = |part: &str| {
        let name = percent_decode_str(part).collect::<Vec<u8>>();
        name.len() > MAX_NAME_BYTES || name.contains(&0)
    };
    let path = request.uri().path();
    if path.split('/').any(is_unopenable) {
        if path.starts_with("/slices/") || path.starts_with("/assets/") {
            return Failure::NotFound.into_response();
        }
        *request.uri_mut() = Uri::from_static("/");
    }
    next.run(request).await
}

/// Answers 404 where no page is asked for: a script or an image that is missing, and callers of an interface that is
/// not there, would take the shell's page for what they asked for.
async fn answer_only_people(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let is_api = path == "/api" || path.starts_with("/api/");
    if path != "/" && (is_file || is_api || !accept::asks_for_page(request.headers())) {
        return Failure::NotFound.into_response();
    }
    next.run(request).await
}

async fn set_headers(policy: Option<HeaderValue>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let never_changes = path.starts_with("/slices/") || path.starts_with("/assets/");
    let mut response = next.run(request).await;
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/html"));
    let never_changes = never_changes && !is_page;
    let cached = if never_changes && response.status().is_success() { CACHE_FOR_A_YEAR } else { REVALIDATE };
    response.headers_mut().insert(header::CACHE_CONTROL, cached);
    charset::add(response.headers_mut());
    // Files in these folders are no pages: the page's policy (0.7 KB) applies to its scripts and styles.
    // A 304 gets the policy, too: it has no media type, and its policy replaces the browser's cached one.
    if let Some(policy) = policy.filter(|_| !never_changes) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// The sources in a policy for the visitor's own machine.
const OWN_MACHINE: &str = "http://localhost:* http://127.0.0.1:* ws://localhost:* ws://127.0.0.1:*";

/// The policy that the shell's build wrote for its page, with the hashes of its scripts, extended by
/// the origins that this deployment allows slices to be loaded from.
fn content_security_policy(folder: &Path, settings: &Settings) -> Option<HeaderValue> {
    let policy = std::fs::read_to_string(folder.join("csp.txt")).ok()?;
    let mut origins: Vec<&str> =
        settings.slice_origins.iter().filter_map(|origin| origin.to_str().ok()).collect();
    if settings.allows_slice_override() {
        origins.push(OWN_MACHINE);
    }
    HeaderValue::from_str(&with_origins(policy.trim(), &origins)).ok()
}

/// Adds `origins` to every directive of `policy` that applies to a slice's own files.
fn with_origins(policy: &str, origins: &[&str]) -> String {
    const FOR_SLICES: [&str; 5] = ["script-src", "style-src", "connect-src", "img-src", "font-src"];
    let directives = policy.split("; ").map(|directive| {
        let name = directive.split(' ').next().unwrap_or_default();
        if FOR_SLICES.contains(&name) {
            std::iter::once(directive).chain(origins.iter().copied()).collect::<Vec<_>>().join(" ")
        } else {
            directive.to_owned()
        }
    });
    directives.collect::<Vec<_>>().join("; ")
}
