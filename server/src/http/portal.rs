//! Serves the shell and the slices: the published builds from the database, and those that are bundled with the portal
//! as precompressed files of its folder.
//!
//! Files whose names contain a version or a hash never change and are cached for a year; the page
//! and `slices.json` are revalidated each time.

use std::path::PathBuf;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use percent_encoding::percent_decode_str;
use tower_http::services::{ServeDir, ServeFile};

use super::live_slices;
use base::error::Failure;
use settings::Settings;
use slices::{SLICES_FOLDER, Slices, files, live_shell, shell_build};
use web::{accept, notice};
use worlds::sandboxes::Sandbox;

const CACHE_FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// The page for every path of a screen, its code, the slices, and the kit with its gallery.
pub fn routes(sandbox: &Sandbox) -> Router {
    let folder = sandbox.settings.portal_dir.as_deref();
    let files_at = |path: &str| match folder {
        Some(folder) => Router::new().fallback_service(files_in(folder.join(path))),
        None => Router::new().fallback(async || Failure::NotFound),
    };
    let kit = Router::new()
        .route("/gallery", get(async || Redirect::permanent("/kit/gallery/")))
        .route("/mfe-kit.tgz", get(newest_kit));
    let (routes, kit, page) = match folder {
        Some(folder) => (
            Router::new().route_service("/kit/", file(folder.join("kit/index.html"))),
            kit.route_service("/gallery/", file(folder.join("kit/gallery/index.html")))
                .fallback_service(files_in(folder.join("kit")).fallback(earlier_packages())),
            Router::new().fallback_service(file(folder.join(shell_build::PAGE))),
        ),
        None => (
            Router::new().route("/kit/", get(async || Failure::NotFound)),
            kit.fallback_service(earlier_packages()),
            Router::new().fallback(being_deployed),
        ),
    };
    let builds = files_at("slices").layer(middleware::from_fn(revalidate_entries));
    routes
        .nest("/kit", kit)
        .nest("/assets", files_at("assets"))
        // A missing file of a slice must be answered with 404, not with the shell's page.
        .nest(SLICES_FOLDER, builds.layer(middleware::from_fn(files::published)))
        .fallback_service(page.layer(middleware::from_fn(answer_only_people)))
        .route("/slices/", get(async || Failure::NotFound))
        .route("/.well-known/change-password", get(async || Redirect::to("/password-reset")))
        .layer(middleware::from_fn(published_shell))
        .layer(middleware::from_fn(answer_unopenable_names))
        .layer(middleware::from_fn(hide_source_maps))
        .layer(middleware::from_fn(set_headers))
        .route("/slices.json", get(live_slices::live))
}

/// These names have no hash, and the portal's folder may have other files of the same version later.
async fn revalidate_entries(request: Request, next: Next) -> Response {
    let is_entry =
        ["/mf-manifest.json", "/remoteEntry.js"].iter().any(|name| request.uri().path().ends_with(name));
    let mut response = next.run(request).await;
    if is_entry {
        response.headers_mut().insert(header::CACHE_CONTROL, REVALIDATE);
    }
    response
}

fn file(path: PathBuf) -> ServeFile {
    ServeFile::new(path).precompressed_br().precompressed_gzip()
}

/// Without folder indexes there are no redirects to them, which `//host` could lead to another site.
fn files_in(folder: PathBuf) -> ServeDir {
    ServeDir::new(folder).append_index_html_on_directories(false).precompressed_br().precompressed_gzip()
}

/// Serves the files of the shell that was published and is live, if there is one.
async fn published_shell(sandbox: Sandbox, request: Request, next: Next) -> Response {
    if !files::is_read(&request) {
        return next.run(request).await;
    }
    let found = find_published(&sandbox, request.uri().path(), request.headers()).await;
    files::or_own(found, request, next).await
}

async fn find_published(
    sandbox: &Sandbox,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<Response>, Failure> {
    let slices = &sandbox.slices;
    if path.starts_with("/assets/") {
        let file = files::of_any_shell(slices, path.trim_start_matches('/')).await?;
        return Ok(file.map(|file| file.answer(headers)));
    }
    let is_of_slices = path.strip_prefix(SLICES_FOLDER).is_some_and(|rest| rest.starts_with('/'));
    let name = match path.strip_prefix("/kit/") {
        Some("") => "kit/index.html",
        Some("gallery/") => "kit/gallery/index.html",
        Some(_) => path.trim_start_matches('/'),
        None if is_of_slices => return Ok(None),
        None if is_for_people(path, headers) => shell_build::PAGE,
        None => return Ok(None),
    };
    let Some((file, policy)) = files::of_live_shell(slices, name).await? else { return Ok(None) };
    let policy = content_security_policy(&String::from_utf8_lossy(&policy), &sandbox.settings);
    let policy = policy.ok_or_else(|| Failure::Internal("the live shell has no policy".to_owned()))?;
    let mut answer = file.answer(headers);
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(Some(answer))
}

/// The page while no shell is there. Browsers load it again until one is; for others, there is nothing.
async fn being_deployed(sandbox: Sandbox, method: Method, headers: HeaderMap) -> Response {
    // Screen readers begin again with each load.
    const AGAIN_AFTER_SECONDS: u32 = 10;
    if !accept::asks_for_page(&headers) || method != Method::GET && method != Method::HEAD {
        return Failure::NotFound.into_response();
    }
    let heading = format!("{} is being deployed", sandbox.settings.brand);
    let text = "<p>This page goes on by itself as soon as the portal is there.</p>";
    notice::again(
        StatusCode::SERVICE_UNAVAILABLE,
        &sandbox.settings.brand,
        &heading,
        text,
        AGAIN_AFTER_SECONDS,
    )
}

/// Redirects to the package of mfe-kit that this portal has. Its address contains the version, because
/// npm caches a package by its address forever.
async fn newest_kit(slices: Slices) -> Result<Response, Failure> {
    let all = slices::all(&slices).await?;
    let package = live_shell(&all).and_then(|shell| shell.kit_package.clone()).ok_or(Failure::NotFound)?;
    Ok((StatusCode::FOUND, [(header::LOCATION, package.address)]).into_response())
}

/// The packages of shells that are not live any more. Slices name the address of their kit, which contains its version.
fn earlier_packages() -> Router {
    Router::new().fallback(earlier_package)
}

async fn earlier_package(slices: Slices, request: Request) -> Result<Response, Failure> {
    let path = request.uri().path();
    let is_package = path.rsplit('.').next() == Some("tgz");
    let has_version = path.bytes().any(|byte| byte.is_ascii_digit());
    if !is_package || !has_version || !files::is_read(&request) {
        return Err(Failure::NotFound);
    }
    let file = files::of_any_shell(&slices, &format!("kit{path}")).await?.ok_or(Failure::NotFound)?;
    Ok(file.answer(request.headers()))
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

/// Answers 404 for source maps, which have the sources: only the server reads them.
async fn hide_source_maps(request: Request, next: Next) -> Response {
    let path = percent_decode_str(request.uri().path().trim_end_matches('/')).decode_utf8_lossy();
    if files::is_source_map(&path) {
        return Failure::NotFound.into_response();
    }
    next.run(request).await
}

/// Answers 404 where no page is asked for: a script or an image that is missing, and callers of an interface that is
/// not there, would take the shell's page for what they asked for.
async fn answer_only_people(request: Request, next: Next) -> Response {
    if !is_for_people(request.uri().path(), request.headers()) {
        return Failure::NotFound.into_response();
    }
    next.run(request).await
}

fn is_for_people(path: &str, headers: &HeaderMap) -> bool {
    let is_for_programs = path == "/api" || path.starts_with("/api/") || path.starts_with("/.well-known/");
    path == "/" || !is_for_programs && accept::asks_for_page(headers)
}

async fn set_headers(sandbox: Sandbox, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let never_changes = path.starts_with("/slices/") || path.starts_with("/assets/");
    let mut response = next.run(request).await;
    let is_page = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/html"));
    let never_changes = never_changes && !is_page;
    let cached = if never_changes && response.status().is_success() { CACHE_FOR_A_YEAR } else { REVALIDATE };
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(cached);
    add_charset(response.headers_mut());
    // Files in these folders are no pages: the page's policy (0.7 KB) applies to its scripts and styles.
    // A 304 gets the policy, too: it has no media type, and its policy replaces the browser's cached one. A published
    // page has its own.
    let needs_policy = !never_changes && !response.headers().contains_key(header::CONTENT_SECURITY_POLICY);
    if needs_policy && let Some(policy) = bundled_policy(&sandbox.settings).await {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Adds the charset to the media type of a file, if it is a text without one: an old browser may guess another than UTF-8.
fn add_charset(headers: &mut HeaderMap) {
    let Some(media_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return;
    };
    let is_text = media_type.starts_with("text/")
        || ["application/javascript", "application/json", "image/svg+xml"].contains(&media_type);
    if !is_text || media_type.contains("charset=") {
        return;
    }
    if let Ok(with_charset) = HeaderValue::from_str(&format!("{media_type}; charset=utf-8")) {
        headers.insert(header::CONTENT_TYPE, with_charset);
    }
}

/// The policy of the page in the portal's folder. It is read with each page, because others may replace both while the
/// service runs.
async fn bundled_policy(settings: &Settings) -> Option<HeaderValue> {
    let file = settings.portal_dir.as_deref()?.join(shell_build::POLICY);
    content_security_policy(&tokio::fs::read_to_string(file).await.ok()?, settings)
}

/// The sources in a policy for the visitor's own machine.
const OWN_MACHINE: &str = "http://localhost:* http://127.0.0.1:* ws://localhost:* ws://127.0.0.1:*";

/// The policy that the shell's build wrote for its page, with the hashes of its scripts, extended by
/// the origins that this deployment allows slices to be loaded from.
fn content_security_policy(policy: &str, settings: &Settings) -> Option<HeaderValue> {
    let mut origins: Vec<&str> = settings.slice_origins.iter().map(String::as_str).collect();
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
