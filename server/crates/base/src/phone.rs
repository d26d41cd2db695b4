//! Kenyan mobile numbers.

use serde::Serialize;

use crate::text::is_hidden;

/// A Kenyan mobile number as it is stored and sent: `+254` and nine digits starting with 7 or 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx_macros::Type)]
#[sqlx(transparent)]
pub struct Msisdn(String);

impl Msisdn {
    /// Parses `+2547…`, `2547…`, `07…` and `7…` (likewise with 1). Spaces and dashes of any kind are ignored, and
    /// characters that can't be seen: numbers are pasted from messages and web pages.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|&c| !is_ignored(c)).collect();
        let local = digits
            .strip_prefix("+254")
            .or_else(|| digits.strip_prefix("254"))
            .or_else(|| digits.strip_prefix('0'))
            .unwrap_or(&digits);
        let mobile = local.len() == 9
            && local.starts_with(['7', '1'])
            && local.bytes().all(|byte| byte.is_ascii_digit());
        mobile.then(|| Self(format!("+254{local}")))
    }

    /// The stored form: `+254712345678`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The local form: `0712345678`.
    pub fn local(&self) -> String {
        format!("0{}", &self.0[4..])
    }

    /// For logs: only the first and last two digits of the subscriber's number.
    pub fn masked(&self) -> String {
        format!("{}•••••{}", &self.0[..6], &self.0[self.0.len() - 2..])
    }
}

/// Returns whether a character between the digits of a number is ignored.
pub fn is_ignored(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || matches!(c, '-' | '\u{2010}'..='\u{2015}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_of_a_number_are_the_same_number() {
        for text in [
            "+254712345678",
            "254712345678",
            "0712345678",
            "712345678",
            "0712 345 678\u{202c}",
            "+254\u{a0}712\u{a0}345\u{a0}678",
            "+254\u{a0}712\u{2011}345-678",
            "\u{202a}+254712345678\u{202c}",
            "\u{200e}0712345678",
        ] {
            assert_eq!(Msisdn::parse(text).unwrap().as_str(), "+254712345678", "{text}");
        }
        assert_eq!(Msisdn::parse("0110000000").unwrap().as_str(), "+254110000000");
    }

    #[test]
    fn other_numbers_are_refused() {
        for text in ["", "0", "+255712345678", "0212345678", "07123456789", "071234567x", "٠٧١٢٣٤٥٦٧٨"]
        {
            assert_eq!(Msisdn::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_masked_number_does_not_identify_its_owner() {
        assert_eq!(Msisdn::parse("0712345678").unwrap().masked(), "+25471•••••78");
    }
}
