//! Masks passwords, codes, tokens and phone numbers anywhere in a call.
//!
//! Secret fields of the contract are always masked. Fields, parameters and headers that are not in the
//! contract are not shown at all. All others may contain a secret that was typed by mistake: there, codes
//! that were sent, values of secret fields in any kept call, and text that looks like a token are masked.

use std::{cell::Cell, collections::HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    Snapshot,
    fields::{PARAMETERS, SECRET_FIELDS, SHOWN_FIELDS},
};
use base::{
    email::Email,
    error::Failure,
    phone::{Msisdn, is_ignored},
};
use lending::demo;

/// The text that replaces a secret.
pub const MASK: &str = "•••";

/// Parts of the names of fields whose values are secret, in the contract or not.
const SECRET_NAMES: [&str; 4] = ["password", "otp", "token", "secret"];

/// Lengths of secrets that are masked in other fields, in bytes: shorter text is often an ordinary word, and
/// longer text is neither a password nor a code.
const LENGTHS: std::ops::RangeInclusive<usize> = 6..=128;

/// Maximum number of secrets that are masked in other fields; those of the latest calls are used.
const MAX_KNOWN: usize = 2000;

/// Minimum length of a word that looks like a token. A UUID is shorter.
const TOKEN_LENGTH: usize = 40;

/// Maximum number of digits of a phone number, as it is typed.
const LONGEST_PHONE: usize = 12;

/// Maximum number of values of bodies that one read shows. In memory a value takes many times its size in a body.
const MAX_VALUES: usize = 100_000;

/// The known secrets, at one moment, for one read of what is kept.
#[derive(Debug)]
pub struct Secrets {
    search: AhoCorasick,
    /// The number of values that may still be shown.
    values_left: Cell<usize>,
}

impl Secrets {
    /// The secrets in `snapshot`, and `tokens`, which open consoles.
    pub fn of(snapshot: &Snapshot, tokens: &[&str]) -> Result<Self, Failure> {
        let mut known = HashSet::from([demo::PASSWORD.to_owned()]);
        known.extend(tokens.iter().map(|&token| token.to_owned()));
        known.extend(snapshot.codes.iter().map(|code| (**code).to_owned()));
        for entry in &snapshot.entries {
            for body in [&entry.request_body, &entry.response_body] {
                if let Some(body) = body.json()
                    && known.len() < MAX_KNOWN
                {
                    collect(&body, false, &mut known);
                }
            }
        }
        // A wrong password can be any word, and those of the contract are in nearly every call.
        known.retain(|secret| !contract::words().contains(secret));
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(known);
        let search = search.map_err(Failure::internal)?;
        Ok(Self { search, values_left: Cell::new(MAX_VALUES) })
    }

    /// Returns whether so many more values may be shown, and counts them.
    pub fn has_room_for(&self, values: usize) -> bool {
        let left = self.values_left.get().checked_sub(values);
        self.values_left.set(left.unwrap_or(self.values_left.get()));
        left.is_some()
    }

    /// `text` with secrets and phone numbers masked.
    pub fn masked(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        self.search.replace_all_with(text, &mut shown, |found, secret, shown| {
            let is_digits = secret.bytes().all(|byte| byte.is_ascii_digit());
            let is_inside = is_digits && is_part_of_word(text, found.range());
            shown.push_str(if is_inside { secret } else { MASK });
            true
        });
        with_masked_phones(&with_masked_tokens(&shown))
    }

    fn is_masked(&self, text: &str) -> bool {
        self.masked(text) != text
    }

    pub fn masked_path(&self, path: &str) -> String {
        // Some clients encode a space in a path as `+`, as in forms.
        let path_of_form = path.replace('+', " ");
        let decoded = percent_decode_str(&path_of_form).decode_utf8_lossy();
        if self.is_masked(&decoded) { self.masked(&decoded) } else { path.to_owned() }
    }

    /// The parameters of a request, decoded. Of those that are not in the contract, only the number is shown.
    pub fn masked_query(&self, query: &str) -> Vec<(String, String)> {
        let shown = |(name, value): (String, String)| {
            if PARAMETERS.contains(&name.as_str()) {
                return (name, self.masked(&value));
            }
            match self.field(&name, json!(value)) {
                Some(Value::String(value)) => (name, value),
                _ => (MASK.to_owned(), MASK.to_owned()),
            }
        };
        form_urlencoded::parse(query.as_bytes()).into_owned().map(shown).collect()
    }

    /// The fields of a body that are in the contract, masked.
    pub fn masked_body(&self, value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.masked_body(item)).collect(),
            Value::Object(fields) => {
                let count = fields.len();
                let mut shown: serde_json::Map<String, Value> = fields
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.clone(), self.field(&name, value)?)))
                    .collect();
                if shown.len() < count {
                    shown.insert("…".to_owned(), json!(format!("{} not shown", count - shown.len())));
                }
                Value::Object(shown)
            }
            // A value without a field name may be anything.
            _ => json!(MASK),
        }
    }

    /// The value of a field as it is shown; `None` for a field that is not in the contract.
    fn field(&self, name: &str, value: Value) -> Option<Value> {
        if SECRET_FIELDS.contains(&name) {
            return Some(json!(MASK));
        }
        SHOWN_FIELDS.binary_search(&name).ok()?;
        Some(match value {
            Value::String(text) if has_form_of(name, &text) => Value::String(self.masked(&text)),
            Value::String(_) => json!(MASK),
            Value::Number(number) if name.contains("phone") || self.is_masked(&number.to_string()) => {
                json!(MASK)
            }
            Value::Array(_) | Value::Object(_) => self.masked_body(value),
            plain => plain,
        })
    }
}

/// Adds the values of secret fields in `value` to `known`; all values, if it `is_secret` itself.
fn collect(value: &Value, is_secret: bool, known: &mut HashSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_secret, known)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.to_lowercase();
                let is_secret = is_secret || SECRET_NAMES.iter().any(|part| name.contains(part));
                collect(value, is_secret, known);
            }
        }
        Value::String(text) if is_secret => add(text.trim(), known),
        Value::Number(number) if is_secret => add(&number.to_string(), known),
        _ => {}
    }
}

fn add(secret: &str, known: &mut HashSet<String>) {
    if LENGTHS.contains(&secret.len()) && known.len() < MAX_KNOWN {
        known.insert(secret.to_owned());
    }
}

/// Returns `true` if `text` has the form of the field `name`. Anything else in a field for an e-mail address
/// or a phone number may be a password.
fn has_form_of(name: &str, text: &str) -> bool {
    match name {
        _ if name.ends_with("email") => Email::parse(text).is_some(),
        _ if name.contains("phone") => text.is_empty() || Msisdn::parse(text).is_some(),
        _ => true,
    }
}

/// Returns `true` if letters or digits are next to `range` in `text`.
fn is_part_of_word(text: &str, range: std::ops::Range<usize>) -> bool {
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    [before, after].into_iter().flatten().any(char::is_alphanumeric)
}

fn with_masked_tokens(text: &str) -> String {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut masked = String::with_capacity(text.len());
    for part in text.split_inclusive(|c| !is_of_token(c)) {
        let word = part.trim_end_matches(|c| !is_of_token(c));
        masked.push_str(if word.len() < TOKEN_LENGTH { word } else { MASK });
        masked.push_str(&part[word.len()..]);
    }
    masked
}

fn with_masked_phones(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(before) = text[at..].find(|c: char| c == '+' || c.is_ascii_digit()) {
        let start = at + before;
        masked.push_str(&text[at..start]);
        if let Some((phone, end)) = phone_at(text, start) {
            masked.push_str(&phone.masked());
            at = end;
        } else {
            let rest = &text[start + 1..];
            at = text.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            masked.push_str(&text[start..at]);
        }
    }
    masked.push_str(&text[at..]);
    masked
}

/// The phone number at `start`, and its end. Digits in groups may also be parts of an id: they are a number only if
/// they are no part of a word.
fn phone_at(text: &str, start: usize) -> Option<(Msisdn, usize)> {
    let of_number = |&(at, c): &(usize, char)| at == 0 || c.is_ascii_digit() || is_ignored(c);
    let digits = text[start..].char_indices().take_while(of_number).filter(|(_, c)| c.is_ascii_digit());
    let ends = digits.take(LONGEST_PHONE).map(|(at, _)| start + at + 1);
    let mut ends = ends.filter(|&end| !text[end..].starts_with(|c: char| c.is_ascii_digit()));
    ends.find_map(|end| {
        let phone = Msisdn::parse(&text[start..end])?;
        let is_one_group = !text[start..end].contains(is_ignored);
        (is_one_group || !is_part_of_word(text, start..end)).then_some((phone, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::call;

    fn secrets(codes: &[&str]) -> Secrets {
        let codes = codes.iter().map(|&code| code.into()).collect();
        let snapshot = Snapshot { entries: Vec::new(), codes, beginning: None };
        Secrets::of(&snapshot, &["console-token-of-a-test"]).unwrap()
    }

    fn shown(body: &str) -> Value {
        secrets(&[]).masked_body(serde_json::from_str(body).unwrap())
    }

    #[test]
    fn complete_phone_numbers_are_masked_anywhere_in_a_text() {
        let text = "sent to 0712345678 and +254712345678, not 25000 or 28461937";
        assert_eq!(
            with_masked_phones(text),
            "sent to +25471•••••78 and +25471•••••78, not 25000 or 28461937"
        );
        for (text, shown) in [
            ("1 0722 111 333, 0722\u{a0}111\u{2011}333", "1 +25472•••••33, +25472•••••33"),
            ("0712345678 +254-753-104376 7 5 3 1 0 4 3 7 6", "+25471•••••78 +25475•••••76 +25475•••••76"),
            ("x0712345678y", "x+25471•••••78y"),
            ("01a1ced3-80d0-7942-9380-1aa0158accb5", "01a1ced3-80d0-7942-9380-1aa0158accb5"),
            ("2026-11-14 09:00, 07123456789 0", "2026-11-14 09:00, 07123456789 0"),
            ("+ 7", "+ 7"),
        ] {
            assert_eq!(with_masked_phones(text), shown);
        }
    }

    #[test]
    fn what_is_no_phone_number_is_not_shown_where_one_belongs() {
        assert_eq!(
            shown(r#"{"phone_number":"0722 111 333","phone":"(0722) 111.333","customer_phone_number":""}"#),
            json!({"phone_number": "+25472•••••33", "phone": "•••", "customer_phone_number": ""})
        );
    }

    #[test]
    fn secrets_are_masked_at_any_depth() {
        assert_eq!(
            shown(r#"{"user":{"token":"abc","otp":481516},"pass\u0077ord":["x"],"name":"Juma"}"#),
            json!({"user": {"token": "•••", "otp": "•••"}, "password": "•••", "name": "Juma"})
        );
    }

    #[test]
    fn what_is_not_a_field_of_the_contract_is_not_shown() {
        assert_eq!(
            shown(r#"{"Password":"x","email":"a@b.c"}"#),
            json!({"email": "a@b.c", "…": "1 not shown"})
        );
        assert_eq!(shown(r#"["a@b.c","secret",481516]"#), json!(["•••", "•••", "•••"]));
        assert_eq!(
            shown(r#"{"phone_number":254712345678,"phone":4479460000,"amount":500}"#),
            json!({"phone_number": "•••", "phone": "•••", "amount": 500})
        );
    }

    #[test]
    fn what_is_no_address_or_number_is_masked_where_one_belongs() {
        assert_eq!(
            shown(r#"{"email":"Kahawa-2026","phone_number":"Kahawa-2026","notes":"Kahawa-2026"}"#),
            json!({"email": "•••", "phone_number": "•••", "notes": "Kahawa-2026"})
        );
    }

    #[test]
    fn a_sent_code_is_masked_in_any_text_but_not_inside_of_words() {
        let secrets = secrets(&["481516"]);
        assert_eq!(
            secrets.masked("481516 a481516 1481516 481516a 4815161 \"481516\" code=481516."),
            "••• a481516 1481516 481516a 4815161 \"•••\" code=•••."
        );
        assert_eq!(
            secrets.masked_body(json!({"amount": 481_516, "term": 12})),
            json!({"amount": "•••", "term": 12})
        );
    }

    #[test]
    fn a_secret_in_an_answer_is_masked_in_other_calls() {
        let entry = call(r#"{"user":{"token":"a-short-one"}}"#);
        let snapshot = Snapshot { entries: vec![entry.into()], codes: Vec::new(), beginning: None };
        let secrets = Secrets::of(&snapshot, &["console-token-of-a-test"]).unwrap();
        assert_eq!(secrets.masked("with a-short-one"), "with •••");
    }

    #[test]
    fn a_password_that_is_a_word_of_the_contract_hides_nothing() {
        let wrong = r#"{"password":["password","/api/v1","COMPLETED","invalid_password","Kahawa-2026"]}"#;
        let snapshot = Snapshot { entries: vec![call(wrong).into()], codes: Vec::new(), beginning: None };
        let secrets = Secrets::of(&snapshot, &[]).unwrap();
        let text = "/api/v1/auth/request-password-reset invalid_password COMPLETED";
        assert_eq!(secrets.masked(&format!("{text} Kahawa-2026")), format!("{text} •••"));
    }

    #[test]
    fn what_looks_like_a_token_is_masked_and_ids_are_not() {
        let id = "01a1ced3-80d0-7942-9380-aaa0158accb5";
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
        let secrets = secrets(&[]);
        assert_eq!(secrets.masked(&format!("{id} ({token}), {id}")), format!("{id} (•••), {id}"));
        assert_eq!(secrets.masked("the console-token-of-a-test"), "the •••");
        assert_eq!(secrets.masked("beforeconsole-token-of-a-testafter"), "before•••after");
    }

    #[test]
    fn a_word_is_a_token_from_40_bytes_on() {
        let secrets = secrets(&[]);
        let (word, token) =
            ("a-word_of.39".repeat(4)[..39].to_owned(), "a-word_of.40".repeat(4)[..40].to_owned());
        assert_eq!(secrets.masked(&format!("{word} {token}, {word}")), format!("{word} •••, {word}"));
    }

    #[test]
    fn only_the_values_of_secret_fields_are_known_as_secrets() {
        let mut known = HashSet::new();
        let body = json!({
            "amount": 250_000,
            "name": "ordinary",
            "user": {"Token": " a-token ", "pins": {"otp": [481_516, 48, true], "secret": {"is": "in here"}}},
            "new_password": ["12345", "123456", "x".repeat(128), "x".repeat(129)],
        });
        collect(&body, false, &mut known);
        let expected = ["a-token", "481516", "in here", "123456", &"x".repeat(128)].map(str::to_owned);
        assert_eq!(known, HashSet::from(expected));
    }

    #[test]
    fn paths_and_parameters_are_decoded_where_they_have_a_secret() {
        let secrets = secrets(&["481516"]);
        for (path, shown) in [
            ("/api/v1/auth/a%20b+c", "/api/v1/auth/a%20b+c"),
            ("/api/v1/auth/%34%38%31516", "/api/v1/auth/•••"),
            ("/api/v1/auth/481516+x", "/api/v1/auth/••• x"),
        ] {
            assert_eq!(secrets.masked_path(path), shown);
        }
        let query = "cursor=a+b&limit=481516&email=a%40b.c&email=x&otp=1&colour=blue&amount=5";
        let shown = secrets.masked_query(query);
        let shown: Vec<_> = shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("cursor", "a b"),
                ("limit", MASK),
                ("email", "a@b.c"),
                ("email", MASK),
                ("otp", MASK),
                (MASK, MASK),
                ("amount", "5"),
            ]
        );
    }

    #[test]
    fn a_phone_number_is_shown_in_part_in_its_field() {
        assert_eq!(
            shown(r#"{"phone_number":"0712345678","paid":true,"is_read":true}"#),
            json!({"phone_number": "+25471•••••78", "is_read": true, "…": "1 not shown"})
        );
    }

    #[test]
    fn the_number_of_known_secrets_is_bounded() {
        let many: Vec<String> = (0..3 * MAX_KNOWN).map(|number| format!("password {number}")).collect();
        let mut known = HashSet::new();
        collect(&json!({"password": many, "otp": ["short", "x".repeat(200)]}), false, &mut known);
        assert_eq!(known.len(), MAX_KNOWN);
    }
}
