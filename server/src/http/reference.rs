//! The contract as JSON, and as a reference page that loads nothing from other hosts.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use utoipa_swagger_ui::Config;

use super::{
    charset,
    extract::Path,
    ready_body::{ReadyBody, digest},
};
use crate::{contract, error::Failure};

/// Swagger UI sets styles from its script and has its icons in data URLs.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// Where the contract is, relative to the calls it describes.
pub const CONTRACT_PATH: &str = "/openapi.json";

/// `/openapi.json`, next to the calls it describes.
pub fn contract() -> Router {
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
static JSON: LazyLock<Result<Arc<ReadyBody>, String>> = LazyLock::new(|| {
    let json = serde_json::to_vec(contract::json()?).map_err(|error| error.to_string())?;
    let digest = digest(&json);
    let body = ReadyBody::new("application/json", json.into(), digest).map_err(|error| error.to_string())?;
    Ok(Arc::new(body))
});

async fn openapi(headers: HeaderMap) -> Result<Response, Failure> {
    let json = JSON.as_ref().map_err(|error| Failure::Internal(format!("contract: {error}")))?;
    json.answer(&headers).await
}

/// One of Swagger UI's own files.
fn asset(name: &str) -> Result<Response, Failure> {
    let config = Arc::new(Config::from("/api/v1/openapi.json").try_it_out_enabled(true));
    let file = utoipa_swagger_ui::serve(name, config)
        .map_err(|error| Failure::Internal(error.to_string()))?
        .ok_or(Failure::NotFound)?;
    let media_type =
        HeaderValue::from_str(&file.content_type).map_err(|error| Failure::Internal(error.to_string()))?;
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    let mut response = (headers, file.bytes.into_owned()).into_response();
    charset::add(response.headers_mut());
    Ok(response)
}
