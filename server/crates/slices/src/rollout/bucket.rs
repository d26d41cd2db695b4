//! The bucket of a browser: a number from 0 to 99 that it keeps in a cookie, sent to `/slices.json` only.

use axum::http::{HeaderMap, HeaderValue};
use semver::Version;
use sha2::{Digest, Sha256};

use base::{error::Failure, randomness::Randomness};
use web::accept;

/// The number of buckets: each is one percent.
const BUCKETS: u8 = 100;

/// The longest time that browsers keep a cookie, in seconds.
const MAX_AGE: u32 = 400 * 24 * 60 * 60;

/// The hundredth of all browsers that a browser belongs to. It identifies nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket(u8);

impl Bucket {
    pub fn find(headers: &HeaderMap, behind_tls: bool) -> Option<Self> {
        accept::cookies(headers, cookie_name(behind_tls))
            .next()?
            .parse()
            .ok()
            .filter(|bucket| *bucket < BUCKETS)
            .map(Self)
    }

    /// A random bucket, for a browser that has none.
    pub fn draw(randomness: &Randomness) -> Self {
        Self(u8::try_from(randomness.below(BUCKETS.into())).unwrap_or(0))
    }

    /// The cookie that keeps the bucket. The prefix `__Host-` would require `Path=/`.
    pub fn cookie(self, behind_tls: bool) -> Result<HeaderValue, Failure> {
        let secure = if behind_tls { " Secure;" } else { "" };
        let cookie = format!(
            "{}={}; Path=/slices.json;{secure} HttpOnly; SameSite=Strict; Max-Age={MAX_AGE}",
            cookie_name(behind_tls),
            self.0
        );
        HeaderValue::from_str(&cookie).map_err(Failure::internal)
    }

    /// Returns `true` if the bucket gets a build that is for `percent` of all browsers. It keeps the build
    /// while the percentage grows. Each build starts at another bucket, so that no browser is always first.
    pub fn gets(self, name: &str, version: &Version, percent: u8) -> bool {
        let digest = Sha256::digest(format!("{name} {version}"));
        let start = u16::from_be_bytes([digest[0], digest[1]]) % u16::from(BUCKETS);
        (u16::from(self.0) + start) % u16::from(BUCKETS) < u16::from(percent)
    }
}

fn cookie_name(behind_tls: bool) -> &'static str {
    if behind_tls { "__Secure-mkopo_bucket" } else { "mkopo_bucket" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_as_many_buckets_and_a_bucket_keeps_the_build_as_it_grows() {
        let version = Version::new(0, 9, 0);
        for percent in 0..=100 {
            let given = |percent| {
                (0..BUCKETS).filter(move |&n| Bucket(n).gets("mfe-loans", &Version::new(0, 9, 0), percent))
            };
            assert_eq!(given(percent).count(), usize::from(percent));
            assert!(given(percent).all(|n| Bucket(n).gets("mfe-loans", &version, (percent + 1).min(100))));
        }
    }
}
