//! The contract as JSON, and as a reference page that loads nothing from other hosts.

use std::{
    io::{Cursor, Read},
    sync::LazyLock,
};

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

use web::{extract::Path, ready_body::ReadyBody};

use base::error::Failure;
use contract::CONTRACT_PATH;

/// Swagger UI sets styles from its script and has its icons in data URLs.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `/openapi.json`, next to the calls it describes.
pub fn routes() -> Router {
    Router::new().route(CONTRACT_PATH, get(openapi))
}

/// `/docs`.
pub fn page() -> Router {
    Router::new()
        .route("/docs", get(async || Redirect::permanent("/docs/")))
        .route("/docs/", get(async || asset("index.html")))
        .route("/docs/{asset}", get(async |Path(name): Path<String>| asset(&name)))
}

/// The contract as JSON; the same for every sandbox.
static JSON: LazyLock<Result<ReadyBody, String>> = LazyLock::new(|| {
    let json = serde_json::to_vec(contract::json()?).map_err(|error| error.to_string())?;
    ReadyBody::new("application/json", json.into()).map_err(|error| error.to_string())
});

async fn openapi(headers: HeaderMap) -> Result<Response, Failure> {
    let json = JSON.as_ref().map_err(|error| Failure::Internal(format!("contract: {error}")))?;
    json.answer(&headers).await
}

/// One of the page's own files, or of Swagger UI's.
fn asset(name: &str) -> Result<Response, Failure> {
    let bytes = match name {
        "index.html" => include_bytes!("index.html").into(),
        "index.css" => include_bytes!("index.css").into(),
        "swagger-initializer.js" => include_bytes!("start.js").into(),
        _ => unpacked(name).map_err(Failure::internal)?.ok_or(Failure::NotFound)?,
    };
    let media_type = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("png") => "image/png",
        _ => return Err(Failure::NotFound),
    };
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, bytes).into_response())
}

/// A file of Swagger UI, from its archive.
fn unpacked(name: &str) -> zip::result::ZipResult<Option<Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    let is_it = |at: &usize| match archive.name_for_index(*at) {
        Some(Ok(path)) => path.split('/').skip(1).eq(["dist", name]),
        _ => false,
    };
    let Some(at) = (0..archive.len()).find(is_it) else { return Ok(None) };
    let mut bytes = Vec::new();
    archive.by_index(at)?.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
