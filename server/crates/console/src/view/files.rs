//! The pages' assets, which are public.

use std::sync::Arc;

use axum::{Router, http::HeaderMap, response::Response, routing::get};

use super::under_root;
use base::error::Failure;
use web::ready_body::ReadyBody;

pub const ICON: &str = "/console/assets/icon.svg";
pub const STYLE: &str = "/console/assets/console.css";
pub const SCRIPT: &str = "/console/assets/console.js";

/// The path, the media type and the content of each file.
const FILES: [(&str, &str, &[u8]); 3] = [
    (ICON, "image/svg+xml; charset=utf-8", include_bytes!("icon.svg")),
    (STYLE, "text/css; charset=utf-8", include_bytes!("console.css")),
    (SCRIPT, "text/javascript; charset=utf-8", include_bytes!("console.js")),
];

/// Routes of the files, which browsers revalidate.
pub fn routes() -> Router {
    FILES.into_iter().fold(Router::new(), |router, (path, media_type, content)| {
        let file = Arc::new(ReadyBody::new(media_type, content.into()));
        router.route(under_root(path), get(move |headers: HeaderMap| answer(file, headers)))
    })
}

async fn answer(file: Arc<Result<ReadyBody, Failure>>, headers: HeaderMap) -> Result<Response, Failure> {
    match &*file {
        Ok(body) => body.answer(&headers).await,
        Err(failure) => Err(Failure::internal(failure)),
    }
}
