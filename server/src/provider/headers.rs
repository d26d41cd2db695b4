//! The headers that are passed on between the caller and the provider.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The headers that belong to one connection (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The headers that this service sets itself: about its own address, its pages, and cross-origin access.
const OWN: [HeaderName; 10] = [
    header::ALT_SVC,
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    header::ACCESS_CONTROL_ALLOW_HEADERS,
    header::ACCESS_CONTROL_ALLOW_METHODS,
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
    header::CONTENT_SECURITY_POLICY,
    header::SERVER,
    header::STRICT_TRANSPORT_SECURITY,
    header::DATE,
];

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PROVIDER_REQUEST_ID: HeaderName = HeaderName::from_static("x-provider-request-id");

/// The headers of a call as the provider receives them: with our request id, and with `peer` as the last hop.
pub fn of_request(mut headers: HeaderMap, request_id: &str, peer: IpAddr) -> HeaderMap {
    remove_hop_by_hop(&mut headers);
    // Both follow from the connection and the body that are sent.
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::EXPECT);
    let hops = headers.get_all(FORWARDED_FOR).iter().filter_map(|hop| hop.to_str().ok()).map(str::to_owned);
    let hops: Vec<String> = hops.chain([peer.to_canonical().to_string()]).collect();
    if let Ok(hops) = HeaderValue::try_from(hops.join(", ")) {
        headers.insert(FORWARDED_FOR, hops);
    }
    match HeaderValue::from_str(request_id) {
        Ok(id) => _ = headers.insert(REQUEST_ID, id),
        Err(_) => _ = headers.remove(REQUEST_ID),
    }
    headers
}

/// The headers of an answer as the caller receives them.
pub fn of_answer(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in OWN {
        headers.remove(name);
    }
    headers.remove(PROVIDER_REQUEST_ID);
    if let Some(id) = headers.remove(REQUEST_ID) {
        headers.insert(PROVIDER_REQUEST_ID, id);
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.into_iter().chain(HOP_BY_HOP) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_connection_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("host", "portal"),
            ("authorization", "Bearer t"),
            ("x-forwarded-for", "10.0.0.9"),
            ("x-request-id", "the caller's"),
            ("traceparent", "00-1-2-01"),
        ] {
            headers.insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        let sent = of_request(headers, "ours", IpAddr::from([127, 0, 0, 1]));
        let mut sent: Vec<_> =
            sent.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        sent.sort();
        assert_eq!(
            sent,
            [
                "authorization: Bearer t",
                "traceparent: 00-1-2-01",
                "x-forwarded-for: 10.0.0.9, 127.0.0.1",
                "x-request-id: ours",
            ]
        );
    }
}
