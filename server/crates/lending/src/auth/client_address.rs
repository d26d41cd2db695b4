//! The network address that a call comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, HeaderName, request::Parts},
};
use ipnet::IpNet;

use crate::world::World;
use base::error::Failure;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a call comes from. Anyone can send `X-Forwarded-For`, so only the part that
/// trusted proxies wrote is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// The address of `peer`, or, if `peer` is one of `trusted`, the last address in
    /// `X-Forwarded-For` that is not trusted.
    fn find(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let is_trusted = |address: IpAddr| {
            let address = address.to_canonical();
            trusted.iter().any(|network| network.contains(&address))
        };
        let mut nearest = peer;
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut hops = lines.flat_map(|value| value.to_str().unwrap_or("?").rsplit(','));
        while is_trusted(nearest) {
            // A trusted proxy would not write an unreadable address: the previous one counts.
            let Some(hop) = hops.next().and_then(parse_hop) else { break };
            nearest = hop;
        }
        Self(nearest.to_canonical())
    }
}

/// Parses an address as proxies write it, with or without a port.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()))
}

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let world = World::of(parts)?;
        // A call without a network connection came from this machine.
        let peer = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(peer)| peer.ip());
        Ok(Self::find(peer, &parts.headers, &world.settings.trusted_proxies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peer: &str, forwarded_for: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded_for {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        ClientAddress::find(peer.parse().unwrap(), &headers, &trusted).0.to_string()
    }

    #[test]
    fn without_a_trusted_proxy_only_the_connection_counts() {
        assert_eq!(found("192.0.2.1", &["203.0.113.9"], &[]), "192.0.2.1");
        assert_eq!(found("192.0.2.1", &["203.0.113.9"], &["10.0.0.0/8"]), "192.0.2.1");
    }

    // S-30
    #[test]
    fn behind_trusted_proxies_the_last_address_they_did_not_write_themselves_counts() {
        let trusted = ["10.0.0.0/8", "::1/128"];
        assert_eq!(found("10.0.0.1", &["203.0.113.9"], &trusted), "203.0.113.9");
        assert_eq!(found("10.0.0.1", &["6.6.6.6, 203.0.113.9, 10.0.0.2"], &trusted), "203.0.113.9");
        assert_eq!(found("10.0.0.1", &["6.6.6.6", "203.0.113.9"], &trusted), "203.0.113.9");
        assert_eq!(found("::ffff:10.0.0.1", &["203.0.113.9:4711"], &trusted), "203.0.113.9");
        assert_eq!(found("::1", &["[2001:db8::7]:4711"], &trusted), "2001:db8::7");
        assert_eq!(found("::1", &["[2001:db8::7]"], &trusted), "2001:db8::7");
    }

    #[test]
    fn an_unreadable_address_leaves_the_proxy_that_forwarded_it() {
        let trusted = ["10.0.0.0/8"];
        assert_eq!(found("10.0.0.1", &[], &trusted), "10.0.0.1");
        assert_eq!(found("10.0.0.1", &["6.6.6.6, unknown"], &trusted), "10.0.0.1");
        assert_eq!(found("10.0.0.1", &["6.6.6.6, unknown, 10.0.0.2"], &trusted), "10.0.0.2");
        assert_eq!(found("10.0.0.1", &["10.0.0.3"], &trusted), "10.0.0.3");
    }
}
