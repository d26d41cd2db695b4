//! The sandbox that a request names, and the addresses of sandboxes.
//!
//! Browsers name the sandbox in the host name, so that each sandbox is an origin of its own; programs can
//! send a header instead.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, Uri, header};

use super::{Name, SandboxRefusal};
use base::{error::Failure, text::shown};
use settings::Settings;

/// The header that names a sandbox.
pub const HEADER: HeaderName = HeaderName::from_static("mkopo-sandbox");

#[derive(Clone, Debug)]
pub struct Addresses {
    /// The domain whose subdomains are sandboxes.
    domain: String,
    /// The addresses of the portal and, if it listens, of the console.
    portal: String,
    console: Option<String>,
    /// The hosts of the deployment itself, which are not sandboxes, even below the domain.
    own_hosts: Vec<String>,
}

impl Addresses {
    pub fn of(settings: &Settings) -> Self {
        let own = [&settings.public_url, &settings.console_public_url].into_iter().flatten();
        let own_hosts = own.map(|url| host_of(url).to_owned()).collect();
        let (portal, console) = (settings.portal_address(), settings.console_address());
        Self { domain: settings.sandbox_domain.clone(), portal, console, own_hosts }
    }

    /// The sandbox that a request names; `None` for `main`.
    pub fn named(&self, headers: &HeaderMap, uri: &Uri) -> Result<Option<Name>, Failure> {
        let by_host = host(headers, uri)?.and_then(|host| self.subdomain(host));
        let by_header = one(headers, &HEADER)?;
        let text = match (by_host, by_header) {
            (Some(host), Some(header)) if host != header => {
                return Err(Failure::BadParameter(format!(
                    "the host name is that of the sandbox {}, and {HEADER} names another",
                    quoted(&host)
                )));
            }
            (Some(host), _) => host,
            (None, Some("")) => {
                return Err(Failure::BadParameter(format!("the header {HEADER} is empty")));
            }
            (None, Some(header)) => header.to_owned(),
            (None, None) => return Ok(None),
        };
        let name = Name::parse(&text).ok_or_else(|| SandboxRefusal::SandboxNotFound(quoted(&text)))?;
        Ok(Some(name).filter(|name| !name.is_main()))
    }

    /// Checks that a request is for a host that this server is known by. A page of another domain that the domain's owner
    /// has led to this machine could otherwise read what is meant for pages of the portal (DNS rebinding). Nobody can
    /// lead an IP address or a name without a dot anywhere.
    pub fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Failure> {
        let Some(host) = host(headers, uri)? else { return Ok(()) };
        let name = name_of(host);
        let is_below = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        let is_known = !name.contains('.')
            || without_port(host).trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || is_below("localhost")
            || name == self.domain
            || is_below(&self.domain)
            || self.own_hosts.contains(&name);
        if is_known { Ok(()) } else { Err(SandboxRefusal::UnknownHost(quoted(&name)).into()) }
    }

    /// The part of `host` before the domain, in lower case; `None` for other hosts.
    fn subdomain(&self, host: &str) -> Option<String> {
        let name = name_of(host);
        let sub = name.strip_suffix(&self.domain)?.strip_suffix('.')?;
        (!self.own_hosts.contains(&name)).then(|| sub.to_owned())
    }

    pub fn portal(&self, name: &Name) -> String {
        self.at_subdomain(name, &self.portal)
    }

    /// The address of a sandbox's console; `None` if the console is off.
    pub fn console(&self, name: &Name) -> Option<String> {
        Some(self.at_subdomain(name, self.console.as_deref()?))
    }

    /// The address of the pages of a sandbox's console; `None` if the console is off.
    pub fn console_url(&self, name: &Name) -> Option<String> {
        Some(format!("{}/console", self.console(name)?))
    }

    /// The addresses of all sandboxes' portals, as a policy for browsers names them.
    pub fn all_portals(&self) -> String {
        self.below_domain("*", &self.portal)
    }

    /// `origin`, or for sandboxes besides `main` its scheme and port at the subdomain of `name`.
    fn at_subdomain(&self, name: &Name, origin: &str) -> String {
        if name.is_main() { origin.to_owned() } else { self.below_domain(name.as_str(), origin) }
    }

    /// The scheme and the port of `origin` at `subdomain`.
    fn below_domain(&self, subdomain: &str, origin: &str) -> String {
        let (scheme, host) = origin.split_once("://").unwrap_or(("http", origin));
        let port = &host[without_port(host).len()..];
        format!("{scheme}://{subdomain}.{}{port}", self.domain)
    }
}

/// The beginning of a caller's text, to be quoted in a failure.
fn quoted(text: &str) -> String {
    shown(text, 60)
}

/// The host that a request is sent to, with its port. An absolute address in the request line takes
/// precedence over the header (RFC 9112, 3.2.2).
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Result<Option<&'a str>, Failure> {
    if let Some(authority) = uri.authority() {
        return Ok(Some(authority.as_str()));
    }
    one(headers, &header::HOST)
}

/// The only value of a header; `None` if it is missing.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Failure::BadParameter(format!("it has the header {name} more than once")));
    }
    let text =
        first.to_str().map_err(|_| Failure::BadParameter(format!("the header {name} is not ASCII")))?;
    Ok(Some(text.trim()))
}

/// The host name or address without the port. An IPv6 address is in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The host name or address in lower case, without the port and the dot at its end.
fn name_of(host: &str) -> String {
    let name = without_port(host);
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn host_of(origin: &str) -> &str {
    without_port(origin.split_once("://").map_or(origin, |(_, host)| host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(domain: &str, portal: &str, own_hosts: &[&str]) -> Addresses {
        let own_hosts = own_hosts.iter().map(|&host| host.to_owned()).collect();
        Addresses { domain: domain.to_owned(), portal: portal.to_owned(), console: None, own_hosts }
    }

    fn named(addresses: &Addresses, hosts: &[&str], header: &[&str]) -> Result<Option<String>, &'static str> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, host.parse().unwrap());
        }
        for name in header {
            headers.append(HEADER, name.parse().unwrap());
        }
        let found = addresses.named(&headers, &Uri::from_static("/"));
        found
            .map(|name| name.map(|name| name.as_str().to_owned()))
            .map_err(|failure| failure.status_and_code().1)
    }

    #[test]
    fn the_deployments_own_host_below_the_domain_is_not_a_sandbox() {
        let own = ["portal.example.com", "console.example.com"];
        let addresses = addresses("example.com", "https://portal.example.com", &own);
        for host in ["portal.example.com", "console.example.com:8443", "Portal.Example.com."] {
            assert_eq!(named(&addresses, &[host], &[]), Ok(None), "{host}");
        }
        assert_eq!(named(&addresses, &["pr-12.example.com"], &[]), Ok(Some("pr-12".to_owned())));
        assert_eq!(named(&addresses, &["pr-12.localhost"], &[]), Ok(None));
    }

    #[test]
    fn the_address_of_a_sandbox_has_the_deployments_scheme_and_port() {
        let name = Name::parse("pr-12").unwrap();
        for (origin, expected) in [
            ("http://127.0.0.1:8080", "http://pr-12.localhost:8080"),
            ("https://portal.example.com", "https://pr-12.localhost"),
            ("http://[::1]:8080", "http://pr-12.localhost:8080"),
            ("http://[::1]", "http://pr-12.localhost"),
        ] {
            let addresses = addresses("localhost", origin, &[]);
            assert_eq!(addresses.portal(&name), expected);
            assert_eq!(addresses.portal(&Name::main()), origin);
            assert_eq!(addresses.all_portals(), expected.replace("pr-12", "*"));
        }
    }
}
