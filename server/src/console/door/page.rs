//! Access to the pages: a cookie for a browser that sends the token, the sign-in page for all others.

use std::sync::atomic::AtomicBool;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, OriginalUri, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::COOKIE;
use crate::{
    Sandbox,
    console::view::{
        frame::{self, Frame, empty_state},
        icon::Icon,
        page::Page,
        visit::{Fields, SignedIn, Visit, see_other},
    },
    error::FailureBody,
    http::accept,
};

/// Pages load only their own files, submit forms only to this server, and cannot be framed.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// Adds the headers that all pages have in common.
pub async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}

/// Signs in with the token from the form.
pub async fn sign_in(State(sandbox): State<Sandbox>, headers: HeaderMap, body: Body) -> Response {
    let sent = form_fields(&headers, body).await;
    let requested_page = sent.text("page");
    if sandbox.console_token.is(sent.text("token")) {
        sign_in_and_redirect(&sandbox, requested_page)
    } else {
        sign_in_page(&sandbox, requested_page, true)
    }
}

/// Answers other methods than POST with the sign-in page.
pub async fn reject_other_methods(State(sandbox): State<Sandbox>) -> Response {
    let mut response = sign_in_page(&sandbox, "", false);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// Accepts requests with a valid cookie, and rejects forms without the operator's CSRF token. A page whose
/// URL has the token signs in first.
pub async fn require_operator(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let path = match parts.extensions.get::<OriginalUri>() {
        Some(OriginalUri(uri)) => uri.path().to_owned(),
        None => parts.uri.path().to_owned(),
    };
    let query = Fields::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let sent =
        if parts.method.is_safe() { Fields::default() } else { form_fields(&parts.headers, body).await };
    if parts.method.is_safe()
        && let Some(token) = query.given("token")
    {
        return redeem_page(&sandbox, &path, token);
    }
    let operator = cookies(&parts.headers).find_map(|cookie| sandbox.console_token.operator(cookie));
    let Some(operator) = operator else { return sign_in_page(&sandbox, &path, false) };
    let visit = Visit {
        sandbox: sandbox.clone(),
        query,
        sent: Fields::default(),
        csrf: operator.csrf.clone(),
        error: None,
        is_error_shown: AtomicBool::new(false),
    };
    if !parts.method.is_safe() && !sandbox.console_token.is_own_form(&operator, sent.text("csrf")) {
        return rejected_form(&visit);
    }
    parts.extensions.insert(SignedIn { csrf: operator.csrf, sent });
    let mut response = next.run(Request::from_parts(parts, Body::empty())).await;
    if let Some(failure) = response.extensions_mut().remove::<FailureBody>() {
        let page = error_page(&visit, response.status(), failure.text()).into_response();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().insert(header::CONTENT_TYPE, page.headers()[header::CONTENT_TYPE].clone());
        *response.body_mut() = page.into_body();
    }
    response
}

/// The fields of a form; empty for other content types.
async fn form_fields(headers: &HeaderMap, body: Body) -> Fields {
    if !accept::is_of_type(headers, "application/x-www-form-urlencoded") {
        return Fields::default();
    }
    let bytes = Bytes::from_request(Request::new(body), &()).await.unwrap_or_default();
    Fields::parse(&bytes)
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).filter_map(|cookie| {
        let (name, value) = cookie.split_once('=')?;
        (name.trim() == COOKIE).then(|| value.trim())
    })
}

/// Sets the cookie and redirects to the requested page, so that the URL no longer has the token.
fn sign_in_and_redirect(sandbox: &Sandbox, requested_page: &str) -> Response {
    let page = Page::at(requested_page).unwrap_or(Page::Overview);
    let cookie = sandbox.console_token.cookie(&sandbox.randomness);
    with_cookie(sandbox, &cookie, "", see_other(page.address()))
}

/// The cookie is not sent with requests from other sites, and scripts cannot read it.
fn with_cookie(sandbox: &Sandbox, value: &str, max_age: &str, mut response: Response) -> Response {
    let secure = if sandbox.settings.behind_tls { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict{max_age}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Deletes the cookie.
pub async fn sign_out(State(sandbox): State<Sandbox>) -> Response {
    with_cookie(&sandbox, "", "; Max-Age=0", see_other(Page::Overview.address()))
}

/// Redirects `/console/` to `/console`.
pub async fn redirect_to_overview() -> Response {
    see_other(Page::Overview.address())
}

/// A page that sends the token of its own URL with POST, so that it does not stay in the URL, and is in no
/// `Referer`.
fn redeem_page(sandbox: &Sandbox, requested_page: &str, token: &str) -> Response {
    let policy: [(HeaderName, HeaderValue); 1] =
        [(header::REFERRER_POLICY, HeaderValue::from_static("origin"))];
    (policy, frame::redeem_page(sandbox, requested_page, token)).into_response()
}

fn sign_in_page(sandbox: &Sandbox, requested_page: &str, is_token_wrong: bool) -> Response {
    let challenge: [(HeaderName, HeaderValue); 1] =
        [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
    (StatusCode::UNAUTHORIZED, challenge, frame::sign_in_page(sandbox, requested_page, is_token_wrong))
        .into_response()
}

fn rejected_form(visit: &Visit) -> Response {
    let text = "This form is not from one of your pages, or you have signed in again since. Nothing was changed. \
                Open the page again and submit the form there.";
    (StatusCode::FORBIDDEN, error_page(visit, StatusCode::FORBIDDEN, text)).into_response()
}

fn error_page(visit: &Visit, status: StatusCode, text: &str) -> axum::response::Html<String> {
    let title = match status {
        StatusCode::NOT_FOUND => "Page not found",
        StatusCode::FORBIDDEN => "Nothing was changed",
        _ => "Something went wrong",
    };
    let text = text.to_owned();
    frame::html(visit, Frame::titled(title), None, || empty_state(Icon::Alert, title, text))
}
