//! Secrets: configured as a value or a file, otherwise generated on first start and stored in the
//! data folder.

use std::{
    fs::File,
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use anyhow::Context;
use secrecy::{SecretSlice, SecretString};

use crate::{Settings, values};
use base::randomness::Randomness;

impl Settings {
    /// The secret that signs tokens: the configured one, or the one in the data folder, which is
    /// generated on first start.
    ///
    /// # Errors
    /// A sentence that names the file, also when its content is invalid: it is never replaced.
    pub fn token_secret(&self, randomness: &Randomness) -> anyhow::Result<SecretSlice<u8>> {
        match self.given_jwt_secret() {
            Some(given) => Ok(given.clone()),
            None => {
                self.stored("jwt.secret", values::stored_jwt_secret, || hex::encode(randomness.bytes::<32>()))
            }
        }
    }

    /// The token that opens the console: the configured one, or the one in the data folder, which
    /// is generated on first start.
    ///
    /// # Errors
    /// Those of [`Settings::token_secret`].
    pub fn console_token(&self, randomness: &Randomness) -> anyhow::Result<SecretString> {
        match self.given_console_token() {
            Some(given) => Ok(given.clone()),
            None => self.stored("console.token", values::stored_console_token, || {
                hex::encode(randomness.bytes::<16>())
            }),
        }
    }

    fn stored<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, &'static str>,
        generate: impl FnOnce() -> String,
    ) -> anyhow::Result<T> {
        const ADVICE: &str = "set MKOPO_DATA_DIR to a folder that can be read and written";
        let file = self.store.data_dir.join(name);
        let named = file.display();
        let content = match std::fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let generated = generate().into_bytes();
                write_private(&file, &generated).with_context(|| format!("can't write {named}; {ADVICE}"))?;
                generated
            }
            read => read.with_context(|| format!("can't read {named}; {ADVICE}"))?,
        };
        parse(&content).ok().with_context(|| {
            format!("{named} has no valid secret; put it back, or delete the file to have one generated")
        })
    }
}

fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}
