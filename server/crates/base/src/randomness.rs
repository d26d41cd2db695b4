//! The source of ids, codes and simulated chance: the operating system, or a seed in tests.

use std::sync::Arc;

use parking_lot::Mutex;
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha12Rng};

use crate::clock::UnixMillis;

/// A cryptographically secure source of randomness. Clones share the same source.
#[derive(Clone, Debug)]
pub struct Randomness(Arc<Mutex<ChaCha12Rng>>);

impl Randomness {
    pub fn from_os() -> Self {
        Self(Arc::new(Mutex::new(rand::make_rng())))
    }

    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(ChaCha12Rng::seed_from_u64(seed))))
    }

    /// An independent source that continues with the same sequence.
    pub fn fork(&self) -> Self {
        let rng = self.0.lock();
        let mut fork = ChaCha12Rng::from_seed(rng.get_seed());
        fork.set_stream(rng.get_stream());
        fork.set_word_pos(rng.get_word_pos());
        Self(Arc::new(Mutex::new(fork)))
    }

    /// A new id: a UUID v7, so that ids sort by creation time.
    pub fn id<T: From<String>>(&self, now: UnixMillis) -> T {
        let ms = u64::try_from(now.0).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(ms, &self.bytes()).into_uuid().to_string().into()
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().fill_bytes(&mut bytes);
        bytes
    }

    /// A uniformly distributed number in `0..below`.
    pub fn below(&self, below: u32) -> u32 {
        self.0.lock().random_range(0..below)
    }
}
