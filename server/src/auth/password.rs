//! Passwords: argon2id with 19 MiB, two passes, one lane (OWASP's first choice), about 14 ms each.
//!
//! At most as many hashes run at once as there are cores, on threads that may block: unbounded,
//! 64 sign-ins at once took 4 GB and starved every other call.

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::{error::Failure, randomness::Randomness};

/// Hashes and checks passwords, a bounded number at once. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Passwords {
    at_once: Arc<Semaphore>,
    randomness: Randomness,
}

impl Passwords {
    /// As many at once as the machine has cores.
    pub fn new(randomness: Randomness) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { at_once: Arc::new(Semaphore::new(cores)), randomness }
    }

    /// The PHC string to keep for `password`.
    pub async fn hash(&self, password: SecretString) -> Result<String, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || hash(&password, &salt)).await?
    }

    /// Whether `password` is the one that `kept` was made of. With no `kept` it takes as long and
    /// says no, so that the time taken does not tell which accounts exist.
    pub async fn matches(&self, password: SecretString, kept: Option<String>) -> Result<bool, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || match kept {
            Some(kept) => verify(&password, &kept),
            None => hash(&password, &salt).map(|_| false),
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let permit = permit.map_err(|closed| Failure::Internal(closed.to_string()))?;
        tokio::task::spawn_blocking(move || {
            let result = job();
            drop(permit);
            result
        })
        .await
        .map_err(|panicked| Failure::Internal(panicked.to_string()))
    }
}

fn argon2id() -> Result<Argon2<'static>, Failure> {
    let params = Params::new(19 * 1024, 2, 1, None).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &SecretString, salt: &[u8]) -> Result<String, Failure> {
    argon2id()?
        .hash_password_with_salt(password.expose_secret().as_bytes(), salt)
        .map(|hash| hash.to_string())
        .map_err(|error| Failure::Internal(error.to_string()))
}

fn verify(password: &SecretString, kept: &str) -> Result<bool, Failure> {
    let kept = PasswordHash::new(kept).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(argon2id()?.verify_password(password.expose_secret().as_bytes(), &kept).is_ok())
}
