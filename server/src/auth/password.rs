//! Passwords: argon2id with 19 MiB, two passes, one lane (OWASP's first choice), about 14 ms each.
//!
//! At most as many hashes run at once as there are cores, on threads that may block: unbounded,
//! 64 sign-ins at once took 4 GB and starved every other call.

use std::{sync::Arc, time::Duration};

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::{error::Failure, randomness::Randomness};

/// The least that a password may have, in characters.
pub const MINIMUM_LENGTH: usize = 6;
/// The most that one may have, in characters.
pub const MAXIMUM_LENGTH: usize = 1024;

/// How long one waits for its turn. Callers give up after 10 s; they shall hear before that.
const PATIENCE: Duration = Duration::from_secs(5);

/// Hashes and checks passwords, a bounded number at once. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Passwords {
    at_once: Arc<Semaphore>,
    patience: Duration,
    randomness: Randomness,
}

impl Passwords {
    /// As many at once as the machine has cores.
    pub fn new(randomness: Randomness) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::bounded(cores, PATIENCE, randomness)
    }

    fn bounded(at_once: usize, patience: Duration, randomness: Randomness) -> Self {
        Self { at_once: Arc::new(Semaphore::new(at_once)), patience, randomness }
    }

    /// The PHC string to keep for `password`.
    ///
    /// # Errors
    /// [`Failure::SignInsWait`] when too many wait before it.
    pub async fn hash(&self, password: SecretString) -> Result<String, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || hash(&password, &salt)).await?
    }

    /// Whether `password` is the one that `kept` was made of. With no `kept` it takes as long and
    /// says no, so that the time taken does not tell which accounts exist.
    ///
    /// # Errors
    /// [`Failure::SignInsWait`] when too many wait before it.
    pub async fn matches(&self, password: SecretString, kept: Option<String>) -> Result<bool, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || match kept {
            Some(kept) => verify(&password, &kept),
            None => hash(&password, &salt).map(|_| false),
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let turn = Arc::clone(&self.at_once).acquire_owned();
        let turn = tokio::time::timeout(self.patience, turn).await;
        let permit = turn.map_err(|_| Failure::SignInsWait { wait: self.patience })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_too_long_for_a_turn_is_told_when_to_come_again() {
        let passwords = Passwords::bounded(1, Duration::from_millis(10), Randomness::seeded(7));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let slow = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.run(move || held.recv()).await }
        });
        while passwords.at_once.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = passwords.hash("Mkopo-demo-1".into()).await;
        assert!(matches!(refused, Err(Failure::SignInsWait { .. })));

        release.send(()).unwrap();
        slow.await.unwrap().unwrap().unwrap();
        let kept = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        assert!(passwords.matches("Mkopo-demo-1".into(), Some(kept)).await.unwrap());
    }

    #[tokio::test]
    async fn a_password_is_never_kept_as_it_is_nor_twice_alike() {
        let passwords = Passwords::bounded(1, PATIENCE, Randomness::seeded(7));
        let one = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        let other = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(!passwords.matches("Mkopo-demo-2".into(), Some(one)).await.unwrap());
        assert!(!passwords.matches("Mkopo-demo-1".into(), None).await.unwrap());
    }
}
