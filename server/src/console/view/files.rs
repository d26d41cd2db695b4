//! What the pages look like and what they do in a browser: open, as it tells nothing.

use std::sync::{Arc, LazyLock};

use axum::{Router, http::HeaderMap, response::Response, routing::get};

use super::beneath;
use crate::{
    Sandbox,
    error::Failure,
    http::ready_body::{ReadyBody, digest},
};

/// Where the pages' picture is.
pub const ICON: &str = "/console/assets/icon.svg";
/// Where the pages' style is.
pub const STYLE: &str = "/console/assets/console.css";
/// Where the pages' script is.
pub const SCRIPT: &str = "/console/assets/console.js";

type File = LazyLock<Result<Arc<ReadyBody>, Failure>>;

macro_rules! file {
    ($name:literal, $media_type:literal) => {
        LazyLock::new(|| {
            let content = include_bytes!($name);
            ReadyBody::new($media_type, content.as_slice().into(), digest(content)).map(Arc::new)
        })
    };
}

static ICON_FILE: File = file!("icon.svg", "image/svg+xml");
static STYLE_FILE: File = file!("console.css", "text/css; charset=utf-8");
static SCRIPT_FILE: File = file!("console.js", "text/javascript; charset=utf-8");

/// The files; a browser asks for each whether it is still the same.
pub fn routes() -> Router<Sandbox> {
    Router::new()
        .route(beneath(ICON), get(async |asked: HeaderMap| answer(&ICON_FILE, &asked).await))
        .route(beneath(STYLE), get(async |asked: HeaderMap| answer(&STYLE_FILE, &asked).await))
        .route(beneath(SCRIPT), get(async |asked: HeaderMap| answer(&SCRIPT_FILE, &asked).await))
}

async fn answer(file: &File, asked: &HeaderMap) -> Result<Response, Failure> {
    match LazyLock::force(file) {
        Ok(body) => body.answer(asked).await,
        Err(failure) => Err(Failure::Internal(failure.to_string())),
    }
}
