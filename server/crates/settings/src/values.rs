//! Parsers for the values of settings. Each error says what to give instead.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    ops::RangeBounds,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use axum::http::Uri;
use ipnet::{IpNet, Ipv4Net};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use lettre::message::Mailbox;
use secrecy::{SecretSlice, SecretString};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use base::{email::Email, phone::Msisdn};

/// The address that the console listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleListen {
    /// The console is off.
    Off,
    /// On this address and port.
    On(SocketAddr),
}

impl ConsoleListen {
    /// The address as `given`, or else this machine's own with the port after the portal's; `None` if the console is off.
    /// The console fakes the world: others reach it only where the deployment says so.
    /// Port 0 means any free port, as does the next port after 0 or 65535.
    pub fn address(given: Option<Self>, portal: SocketAddr) -> Option<SocketAddr> {
        match given {
            Some(Self::Off) => None,
            Some(Self::On(address)) => Some(address),
            None => {
                let next = if portal.port() == 0 { 0 } else { portal.port().wrapping_add(1) };
                let own = match portal.ip() {
                    address if address.is_loopback() => address,
                    IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                    IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
                };
                Some(SocketAddr::new(own, next))
            }
        }
    }
}

/// Reads `file` and parses its content.
pub fn secret_in<T, E: Into<String>>(file: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("it can't be read ({error})"))?;
    parse(text.trim_end_matches(['\r', '\n'])).map_err(Into::into)
}

/// An address and a port.
pub fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "give an address and a port such as 127.0.0.1:8080")
}

/// An address and a port, or `off`.
pub fn console_listen(text: &str) -> Result<ConsoleListen, &'static str> {
    if text.eq_ignore_ascii_case("off") {
        return Ok(ConsoleListen::Off);
    }
    let address = text.parse().map(ConsoleListen::On);
    address.map_err(|_| "give an address and a port such as 127.0.0.1:8081, or off")
}

/// The address at which this machine reaches a service that listens on `address`.
pub fn on_this_machine(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

/// A folder that exists.
pub fn folder(text: &str) -> Result<PathBuf, &'static str> {
    let folder = PathBuf::from(text);
    folder.is_dir().then_some(folder).ok_or("give a folder that exists")
}

/// A boolean: true or false, yes or no, on or off, 1 or 0.
pub fn switch(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("give true or false"),
    }
}

/// A whole number in `range`, or else the `advice`.
fn number<N: FromStr + PartialOrd>(
    text: &str,
    range: impl RangeBounds<N>,
    advice: &'static str,
) -> Result<N, &'static str> {
    text.parse().ok().filter(|number| range.contains(number)).ok_or(advice)
}

/// A number of minutes, up to 30 days.
pub fn session_minutes(text: &str) -> Result<u32, &'static str> {
    number(text, 1..=43_200, "give whole minutes from 1 to 43200")
}

/// A number of days, up to ten years.
pub fn days(text: &str) -> Result<u32, &'static str> {
    number(text, 1..=3650, "give whole days from 1 to 3650")
}

/// A time in days, such as 90d.
pub fn lifetime(text: &str) -> Result<Duration, &'static str> {
    let days = text.strip_suffix('d').and_then(|days| self::days(days).ok());
    days.map(|days| Duration::from_hours(24 * u64::from(days))).ok_or("give days from 1d to 3650d")
}

/// The name of a deploy token.
pub fn token_name(text: &str) -> Result<String, &'static str> {
    let is_name = (1..=60).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    is_name.then(|| text.to_owned()).ok_or("give up to 60 letters, digits, dashes and dots")
}

/// A number of builds.
pub fn builds(text: &str) -> Result<u32, &'static str> {
    number(text, ..=1000, "give a whole number from 0 to 1000")
}

/// A number of sandboxes.
pub fn sandboxes(text: &str) -> Result<u32, &'static str> {
    number(text, ..=10_000, "give a whole number from 0 to 10000")
}

/// A domain name, without a port.
pub fn domain(text: &str) -> Result<String, &'static str> {
    let domain = text.trim().trim_matches('.').to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_domain = domain.len() <= 200 && domain.split('.').all(is_label);
    is_domain.then_some(domain).ok_or("give a domain such as sandboxes.example.com")
}

/// An IANA time zone. The program includes them: containers often have none, and the folder of an operating system has
/// names that no browser knows, such as `localtime`.
pub fn time_zone(text: &str) -> Result<TimeZone, &'static str> {
    let is_known = |zone: &TimeZone| zone.iana_name().is_some_and(|name| name != "Factory");
    let zone = TimeZoneDatabase::bundled().get(text.trim()).ok().filter(is_known);
    zone.ok_or("give the name of an IANA time zone such as Africa/Nairobi")
}

/// A name of 1 to 64 characters, all of which can be seen.
pub fn name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let is_name = !name.is_empty() && name.chars().count() <= 64 && base::text::is_plain(name);
    is_name.then(|| name.to_owned()).ok_or("give a name of 1 to 64 characters that can be seen")
}

/// A filter in the syntax of `tracing`.
pub fn log(text: &str) -> Result<String, &'static str> {
    // Names of targets are ASCII, and the parser panics at some other letters (tracing-subscriber 0.3.23).
    let is_filter = text.is_ascii() && EnvFilter::try_new(text).is_ok();
    // The parser takes a word that is no level for a target, and a filter without directives logs nothing.
    let is_pair_or_level = |part: &str| part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    let is_filter = is_filter && !text.trim_matches(',').is_empty() && text.split(',').all(is_pair_or_level);
    let advice = "give a level such as info, or target=level pairs separated by commas";
    is_filter.then(|| text.to_owned()).ok_or(advice)
}

/// An e-mail address, with or without a name.
pub fn mailbox(text: &str) -> Result<Mailbox, &'static str> {
    const EXAMPLE: &str = "give an address such as no-reply@example.com";
    let mailbox: Mailbox = text.parse().map_err(|_| EXAMPLE)?;
    // Not every mail server takes others (RFC 6531).
    mailbox.email.to_string().is_ascii().then_some(mailbox).ok_or(EXAMPLE)
}

/// An e-mail address.
pub fn email(text: &str) -> Result<Email, &'static str> {
    Email::parse(text).ok_or("give an e-mail address such as wanjiru@example.com")
}

/// A Kenyan mobile number.
pub fn phone(text: &str) -> Result<Msisdn, &'static str> {
    Msisdn::parse(text).ok_or("give a Kenyan mobile number such as 0712345678")
}

/// A secret long enough for HS256 (RFC 7518, 3.2).
pub fn jwt_secret(secret: &[u8]) -> Result<SecretSlice<u8>, &'static str> {
    let is_long = secret.len() >= 32;
    is_long
        .then(|| secret.to_vec().into())
        .ok_or("give at least 32 bytes, or leave it unset to have one generated")
}

/// The secret in the content of a file: text without its trailing line break, or the bytes that earlier versions
/// generated, which are not text.
pub fn stored_jwt_secret(content: &[u8]) -> Result<SecretSlice<u8>, &'static str> {
    let text = str::from_utf8(content).map(|text| text.trim_end_matches(['\r', '\n']));
    jwt_secret(text.map_or(content, str::as_bytes))
}

/// Reads a secret from `file`.
pub fn jwt_secret_in(file: &str) -> Result<SecretSlice<u8>, String> {
    let content = std::fs::read(file).map_err(|error| format!("it can't be read ({error})"))?;
    stored_jwt_secret(&content).map_err(Into::into)
}

/// A token for the console, valid in a header and in a URL.
pub fn console_token(text: &str) -> Result<SecretString, &'static str> {
    let advice = "give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to \
                  have one generated";
    is_console_token(text).then(|| text.into()).ok_or(advice)
}

/// The token in the content of a file.
pub fn stored_console_token(content: &[u8]) -> Result<SecretString, &'static str> {
    console_token(str::from_utf8(content).unwrap_or_default().trim_end())
}

/// The token of the console of a service that is running.
pub fn existing_console_token(text: &str) -> Result<SecretString, &'static str> {
    let advice = "a console token has at least 16 letters, digits, dashes, dots, underscores or tildes; \
                  the service stores its own as console.token in its data folder, unless one is configured";
    is_console_token(text).then(|| text.into()).ok_or(advice)
}

fn is_console_token(text: &str) -> bool {
    text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// An address or a network.
pub fn network(text: &str) -> Result<IpNet, &'static str> {
    let text = text.trim();
    let network: IpNet = text
        .parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "give addresses or networks such as 10.0.0.0/8, separated by commas")?;
    Ok(of_ipv4(network).unwrap_or(network))
}

/// The network of IPv4 that is written as one of IPv6 (`::ffff:10.0.0.0/104`): addresses of IPv4 are compared as such.
fn of_ipv4(network: IpNet) -> Option<IpNet> {
    let IpNet::V6(mapped) = network else { return None };
    let length = mapped.prefix_len().checked_sub(96)?;
    Ipv4Net::new(mapped.addr().to_ipv4_mapped()?, length).ok().map(IpNet::from)
}

/// The address of a console.
pub fn server(text: &str) -> Result<String, &'static str> {
    origin(text).map_err(|_| "give the address of the console such as https://console.example.com")
}

/// The author of a change: printable ASCII, because the name is sent in a URL.
pub fn by(text: &str) -> Result<String, &'static str> {
    let is_valid = (1..=100).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    is_valid.then(|| text.to_owned()).ok_or("give 1 to 100 printable ASCII characters")
}

/// The address at which people reach the portal.
pub fn public_url(text: &str) -> Result<String, &'static str> {
    origin(text).map_err(|_| "give an address such as https://portal.example.com")
}

/// An origin (RFC 6454).
pub fn origin(text: &str) -> Result<String, &'static str> {
    let origin = text.trim().trim_end_matches('/');
    let is_address = origin.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.path() == "/" && uri.query().is_none()
    });
    // The type accepts a user, and drops a fragment.
    let is_origin = is_address && !origin.contains(['@', '#']);
    let advice = "give origins such as https://portal.example.com, separated by commas";
    is_origin.then(|| origin.to_ascii_lowercase()).ok_or(advice)
}

/// A whole number from 1.
pub fn positive(text: &str) -> Result<usize, &'static str> {
    number(text, 1.., "give a whole number from 1")
}

/// A number of seconds, up to 25: a call takes at most 30.
pub fn provider_seconds(text: &str) -> Result<u32, &'static str> {
    number(text, 1..=25, "give whole seconds from 1 to 25")
}

/// A number of bytes, with a unit or without.
pub fn bytes(text: &str) -> Result<u64, &'static str> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: Option<u64> = match unit.trim() {
        "" | "B" => Some(1),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let bytes =
        number.parse().ok().zip(factor).and_then(|(number, factor): (u64, u64)| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or("give a size such as 128MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_listens_on_this_machine_unless_an_address_is_given() {
        let at = |given: Option<&str>, portal: &str| {
            let given = given.map(|given| ConsoleListen::On(given.parse().unwrap()));
            ConsoleListen::address(given, portal.parse().unwrap()).unwrap().to_string()
        };
        assert_eq!(at(None, "127.0.0.1:8080"), "127.0.0.1:8081");
        assert_eq!(at(None, "0.0.0.0:8080"), "127.0.0.1:8081");
        assert_eq!(at(None, "[::]:8080"), "[::1]:8081");
        assert_eq!(at(Some("0.0.0.0:9000"), "0.0.0.0:8080"), "0.0.0.0:9000");
    }
}
