//! The headers by which answers protect browsers.

use axum::http::{HeaderMap, HeaderName, Uri, header};

/// The policy of an answer that is no page: a browser may do nothing with it.
const NO_PAGE: &str = "default-src 'none'; form-action 'none'; frame-ancestors 'none'";

/// Fails the test unless the answer to a request of `uri` has every header that protects browsers, once. Every answer of
/// every test is checked, so that those of an operation are, whatever its status.
pub fn check(uri: &Uri, headers: &HeaderMap) {
    let of = |name: HeaderName| {
        let mut values = headers.get_all(&name).iter();
        let value = values.next().unwrap_or_else(|| panic!("{uri}: no {name}"));
        assert!(values.next().is_none(), "{uri}: more than one {name}");
        value.to_str().unwrap()
    };
    assert_eq!(of(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{uri}");
    let referrer = of(header::REFERRER_POLICY);
    // A page whose address has the token names its origin only, by which its form is checked.
    let has_token = uri.query().is_some_and(|query| query.contains("token="));
    let is_of_link = has_token && uri.path().starts_with("/console") && referrer == "origin";
    assert!(referrer == "same-origin" || is_of_link, "{uri}: {referrer}");
    let policy = of(header::CONTENT_SECURITY_POLICY);
    let is_call = |calls: &str| uri.path().strip_prefix(calls).is_some_and(|call| !call.is_empty());
    if is_call("/api/v1/") || is_call("/console/api/") || uri.path() == "/deploy/slices" {
        assert_eq!(policy, NO_PAGE, "{uri}");
    }
    let directives: Vec<&str> = policy.split("; ").collect();
    assert!(directives.contains(&"default-src 'none'"), "{uri}: {policy}");
    assert!(directives.contains(&"frame-ancestors 'none'"), "{uri}: {policy}");
    let scripts = directives.iter().find(|directive| directive.starts_with("script-src "));
    assert!(scripts.is_none_or(|scripts| !scripts.contains("'unsafe-")), "{uri}: {policy}");
}
