//! The headers that pass between the caller and the provider: those of a short list each way, so that neither side can
//! reach the other by one that nobody thought of.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use lending::auth::device::DeviceCookie;

/// The headers of a call that the provider receives. Its own address, the length and the connection follow from what
/// is sent; cookies are the console's.
const OF_REQUEST: [HeaderName; 10] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::IF_NONE_MATCH,
    header::USER_AGENT,
    HeaderName::from_static("idempotency-key"),
    TRACEPARENT,
    HeaderName::from_static("tracestate"),
];

/// The headers of an answer that the caller receives as they are.
const OF_ANSWER: [HeaderName; 7] = [
    header::CONTENT_LANGUAGE,
    header::CONTENT_TYPE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::RETRY_AFTER,
    header::WWW_AUTHENTICATE,
    HeaderName::from_static("idempotent-replayed"),
];

/// The compressions of a body that browsers undo, and another name of one (RFC 9110, 8.4.1.3).
const ENCODINGS: [(&str, &str); 5] =
    [("identity", "identity"), ("gzip", "gzip"), ("x-gzip", "gzip"), ("br", "br"), ("zstd", "zstd")];

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const PROVIDER_REQUEST_ID: HeaderName = HeaderName::from_static("x-provider-request-id");

/// The headers of a call as the provider receives them, with our request id and the address of the client. Of the
/// cookies, it receives the one that it set.
pub fn of_request(headers: &HeaderMap, request_id: &str, client: IpAddr, behind_tls: bool) -> HeaderMap {
    let mut sent = only(headers, &OF_REQUEST);
    if let Some(cookie) = DeviceCookie::find(headers, behind_tls).for_provider() {
        sent.insert(header::COOKIE, cookie);
    }
    if let Ok(client) = HeaderValue::try_from(client.to_string()) {
        sent.insert(FORWARDED_FOR, client);
    }
    if let Ok(id) = HeaderValue::from_str(request_id) {
        sent.insert(REQUEST_ID, id);
    }
    // Its spans are parts of this call's.
    if let Some(span) = traces::traceparent().and_then(|span| HeaderValue::try_from(span).ok()) {
        sent.insert(TRACEPARENT, span);
    }
    sent
}

/// The headers of the answer to a call of `path` as the caller receives them: what the contract says of caches,
/// cookies and links is said anew.
///
/// # Errors
/// A sentence if the body is compressed in a way that browsers may not undo.
pub fn of_answer(
    status: StatusCode,
    headers: &HeaderMap,
    path: &str,
    behind_tls: bool,
) -> Result<HeaderMap, String> {
    let mut sent = only(headers, &OF_ANSWER);
    sent.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::NO_CONTENT && path.ends_with("/auth/logout") {
        sent.insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    }
    if let Some(cookie) = DeviceCookie::set_by(headers).for_browser(behind_tls) {
        sent.insert(header::SET_COOKIE, cookie);
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        let encoding = encoding(headers).ok_or("it is compressed in a way that browsers may not undo")?;
        sent.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if headers.contains_key(header::VARY) {
        sent.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if let Some(id) = headers.get(REQUEST_ID) {
        sent.insert(PROVIDER_REQUEST_ID, id.clone());
    }
    if let Some(next) = next_query(headers)
        && let Ok(link) = HeaderValue::try_from(format!("<{path}?{next}>; rel=\"next\""))
    {
        sent.insert(header::LINK, link);
    }
    Ok(sent)
}

fn only(headers: &HeaderMap, names: &[HeaderName]) -> HeaderMap {
    let mut found = HeaderMap::new();
    for name in names {
        for value in headers.get_all(name) {
            found.append(name, value.clone());
        }
    }
    found
}

/// The compression of a body; `None` if it has none, or one that browsers may not undo.
pub fn encoding(headers: &HeaderMap) -> Option<&'static str> {
    let mut named = headers.get_all(header::CONTENT_ENCODING).iter();
    let (Some(name), None) = (named.next(), named.next()) else { return None };
    let known = ENCODINGS.iter().find(|(known, _)| name.as_bytes().eq_ignore_ascii_case(known.as_bytes()));
    known.map(|&(_, encoding)| encoding)
}

/// The query of the next page (RFC 8288): a link leads to the same list, whatever address the provider has.
pub fn next_query(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::LINK).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| split_outside(line, ',')).find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = split_outside(parameters, ';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            name.trim().eq_ignore_ascii_case("rel")
                && value.trim().trim_matches('"').split(' ').any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        let target = target.split('#').next()?;
        if is_next { Some(target.split_once('?')?.1) } else { None }
    })
}

/// The parts of `text` between separators that stand neither in `<…>` nor in `"…"`.
fn split_outside(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_target) = (false, false);
    text.split(move |c| {
        match c {
            '"' if !is_target => is_quoted = !is_quoted,
            '<' | '>' if !is_quoted => is_target = c == '<',
            _ => {}
        }
        c == separator && !is_quoted && !is_target
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        headers.iter().map(|&(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_body_is_compressed_as_browsers_undo_it_or_not_passed_on() {
        for (named, sent) in
            [("GZIP", Some("gzip")), ("x-gzip", Some("gzip")), ("br", Some("br")), ("compress", None)]
        {
            let compressed = of_answer(StatusCode::OK, &map(&[("content-encoding", named)]), "/", false);
            let encoding = compressed.map(|headers| headers["content-encoding"].clone());
            assert_eq!(encoding.ok().as_ref().map(HeaderValue::as_bytes), sent.map(str::as_bytes), "{named}");
        }
    }

    #[test]
    fn the_link_to_the_next_page_is_found_however_it_is_written() {
        for (link, query) in [
            ("<https://own.example.com/l?cursor=a,b>; rel=\"next\"", Some("cursor=a,b")),
            ("</l?cursor=a>; title=\"a;b, c\"; rel=next", Some("cursor=a")),
            ("</l?cursor=a>; rel=\"prev next\"", Some("cursor=a")),
            ("</l?cursor=a#rows>; REL = Next", Some("cursor=a")),
            ("</l?cursor=a>; rel=prev, </l?cursor=b>; rel=next", Some("cursor=b")),
            ("</l?cursor=a>; title=\"rel=next\"", None),
            ("</l>; rel=next", None),
        ] {
            assert_eq!(next_query(&map(&[("link", link)])), query, "{link}");
        }
    }

    #[test]
    fn of_all_cookies_the_one_of_the_contract_is_set_in_our_words() {
        let set_by = |cookie| {
            let sent = of_answer(StatusCode::OK, &map(&[("set-cookie", cookie)]), "/api/v1/auth/login", true);
            sent.unwrap().get("set-cookie").map(|cookie| cookie.to_str().unwrap().to_owned())
        };
        assert_eq!(
            set_by("mkopo_device=1.a.b; Domain=example.com; Path=/").as_deref(),
            Some("__Host-mkopo_device=1.a.b; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=15552000")
        );
        for other in ["mkopo_console=1.a.b", "mkopo_device=", "mkopo_device=a b", "mkopo_device=\"a\""] {
            assert_eq!(set_by(other), None, "{other}");
        }
    }
}
