//! The pages' door: a cookie for whoever brings the token, a page that says how to get in for
//! everybody else.

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
        frame::{self, Frame, nothing},
        icon::Icon,
        page::Page,
        visit::{Entered, Fields, Visit, see},
    },
    error::FailureBody,
    http::accept,
};

/// What a page may do in a browser: load its own files, send its own forms, stand in no other.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// What every page and every form's answer says to browsers.
pub async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}

/// Takes the token that was typed in.
pub async fn sign_in(State(sandbox): State<Sandbox>, headers: HeaderMap, body: Body) -> Response {
    let sent = sent(&headers, body).await;
    let wanted = sent.text("page");
    if sandbox.console_token.is(sent.text("token")) {
        let_in(&sandbox, wanted)
    } else {
        closed(&sandbox, wanted, true)
    }
}

/// Any other way to where the token is typed in: the page to do it on.
pub async fn only_by_form(State(sandbox): State<Sandbox>) -> Response {
    let mut response = closed(&sandbox, "", false);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// Lets in who has the cookie, gives it to who brings the token, and lets nobody's form through
/// that did not come from a page of theirs.
pub async fn enter(State(sandbox): State<Sandbox>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let path = match parts.extensions.get::<OriginalUri>() {
        Some(OriginalUri(whole)) => whole.path().to_owned(),
        None => parts.uri.path().to_owned(),
    };
    let query = Fields::read(parts.uri.query().unwrap_or_default().as_bytes());
    let sent = if parts.method.is_safe() { Fields::default() } else { sent(&parts.headers, body).await };
    if let Some(token) = query.given("token") {
        return if sandbox.console_token.is(token) {
            let_in(&sandbox, &path)
        } else {
            closed(&sandbox, &path, true)
        };
    }
    let operator = cookies(&parts.headers).find_map(|cookie| sandbox.console_token.operator(cookie));
    let Some(operator) = operator else { return closed(&sandbox, &path, false) };
    let visit = Visit {
        sandbox: sandbox.clone(),
        query,
        sent: Fields::default(),
        csrf: operator.csrf.clone(),
        refusal: None,
        is_refusal_shown: AtomicBool::new(false),
    };
    if !parts.method.is_safe() && !sandbox.console_token.wrote_form(&operator, sent.text("csrf")) {
        return foreign_form(&visit);
    }
    parts.extensions.insert(Entered { csrf: operator.csrf, sent });
    let mut response = next.run(Request::from_parts(parts, Body::empty())).await;
    if let Some(failure) = response.extensions_mut().remove::<FailureBody>() {
        let text = failed(&visit, response.status(), failure.text());
        let page = text.into_response();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().insert(header::CONTENT_TYPE, page.headers()[header::CONTENT_TYPE].clone());
        *response.body_mut() = page.into_body();
    }
    response
}

/// The fields of a form; none where something else was sent.
async fn sent(headers: &HeaderMap, body: Body) -> Fields {
    if !accept::is_of_type(headers, "application/x-www-form-urlencoded") {
        return Fields::default();
    }
    let bytes = Bytes::from_request(Request::new(body), &()).await.unwrap_or_default();
    Fields::read(&bytes)
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).filter_map(|cookie| {
        let (name, value) = cookie.split_once('=')?;
        (name.trim() == COOKIE).then(|| value.trim())
    })
}

/// Gives the cookie, and leads on to the page that was wanted, at an address without the token.
fn let_in(sandbox: &Sandbox, wanted: &str) -> Response {
    let page = Page::at(wanted).unwrap_or(Page::Overview);
    let cookie = sandbox.console_token.cookie(&sandbox.randomness);
    with_cookie(sandbox, &cookie, "", see(page.address()))
}

/// Only what comes from this site has a browser send it, and no script can read it.
fn with_cookie(sandbox: &Sandbox, value: &str, until: &str, mut response: Response) -> Response {
    let secure = if sandbox.settings.behind_tls { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict{until}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Takes the cookie back.
pub async fn sign_out(State(sandbox): State<Sandbox>) -> Response {
    with_cookie(&sandbox, "", "; Max-Age=0", see(Page::Overview.address()))
}

/// The address without the slash at its end.
pub async fn to_overview() -> Response {
    see(Page::Overview.address())
}

fn closed(sandbox: &Sandbox, wanted: &str, was_wrong: bool) -> Response {
    let challenge: [(HeaderName, HeaderValue); 1] =
        [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
    (StatusCode::UNAUTHORIZED, challenge, frame::closed(sandbox, wanted, was_wrong)).into_response()
}

fn foreign_form(visit: &Visit) -> Response {
    let text = "This form was not sent by a page of yours, or you signed in again since. Nothing was done. \
                Open the page again and send it from there.";
    (StatusCode::FORBIDDEN, failed(visit, StatusCode::FORBIDDEN, text)).into_response()
}

fn failed(visit: &Visit, status: StatusCode, text: &str) -> axum::response::Html<String> {
    let title = match status {
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::FORBIDDEN => "Nothing was done",
        _ => "This did not work",
    };
    let text = text.to_owned();
    frame::html(visit, Frame::beside(title), None, || nothing(Icon::Alert, title, text))
}
