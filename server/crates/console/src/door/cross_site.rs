//! Refuses requests that a page of another origin makes with an operator's browser.
//!
//! The cookie is sent with requests from pages of the same host on another port, such as the portal's.
//! Browsers state the origin of a request in `Sec-Fetch-Site` and `Origin`; programs send neither.

use axum::{
    extract::Request,
    http::{HeaderMap, Method},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::refusal::ConsoleRefusal;
use base::error::Failure;
use web::accept;
use worlds::sandboxes::Sandbox;

const SITE: &str = "sec-fetch-site";

/// Lets only the console's own pages, links to it, and programs through.
pub async fn refuse_others(sandbox: Sandbox, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let public = sandbox.settings.console_public_url.as_deref();
    let is_allowed = accept::is_from_own_origin(headers, public).unwrap_or(true)
        && (is_own_site(headers) || is_link(request.method(), headers));
    if is_allowed {
        next.run(request).await
    } else {
        Failure::from(ConsoleRefusal::CrossSite).into_response()
    }
}

/// Returns `true` if the request comes from this origin, from the address bar, or from a program.
pub fn is_own_site(headers: &HeaderMap) -> bool {
    !headers.contains_key(SITE) || matches!(text(headers, SITE), Some("same-origin" | "none"))
}

/// Returns `true` if somebody followed a link to a page that opens in a tab, not in a frame.
fn is_link(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::GET
        && text(headers, "sec-fetch-mode") == Some("navigate")
        && text(headers, "sec-fetch-dest") == Some("document")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
