//! Where ids, codes and simulated chance come from: the operating system, or a seed in tests.

use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha12Rng};

use crate::clock::UnixMillis;

/// A source of randomness good enough for codes and tokens. Clones draw from the same source.
#[derive(Clone, Debug)]
pub struct Randomness(Arc<Mutex<ChaCha12Rng>>);

impl Randomness {
    /// Seeded by the operating system.
    pub fn from_os() -> Self {
        Self(Arc::new(Mutex::new(rand::make_rng())))
    }

    /// The same sequence for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(ChaCha12Rng::seed_from_u64(seed))))
    }

    /// A source of its own that goes on from here: both give the same sequence.
    pub fn fork(&self) -> Self {
        self.draw(|rng| {
            let mut fork = ChaCha12Rng::from_seed(rng.get_seed());
            fork.set_stream(rng.get_stream());
            fork.set_word_pos(rng.get_word_pos());
            Self(Arc::new(Mutex::new(fork)))
        })
    }

    /// A fresh id: a UUID v7, so that ids sort by the moment they were made.
    pub fn id(&self, now: UnixMillis) -> String {
        let mut random = [0; 10];
        self.draw(|rng| rng.fill_bytes(&mut random));
        let ms = u64::try_from(now.0).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().to_string()
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.draw(|rng| rng.fill_bytes(&mut bytes));
        bytes
    }

    /// A number in `0..below`, each as likely.
    pub fn below(&self, below: u32) -> u32 {
        self.draw(|rng| rng.random_range(0..below))
    }

    fn draw<T>(&self, f: impl FnOnce(&mut ChaCha12Rng) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
