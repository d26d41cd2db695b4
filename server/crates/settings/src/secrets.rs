//! Secrets: configured as a value or a file, otherwise generated on first start and stored in the
//! data folder.

use std::io::{self, ErrorKind, Write};

use secrecy::{SecretSlice, SecretString};

use crate::{Settings, values};
use base::randomness::Randomness;

impl Settings {
    /// The secret that signs tokens: the configured one, or the one in the data folder, which is
    /// generated on first start.
    pub fn token_secret(&self, randomness: &Randomness) -> io::Result<SecretSlice<u8>> {
        if let Some(given) = self.given_jwt_secret() {
            return Ok(given.clone());
        }
        let file = self.store.data_dir.join("jwt.secret");
        match std::fs::read(&file).map(|content| values::stored_jwt_secret(&content)) {
            Ok(Ok(stored)) => return Ok(stored),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let generated: [u8; 32] = randomness.bytes();
        let generated = hex::encode(generated);
        write_private(&file, generated.as_bytes())?;
        Ok(generated.into_bytes().into())
    }

    /// The token that opens the console: the configured one, or the one in the data folder, which
    /// is generated on first start.
    pub fn console_token(&self, randomness: &Randomness) -> io::Result<SecretString> {
        if let Some(given) = self.given_console_token() {
            return Ok(given.clone());
        }
        let file = self.store.data_dir.join("console.token");
        match std::fs::read_to_string(&file) {
            Ok(stored) if values::console_token(stored.trim_end()).is_ok() => {
                return Ok(stored.trim_end().into());
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let generated: [u8; 16] = randomness.bytes();
        let generated = hex::encode(generated);
        write_private(&file, generated.as_bytes())?;
        Ok(generated.into())
    }
}

fn write_private(file: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}
