//! The built shell and its slices, as files that were compressed ahead.
//!
//! Names that carry a version or a hash never change and are kept for a year; the page and
//! `slices.json` are asked for each time.

use std::path::{Path, PathBuf};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use serde_json::{Value, json};
use tower_http::services::{ServeDir, ServeFile};

use crate::{Sandbox, config::Settings, error::Failure};

const FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");

/// The portal's files, with the shell's page for every path that is a screen; and
/// `/slices.json`. Without a portal folder, only that and 404.
pub fn routes(settings: &Settings) -> Router<Sandbox> {
    let slices = Router::new().route("/slices.json", get(slices));
    let Some(folder) = &settings.portal_dir else {
        return slices.fallback(async || Failure::NotFound);
    };
    let page = ServeFile::new(folder.join("index.html")).precompressed_br().precompressed_gzip();
    let files = |path: PathBuf| ServeDir::new(path).precompressed_br().precompressed_gzip();
    let policy = content_security_policy(folder);
    Router::new()
        // A missing file of a slice is missing; it must not come back as a page.
        .nest_service("/slices", files(folder.join("slices")))
        .nest_service("/assets", files(folder.join("assets")))
        .fallback_service(files(folder.clone()).append_index_html_on_directories(true).fallback(page))
        .layer(middleware::from_fn(move |request, next| cached_and_safe(policy.clone(), request, next)))
        .merge(slices)
}

async fn cached_and_safe(policy: Option<HeaderValue>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let never_changes = path.starts_with("/slices/") || path.starts_with("/assets/");
    let mut response = next.run(request).await;
    let cached = if never_changes && response.status().is_success() { FOR_A_YEAR } else { ASK_EACH_TIME };
    response.headers_mut().insert(header::CACHE_CONTROL, cached);
    if let Some(policy) = policy {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// The policy that the shell's build wrote for its page: it knows the hashes of its scripts.
fn content_security_policy(folder: &Path) -> Option<HeaderValue> {
    let policy = std::fs::read_to_string(folder.join("csp.txt")).ok()?;
    HeaderValue::from_str(policy.trim()).ok()
}

async fn slices(
    State(sandbox): State<Sandbox>,
) -> Result<([(header::HeaderName, HeaderValue); 1], Json<Value>), Failure> {
    let settings = &sandbox.settings;
    let built = match &settings.portal_dir {
        Some(folder) => tokio::fs::read(folder.join("slices.json")).await,
        None => Ok(b"{}".to_vec()),
    };
    let built = built.map_err(|error| Failure::Internal(format!("slices.json: {error}")))?;
    let built: Value =
        serde_json::from_slice(&built).map_err(|error| Failure::Internal(format!("slices.json: {error}")))?;
    let portal = json!({
        "brand": settings.brand,
        "product": settings.product,
        "demo": settings.demo,
        "allow_override": settings.demo,
    });
    let slices = built.get("slices").cloned().unwrap_or_else(|| json!({}));
    Ok(([(header::CACHE_CONTROL, ASK_EACH_TIME)], Json(json!({ "portal": portal, "slices": slices }))))
}
