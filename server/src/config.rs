//! The settings; their documentation is `mkopo serve --help`.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context;
use axum::http::{HeaderValue, Uri};
use clap::{CommandFactory, error::ContextKind};
use ipnet::IpNet;
use lettre::{AsyncSmtpTransport, Tokio1Executor, message::Mailbox};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use tracing_subscriber::EnvFilter;

use crate::{
    auth::{Role, email::Email},
    database::url::DatabaseUrl,
    phone::Msisdn,
    randomness::Randomness,
};

/// How long each answer of the mail server is waited for.
const SMTP_ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Provider of the Mkopo portal: the API, the simulated mobile money, and the built slices.
#[derive(clap::Parser, Debug)]
#[command(name = "mkopo", version, about)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// What is wrong with a setting, as one sentence that names it as the environment does; none
    /// when `error` is about something else than a setting.
    pub fn refused_setting(error: &clap::Error) -> Option<String> {
        let context = |kind| error.get(kind).map(ToString::to_string);
        let option = context(ContextKind::InvalidArg)?;
        let command = Self::command();
        let argument = command.get_subcommands().flat_map(clap::Command::get_arguments).find(|argument| {
            argument.get_long().is_some_and(|long| option.split(' ').next() == Some(&format!("--{long}")))
        })?;
        let variable = argument.get_env()?.to_string_lossy();
        let reason =
            std::error::Error::source(error).map_or_else(|| "give a value".to_owned(), ToString::to_string);
        let value = context(ContextKind::InvalidValue).unwrap_or_default();
        Some(if argument.is_hide_env_values_set() {
            format!("{variable} is not right: {reason}.")
        } else {
            format!("{variable} can't be '{value}': {reason}.")
        })
    }
}

/// What `mkopo` can do.
#[derive(clap::Subcommand, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one, for a moment")]
pub enum Command {
    /// Answer calls until told to stop.
    Serve(Settings),
    /// Ask the service that runs on this machine whether it is ready, for health checks.
    Ready(ReadySettings),
    /// Say who may sign in.
    User(UserSettings),
    /// Move the data.
    Data(DataSettings),
    /// Add made-up loans and records, to see how much the service and the portal bear.
    Seed(SeedSettings),
    /// Publish builds of slices, and say which are live.
    Slice(SliceSettings),
}

/// Which database, where it is not the file in the data folder.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct DatabaseSettings {
    /// Database, where it is not the file in the data folder: `postgres://user:password@host/name`,
    /// which several servers may share (`sslmode=require` or `verify-full` for TLS), or
    /// `sqlite:path/to/file`.
    #[arg(long, global = true, env = "MKOPO_DATABASE_URL", hide_env_values = true, value_parser = parse_database_url,
          value_name = "URL")]
    pub database_url: Option<DatabaseUrl>,

    /// File that holds that address, as container engines hand secrets over. A line end after it does
    /// not count; the address itself, when given too, goes before it.
    #[arg(long, global = true, env = "MKOPO_DATABASE_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, parse_database_url))]
    pub database_url_file: Option<DatabaseUrl>,
}

impl DatabaseSettings {
    /// The database that the deployment names; none when it is the file in the data folder.
    pub fn url(&self) -> Option<&DatabaseUrl> {
        self.database_url.as_ref().or(self.database_url_file.as_ref())
    }
}

/// What deploying slices needs.
#[derive(clap::Args, Debug)]
pub struct SliceSettings {
    /// Folder that holds the database. The service may run meanwhile.
    #[arg(long, global = true, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Folder of the built portal that the service serves: its shell is the one that builds have
    /// to fit.
    #[arg(long, global = true, env = "MKOPO_PORTAL_DIR", value_parser = parse_folder, value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Ask the service at this address, instead of its database.
    #[arg(long, global = true, env = "MKOPO_SERVER", value_parser = parse_server, value_name = "URL")]
    pub server: Option<String>,

    /// The console's token of that service.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true,
          value_parser = parse_console_token, value_name = "TOKEN")]
    pub token: Option<SecretString>,

    /// Who has it done, for the trail; who runs the command when not given.
    #[arg(long, global = true, env = "MKOPO_BY", value_parser = parse_by, value_name = "NAME")]
    pub by: Option<String>,

    /// What to do.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// What can be done about slices.
#[derive(clap::Subcommand, Debug)]
pub enum SliceCommand {
    /// Check a build, keep it for good, and make it live.
    Publish {
        /// Folder of the build, or of the package whose `dist` it is.
        #[arg(value_parser = parse_folder)]
        folder: PathBuf,

        /// Keep the build and leave live what is; `activate` makes it live later.
        #[arg(long)]
        hold: bool,
    },
    /// Make a build live that is there, older ones too.
    Activate {
        /// The slice, such as mfe-loans.
        name: String,
        /// The build's version.
        version: String,
    },
    /// Make the build live that was before.
    Rollback {
        /// The slice, such as mfe-loans.
        name: String,
    },
    /// Print all builds, and which are live.
    List,
}

/// Which service.
#[derive(clap::Args, Debug)]
pub struct ReadySettings {
    /// Address and port that it was told to answer on.
    #[arg(long, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_parser = parse_listen,
          value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
}

/// Which data, and which file holds its copy.
#[derive(clap::Args, Debug)]
pub struct BackupSettings {
    /// Folder that holds the database.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// The file, or `-` for a pipe. Keep it from others: it holds customers' data and the staff's
    /// hashed passwords.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// What is to be done with the data as a whole.
#[derive(clap::Args, Debug)]
pub struct DataSettings {
    /// What to do.
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What can be done with the data as a whole.
#[derive(clap::Subcommand, Debug)]
pub enum DataCommand {
    /// Copy all data of one database into another, empty one, of whatever kind. Stop the service
    /// first: what it writes meanwhile is not in the copy.
    Copy {
        /// Database to copy: `postgres://user:password@host/name` or `sqlite:path/to/file`.
        #[arg(long, env = "MKOPO_COPY_FROM", hide_env_values = true, value_parser = parse_database_url,
              value_name = "URL")]
        from: DatabaseUrl,

        /// Empty database to copy to.
        #[arg(long, env = "MKOPO_COPY_TO", hide_env_values = true, value_parser = parse_database_url,
              value_name = "URL")]
        to: DatabaseUrl,
    },

    /// Write all data, as of one moment, into a new file. The service may run meanwhile. A database on
    /// PostgreSQL is copied by its own tools.
    Backup(BackupSettings),

    /// Put what `mkopo data backup` wrote in the place of the data. Stop the service first.
    Restore(BackupSettings),
}

/// What is to be added, and where.
#[derive(clap::Args, Debug)]
pub struct SeedSettings {
    /// Folder that holds the database. The service may run meanwhile.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// How many loans that wait to be paid out.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub loans: u32,

    /// How many records of payouts, spread over the last year.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub records: u32,

    /// The same seed on the same data makes the same.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,
}

/// What managing staff needs.
#[derive(clap::Args, Debug)]
pub struct UserSettings {
    /// Folder that holds the database. The service may run meanwhile.
    #[arg(long, global = true, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// What to do.
    #[command(subcommand)]
    pub command: UserCommand,
}

/// What can be done about staff.
#[derive(clap::Subcommand, Debug)]
pub enum UserCommand {
    /// Open an account. The password is asked for.
    Add(AddUser),
    /// Print all accounts.
    List,
    /// Close an account: its sessions end at once and nobody can sign in to it.
    Deactivate {
        /// The account's e-mail address.
        #[arg(value_parser = parse_email)]
        email: Email,
    },
    /// Open a closed account again.
    Activate {
        /// The account's e-mail address.
        #[arg(value_parser = parse_email)]
        email: Email,
    },
}

/// The account to open.
#[derive(clap::Args, Debug)]
pub struct AddUser {
    /// E-mail address, by which they sign in.
    #[arg(value_parser = parse_email)]
    pub email: Email,

    /// First name.
    #[arg(long, value_parser = parse_name, value_name = "NAME")]
    pub first_name: String,

    /// Last name.
    #[arg(long, value_parser = parse_name, value_name = "NAME")]
    pub last_name: String,

    /// What the portal calls them; their first name when not given.
    #[arg(long, value_parser = parse_name, value_name = "NAME")]
    pub username: Option<String>,

    /// Kenyan mobile number, to which reset codes go.
    #[arg(long, value_parser = parse_phone, value_name = "NUMBER")]
    pub phone: Msisdn,

    /// What they may do.
    #[arg(long)]
    pub role: Role,

    /// Read the password from the first line of standard input instead of asking for it.
    #[arg(long)]
    pub password_stdin: bool,
}

/// What a deployment may set, by option or environment.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Address and port to answer on.
    #[arg(long, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_parser = parse_listen,
          value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,

    /// Address at which people reach the portal, for what a start prints; the one it answers on when
    /// not given.
    #[arg(long, env = "MKOPO_PUBLIC_URL", value_parser = parse_public_url, value_name = "URL")]
    pub public_url: Option<HeaderValue>,

    /// Folder that holds the database and the generated secrets.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// Folder of the built portal: the shell, its slices and `slices.json`. Without it only the
    /// API is served.
    #[arg(long, env = "MKOPO_PORTAL_DIR", value_parser = parse_folder, value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Demo mode: demo accounts with a known password, and demo data, on an empty database.
    #[arg(long, env = "MKOPO_DEMO", num_args = 0..=1, default_value_t = false, default_missing_value = "true",
          action = clap::ArgAction::Set, value_parser = parse_switch,
          value_name = "true|false")]
    pub demo: bool,

    /// Secret that signs session tokens, at least 32 bytes. Without it one is made and kept in
    /// the data folder; on PostgreSQL it must be given, the same to all servers.
    #[arg(long, env = "MKOPO_JWT_SECRET", hide_env_values = true, value_parser = parse_jwt_secret,
          value_name = "SECRET")]
    pub jwt_secret: Option<SecretString>,

    /// File that holds that secret, as container engines hand secrets over. A line end after it does
    /// not count; the secret itself, when given too, goes before it.
    #[arg(long, env = "MKOPO_JWT_SECRET_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, parse_jwt_secret))]
    pub jwt_secret_file: Option<SecretString>,

    /// Token that opens the operator's console, 16 characters at least. Without it one is made,
    /// kept in the data folder and printed at start; on PostgreSQL it must be given, the same to
    /// all servers.
    #[arg(long, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true, value_parser = parse_console_token,
          value_name = "TOKEN")]
    pub console_token: Option<SecretString>,

    /// File that holds that token; the token itself, when given too, goes before it.
    #[arg(long, env = "MKOPO_CONSOLE_TOKEN_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, parse_console_token))]
    pub console_token_file: Option<SecretString>,

    /// How long a session lasts, in minutes.
    #[arg(long, env = "MKOPO_SESSION_MINUTES", default_value_t = 480, value_name = "MINUTES",
          value_parser = parse_session_minutes)]
    pub session_minutes: u32,

    /// Proxies in front, as addresses or networks (`10.0.0.0/8`) with commas between. What they
    /// say in `X-Forwarded-For` is believed; without any, only the connection's own address is.
    #[arg(long, env = "MKOPO_TRUSTED_PROXIES", value_delimiter = ',', value_parser = parse_network,
          value_name = "NETWORK,…")]
    pub trusted_proxies: Vec<IpNet>,

    /// Mail server that e-mails go out by: `smtps://user:password@host` (TLS) or
    /// `smtp://…?tls=required` (STARTTLS); `smtp://host:port` alone is not encrypted. Without it
    /// e-mails stay in the outbox.
    #[arg(long, env = "MKOPO_SMTP_URL", hide_env_values = true, value_parser = SmtpUrl::parse,
          value_name = "URL")]
    pub smtp_url: Option<SmtpUrl>,

    /// File that holds that address; the address itself, when given too, goes before it.
    #[arg(long, env = "MKOPO_SMTP_URL_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, SmtpUrl::parse))]
    pub smtp_url_file: Option<SmtpUrl>,

    /// Who e-mails come from, as `name@domain` or `Name <name@domain>`.
    #[arg(long, env = "MKOPO_SMTP_FROM", default_value = "no-reply@mkopo.test", value_parser = parse_mailbox,
          value_name = "ADDRESS")]
    pub smtp_from: Mailbox,

    /// Origins, with commas between, whose pages may call the API from a browser; for a portal that
    /// is served from elsewhere.
    #[arg(long, env = "MKOPO_ALLOWED_ORIGINS", value_delimiter = ',', value_parser = parse_origin,
          value_name = "ORIGIN,…")]
    pub allowed_origins: Vec<HeaderValue>,

    /// Origins, with commas between, that slices may come from beside this service's own: for a
    /// `slices.json` that names builds elsewhere, and for `?slice=`.
    #[arg(long, env = "MKOPO_SLICE_ORIGINS", value_delimiter = ',', value_parser = parse_origin,
          value_name = "ORIGIN,…")]
    pub slice_origins: Vec<HeaderValue>,

    /// `?slice=name@address` lets a visitor's browser load another build of a slice: one of this
    /// service's, of the visitor's own machine, or of `MKOPO_SLICE_ORIGINS`. Allowed by default in
    /// demo mode only.
    #[arg(long, env = "MKOPO_SLICE_OVERRIDE", value_parser = parse_switch, value_name = "true|false")]
    pub slice_override: Option<bool>,

    /// Callers reach this service over TLS, which ends before it: browsers are told never to come
    /// without.
    #[arg(long, env = "MKOPO_BEHIND_TLS", num_args = 0..=1, default_value_t = false, default_missing_value = "true",
          action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new(),
          value_name = "true|false")]
    pub behind_tls: bool,

    /// Name that the portal and its messages carry.
    #[arg(long, env = "MKOPO_BRAND", default_value = "Mkopo", value_name = "NAME",
          value_parser = parse_name)]
    pub brand: String,

    /// What the portal calls itself in a sentence.
    #[arg(long, env = "MKOPO_PRODUCT", default_value = "the product", value_name = "NAME",
          value_parser = parse_name)]
    pub product: String,

    /// What is logged: a level, or `target=level` separated by commas.
    #[arg(long, env = "MKOPO_LOG", default_value = "info", value_parser = parse_log, value_name = "FILTER")]
    pub log: String,
}

impl BackupSettings {
    /// The file that the database is.
    ///
    /// # Errors
    /// A sentence that says what to do when it is none.
    pub fn database_file(&self) -> anyhow::Result<PathBuf> {
        let Some(url) = self.database.url() else { return Ok(self.data_dir.join("mkopo.db")) };
        url.file()
            .map(Into::into)
            .context("MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore")
    }
}

impl Settings {
    /// Makes sure that servers which share a database get from their settings what they must
    /// agree on, instead of each making up its own.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub fn check_shared(&self) -> anyhow::Result<()> {
        let is_shared = self.database.url().is_some_and(DatabaseUrl::is_shared);
        let given = [
            ("MKOPO_JWT_SECRET", self.given_jwt_secret().is_some()),
            ("MKOPO_CONSOLE_TOKEN", self.given_console_token().is_some()),
        ];
        for (setting, is_given) in given {
            anyhow::ensure!(
                is_given || !is_shared,
                "{setting} is missing: on PostgreSQL it must be given, the same to all servers"
            );
        }
        Ok(())
    }

    /// Whether `?slice=` may load another build than the live one.
    pub fn allows_slice_override(&self) -> bool {
        self.slice_override.unwrap_or(self.demo)
    }

    /// Where people reach the portal, when it answers on `address`.
    pub fn portal_address(&self, address: SocketAddr) -> String {
        match self.public_url.as_ref().and_then(|url| url.to_str().ok()) {
            Some(url) => url.to_owned(),
            None => format!("http://{address}"),
        }
    }

    /// How long a session lasts.
    pub fn session_length(&self) -> Duration {
        Duration::from_secs(u64::from(self.session_minutes) * 60)
    }

    /// The secret that signs tokens: the one given, else the one kept in the data folder, which
    /// is made on first start.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn token_secret(&self, randomness: &Randomness) -> std::io::Result<SecretSlice<u8>> {
        if let Some(given) = self.given_jwt_secret() {
            return Ok(given.expose_secret().as_bytes().to_vec().into());
        }
        let file = self.data_dir.join("jwt.secret");
        match std::fs::read(&file) {
            Ok(kept) if kept.len() >= 32 => return Ok(kept.into()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let made: [u8; 32] = randomness.bytes();
        write_private(&file, &made)?;
        Ok(made.to_vec().into())
    }

    /// The secret that signs tokens, when the deployment gives one.
    pub fn given_jwt_secret(&self) -> Option<&SecretString> {
        self.jwt_secret.as_ref().or(self.jwt_secret_file.as_ref())
    }

    /// The token that opens the console, when the deployment gives one.
    pub fn given_console_token(&self) -> Option<&SecretString> {
        self.console_token.as_ref().or(self.console_token_file.as_ref())
    }

    /// The mail server, when the deployment gives one.
    pub fn mail_server(&self) -> Option<&SmtpUrl> {
        self.smtp_url.as_ref().or(self.smtp_url_file.as_ref())
    }

    /// The token that opens the console: the one given, else the one kept in the data folder,
    /// which is made on first start.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn console_token(&self, randomness: &Randomness) -> std::io::Result<SecretString> {
        if let Some(given) = self.given_console_token() {
            return Ok(given.clone());
        }
        let file = self.data_dir.join("console.token");
        match std::fs::read_to_string(&file) {
            Ok(kept) if parse_console_token(kept.trim_end()).is_ok() => return Ok(kept.trim_end().into()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let made: [u8; 16] = randomness.bytes();
        let made = format!("{:032x}", u128::from_be_bytes(made));
        write_private(&file, made.as_bytes())?;
        Ok(made.into())
    }
}

/// What `file` holds, read by `parse`.
fn secret_in<T>(file: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("it can't be read ({error})"))?;
    parse(text.trim_end_matches(['\r', '\n']))
}

fn write_private(file: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The way to a mail server. It may hold a password and does not print.
#[derive(Clone)]
pub struct SmtpUrl(SecretString);

impl SmtpUrl {
    fn parse(text: &str) -> Result<Self, String> {
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

fn parse_database_url(text: &str) -> Result<DatabaseUrl, String> {
    text.parse()
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an address and a port such as 127.0.0.1:8080".to_owned())
}

fn parse_folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    folder
        .is_dir()
        .then_some(folder)
        .ok_or_else(|| "there is no such folder; give one that is there".to_owned())
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("give true or false".to_owned()),
    }
}

fn parse_session_minutes(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|minutes| (1..=43_200).contains(minutes))
        .ok_or_else(|| "give whole minutes from 1 to 43200".to_owned())
}

fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("give a name of at least one letter".to_owned());
    }
    Ok(name.to_owned())
}

fn parse_log(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|_| "give a level such as info, or target=level with commas between".to_owned())
}

fn parse_mailbox(text: &str) -> Result<Mailbox, String> {
    text.parse().map_err(|_| "give an address such as no-reply@example.com".to_owned())
}

fn parse_email(text: &str) -> Result<Email, String> {
    Email::parse(text).ok_or_else(|| "give an e-mail address such as wanjiru@example.com".to_owned())
}

fn parse_phone(text: &str) -> Result<Msisdn, String> {
    Msisdn::parse(text).ok_or_else(|| "give a Kenyan mobile number such as 0712345678".to_owned())
}

fn parse_jwt_secret(text: &str) -> Result<SecretString, String> {
    if text.len() < 32 {
        return Err("give at least 32 bytes, or leave it unset to have one made".to_owned());
    }
    Ok(text.into())
}

fn parse_console_token(text: &str) -> Result<SecretString, String> {
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

fn parse_network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical())))
        .map_err(|_| "give addresses or networks such as 10.0.0.0/8, with commas between".to_owned())
}

fn parse_server(text: &str) -> Result<String, String> {
    let origin = parse_origin(text)
        .map_err(|_| "give the address of the service such as https://portal.example.com".to_owned())?;
    origin.to_str().map(str::to_owned).map_err(|error| error.to_string())
}

fn parse_by(text: &str) -> Result<String, String> {
    let fits = (1..=100).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    fits.then(|| text.to_owned()).ok_or_else(|| "give 1 to 100 printable ASCII characters".to_owned())
}

fn parse_public_url(text: &str) -> Result<HeaderValue, String> {
    parse_origin(text).map_err(|_| "give an address such as https://portal.example.com".to_owned())
}

fn parse_origin(text: &str) -> Result<HeaderValue, String> {
    let origin = text.trim().trim_end_matches('/');
    let uri: Option<Uri> = origin.parse().ok();
    let is_origin = uri.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.path() == "/" && uri.query().is_none()
    });
    let origin = is_origin.then(|| HeaderValue::from_str(&origin.to_ascii_lowercase()).ok()).flatten();
    origin.ok_or_else(|| "give origins such as https://portal.example.com, with commas between".to_owned())
}
