//! The settings; their documentation is `mkopo serve --help`.

#![warn(missing_docs)]

mod database;
mod mail_server;
pub mod provider;
mod secrets;
pub mod values;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;
use jiff::tz::TimeZone;
use lettre::message::Mailbox;
use secrecy::{SecretSlice, SecretString};
use serde::{Deserialize, Serialize};

use self::provider::ProviderSettings;
pub use self::{
    database::StoreSettings,
    mail_server::SmtpUrl,
    values::{ConsoleListen, secret_in},
};
use store::url::DatabaseUrl;

/// Default sender of e-mails, for demo mode.
const DEMO_SENDER: &str = "no-reply@mkopo.test";

/// Default number of sandboxes in demo mode.
const DEMO_SANDBOXES: u32 = 100;

/// The content of the screens that are static in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Screens {
    /// The sample content of the specification.
    Specified,
    /// The data of the server.
    Live,
}

/// The settings of a deployment, each an option or an environment variable.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Address and port to listen on.
    #[arg(long, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_parser = values::listen,
          value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,

    /// Address at which people reach the portal, printed at start: scheme, host and port. Defaults to the address
    /// it listens on.
    #[arg(long, env = "MKOPO_PUBLIC_URL", value_parser = values::public_url, value_name = "URL")]
    pub public_url: Option<String>,

    /// Address and port of the console and of `/metrics`, or `off`. Defaults to this machine's own address
    /// (127.0.0.1) with the port after the portal's.
    #[arg(long, env = "MKOPO_CONSOLE_LISTEN", value_parser = values::console_listen,
          value_name = "ADDRESS:PORT|off")]
    pub console_listen: Option<ConsoleListen>,

    /// Address at which people reach the console. Defaults to the address it listens on.
    #[arg(long, env = "MKOPO_CONSOLE_PUBLIC_URL", value_parser = values::public_url, value_name = "URL")]
    pub console_public_url: Option<String>,

    /// The database.
    #[command(flatten)]
    pub store: StoreSettings,

    /// Folder of the built portal: the shell, its slices and `slices.json`. Without it, the portal consists of what is
    /// published.
    #[arg(long, env = "MKOPO_PORTAL_DIR", value_parser = values::folder, value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Demo mode: an empty database is filled with demo data and demo accounts with a known password.
    #[arg(long, env = "MKOPO_DEMO", num_args = 0..=1, default_value_t = false, default_missing_value = "true",
          action = clap::ArgAction::Set, value_parser = values::switch,
          value_name = "true|false")]
    pub demo: bool,

    /// Maximum number of sandboxes, besides `main` (see docs/sandboxes.md). 0 turns them off. Defaults to
    /// 100 in demo mode, and to 0 otherwise.
    #[arg(long, env = "MKOPO_SANDBOXES", value_parser = values::sandboxes, value_name = "NUMBER")]
    pub sandboxes: Option<u32>,

    /// Domain whose subdomains are sandboxes: `<name>.localhost`. Browsers send `*.localhost` to their own
    /// machine; any other domain needs a wildcard entry in the DNS.
    #[arg(long, env = "MKOPO_SANDBOX_DOMAIN", default_value = "localhost", value_parser = values::domain,
          value_name = "DOMAIN")]
    pub sandbox_domain: String,

    /// Allow the console's tools that change the behaviour of the service or read codes: the clock, faults,
    /// the scenario, resets, restoring snapshots, adding loans, and the outbox. By default, allowed in demo
    /// mode only. A start without them puts the clock and the scenario back, and removes faults.
    #[arg(long, env = "MKOPO_TOOLS", value_parser = values::switch, value_name = "true|false")]
    pub tools: Option<bool>,

    /// The provider behind the portal.
    #[command(flatten)]
    pub provider: ProviderSettings,

    /// Secret that signs session tokens, at least 32 bytes. By default, one is generated and stored
    /// in the data folder. On PostgreSQL it is required, and must be the same on all servers.
    #[arg(long, env = "MKOPO_JWT_SECRET", hide_env_values = true, allow_hyphen_values = true,
          value_parser = |text: &str| values::jwt_secret(text.as_bytes()), value_name = "SECRET")]
    pub jwt_secret: Option<SecretSlice<u8>>,

    /// File that contains the secret, for secrets that are mounted as files, such as `jwt.secret` from the data
    /// folder of another server. A trailing line break is ignored. `MKOPO_JWT_SECRET` takes precedence.
    #[arg(long, env = "MKOPO_JWT_SECRET_FILE", value_name = "FILE", value_parser = values::jwt_secret_in)]
    pub jwt_secret_file: Option<SecretSlice<u8>>,

    /// Token that opens the operator's console, at least 16 characters. By default, one is
    /// generated, stored in the data folder and printed at start. On PostgreSQL it is required, and
    /// must be the same on all servers.
    #[arg(long, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true, allow_hyphen_values = true,
          value_parser = values::console_token, value_name = "TOKEN")]
    pub console_token: Option<SecretString>,

    /// File that contains the console token, such as `console.token` from the data folder of another server.
    /// `MKOPO_CONSOLE_TOKEN` takes precedence.
    #[arg(long, env = "MKOPO_CONSOLE_TOKEN_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, values::console_token))]
    pub console_token_file: Option<SecretString>,

    /// Duration of a session, in minutes.
    #[arg(long, env = "MKOPO_SESSION_MINUTES", default_value_t = 480, value_name = "MINUTES",
          value_parser = values::session_minutes)]
    pub session_minutes: u32,

    /// Retention of sessions after their end, in days.
    #[arg(long, env = "MKOPO_KEEP_SESSIONS_DAYS", default_value_t = 30, value_name = "DAYS",
          value_parser = values::days)]
    pub keep_sessions_days: u32,

    /// Retention of messages in the outbox after they are sent or given up, in days.
    #[arg(long, env = "MKOPO_KEEP_MESSAGES_DAYS", default_value_t = 90, value_name = "DAYS",
          value_parser = values::days)]
    pub keep_messages_days: u32,

    /// Retention of events in the audit trail, in days.
    #[arg(long, env = "MKOPO_KEEP_EVENTS_DAYS", default_value_t = 400, value_name = "DAYS",
          value_parser = values::days)]
    pub keep_events_days: u32,

    /// Number of published builds to keep of each slice, besides the live one and the previous one.
    #[arg(long, env = "MKOPO_KEEP_BUILDS", default_value_t = 10, value_name = "NUMBER",
          value_parser = values::builds)]
    pub keep_builds: u32,

    /// Trusted reverse proxies, as addresses or networks (`10.0.0.0/8`), separated by commas. The
    /// client's address is taken from their `X-Forwarded-For` header; the header is ignored from
    /// anyone else.
    #[arg(long, env = "MKOPO_TRUSTED_PROXIES", value_delimiter = ',', value_parser = values::network,
          value_name = "NETWORK,…")]
    pub trusted_proxies: Vec<IpNet>,

    /// Maximum number of open connections from one network address. Trusted proxies may have any number.
    #[arg(long, env = "MKOPO_CONNECTIONS_PER_ADDRESS", default_value_t = 256, value_name = "NUMBER",
          value_parser = values::positive)]
    pub connections_per_address: usize,

    /// Mail server that sends e-mails: `smtps://user:password@host` (TLS) or
    /// `smtp://…?tls=required` (STARTTLS; with `?tls=opportunistic`, only if the server offers it);
    /// `smtp://host:port` alone is not encrypted. Without it, e-mails stay in the outbox.
    #[arg(long, env = "MKOPO_SMTP_URL", hide_env_values = true, value_parser = SmtpUrl::parse,
          value_name = "URL")]
    pub smtp_url: Option<SmtpUrl>,

    /// File that contains the mail server's address. `MKOPO_SMTP_URL` takes precedence.
    #[arg(long, env = "MKOPO_SMTP_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, SmtpUrl::parse))]
    pub smtp_url_file: Option<SmtpUrl>,

    /// Domains that sandboxes may send e-mails to, separated by commas. Without it, sandboxes send nothing through the
    /// mail server: what they write stays in their outbox.
    #[arg(long, env = "MKOPO_SANDBOX_MAIL_DOMAINS", value_delimiter = ',', value_parser = values::domain,
          value_name = "DOMAINS")]
    pub sandbox_mail_domains: Vec<String>,

    /// `true` if these are the settings of a sandbox.
    #[arg(skip)]
    pub is_sandbox: bool,

    /// Sender of e-mails, as `name@domain` or `Name <name@domain>`. With a mail server, it is required outside demo
    /// mode.
    #[arg(long, env = "MKOPO_SMTP_FROM", default_value = DEMO_SENDER, value_parser = values::mailbox,
          value_name = "ADDRESS")]
    pub smtp_from: Mailbox,

    /// Origins, separated by commas, whose pages may call the API from a browser (CORS): for a portal
    /// that is served from another host.
    #[arg(long, env = "MKOPO_ALLOWED_ORIGINS", value_delimiter = ',', value_parser = values::origin,
          value_name = "ORIGIN,…")]
    pub allowed_origins: Vec<String>,

    /// Additional origins, separated by commas, that slices may be loaded from: for a `slices.json`
    /// that lists builds on other hosts, and for `?slice=`.
    #[arg(long, env = "MKOPO_SLICE_ORIGINS", value_delimiter = ',', value_parser = values::origin,
          value_name = "ORIGIN,…")]
    pub slice_origins: Vec<String>,

    /// Allow `?slice=name@address`, which loads another build of a slice in the visitor's browser:
    /// from this service, from the visitor's own machine, or from `MKOPO_SLICE_ORIGINS`. By default,
    /// allowed in demo mode only.
    #[arg(long, env = "MKOPO_SLICE_OVERRIDE", value_parser = values::switch, value_name = "true|false")]
    pub slice_override: Option<bool>,

    /// Folder with an empty folder for each slice that deploys itself, named like the slice. At start, a deploy token is
    /// written to the file `token` of each that has none.
    #[arg(long, env = "MKOPO_DEPLOY_TOKENS_DIR", value_parser = values::folder, value_name = "FOLDER")]
    pub deploy_tokens_dir: Option<PathBuf>,

    /// A proxy in front of this service terminates TLS: browsers are told to use HTTPS only (HSTS).
    #[arg(long, env = "MKOPO_BEHIND_TLS", num_args = 0..=1, default_value_t = false, default_missing_value = "true",
          action = clap::ArgAction::Set, value_parser = values::switch,
          value_name = "true|false")]
    pub behind_tls: bool,

    /// Name shown in the portal and its messages.
    #[arg(long, env = "MKOPO_BRAND", default_value = "Mkopo", value_name = "NAME",
          value_parser = values::name)]
    pub brand: String,

    /// Name of the portal in sentences. Defaults to the brand.
    #[arg(long, env = "MKOPO_PRODUCT", value_name = "NAME", value_parser = values::name)]
    pub product: Option<String>,

    /// Content of Reports, Settings, Profile and the bell: `specified`, the sample content of the
    /// specification, or `live`, the data of the server (see docs/screens.md).
    #[arg(
        long,
        env = "MKOPO_SCREENS",
        default_value = "specified",
        value_enum,
        hide_possible_values = true,
        value_name = "specified|live"
    )]
    pub screens: Screens,

    /// Folder with stories, a YAML file each, that sandboxes may tell besides those of the product (see
    /// docs/stories.md).
    #[arg(long, env = "MKOPO_STORIES", value_parser = values::folder, value_name = "FOLDER")]
    pub stories: Option<PathBuf>,

    /// In demo mode, a sandbox to begin with, which somebody took along from the card of a story. Data that is there
    /// already stays.
    #[arg(long, env = "MKOPO_FROM", value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// IANA time zone of the deployment: of all dates in the portal and the console, of 'today', and of
    /// mobile money's daily limit.
    #[arg(long, env = "MKOPO_TIME_ZONE", default_value = "Africa/Nairobi", value_name = "NAME",
          value_parser = values::time_zone)]
    pub time_zone: TimeZone,

    /// Log filter: a level (off, error, warn, info, debug or trace), or `target=level` pairs separated by commas.
    #[arg(long, env = "MKOPO_LOG", default_value = "info", value_parser = values::log, value_name = "FILTER")]
    pub log: String,
}

impl Settings {
    /// Checks that the settings can be used together.
    ///
    /// # Errors
    /// A sentence that names the settings that can't, or the missing one.
    pub fn check(&self) -> anyhow::Result<()> {
        self.provider.check(self.demo)?;
        for (setting, is_given, need, is_met) in self.needs() {
            anyhow::ensure!(!is_given || is_met, "{setting} needs {need}");
        }
        // Servers that share a database must have these in common, so none may generate its own.
        let is_shared = self.store.url().is_some_and(DatabaseUrl::is_shared);
        let given = [
            ("MKOPO_JWT_SECRET", self.given_jwt_secret().is_some()),
            ("MKOPO_CONSOLE_TOKEN", self.given_console_token().is_some()),
        ];
        for (setting, is_given) in given {
            anyhow::ensure!(
                is_given || !is_shared,
                "{setting} is missing: on PostgreSQL it is required, and must be the same on all servers"
            );
        }
        Ok(())
    }

    /// The settings that have no effect alone: whether each is given, what it needs, and whether that is there.
    fn needs(&self) -> [(&'static str, bool, &'static str, bool); 10] {
        const CONSOLE: &str = "the console, which is off (MKOPO_CONSOLE_LISTEN)";
        let (provider, has_provider) = (&self.provider, self.provider.url().is_some());
        let has_console = self.console_listen().is_some();
        let has_mail_server = self.mail_server().is_some();
        let console_url = &self.console_public_url;
        let has_tls = self.public_url.as_ref().is_none_or(|url| url.starts_with("https://"));
        let has_sender = self.smtp_from.email.to_string() != DEMO_SENDER;
        [
            ("MKOPO_FROM", self.from.is_some(), "demo mode: nothing in a sandbox is real", self.demo),
            ("MKOPO_PROVIDER_CA", provider.provider_ca.is_some(), "MKOPO_PROVIDER_URL", has_provider),
            ("MKOPO_PROVIDER_TIMEOUT", provider.has_own_timeout(), "MKOPO_PROVIDER_URL", has_provider),
            (
                "MKOPO_PROVIDER_FAULTS",
                provider.provider_faults.is_some(),
                "MKOPO_PROVIDER_URL and MKOPO_TOOLS=true",
                has_provider && self.allows_tools(),
            ),
            ("MKOPO_TOOLS=true", self.tools == Some(true), CONSOLE, has_console),
            ("MKOPO_CONSOLE_PUBLIC_URL", console_url.is_some(), CONSOLE, has_console),
            (
                "MKOPO_CONSOLE_PUBLIC_URL",
                console_url.is_some(),
                "an address other than MKOPO_PUBLIC_URL",
                *console_url != self.public_url,
            ),
            ("MKOPO_BEHIND_TLS=true", self.behind_tls, "a MKOPO_PUBLIC_URL with https://", has_tls),
            (
                "MKOPO_SANDBOX_MAIL_DOMAINS",
                !self.sandbox_mail_domains.is_empty(),
                "MKOPO_SMTP_URL",
                has_mail_server,
            ),
            (
                "MKOPO_SMTP_URL",
                has_mail_server && !self.demo,
                "MKOPO_SMTP_FROM, an address of your own",
                has_sender,
            ),
        ]
    }

    /// Returns `true` if `?slice=` may load a build other than the live one.
    pub fn allows_slice_override(&self) -> bool {
        self.slice_override.unwrap_or(self.demo)
    }

    /// Returns `true` if the console's tools are allowed, which change the service's behaviour or read codes.
    pub fn allows_tools(&self) -> bool {
        self.tools.unwrap_or(self.demo)
    }

    /// Returns `true` if the service has the calls that only live screens make.
    pub fn has_live_screens(&self) -> bool {
        self.screens == Screens::Live
    }

    /// The maximum number of sandboxes, besides `main`.
    pub fn max_sandboxes(&self) -> u32 {
        self.sandboxes.unwrap_or(if self.demo { DEMO_SANDBOXES } else { 0 })
    }

    /// The settings of sandboxes. Nothing in a sandbox is real, so they are as in demo mode.
    pub fn of_sandboxes(&self) -> Self {
        Self {
            demo: true,
            tools: None,
            slice_override: Some(self.allows_slice_override()),
            is_sandbox: true,
            ..self.clone()
        }
    }

    /// The name of the portal in sentences.
    pub fn product(&self) -> &str {
        self.product.as_deref().unwrap_or(&self.brand)
    }

    /// The address at which people reach the portal.
    pub fn portal_address(&self) -> String {
        address(self.public_url.as_deref(), self.listen)
    }

    /// The address that the console listens on; `None` if it is off.
    pub fn console_listen(&self) -> Option<SocketAddr> {
        ConsoleListen::address(self.console_listen, self.listen)
    }

    /// The address at which people reach the console; `None` if it is off.
    pub fn console_address(&self) -> Option<String> {
        Some(address(self.console_public_url.as_deref(), self.console_listen()?))
    }

    /// The duration of a session.
    pub fn session_length(&self) -> Duration {
        Duration::from_secs(u64::from(self.session_minutes) * 60)
    }

    /// The configured secret that signs tokens.
    pub fn given_jwt_secret(&self) -> Option<&SecretSlice<u8>> {
        self.jwt_secret.as_ref().or(self.jwt_secret_file.as_ref())
    }

    /// The configured token that opens the console.
    pub fn given_console_token(&self) -> Option<&SecretString> {
        self.console_token.as_ref().or(self.console_token_file.as_ref())
    }

    /// The configured mail server.
    pub fn mail_server(&self) -> Option<&SmtpUrl> {
        if self.is_sandbox && self.sandbox_mail_domains.is_empty() {
            return None;
        }
        self.smtp_url.as_ref().or(self.smtp_url_file.as_ref())
    }

    /// The name of this service for a mail server, which may refuse one that is no domain (RFC 5321, 4.1.4): the host
    /// of the portal, or else the domain of the sender.
    pub fn mail_name(&self) -> &str {
        let address = self.public_url.as_deref().and_then(|url| url.split_once("://"));
        let host = address.map(|(_, host)| host.split_once(':').map_or(host, |(host, _)| host));
        let is_domain = |host: &&str| host.contains('.') && host.parse::<Ipv4Addr>().is_err();
        host.filter(is_domain).unwrap_or_else(|| self.smtp_from.email.domain())
    }
}

/// The `public` address, or else that at which this machine reaches a service that listens on `listen`.
fn address(public: Option<&str>, listen: SocketAddr) -> String {
    public.map_or_else(|| format!("http://{}", values::on_this_machine(listen)), str::to_owned)
}
