//! E-mail addresses, as staff sign in by them.

use serde::{Deserialize, Deserializer, Serialize, de};

/// An e-mail address as it is stored: lower case, without blanks around it. Whether anyone reads
/// mail there only a message tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[sqlx(transparent)]
pub struct Email(String);

impl Email {
    /// Reads `text`; people type their address as they like.
    pub fn parse(text: &str) -> Option<Self> {
        let email = text.trim().to_lowercase();
        let (user, domain) = email.split_once('@')?;
        let plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
        };
        (email.chars().count() <= 254 && plain(user) && plain(domain)).then_some(Self(email))
    }

    /// As stored.
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
    fn an_address_is_the_same_however_it_is_typed() {
        assert_eq!(Email::parse("  Agent@Mkopo.TEST ").unwrap().as_str(), "agent@mkopo.test");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@mkopo.test", "a".repeat(250));
        for text in ["", "agent", "@", "agent@", "@mkopo.test", "a b@c", "a@b@c", "a\0@b", "a@b\n.c", &long] {
            assert_eq!(Email::parse(text), None, "{text:?}");
        }
    }
}
