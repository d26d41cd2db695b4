//! Fingerprints of values that must be recognised but must not be readable in a stolen database.
//!
//! A plain hash of six digits can be reversed with a million guesses. Fingerprints are keyed
//! (HMAC-SHA-256) with a key derived from the deployment's token secret, which is not in the database.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;

use base::email::Email;

/// The length of an account's fingerprint, in hexadecimal digits.
const ACCOUNT_LENGTH: usize = 16;

#[derive(Clone)]
pub struct Fingerprints(Hmac<Sha256>);

impl Fingerprints {
    /// Derives the key from `secret`. It differs from the key that signs tokens.
    pub fn new(secret: &SecretSlice<u8>) -> Self {
        let mut derivation = keyed(secret.expose_secret());
        derivation.update(b"mkopo fingerprints 1");
        Self(keyed(&derivation.finalize().into_bytes()))
    }

    /// The fingerprint of `parts`, in hexadecimal. Include the purpose among the parts, so that a
    /// fingerprint made for one purpose is never valid for another.
    pub fn of(&self, parts: &[&str]) -> String {
        hex::encode(self.mac(parts).finalize().into_bytes())
    }

    /// Returns the name in the audit trail of somebody who entered `email` without proving to be its user.
    pub fn of_account(&self, email: &Email) -> String {
        self.of(&["account in the audit trail", email.as_str()])[..ACCOUNT_LENGTH].to_owned()
    }

    /// Returns whether `stored` is the fingerprint of `parts`, compared in constant time.
    pub fn matches(&self, stored: &str, parts: &[&str]) -> bool {
        let bytes = hex::decode(stored).unwrap_or_default();
        self.mac(parts).verify_slice(&bytes).is_ok()
    }

    fn mac(&self, parts: &[&str]) -> Hmac<Sha256> {
        parts.iter().fold(self.0.clone(), |mac, part| {
            // The length prefix makes the encoding of each list of parts unique.
            mac.chain_update((part.len() as u64).to_be_bytes()).chain_update(part)
        })
    }
}

#[expect(clippy::expect_used, reason = "HMAC accepts keys of any length")]
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
