//! The settings; their documentation is `mkopo serve --help`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use secrecy::{ExposeSecret, SecretSlice, SecretString};

use crate::randomness::Randomness;

/// Provider of the Mkopo portal: the API, the simulated mobile money, and the built slices.
#[derive(clap::Parser, Debug)]
#[command(name = "mkopo", version, about)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `mkopo` can do.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Answer calls until told to stop.
    Serve(Settings),
}

/// What a deployment may set, by option or environment.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Address and port to answer on.
    #[arg(long, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,

    /// Folder that holds the database and the generated secrets.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Folder of the built portal: the shell, its slices and `slices.json`. Without it only the
    /// API is served.
    #[arg(long, env = "MKOPO_PORTAL_DIR", value_name = "FOLDER")]
    pub portal_dir: Option<PathBuf>,

    /// Demo mode: demo accounts with a known password, and demo data, on an empty database.
    #[arg(long, env = "MKOPO_DEMO", num_args = 0..=1, default_value_t = false, default_missing_value = "true",
          action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new(),
          value_name = "true|false")]
    pub demo: bool,

    /// Secret that signs session tokens, at least 32 bytes. Without it one is made and kept in
    /// the data folder.
    #[arg(long, env = "MKOPO_JWT_SECRET", hide_env_values = true, value_parser = parse_jwt_secret,
          value_name = "SECRET")]
    pub jwt_secret: Option<SecretString>,

    /// How long a session lasts, in minutes.
    #[arg(long, env = "MKOPO_SESSION_MINUTES", default_value_t = 480, value_name = "MINUTES",
          value_parser = clap::value_parser!(u32).range(1..=43_200))]
    pub session_minutes: u32,

    /// Name that the portal and its messages carry.
    #[arg(long, env = "MKOPO_BRAND", default_value = "Mkopo", value_name = "NAME",
          value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub brand: String,

    /// What the portal calls itself in a sentence.
    #[arg(long, env = "MKOPO_PRODUCT", default_value = "the product", value_name = "NAME",
          value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub product: String,

    /// What is logged: a level, or `target=level` separated by commas.
    #[arg(long, env = "MKOPO_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,
}

impl Settings {
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
        if let Some(given) = &self.jwt_secret {
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

fn parse_jwt_secret(text: &str) -> Result<SecretString, String> {
    if text.len() < 32 {
        return Err("must have at least 32 bytes".to_owned());
    }
    Ok(text.into())
}
