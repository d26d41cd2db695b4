//! Receipts: ten characters, of which the first three encode the date.

use base::{clock::UnixMillis, randomness::Randomness};

const ALPHABET: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A receipt for the current day in Nairobi, in M-Pesa's format: year from A = 2006, month from
/// A = January, day 1–9 and then A–V for 10–31, and seven random characters.
pub fn receipt(now: UnixMillis, randomness: &Randomness) -> String {
    let date = now.in_nairobi();
    let year = letter(u32::try_from(date.year() - 2006).unwrap_or(0));
    let month = letter(u32::from(date.month().unsigned_abs()) - 1);
    let day = char::from_digit(u32::from(date.day().unsigned_abs()), 36).unwrap_or('1').to_ascii_uppercase();
    let rest = (0..7).map(|_| char::from(ALPHABET[randomness.below(36) as usize]));
    [year, month, day].into_iter().chain(rest).collect()
}

fn letter(index: u32) -> char {
    char::from(ALPHABET[index as usize % 26])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date_part(moment: &str) -> String {
        let moment: jiff::Timestamp = moment.parse().unwrap();
        receipt(UnixMillis(moment.as_millisecond()), &Randomness::seeded(1))[..3].to_owned()
    }

    #[test]
    fn a_receipt_begins_with_its_date_in_nairobi() {
        assert_eq!(date_part("2026-11-14T09:00:00Z"), "UKE");
        assert_eq!(date_part("2026-01-01T09:00:00Z"), "UA1");
        assert_eq!(date_part("2006-12-31T09:00:00Z"), "ALV");
        assert_eq!(date_part("2026-11-14T21:30:00Z"), "UKF", "past midnight in Nairobi");
    }

    #[test]
    fn a_receipt_has_ten_characters() {
        let receipt = receipt(UnixMillis(0), &Randomness::seeded(2));
        assert_eq!(receipt.len(), 10);
        assert!(receipt.bytes().all(|byte| ALPHABET.contains(&byte)));
    }
}
