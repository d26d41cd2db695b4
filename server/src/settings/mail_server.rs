//! The mail server that e-mails are sent through.

use std::{net::IpAddr, time::Duration};

use axum::http::Uri;
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use secrecy::{ExposeSecret, SecretString};

/// How long each answer of the mail server is waited for.
const SMTP_ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// The way to a mail server. It may hold a password and does not print.
#[derive(Clone)]
pub struct SmtpUrl(SecretString);

impl SmtpUrl {
    /// Reads `smtps://…` or `smtp://…`.
    ///
    /// # Errors
    /// What to give instead; it does not repeat what was given.
    pub fn parse(text: &str) -> Result<Self, String> {
        const EXAMPLE: &str = "give a mail server such as smtps://user:password@mail.example.com";
        let url: Uri = text.parse().map_err(|_| EXAMPLE.to_owned())?;
        let authority = url.authority().ok_or_else(|| EXAMPLE.to_owned())?;
        AsyncSmtpTransport::<Tokio1Executor>::from_url(text).map_err(|_| EXAMPLE.to_owned())?;
        let is_encrypted = url.scheme_str() == Some("smtps")
            || url.query().is_some_and(|query| query.split('&').any(|pair| pair == "tls=required"));
        let host = authority.host().trim_matches(['[', ']']);
        let is_here =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if authority.as_str().contains('@') && !is_encrypted && !is_here {
            return Err("a password must not be sent over the network as it is; use smtps:// or add \
                        ?tls=required"
                .to_owned());
        }
        Ok(Self(text.into()))
    }

    /// The transport that the address names.
    pub fn transport(&self) -> AsyncSmtpTransport<Tokio1Executor> {
        AsyncSmtpTransport::<Tokio1Executor>::from_url(self.0.expose_secret())
            .unwrap_or_else(|_| AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("localhost"))
            .timeout(Some(SMTP_ANSWERS_WITHIN))
            .build()
    }
}

impl std::fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SmtpUrl([REDACTED])")
    }
}
