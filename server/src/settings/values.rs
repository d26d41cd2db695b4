//! How the values of settings are read. Each refusal says what to give instead.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use axum::http::{HeaderValue, Uri};
use ipnet::IpNet;
use lettre::message::Mailbox;
use secrecy::SecretString;
use tracing_subscriber::EnvFilter;

use crate::{database::url::DatabaseUrl, email::Email, phone::Msisdn};

/// A store, as `postgres://…` or `sqlite:…`.
pub fn database_url(text: &str) -> Result<DatabaseUrl, String> {
    text.parse()
}

/// An address and a port.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an address and a port such as 127.0.0.1:8080".to_owned())
}

/// A folder that exists.
pub fn folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    folder
        .is_dir()
        .then_some(folder)
        .ok_or_else(|| "there is no such folder; give one that is there".to_owned())
}

/// On or off, in the words people use for it.
pub fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("give true or false".to_owned()),
    }
}

/// From one minute to 30 days.
pub fn session_minutes(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|minutes| (1..=43_200).contains(minutes))
        .ok_or_else(|| "give whole minutes from 1 to 43200".to_owned())
}

/// A name without control characters.
pub fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("give a name of at least one letter".to_owned());
    }
    Ok(name.to_owned())
}

/// A filter as `tracing` reads it.
pub fn log(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|_| "give a level such as info, or target=level with commas between".to_owned())
}

/// An e-mail address, with a name or without.
pub fn mailbox(text: &str) -> Result<Mailbox, String> {
    text.parse().map_err(|_| "give an address such as no-reply@example.com".to_owned())
}

/// An e-mail address.
pub fn email(text: &str) -> Result<Email, String> {
    Email::parse(text).ok_or_else(|| "give an e-mail address such as wanjiru@example.com".to_owned())
}

/// A Kenyan mobile number.
pub fn phone(text: &str) -> Result<Msisdn, String> {
    Msisdn::parse(text).ok_or_else(|| "give a Kenyan mobile number such as 0712345678".to_owned())
}

/// A secret long enough for HS256 (RFC 7518, 3.2).
pub fn jwt_secret(text: &str) -> Result<SecretString, String> {
    if text.len() < 32 {
        return Err("give at least 32 bytes, or leave it unset to have one made".to_owned());
    }
    Ok(text.into())
}

/// A token that fits into a header and into an address.
pub fn console_token(text: &str) -> Result<SecretString, String> {
    // It has to fit into a header and into an address.
    let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    if text.len() < 16 || !fits {
        return Err(
            "give at least 16 letters, digits, dashes, dots, underscores or tildes, or leave it unset to \
                    have one made"
                .to_owned(),
        );
    }
    Ok(text.into())
}

/// An address or a network.
pub fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical())))
        .map_err(|_| "give addresses or networks such as 10.0.0.0/8, with commas between".to_owned())
}

/// The address of a service.
pub fn server(text: &str) -> Result<String, String> {
    let origin = origin(text)
        .map_err(|_| "give the address of the service such as https://portal.example.com".to_owned())?;
    origin.to_str().map(str::to_owned).map_err(|error| error.to_string())
}

/// Who has something done: printable ASCII, as it goes into an address.
pub fn by(text: &str) -> Result<String, String> {
    let fits = (1..=100).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    fits.then(|| text.to_owned()).ok_or_else(|| "give 1 to 100 printable ASCII characters".to_owned())
}

/// The address at which people reach the portal.
pub fn public_url(text: &str) -> Result<HeaderValue, String> {
    origin(text).map_err(|_| "give an address such as https://portal.example.com".to_owned())
}

/// An origin (RFC 6454).
pub fn origin(text: &str) -> Result<HeaderValue, String> {
    let origin = text.trim().trim_end_matches('/');
    let uri: Option<Uri> = origin.parse().ok();
    let is_origin = uri.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.path() == "/" && uri.query().is_none()
    });
    let origin = is_origin.then(|| HeaderValue::from_str(&origin.to_ascii_lowercase()).ok()).flatten();
    origin.ok_or_else(|| "give origins such as https://portal.example.com, with commas between".to_owned())
}
