//! Passwords: argon2id with 19 MiB, two passes, one lane (OWASP's first choice), about 14 ms each.
//!
//! At most one hash per core runs at a time, on threads that may block. Without this bound,
//! 64 concurrent sign-ins took 4 GB and starved every other call.

use std::{sync::Arc, time::Duration};

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::{error::Failure, randomness::Randomness};

/// The minimum length of a password, in characters.
pub const MINIMUM_LENGTH: usize = 6;
/// The maximum length of a password, in characters.
pub const MAXIMUM_LENGTH: usize = 1024;

/// How long a hash waits for a free core. Callers time out after 10 s, so the answer must come before.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// Hashes and checks passwords, with a bound on concurrency that clones share.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// Those of one sandbox wait here for a place among those of all: so each sandbox has as many
    /// waiting there as may run, and they take turns.
    own_slots: Arc<Semaphore>,
    slots: Arc<Semaphore>,
    timeout: Duration,
    randomness: Randomness,
}

impl Passwords {
    /// Allows one hash per core at a time.
    pub fn new(randomness: Randomness) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::bounded(cores, QUEUE_TIMEOUT, randomness)
    }

    fn bounded(slots: usize, timeout: Duration, randomness: Randomness) -> Self {
        let new = || Arc::new(Semaphore::new(slots));
        Self { own_slots: new(), slots: new(), timeout, randomness }
    }

    /// The same bound, for another sandbox.
    pub fn of_another_sandbox(&self) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { own_slots: Arc::new(Semaphore::new(cores)), ..self.clone() }
    }

    /// Hashes `password` to the PHC string that is stored.
    ///
    /// # Errors
    /// [`Failure::SignInsWait`] if the queue is too long.
    pub async fn hash(&self, password: SecretString) -> Result<String, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || hash(&password, &salt)).await?
    }

    /// Whether `password` matches the hash `stored`. Without a stored hash it takes the same time
    /// and returns false, so that timing does not reveal which accounts exist.
    ///
    /// # Errors
    /// [`Failure::SignInsWait`] if the queue is too long.
    pub async fn matches(&self, password: SecretString, stored: Option<String>) -> Result<bool, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(move || match stored {
            Some(stored) => verify(&password, &stored),
            None => hash(&password, &salt).map(|_| false),
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let permits = async {
            let own = Arc::clone(&self.own_slots).acquire_owned().await?;
            Ok((own, Arc::clone(&self.slots).acquire_owned().await?))
        };
        let permits = tokio::time::timeout(self.timeout, permits).await;
        let permits = permits.map_err(|_| Failure::SignInsWait { wait: self.timeout })?;
        let permits =
            permits.map_err(|closed: tokio::sync::AcquireError| Failure::Internal(closed.to_string()))?;
        tokio::task::spawn_blocking(move || {
            let result = job();
            drop(permits);
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

fn verify(password: &SecretString, stored: &str) -> Result<bool, Failure> {
    let stored = PasswordHash::new(stored).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(argon2id()?.verify_password(password.expose_secret().as_bytes(), &stored).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_that_waits_too_long_is_told_when_to_retry() {
        let passwords = Passwords::bounded(1, Duration::from_millis(10), Randomness::seeded(7));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let slow = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.run(move || held.recv()).await }
        });
        while passwords.slots.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = passwords.hash("Mkopo-demo-1".into()).await;
        assert!(matches!(refused, Err(Failure::SignInsWait { .. })));

        release.send(()).unwrap();
        slow.await.unwrap().unwrap().unwrap();
        let stored = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        assert!(passwords.matches("Mkopo-demo-1".into(), Some(stored)).await.unwrap());
    }

    #[tokio::test]
    async fn a_password_is_stored_as_a_salted_hash() {
        let passwords = Passwords::bounded(1, QUEUE_TIMEOUT, Randomness::seeded(7));
        let one = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        let other = passwords.hash("Mkopo-demo-1".into()).await.unwrap();
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(!passwords.matches("Mkopo-demo-2".into(), Some(one)).await.unwrap());
        assert!(!passwords.matches("Mkopo-demo-1".into(), None).await.unwrap());
    }
}
