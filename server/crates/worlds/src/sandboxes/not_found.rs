//! Answers for sandboxes that do not exist.

use axum::{
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Name, Sandbox, SandboxRefusal};
use base::error::Failure;
use web::notice::{self, escaped};

/// The page that browsers get, with status 404, if `failure` is that a sandbox does not exist.
pub fn page(main: &Sandbox, failure: &Failure) -> Option<Response> {
    let Some(SandboxRefusal::SandboxNotFound(_)) = failure.refusal() else { return None };
    let brand = &main.settings.brand;
    let body = format!(
        "<p>{sentence} It may have expired, or been removed.</p>\
         <p>If a link brought you here, ask whoever gave it to you for another one. Whoever has the console's token can \
         make a sandbox: <code>mkopo sandbox add NAME</code></p><p><a href=\"{address}\">Go to {brand}</a></p>",
        brand = escaped(brand),
        sentence = escaped(&failure.to_string()),
        address = escaped(&main.server.sandboxes.addresses.portal(&Name::main())),
    );
    Some(notice::page(StatusCode::NOT_FOUND, brand, "Sandbox not found", &body))
}

/// Answers that there is nothing where there are no sandboxes.
pub async fn hide_when_off(sandbox: Sandbox, request: Request, next: Next) -> Response {
    if sandbox.server.sandboxes.are_on() {
        next.run(request).await
    } else {
        Failure::NotFound.into_response()
    }
}
