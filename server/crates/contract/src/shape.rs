//! The shape of a value: its type and format, without its content.

use serde_json::{Map, Value, json};

/// The maximum number of list elements shown.
const MAX_ITEMS: usize = 2;
/// The maximum number of values shown in all.
const MAX_VALUES: usize = 200;
/// The maximum length of a text shown, in characters.
const MAX_CHARS: usize = 60;

/// Returns `value` with `X` for each upper-case letter, `x` for each other letter and `9` for each digit. So
/// the format of times and of words such as `APPROVED` stays recognisable.
pub fn shape(value: &Value) -> Value {
    shown(value, &mut { MAX_VALUES })
}

/// The shape of `value`, of which at most `left` values are shown.
fn shown(value: &Value, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => {
            let masked: String = number.to_string().chars().take(MAX_CHARS).map(masked).collect();
            serde_json::from_str(&masked).unwrap_or(json!(9))
        }
        Value::String(text) => json!(cut(text, masked)),
        Value::Array(items) => {
            items.iter().take(MAX_ITEMS.min(*left)).map(|item| shown(item, left)).collect()
        }
        Value::Object(fields) => {
            let mut shapes = Map::new();
            for (name, value) in fields.iter().take(*left) {
                if *left == 0 {
                    break;
                }
                shapes.insert(field_name(name), shown(value, left));
            }
            Value::Object(shapes)
        }
    }
}

/// The name of a field. One that is not a plain word may be data, such as a phone number, and has its shape shown.
pub fn field_name(name: &str) -> String {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte))
        && name.bytes().filter(u8::is_ascii_digit).count() <= 3;
    cut(name, if is_word { |c| c } else { masked })
}

/// The beginning of `text`, with each character replaced.
fn cut(text: &str, replaced: impl Fn(char) -> char) -> String {
    let beginning: String = text.chars().take(MAX_CHARS).map(replaced).collect();
    if text.chars().nth(MAX_CHARS).is_some() { beginning + "…" } else { beginning }
}

fn masked(c: char) -> char {
    match c {
        _ if c.is_uppercase() => 'X',
        _ if c.is_alphabetic() => 'x',
        _ if c.is_numeric() => '9',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_what_it_says_is_left() {
        let value = json!({
            "name": "Wanjirũ K.", "phone": "+254712345678", "amount": 25000, "rate": 12.5, "ok": true,
            "list": [1, 2, 3], "none": null,
        });
        assert_eq!(
            shape(&value),
            json!({
                "name": "Xxxxxxx X.", "phone": "+999999999999", "amount": 99999, "rate": 99.9, "ok": true,
                "list": [9, 9], "none": null,
            })
        );
    }
}
