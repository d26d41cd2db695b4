//! Passwords: argon2id with 19 MiB, two passes, one lane (OWASP's first choice), about 14 ms each.
//!
//! At most one hash per core runs at a time, on threads that may block. Without this bound,
//! 64 concurrent sign-ins took 4 GB and starved every other call.

use std::{sync::Arc, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version, password_hash::Error as HashError,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, de};
use tokio::sync::Semaphore;
use tracing::Instrument;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::AuthRefusal;
use base::{error::Failure, randomness::Randomness};

/// The minimum length of a password, in characters.
pub const MINIMUM_LENGTH: usize = 6;
/// The maximum length of a password, in characters.
pub const MAXIMUM_LENGTH: usize = 1024;

/// A password in a request that is short enough to hash.
#[derive(Debug)]
pub(super) struct Password(pub SecretString);

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let password = SecretString::deserialize(deserializer)?;
        if password.expose_secret().chars().count() > MAXIMUM_LENGTH {
            return Err(de::Error::custom(format!("a password has at most {MAXIMUM_LENGTH} characters")));
        }
        Ok(Self(password))
    }
}

/// The maximum wait of a hash for a free core. Callers time out after 10 s, so the answer must come before.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// Hashes and checks passwords, with a bound on concurrency that clones share.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// The hashes of one sandbox wait here before they wait for `slots`, which all sandboxes share. Each
    /// sandbox has at most as many waiting there as may run, so that sandboxes take turns.
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

    /// Returns the hasher of another sandbox, with the same bound on concurrency.
    pub fn of_another_sandbox(&self) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { own_slots: Arc::new(Semaphore::new(cores)), ..self.clone() }
    }

    /// Hashes `password` to the PHC string that is stored.
    pub async fn hash(&self, password: SecretString) -> Result<String, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(self.timeout, move || hash(&composed(password), &salt)).await?
    }

    /// Hashes `password` for demo data, however long the queue is: no caller is to try it again.
    pub async fn hash_for_demo(&self, password: SecretString) -> Result<String, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(Duration::MAX, move || hash(&password, &salt)).await?
    }

    /// Returns whether `password` matches the hash `stored`. Without a stored hash, takes the same time and
    /// returns `false`, so that timing does not reveal which accounts exist.
    pub async fn matches(&self, password: SecretString, stored: Option<String>) -> Result<bool, Failure> {
        let salt: [u8; 16] = self.randomness.bytes();
        self.run(self.timeout, move || match &stored {
            Some(stored) => verify(&composed(password), stored),
            None => hash(&composed(password), &salt).map(|_| false),
        })
        .await?
    }

    async fn run<T: Send + 'static>(
        &self,
        timeout: Duration,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let step = traces::step!("wait for a core");
        let permits = async {
            let own = Arc::clone(&self.own_slots).acquire_owned().await?;
            Ok((own, Arc::clone(&self.slots).acquire_owned().await?))
        };
        let permits = tokio::time::timeout(timeout, permits).instrument(step).await;
        let permits = permits.map_err(|_| AuthRefusal::SignInsWait { wait: timeout })?;
        let permits =
            permits.map_err(|closed: tokio::sync::AcquireError| Failure::Internal(closed.to_string()))?;
        tokio::task::spawn_blocking(move || {
            let result = job();
            drop(permits);
            result
        })
        .instrument(traces::step!("hash the password"))
        .await
        .map_err(Failure::internal)
    }
}

/// The password in one form, however the keyboard writes its letters (RFC 8265, NFC).
fn composed(password: SecretString) -> SecretString {
    if is_nfc(password.expose_secret()) {
        return password;
    }
    password.expose_secret().nfc().collect::<String>().into()
}

fn hash(password: &SecretString, salt: &[u8]) -> Result<String, Failure> {
    let params = Params::new(19 * 1024, 2, 1, None).map_err(Failure::internal)?;
    let hashed = Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_with_salt(password.expose_secret().as_bytes(), salt);
    Ok(hashed.map_err(Failure::internal)?.to_string())
}

/// Returns whether `password` matches `stored`, which names its own parameters.
fn verify(password: &SecretString, stored: &str) -> Result<bool, Failure> {
    match Argon2::default().verify_password(password.expose_secret().as_bytes(), stored) {
        Ok(()) => Ok(true),
        Err(HashError::PasswordInvalid) => Ok(false),
        Err(error) => Err(Failure::internal(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-95
    #[tokio::test]
    async fn a_hash_that_waits_too_long_is_told_when_to_retry() {
        let passwords = Passwords::bounded(1, Duration::from_millis(10), Randomness::seeded(7));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let slow = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.run(Duration::MAX, move || held.recv()).await }
        });
        while passwords.slots.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = passwords.hash("Mkopo-demo-1".into()).await;
        let refused = refused.unwrap_err();
        assert!(matches!(refused.refusal(), Some(AuthRefusal::SignInsWait { .. })));
        // Demo data waits for as long as it takes.
        let demo = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.hash_for_demo("Mkopo-demo-1".into()).await }
        });
        passwords.hash("Mkopo-demo-1".into()).await.unwrap_err();

        release.send(()).unwrap();
        slow.await.unwrap().unwrap().unwrap();
        let stored = demo.await.unwrap().unwrap();
        assert!(passwords.matches("Mkopo-demo-1".into(), Some(stored)).await.unwrap());
    }

    // S-41
    #[tokio::test]
    async fn a_password_is_the_same_composed_and_decomposed() {
        let passwords = Passwords::bounded(1, QUEUE_TIMEOUT, Randomness::seeded(7));
        let (composed, decomposed) = ("Wanjik\u{169}-pw-1", "Wanjiku\u{303}-pw-1");
        for (set, typed) in [(composed, decomposed), (decomposed, composed), (decomposed, decomposed)] {
            let stored = passwords.hash(set.into()).await.unwrap();
            assert!(passwords.matches(typed.into(), Some(stored)).await.unwrap(), "{set:?} {typed:?}");
        }
    }

    // S-74
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
