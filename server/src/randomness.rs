//! The source of ids, codes and simulated chance: the operating system, or a seed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha12Rng};

use crate::clock::UnixMillis;

/// A cryptographically secure source of randomness. Clones share the same source.
///
/// The one of a sandbox draws from that of its server until it has a [`Chance`] of its own. What must not be
/// known to those who know that chance, such as tokens of the console, is drawn from the server's.
#[derive(Clone, Debug)]
pub struct Randomness {
    shared: Arc<Mutex<ChaCha12Rng>>,
    own: Arc<Mutex<Option<[ChaCha12Rng; 3]>>>,
    stream: Stream,
}

/// What is drawn in the background has a sequence of its own: when it is drawn then does not matter.
#[derive(Clone, Copy, Debug)]
enum Stream {
    Calls,
    Receipts,
    Messages,
}

/// What ids, codes and simulated chance follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance([u8; 32]);

impl Chance {
    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl std::fmt::Display for Chance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl Randomness {
    /// Seeded by the operating system.
    pub fn from_os() -> Self {
        Self::of(rand::make_rng())
    }

    /// Gives the same sequence for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self::of(ChaCha12Rng::seed_from_u64(seed))
    }

    fn of(rng: ChaCha12Rng) -> Self {
        Self { shared: Arc::new(Mutex::new(rng)), own: Arc::default(), stream: Stream::Calls }
    }

    /// An independent source that continues with the same sequence.
    pub fn fork(&self) -> Self {
        self.draw(|rng| {
            let mut fork = ChaCha12Rng::from_seed(rng.get_seed());
            fork.set_stream(rng.get_stream());
            fork.set_word_pos(rng.get_word_pos());
            Self::of(fork)
        })
    }

    /// The source of one sandbox, which draws from this one until it has a chance of its own.
    pub fn of_sandbox(&self) -> Self {
        Self { own: Arc::default(), ..self.clone() }
    }

    /// This source, for receipts.
    pub fn for_receipts(&self) -> Self {
        Self { stream: Stream::Receipts, ..self.clone() }
    }

    /// This source, for the ids of messages.
    pub fn for_messages(&self) -> Self {
        Self { stream: Stream::Messages, ..self.clone() }
    }

    /// A new chance.
    pub fn chance(&self) -> Chance {
        Chance(self.bytes())
    }

    /// From now on, all clones draw what follows from `chance`.
    pub fn follow(&self, chance: Chance) {
        let stream = |number| {
            let mut rng = ChaCha12Rng::from_seed(chance.0);
            rng.set_stream(number);
            rng
        };
        *locked(&self.own) = Some([stream(0), stream(1), stream(2)]);
    }

    /// A new id: a UUID v7, so that ids sort by creation time.
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

    /// A uniformly distributed number in `0..below`.
    pub fn below(&self, below: u32) -> u32 {
        self.draw(|rng| rng.random_range(0..below))
    }

    fn draw<T>(&self, f: impl FnOnce(&mut ChaCha12Rng) -> T) -> T {
        match &mut *locked(&self.own) {
            Some(own) => f(&mut own[self.stream as usize]),
            None => f(&mut locked(&self.shared)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
