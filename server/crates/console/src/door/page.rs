//! Access to the pages: a cookie for a browser that sends the token, the sign-in page for all others.

use std::sync::Arc;

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{FromRequest, OriginalUri, Request},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};

use super::{cookie_name, cross_site::is_own_site, sign_ins, tickets, verify};
use crate::{
    refusal::ConsoleRefusal,
    view::{
        frame::{self, Frame, empty_state},
        icon::Icon,
        page::Page,
        visit::{Fields, SignedIn, Visit, see_other},
    },
};
use base::error::Failure;
use lending::{
    auth::{AuthRefusal, client_address::ClientAddress},
    events::Trail,
};
use web::accept;
use worlds::sandboxes::{Access, Sandbox};

/// Pages load only their own files, submit forms only to this server, and cannot be framed.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

pub async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}

pub async fn sign_in(sandbox: Sandbox, address: ClientAddress, headers: HeaderMap, body: Body) -> Response {
    let sent = form_fields(&headers, body).await;
    let requested_page = requested_address(sent.text("page"));
    let signed_in = async {
        let token = sent.text("token");
        let access = if !tickets::is_ticket(token) {
            verify(&sandbox, token, address).await?
        } else if tickets::redeem(&sandbox, token).await? {
            Access::Operator
        } else {
            // Not counted as a wrong token: it can't be guessed, and a page elsewhere can link to a made-up one.
            return Err(ConsoleRefusal::NoConsoleToken.into());
        };
        sign_ins::begin(&sandbox, access, address.0).await
    };
    match signed_in.await {
        Ok(cookie) => with_cookie(&sandbox, &cookie, "", see_other(&requested_page)),
        Err(failure) if matches!(failure.refusal(), Some(ConsoleRefusal::NoConsoleToken)) => {
            sign_in_page(&sandbox, &requested_page, Some("That is not the console's token.".to_owned()))
        }
        Err(failure) => failed_sign_in_page(&sandbox, &requested_page, failure),
    }
}

/// The address of a page of the console, with the query string of `given`, but never with a token. For all other
/// addresses, that of the overview.
fn requested_address(given: &str) -> String {
    let (path, query) = given.split_once('?').unwrap_or((given, ""));
    let Some(page) = Page::at(path) else { return Page::Overview.address().to_owned() };
    let query = Fields::parse(query.as_bytes());
    let kept = query.all().filter(|field| field.0 != "token");
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).finish();
    if query.is_empty() { page.address().to_owned() } else { format!("{}?{query}", page.address()) }
}

/// The page for a failed sign-in, with the status and the headers of `failure`.
fn failed_sign_in_page(sandbox: &Sandbox, requested_page: &str, failure: Failure) -> Response {
    let page = match failure.refusal() {
        Some(AuthRefusal::TooManyTries { .. }) => {
            frame::sign_in_page(sandbox, requested_page, Some(failure.to_string()))
        }
        _ => frame::failure_page(sandbox, failure.to_string()),
    };
    let mut response = failure.into_response();
    response.extensions_mut().remove::<Arc<Failure>>();
    with_page(response, page)
}

/// The status and the headers of `response`, with `page` as its body.
fn with_page(mut response: Response, page: Html<String>) -> Response {
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    *response.body_mut() = page.0.into();
    response
}

/// Answers other methods than POST with the sign-in page.
pub async fn reject_other_methods(sandbox: Sandbox) -> Response {
    let mut response = sign_in_page(&sandbox, "", None);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// Accepts requests with a valid cookie, and rejects forms without the operator's CSRF token. A page whose
/// URL has the token signs in first.
pub async fn require_operator(sandbox: Sandbox, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0);
    // The query of a form may say that the form before it was done, and this one was not.
    let requested_page = requested_address(match uri.path_and_query() {
        Some(with_query) if parts.method.is_safe() => with_query.as_str(),
        _ => uri.path(),
    });
    let query = Fields::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let sent =
        if parts.method.is_safe() { Fields::default() } else { form_fields(&parts.headers, body).await };
    if parts.method.is_safe()
        && let Some(token) = query.given("token")
    {
        // A page elsewhere must not have wrong tokens tried here: they would lock the operator out.
        let submits = is_own_site(&parts.headers) || tickets::is_ticket(token);
        return redeem_page(&sandbox, &requested_page, token, submits);
    }
    let cookie = accept::cookies(&parts.headers, cookie_name(sandbox.settings.behind_tls)).next();
    let Some(cookie) = cookie else { return sign_in_page(&sandbox, &requested_page, None) };
    let signed_in = match sign_ins::find(&sandbox, cookie, sent).await {
        Ok(Some(signed_in)) => signed_in,
        Ok(None) => return sign_in_page(&sandbox, &requested_page, None),
        Err(failure) => return failed_sign_in_page(&sandbox, &requested_page, failure),
    };
    let visit = Visit::new(sandbox.clone(), query, signed_in.clone(), Trail::default());
    if !parts.method.is_safe() && !sandbox.console_token.is_own_form(cookie, visit.sent.text("csrf")) {
        let text = "This form is not from one of your pages, or you have signed in again since. Nothing was \
                    changed. Open the page again and submit the form there.";
        let page = error_page(&visit, StatusCode::FORBIDDEN, text);
        return (StatusCode::FORBIDDEN, page).into_response();
    }
    parts.extensions.insert(signed_in);
    let mut response = next.run(Request::from_parts(parts, Body::empty())).await;
    match response.extensions_mut().remove::<Arc<Failure>>() {
        Some(failure) => {
            let page = error_page(&visit, response.status(), &failure.to_string());
            with_page(response, page)
        }
        None => response,
    }
}

/// The fields of a form; empty for other content types.
async fn form_fields(headers: &HeaderMap, body: Body) -> Fields {
    if !accept::is_of_type(headers, "application/x-www-form-urlencoded") {
        return Fields::default();
    }
    let bytes = Bytes::from_request(Request::new(body), &()).await.unwrap_or_default();
    Fields::parse(&bytes)
}

/// The cookie is not sent with requests from other sites, and scripts cannot read it.
fn with_cookie(sandbox: &Sandbox, value: &str, max_age: &str, mut response: Response) -> Response {
    let behind_tls = sandbox.settings.behind_tls;
    let name = cookie_name(behind_tls);
    // The prefix requires this path.
    let scope = if behind_tls { "Path=/; Secure" } else { "Path=/console" };
    let cookie = format!("{name}={value}; {scope}; HttpOnly; SameSite=Strict{max_age}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Ends the sign-in on all servers, and deletes the cookie.
pub async fn sign_out(
    sandbox: Sandbox,
    ClientAddress(address): ClientAddress,
    Extension(signed_in): Extension<SignedIn>,
) -> Response {
    match sign_ins::end(&sandbox, signed_in, address).await {
        Ok(()) => with_cookie(&sandbox, "", "; Max-Age=0", see_other(Page::Overview.address())),
        Err(failure) => failed_sign_in_page(&sandbox, "", failure),
    }
}

pub async fn redirect_to_overview() -> Response {
    see_other(Page::Overview.address())
}

/// A page that sends the token of its own URL with POST, so that the token does not stay in the URL, and is
/// not sent in a `Referer`.
fn redeem_page(sandbox: &Sandbox, requested_page: &str, token: &str, submits: bool) -> Response {
    let page = frame::redeem_page(sandbox, requested_page, token, submits);
    ([(header::REFERRER_POLICY, "origin")], page).into_response()
}

fn sign_in_page(sandbox: &Sandbox, requested_page: &str, error: Option<String>) -> Response {
    let page = frame::sign_in_page(sandbox, requested_page, error);
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], page).into_response()
}

fn error_page(visit: &Visit, status: StatusCode, text: &str) -> Html<String> {
    let title = match status {
        StatusCode::NOT_FOUND => "Page not found",
        StatusCode::FORBIDDEN => "Nothing was changed",
        _ => "Something went wrong",
    };
    visit.html(Frame::titled(title), || empty_state(Icon::ALERT, title, text))
}
