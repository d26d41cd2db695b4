//! Parsers for request headers: lists with quality values, media types, origins, bearer tokens.

use axum::http::{HeaderMap, HeaderName, header};

/// The items of a comma-separated header, across all its lines.
pub fn items(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Returns whether the caller asks for a page, as a browser does that opens an address. Scripts accept anything.
pub fn asks_for_page(headers: &HeaderMap) -> bool {
    asks_for(headers, "text/html")
}

/// Returns whether the caller names this media type in what it accepts.
pub fn asks_for(headers: &HeaderMap, essence: &str) -> bool {
    preference(headers, essence) > 0
}

/// The quality value that the caller gives this media type, in thousandths; 0 if it does not name it.
pub fn preference(headers: &HeaderMap, essence: &str) -> u16 {
    let named = items(headers, header::ACCEPT).map(quality);
    let named = named.filter(|(name, _)| name.eq_ignore_ascii_case(essence));
    named.map(|(_, quality)| quality).max().unwrap_or_default()
}

/// Splits an item of an `Accept…` header into its name and its quality value in thousandths. An
/// invalid quality value counts as 0.
pub fn quality(item: &str) -> (&str, u16) {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let quality = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then_some(value.trim())
    });
    let thousandths = match quality.map(str::parse::<f32>) {
        None => 1000,
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        Some(Ok(quality)) if (0.0..=1.0).contains(&quality) => (quality * 1000.0) as u16,
        Some(_) => 0,
    };
    (name, thousandths)
}

/// Returns `true` if the body's media type is `essence`, with or without parameters.
pub fn is_of_type(headers: &HeaderMap, essence: &str) -> bool {
    self::essence(headers).eq_ignore_ascii_case(essence)
}

/// The body's media type without its parameters, in lower case; empty if there is none.
pub fn essence(headers: &HeaderMap) -> String {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns `true` if the body is JSON of any kind, such as `application/problem+json`.
pub fn is_json(headers: &HeaderMap) -> bool {
    let essence = essence(headers);
    essence == "application/json" || essence.ends_with("+json")
}

/// Returns whether the header `Origin` names the host that the request is sent to, or `public`, the address at which
/// people reach it; `None` without the header.
pub fn is_from_own_origin(headers: &HeaderMap, public: Option<&str>) -> Option<bool> {
    let origin = headers.get(header::ORIGIN)?;
    let authority = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    Some(public.is_some_and(|url| origin == url) || authority.is_some() && authority == host)
}

/// The token of `Authorization: Bearer <token>` (RFC 6750, 2.1).
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The values of the cookies called `name`, in the order sent. A browser sends several of one name if their paths differ.
pub fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.split_once('='));
    cookies.filter(move |(its_name, _)| its_name.trim() == name).map(|(_, value)| value.trim())
}
