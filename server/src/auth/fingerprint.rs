//! Fingerprints: what must be recognised but not be readable in a stolen database.
//!
//! A plain hash of six digits is undone by trying a million. These are keyed (HMAC-SHA-256) with
//! a key that comes of the deployment's token secret, which the database does not hold.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;

/// Makes fingerprints and compares them.
#[derive(Clone)]
pub struct Fingerprints(Hmac<Sha256>);

impl Fingerprints {
    /// Keyed by `secret`, from which the key is derived: tokens are signed with another.
    pub fn new(secret: &SecretSlice<u8>) -> Self {
        let mut derivation = keyed(secret.expose_secret());
        derivation.update(b"mkopo fingerprints 1");
        Self(keyed(&derivation.finalize().into_bytes()))
    }

    /// The fingerprint of `parts`, in hexadecimal. What a fingerprint is for belongs among them,
    /// so that one made for one thing never passes for another.
    pub fn of(&self, parts: &[&str]) -> String {
        hex::encode(self.over(parts).finalize().into_bytes())
    }

    /// Whether `kept` is the fingerprint of `parts`; takes as long whichever it is.
    pub fn matches(&self, kept: &str, parts: &[&str]) -> bool {
        let bytes = hex::decode(kept).unwrap_or_default();
        self.over(parts).verify_slice(&bytes).is_ok()
    }

    fn over(&self, parts: &[&str]) -> Hmac<Sha256> {
        parts.iter().fold(self.0.clone(), |mac, part| {
            // With the length before it, no two lists of parts are the same bytes.
            mac.chain_update((part.len() as u64).to_be_bytes()).chain_update(part)
        })
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of any length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprints(secret: &str) -> Fingerprints {
        Fingerprints::new(&secret.as_bytes().to_vec().into())
    }

    #[test]
    fn a_fingerprint_matches_what_it_was_made_of_and_nothing_else() {
        let ours = fingerprints("one secret of this deployment");
        let kept = ours.of(&["code", "481516"]);
        assert_eq!(kept.len(), 64);
        assert!(ours.matches(&kept, &["code", "481516"]));
        for other in [&["code", "481517"][..], &["code4", "81516"], &["code481516"]] {
            assert!(!ours.matches(&kept, other), "{other:?}");
        }
        for damaged in ["", "x", &kept[..62], "zz"] {
            assert!(!ours.matches(damaged, &["code", "481516"]), "{damaged}");
        }
    }

    #[test]
    fn another_deployment_makes_other_fingerprints() {
        let kept = fingerprints("one secret").of(&["code", "481516"]);
        assert!(!fingerprints("another secret").matches(&kept, &["code", "481516"]));
    }
}
