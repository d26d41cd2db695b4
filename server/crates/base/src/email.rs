//! E-mail addresses that staff sign in with.

use serde::{Deserialize, Deserializer, Serialize, de};

/// An e-mail address as it is stored: in lower case, without surrounding spaces, its domain as it is looked up (IDNA).
/// Only the format is checked, not whether the address exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx_macros::Type)]
#[sqlx(transparent)]
pub struct Email(String);

const MAX_CHARS: usize = 254;
/// Maximum length of an address as it is given, in bytes: a character has at most four.
const MAX_BYTES: usize = 4 * MAX_CHARS;

impl Email {
    /// Parses `text`, ignoring case and surrounding spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Checked before IDNA, whose work grows with the square of the domain's length.
        if text.len() > MAX_BYTES {
            return None;
        }
        let lower = text.to_lowercase();
        let (user, domain) = lower.split_once('@')?;
        let domain = idna::domain_to_ascii(domain).ok()?;
        let is_valid = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
        };
        let email = format!("{user}@{domain}");
        (email.chars().count() <= MAX_CHARS && is_valid(user) && is_valid(&domain)).then_some(Self(email))
    }

    /// Returns whether messages can be sent to it everywhere: few mail servers take a name outside ASCII, or a network
    /// address (`[127.0.0.1]`) in place of a domain.
    pub fn is_deliverable(&self) -> bool {
        self.0.is_ascii() && !self.0.ends_with(']')
    }

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

/// An address, or a part of one, from a query, where a `+` that was not escaped arrives as a blank.
pub fn of_query(text: String) -> String {
    if text.contains('@') { text.trim().replace(' ', "+") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_surrounding_spaces_are_ignored() {
        assert_eq!(Email::parse("  Agent@Mkopo.TEST ").unwrap().as_str(), "agent@mkopo.test");
    }

    #[test]
    fn a_domain_has_one_form() {
        for text in ["grace@bücher.example", "grace@BU\u{308}CHER.example", "grace@xn--bcher-kva.example"] {
            assert_eq!(Email::parse(text).unwrap().as_str(), "grace@xn--bcher-kva.example", "{text}");
        }
    }

    #[test]
    fn messages_can_be_sent_to_a_name_in_ascii_at_a_domain() {
        for (text, is_deliverable) in [
            ("grace@bücher.example", true),
            ("wanjikũ@mkopo.test", false),
            ("grace@[127.0.0.1]", false),
            ("grace@[IPv6:::1]", false),
        ] {
            assert_eq!(Email::parse(text).unwrap().is_deliverable(), is_deliverable, "{text}");
        }
    }

    #[test]
    fn a_plus_that_a_query_did_not_escape_is_one() {
        assert_eq!(of_query("grace ci@mkopo.test".to_owned()), "grace+ci@mkopo.test");
        assert_eq!(of_query("Grace Wanjiku".to_owned()), "Grace Wanjiku");
    }

    #[test]
    fn an_address_of_254_characters_is_valid_in_any_script_and_a_text_that_is_longer_is_never_parsed() {
        for name in ["a", "ũ", "ệ", "𞤀"] {
            let longest = format!("{}@mkopo.test", name.repeat(MAX_CHARS - "@mkopo.test".len()));
            assert!(Email::parse(&longest).is_some(), "{longest}");
            assert!(Email::parse(&format!("{:1$}{longest}", "", MAX_BYTES)).is_some(), "spaces do not count");
            assert_eq!(Email::parse(&format!("{name}{longest}")), None, "{longest}");
        }
        // IDNA writes 18 letters for it.
        for times in [1, MAX_BYTES / 3 - 1, 20_000] {
            assert_eq!(Email::parse(&format!("a@{}", "\u{fdfa}".repeat(times))), None, "{times}");
        }
    }

    #[test]
    fn invalid_addresses_are_refused() {
        let long = format!("{}@mkopo.test", "a".repeat(250));
        for text in ["", "agent", "@", "agent@", "@mkopo.test", "a b@c", "a@b@c", "a\0@b", "a@b\n.c", &long] {
            assert_eq!(Email::parse(text), None, "{text:?}");
        }
    }
}
