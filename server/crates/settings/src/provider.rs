//! The provider that the portal's calls are forwarded to.

use std::{fmt, net::IpAddr, path::PathBuf, time::Duration};

use anyhow::ensure;
use axum::http::{Uri, uri::PathAndQuery};

use super::values::{self, secret_in};

/// Default timeout of a call to the provider, in seconds.
const SECONDS: u32 = 9;

/// The provider that the portal's calls are forwarded to.
#[derive(clap::Args, Clone, Debug)]
pub struct ProviderSettings {
    /// Forward the portal's calls, everything under /api/v1, to the provider at this address, such as
    /// `https://provider.example.com`. The portal, its slices and the console are still served here. Not
    /// possible in demo mode.
    #[arg(long, env = "MKOPO_PROVIDER_URL", hide_env_values = true, value_parser = ProviderUrl::parse,
          value_name = "URL")]
    pub provider_url: Option<ProviderUrl>,

    /// File that contains the provider's address. `MKOPO_PROVIDER_URL` takes precedence.
    #[arg(long, env = "MKOPO_PROVIDER_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, ProviderUrl::parse))]
    pub provider_url_file: Option<ProviderUrl>,

    /// File with the certificates (PEM) of CAs that are trusted for the provider, besides the CAs of the
    /// operating system.
    #[arg(long, env = "MKOPO_PROVIDER_CA", value_name = "FILE")]
    pub provider_ca: Option<PathBuf>,

    /// Allow a provider's address without TLS that is not on this machine: passwords and payouts can be read
    /// and changed on the way.
    #[arg(long = "insecure", env = "MKOPO_PROVIDER_INSECURE", num_args = 0..=1, default_value_t = false,
          default_missing_value = "true", action = clap::ArgAction::Set, value_parser = values::switch,
          value_name = "true|false")]
    pub provider_insecure: bool,

    /// Timeout of a call to the provider, in seconds. The portal itself waits 10 seconds for an answer; more is for
    /// other clients.
    #[arg(long, env = "MKOPO_PROVIDER_TIMEOUT", default_value_t = SECONDS, value_parser = values::provider_seconds,
          value_name = "SECONDS")]
    pub provider_timeout: u32,

    /// The largest answer of the provider that is passed on, in bytes, or with a unit such as `16MiB`.
    #[arg(long, env = "MKOPO_PROVIDER_BODY_LIMIT", default_value = "128MiB", value_parser = values::bytes,
          value_name = "SIZE")]
    pub provider_body_limit: u64,

    /// Set to `payouts` to let the console's faults hit calls that pay out with the provider's real money,
    /// too.
    #[arg(long, env = "MKOPO_PROVIDER_FAULTS", value_enum, value_name = "payouts")]
    pub provider_faults: Option<ProviderFaults>,
}

/// The calls that the console's faults may hit, besides those that cost nothing.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderFaults {
    /// Payouts.
    Payouts,
}

impl ProviderSettings {
    /// The provider's address; `None` when this service is the provider itself.
    pub fn url(&self) -> Option<&ProviderUrl> {
        self.provider_url.as_ref().or(self.provider_url_file.as_ref())
    }

    /// Checks that the settings can be used together.
    ///
    /// # Errors
    /// A sentence that says which settings can't, and why.
    pub fn check(&self, is_demo: bool) -> anyhow::Result<()> {
        let Some(url) = self.url() else { return Ok(()) };
        ensure!(
            !is_demo,
            "MKOPO_DEMO and MKOPO_PROVIDER_URL can't be used together: demo mode shows accounts with a known \
             password and generated loans, and the portal would show those of the provider; set MKOPO_DEMO to \
             false, or remove MKOPO_PROVIDER_URL"
        );
        url.check_security(self.provider_insecure)
    }

    /// Returns whether the timeout is not the default one.
    pub(crate) fn has_own_timeout(&self) -> bool {
        self.provider_timeout != SECONDS
    }

    /// The timeout of a call to the provider.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.provider_timeout.into())
    }
}

/// The address of a provider: scheme, host and port, and the path before `/api/v1`, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUrl {
    base: String,
    is_private: bool,
}

impl ProviderUrl {
    /// Parses `https://…` or `http://…`.
    ///
    /// # Errors
    /// A sentence that says what to give instead.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXAMPLE: &str = "give the address of a provider such as https://provider.example.com";
        let text = text.trim().trim_end_matches('/');
        let url: Uri = text.parse().map_err(|_| EXAMPLE)?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (url.scheme_str(), url.authority()) else {
            return Err(EXAMPLE);
        };
        if authority.as_str().contains('@') {
            return Err("a provider's address has no password; calls are authorised by their session");
        }
        if url.query().is_some() || text.contains('#') || authority.host().is_empty() {
            return Err(EXAMPLE);
        }
        if url.path().ends_with("/api/v1") {
            return Err("give the provider's address without /api/v1");
        }
        let host = authority.host().trim_matches(['[', ']']);
        let host = host.to_ascii_lowercase();
        // RFC 6761, 6.3.
        let is_local = host == "localhost"
            || host.ends_with(".localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        Ok(Self { base: text.to_owned(), is_private: scheme == "https" || is_local })
    }

    /// Returns `true` if nobody on the way to the provider can read or change what is sent.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// Checks that nobody on the way to the provider can read or change what is sent.
    ///
    /// # Errors
    /// A sentence that says how to allow an address that is not private, unless that `is_allowed`.
    pub fn check_security(&self, is_allowed: bool) -> anyhow::Result<()> {
        ensure!(
            self.is_private || is_allowed,
            "{self} has no TLS: passwords and payouts could be read and changed on the way; give an address \
             with https://, or add --insecure"
        );
        Ok(())
    }

    /// The address of a call: `path` begins with `/api/v1`.
    pub fn of_call(&self, path: &PathAndQuery) -> Option<Uri> {
        format!("{}{path}", self.base).parse().ok()
    }
}

impl fmt::Display for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_tls_is_for_this_machine_unless_it_is_allowed() {
        for (text, is_private) in [
            ("https://provider.example.com", true),
            ("http://127.0.0.1:9000/", true),
            ("http://[::1]:9000", true),
            ("http://localhost", true),
            ("http://Kim.localhost:8080", true),
            ("http://10.0.0.4:9000", false),
            ("http://provider.example.com", false),
            ("http://localhost.example.com", false),
        ] {
            let url = ProviderUrl::parse(text).unwrap();
            assert_eq!(url.check_security(false).is_ok(), is_private, "{text}");
            assert!(url.check_security(true).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_address_that_is_none_of_a_provider_is_refused() {
        for text in [
            "",
            "provider",
            "ftp://provider",
            "https://",
            "https://a:b@host",
            "https://host?x=1",
            "https://host/api/v1/",
        ] {
            assert!(ProviderUrl::parse(text).is_err(), "{text}");
        }
        let url = ProviderUrl::parse("https://host/loans/").unwrap();
        let call = url.of_call(&PathAndQuery::from_static("/api/v1/auth/me?x=1")).unwrap();
        assert_eq!(call.to_string(), "https://host/loans/api/v1/auth/me?x=1");
    }
}
