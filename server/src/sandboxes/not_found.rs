//! Answers for sandboxes that do not exist.

use axum::{
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Addresses, Name, Sandbox};
use base::error::Failure;
use settings::Settings;
use web::notice::{self, escaped};

/// The page that browsers get, with status 404.
pub fn page(settings: &Settings, addresses: &Addresses, sentence: &str) -> Response {
    let body = format!(
        "<p>{sentence} It may have expired, or been removed.</p>\
         <p>Whoever has the console's token can make one: <code>mkopo sandbox add NAME</code></p><p><a href=\"{address}\">Go to {brand}</a></p>",
        brand = escaped(&settings.brand),
        sentence = escaped(sentence),
        address = escaped(&addresses.portal(&Name::main())),
    );
    notice::page(StatusCode::NOT_FOUND, &settings.brand, "Sandbox not found", &body)
}

/// Answers that there is nothing where there are no sandboxes.
pub async fn hide_when_off(sandbox: Sandbox, request: Request, next: Next) -> Response {
    if sandbox.server.sandboxes.are_on() {
        next.run(request).await
    } else {
        Failure::NotFound.into_response()
    }
}
