//! The names of sandboxes.

use std::fmt;

use serde::Serialize;

use super::SandboxRefusal;
use base::{error::Failure, randomness::Randomness};

/// The name of the sandbox that always exists.
const MAIN: &str = "main";

/// Maximum length of a name.
const MAX_LENGTH: usize = 40;

/// The characters of made-up names. They form no words and are not mistaken for each other.
const LETTERS: &[u8; 20] = b"bcdfghjkmnpqrstvwxz2";

/// The length of the random part of a made-up name.
const RANDOM_LENGTH: usize = 8;

/// A valid name: 1 to 40 lower-case letters, digits and dashes, with no dash at either end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, sqlx_macros::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct Name(String);

impl Name {
    pub fn parse(text: &str) -> Option<Self> {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = (1..=MAX_LENGTH).contains(&text.len())
            && text.bytes().all(is_inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        is_name.then(|| Self(text.to_owned()))
    }

    /// Parses the name of a sandbox that a call is about.
    pub fn existing(text: &str) -> Result<Self, Failure> {
        Self::parse(text).ok_or_else(|| SandboxRefusal::SandboxNotFound(text.to_owned()).into())
    }

    pub fn main() -> Self {
        Self(MAIN.to_owned())
    }

    pub fn is_main(&self) -> bool {
        self.0 == MAIN
    }

    pub fn make_up(randomness: &Randomness) -> Self {
        let letters = u32::try_from(LETTERS.len()).unwrap_or(1);
        let random = (0..RANDOM_LENGTH).map(|_| char::from(LETTERS[randomness.below(letters) as usize]));
        Self("sandbox-".chars().chain(random).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_a_part_of_a_host_name() {
        let longest = "a".repeat(MAX_LENGTH);
        for name in ["a", "7", "pr-12", "a--b", &longest] {
            assert!(Name::parse(name).is_some(), "{name}");
        }
        let too_long = "a".repeat(MAX_LENGTH + 1);
        for text in ["", "-", "-a", "a-", "A", "a.b", "a_b", "ä", " a", "a ", &too_long] {
            assert!(Name::parse(text).is_none(), "{text:?}");
        }
        let made_up = Name::make_up(&Randomness::from_os());
        assert_eq!(Name::parse(made_up.as_str()), Some(made_up));
    }
}
