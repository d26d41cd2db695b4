//! The rules for new passwords: not too short, and none that an attacker tries first.
//!
//! `common_passwords.txt.gz` has the 10,000 most common passwords in lower case, without those that are too
//! short. They are the first entries of `passwords.json` in `@zxcvbn-ts/language-common` 4.1.3 (MIT, ©
//! 2012-2016 Dan Wheeler and Dropbox, Inc., © 2021 @zxcvbn-ts).

use std::{io::Read, sync::LazyLock};

use flate2::read::GzDecoder;
use secrecy::{ExposeSecret, SecretString};

use super::{AuthRefusal, password::MINIMUM_LENGTH};
use base::{email::Email, error::Failure};

static COMMON: LazyLock<Result<String, String>> = LazyLock::new(|| {
    let mut list = String::new();
    let compressed: &[u8] = include_bytes!("common_passwords.txt.gz");
    GzDecoder::new(compressed).read_to_string(&mut list).map_err(|error| error.to_string())?;
    Ok(list)
});

/// Succeeds if `password` can be set as the password of `email`. Too easy are common ones, the address or its part
/// before the @, and the name of the portal, in upper or lower case.
pub fn check(password: &SecretString, email: &Email, brand: &str) -> Result<(), Failure> {
    let password = password.expose_secret();
    if password.chars().count() < MINIMUM_LENGTH {
        return Err(AuthRefusal::PasswordTooShort.into());
    }
    let password = password.trim().to_lowercase();
    let email = email.as_str();
    let local_part = email.split_once('@').map_or(email, |(local_part, _)| local_part);
    let common = COMMON.as_ref().map_err(|error| Failure::Internal(error.clone()))?;
    let is_easy = [email, local_part, &brand.to_lowercase()].contains(&password.as_str())
        || common.lines().any(|one| one == password);
    if is_easy { Err(AuthRefusal::PasswordTooEasy.into()) } else { Ok(()) }
}
