//! Secrets: given by the deployment as a value or a file, else made on the first start and kept in
//! the data folder.

use secrecy::{ExposeSecret, SecretSlice, SecretString};

use super::{Settings, values};
use crate::randomness::Randomness;

impl Settings {
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
            Ok(kept) if values::console_token(kept.trim_end()).is_ok() => return Ok(kept.trim_end().into()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let made: [u8; 16] = randomness.bytes();
        let made = hex::encode(made);
        write_private(&file, made.as_bytes())?;
        Ok(made.into())
    }
}

/// What `file` holds, read by `parse`.
pub(super) fn secret_in<T>(file: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
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
