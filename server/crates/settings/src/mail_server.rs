//! The mail server that e-mails are sent through.

use std::{net::IpAddr, time::Duration};

use axum::http::Uri;
use lettre::{AsyncSmtpTransport, Tokio1Executor, transport::smtp::extension::ClientId};
use secrecy::{ExposeSecret, SecretString};

/// Timeout for connecting to the mail server. lettre has none for its replies: whoever sends limits the whole attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of a mail server. It may contain a password, so `Debug` hides it.
#[derive(Clone)]
pub struct SmtpUrl(SecretString);

impl SmtpUrl {
    /// Parses `smtps://…` or `smtp://…`.
    ///
    /// # Errors
    /// A sentence that says what to give instead, without the input.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXAMPLE: &str = "give a mail server such as smtps://user:password@mail.example.com";
        let url: Uri = text.parse().map_err(|_| EXAMPLE)?;
        let authority = url.authority().ok_or(EXAMPLE)?;
        // The library ignores what it does not know, such as a misspelt `tls`, and sends without TLS then.
        let requires_tls = match url.query() {
            None | Some("tls=opportunistic") => false,
            Some("tls=required") => true,
            Some(_) => return Err("its only parameter is tls: ?tls=required or ?tls=opportunistic"),
        };
        // lettre says hello by a name in the path.
        if text.contains('#') || url.path().len() > 1 {
            return Err(EXAMPLE);
        }
        AsyncSmtpTransport::<Tokio1Executor>::from_url(text).map_err(|_| EXAMPLE)?;
        let is_encrypted = url.scheme_str() == Some("smtps") || requires_tls;
        let host = authority.host().trim_matches(['[', ']']);
        let is_local =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if authority.as_str().contains('@') && !is_encrypted && !is_local {
            return Err("a password must not be sent unencrypted; use smtps:// or add ?tls=required");
        }
        Ok(Self(text.into()))
    }

    /// A transport to this mail server, which says hello by `name`.
    pub fn transport(&self, name: &str) -> AsyncSmtpTransport<Tokio1Executor> {
        AsyncSmtpTransport::<Tokio1Executor>::from_url(self.0.expose_secret())
            .unwrap_or_else(|_| AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("localhost"))
            .hello_name(ClientId::Domain(name.to_owned()))
            .timeout(Some(CONNECT_TIMEOUT))
            .build()
    }
}

impl std::fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SmtpUrl([REDACTED])")
    }
}
