//! The pages' assets, which are public.

use std::sync::LazyLock;

use axum::{Router, http::HeaderMap, response::Response, routing::get};

use super::under_root;
use base::error::Failure;
use web::ready_body::ReadyBody;

/// The path of the icon.
pub const ICON: &str = "/console/assets/icon.svg";
/// The path of the style sheet.
pub const STYLE: &str = "/console/assets/console.css";
/// The path of the script.
pub const SCRIPT: &str = "/console/assets/console.js";

type File = LazyLock<Result<ReadyBody, Failure>>;

macro_rules! file {
    ($name:literal, $media_type:literal) => {
        LazyLock::new(|| ReadyBody::new($media_type, include_bytes!($name).as_slice().into()))
    };
}

static ICON_FILE: File = file!("icon.svg", "image/svg+xml; charset=utf-8");
static STYLE_FILE: File = file!("console.css", "text/css; charset=utf-8");
static SCRIPT_FILE: File = file!("console.js", "text/javascript; charset=utf-8");

/// Routes of the files, which browsers revalidate.
pub fn routes() -> Router {
    Router::new()
        .route(under_root(ICON), get(async |headers: HeaderMap| answer(&ICON_FILE, &headers).await))
        .route(under_root(STYLE), get(async |headers: HeaderMap| answer(&STYLE_FILE, &headers).await))
        .route(under_root(SCRIPT), get(async |headers: HeaderMap| answer(&SCRIPT_FILE, &headers).await))
}

async fn answer(file: &File, headers: &HeaderMap) -> Result<Response, Failure> {
    match LazyLock::force(file) {
        Ok(body) => body.answer(headers).await,
        Err(failure) => Err(Failure::internal(failure)),
    }
}
