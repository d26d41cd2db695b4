//! E-mail addresses that staff sign in with.

use serde::{Deserialize, Deserializer, Serialize, de};

/// An e-mail address as it is stored: in lower case, without surrounding spaces. Only the format is
/// checked, not whether the address exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx_macros::Type)]
#[sqlx(transparent)]
pub struct Email(String);

impl Email {
    /// Parses `text`, ignoring case and surrounding spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let email = text.trim().to_lowercase();
        let (user, domain) = email.split_once('@')?;
        let is_valid = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
        };
        (email.chars().count() <= 254 && is_valid(user) && is_valid(domain)).then_some(Self(email))
    }

    /// The stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Email {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("email: not an e-mail address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_surrounding_spaces_are_ignored() {
        assert_eq!(Email::parse("  Agent@Mkopo.TEST ").unwrap().as_str(), "agent@mkopo.test");
    }

    #[test]
    fn invalid_addresses_are_refused() {
        let long = format!("{}@mkopo.test", "a".repeat(250));
        for text in ["", "agent", "@", "agent@", "@mkopo.test", "a b@c", "a@b@c", "a\0@b", "a@b\n.c", &long] {
            assert_eq!(Email::parse(text), None, "{text:?}");
        }
    }
}
