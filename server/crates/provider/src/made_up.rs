//! Replaces personal data by made-up data of the same shape. The same original always gets the same
//! replacement.

use std::collections::{HashMap, HashSet};

use hmac::{Hmac, KeyInit, Mac};
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use sha2::Sha256;

use base::phone::Msisdn;

/// The number of replacements tried at the same length before a longer one is made.
const TRIES: u32 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// An id or a number, which differs from every other one of its `noun`.
    Id(&'static str),
    /// One or more names of a person.
    Name,
    Phone,
    Email,
}

/// Makes replacements up. The key is not stored: without it, nobody finds the originals.
pub struct MadeUp {
    key: Hmac<Sha256>,
    originals: HashSet<String>,
    made: HashMap<(ValueKind, String), String>,
    used: HashSet<(ValueKind, String)>,
}

impl MadeUp {
    /// Creates a source of replacements with a random `key`. No replacement equals one of `originals`.
    #[expect(clippy::expect_used, reason = "HMAC accepts keys of any length")]
    pub fn new(key: &[u8; 32], originals: HashSet<String>) -> Self {
        let key = Hmac::new_from_slice(key).expect("a key of any length");
        Self { key, originals, made: HashMap::new(), used: HashSet::new() }
    }

    pub fn of(&mut self, kind: ValueKind, original: &str) -> String {
        if kind == ValueKind::Name {
            // Word by word, so that a full name matches the first and last names elsewhere.
            let words: Vec<String> = original.split_whitespace().map(|word| self.whole(kind, word)).collect();
            return words.join(" ");
        }
        let original = if kind == ValueKind::Email { original.to_lowercase() } else { original.to_owned() };
        self.whole(kind, &original)
    }

    fn whole(&mut self, kind: ValueKind, original: &str) -> String {
        let entry = (kind, original.to_owned());
        if let Some(made) = self.made.get(&entry) {
            return made.clone();
        }
        let mut tries = 0;
        let made = loop {
            let mut rng = self.rng(kind, original, tries);
            let mut made = replaced(&mut rng, kind, original);
            for _ in 0..tries / TRIES {
                made.push(digit(&mut rng));
            }
            let is_free = kind == ValueKind::Name || !self.used.contains(&(kind, made.clone()));
            if is_free && !self.originals.contains(&made) {
                break made;
            }
            tries += 1;
        };
        self.used.insert((kind, made.clone()));
        self.made.insert(entry, made.clone());
        made
    }

    /// A number from 0 to `most` that is always the same for `original`.
    pub fn number(&self, purpose: &'static str, original: &str, most: u32) -> u32 {
        self.rng(ValueKind::Id(purpose), original, 0).random_range(0..=most)
    }

    fn rng(&self, kind: ValueKind, original: &str, tries: u32) -> ChaCha12Rng {
        let noun = match kind {
            ValueKind::Id(noun) => noun,
            ValueKind::Name => "a name",
            ValueKind::Phone => "a phone",
            ValueKind::Email => "an address",
        };
        let mac = self.key.clone().chain_update(noun).chain_update([0_u8]).chain_update(original);
        let mac = mac.chain_update([0_u8]).chain_update(tries.to_be_bytes());
        ChaCha12Rng::from_seed(mac.finalize().into_bytes().into())
    }
}

fn replaced(rng: &mut ChaCha12Rng, kind: ValueKind, original: &str) -> String {
    match kind {
        ValueKind::Phone if Msisdn::parse(original).is_some() => {
            // Mobile money's magic numbers begin with +25470.
            format!("+2547{}{}", rng.random_range(1..=9), digits(rng, 7))
        }
        ValueKind::Email => {
            let name = original.split('@').next().unwrap_or_default();
            let name: String = name.chars().filter(char::is_ascii).map(|c| similar(rng, c)).collect();
            format!("{}@example.com", if name.is_empty() { "x" } else { &name })
        }
        ValueKind::Id(_) if is_uuid(original) => {
            // The version and the variant stay.
            let hex = |(at, c): (usize, char)| match c {
                '-' => '-',
                _ if at == 14 || at == 19 => c,
                _ => char::from_digit(rng.random_range(0..16), 16).unwrap_or('0'),
            };
            original.char_indices().map(hex).collect()
        }
        _ => original.chars().map(|c| similar(rng, c)).collect(),
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text
            .char_indices()
            .all(|(at, c)| if matches!(at, 8 | 13 | 18 | 23) { c == '-' } else { c.is_ascii_hexdigit() })
}

/// A character of the same kind: a vowel for a vowel, so that a name can be read aloud.
fn similar(rng: &mut ChaCha12Rng, c: char) -> char {
    const VOWELS: &[u8] = b"aeiou";
    const CONSONANTS: &[u8] = b"bcdfghjklmnprstvwyz";
    if c.is_numeric() {
        return digit(rng);
    }
    if !c.is_alphabetic() {
        return c;
    }
    let is_vowel = c.to_lowercase().next().is_some_and(|c| !c.is_ascii() || "aeiou".contains(c));
    let from = if is_vowel { VOWELS } else { CONSONANTS };
    let made = char::from(from[rng.random_range(0..from.len())]);
    if c.is_uppercase() { made.to_ascii_uppercase() } else { made }
}

fn digit(rng: &mut ChaCha12Rng) -> char {
    char::from(b'0' + rng.random_range(0..10_u8))
}

fn digits(rng: &mut ChaCha12Rng, count: usize) -> String {
    (0..count).map(|_| digit(rng)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(key: u8, originals: &[&str]) -> MadeUp {
        MadeUp::new(&[key; 32], originals.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn the_same_original_has_the_same_replacement_everywhere() {
        let mut made_up = made_up(1, &["Wanjiru", "Kamau"]);
        let (first, last) = (made_up.of(ValueKind::Name, "Wanjiru"), made_up.of(ValueKind::Name, "Kamau"));
        assert_eq!(made_up.of(ValueKind::Name, "Wanjiru Kamau"), format!("{first} {last}"));
        assert_ne!(first, "Wanjiru");
        assert_eq!(first.len(), 7);
        let another_key = super::MadeUp::new(&[2; 32], HashSet::new()).of(ValueKind::Name, "Wanjiru");
        assert_ne!(first, another_key);
    }

    #[test]
    fn replacements_have_the_shape_of_the_original() {
        let mut made_up = made_up(1, &[]);
        let id = made_up.of(ValueKind::Id("loan"), "LN-2026-00917");
        assert_eq!(contract::shape(&id.into()), "XX-9999-99999");
        assert!(Msisdn::parse(&made_up.of(ValueKind::Phone, "0712345678")).is_some());
        assert_eq!(contract::shape(&made_up.of(ValueKind::Phone, "12-34").into()), "99-99");
        let address = made_up.of(ValueKind::Email, "Wanjiru.K@bank.co.ke");
        assert!(address.ends_with("@example.com"), "{address}");
        assert_eq!(made_up.of(ValueKind::Email, "wanjiru.k@BANK.co.ke"), address, "it is one address");
        let uuid = "01a1ced3-80d0-7942-9380-aaa0158accb5";
        let id = made_up.of(ValueKind::Id("transaction"), uuid);
        assert!(is_uuid(&id) && id[14..15] == uuid[14..15] && id[19..20] == uuid[19..20], "{id}");
        let others = [0..8, 9..13, 15..18, 20..23, 24..36];
        assert!(others.into_iter().all(|part| id[part.clone()] != uuid[part]), "{id}");
        let long = made_up.of(ValueKind::Id("loan"), "LN-2026-0000000000000000000000000917");
        assert_eq!(contract::shape(&long.into()), "XX-9999-9999999999999999999999999999");
    }

    #[test]
    fn vowels_take_the_place_of_vowels() {
        let is_vowel = |c: char| "aeiouAEIOU".contains(c);
        let made = made_up(1, &[]).of(ValueKind::Name, "Wanjirué");
        let vowels: Vec<bool> = made.chars().map(is_vowel).collect();
        assert_eq!(vowels, [false, true, false, false, true, false, true, true], "{made}");
    }

    #[test]
    fn numbers_differ_between_originals_and_are_the_same_for_each() {
        let made_up = made_up(1, &[]);
        let numbers =
            || (0..50).map(|loan| made_up.number("the amounts", &loan.to_string(), 200)).collect::<Vec<_>>();
        assert_eq!(numbers(), numbers());
        assert!(numbers().iter().all(|number| *number <= 200));
        assert!(numbers().iter().collect::<HashSet<_>>().len() > 25, "{:?}", numbers());
    }

    #[test]
    fn ids_stay_different_and_none_is_an_original_however_few_there_could_be() {
        for (numbers, lengths) in [(0..5, 1..=1), (0..10, 2..=2), (10..60, 2..=3)] {
            let originals: Vec<String> = numbers.map(|n| n.to_string()).collect();
            let mut made_up = MadeUp::new(&[1; 32], originals.iter().cloned().collect());
            let made: HashSet<String> =
                originals.iter().map(|id| made_up.of(ValueKind::Id("loan"), id)).collect();
            assert_eq!(made.len(), originals.len());
            assert!(originals.iter().all(|id| !made.contains(id)));
            assert!(made.iter().all(|id| lengths.contains(&id.len())), "{made:?}");
        }
    }

    #[test]
    fn no_phone_is_one_of_mobile_moneys_magic_numbers() {
        let mut made_up = made_up(1, &[]);
        for number in 0..200 {
            let phone = made_up.of(ValueKind::Phone, &format!("0712345{number:03}"));
            assert!(!phone.starts_with("+25470"), "{phone}");
        }
    }
}
