//! Texts that people read: names and labels without characters that hide or turn round what is shown.

/// Returns whether a text has only characters that can be seen, in the order in which they stand: no control
/// characters, no direction marks (Unicode TR 9), and nothing that can't be seen. A joiner may stand between letters of
/// scripts that need it.
pub fn is_plain(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    chars.iter().enumerate().all(|(at, &c)| match c {
        '\u{200c}' | '\u{200d}' => {
            let is_joined = |c: Option<&char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(*c));
            is_joined(at.checked_sub(1).and_then(|before| chars.get(before))) && is_joined(chars.get(at + 1))
        }
        c => !is_hidden(c),
    })
}

/// The beginning of a text of somebody else, for a message: without hidden characters, and at most `longest` characters
/// long.
pub fn shown(text: &str, longest: usize) -> String {
    text.chars().filter(|&c| !is_hidden(c)).take(longest).collect()
}

/// Returns whether a character can't be seen, or changes the direction of what follows.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_scripts_are_plain_and_hidden_characters_are_not() {
        for name in
            ["Wanjirũ", "Ng’ang’a", "Müller-Lüdenscheidt", "李小龍", "محمد", "می\u{200c}خواهم", "क्\u{200d}ष"]
        {
            assert!(is_plain(name), "{name:?}");
        }
        for name in [
            "a\u{202e}b",
            "a\u{200e}",
            "a\nb",
            "a\u{200b}b",
            "a\u{200d}b",
            "\u{200d}म",
            "\u{feff}a",
            "a\u{2066}b",
            "a\u{7f}",
        ] {
            assert!(!is_plain(name), "{name:?}");
            assert!(is_plain(&shown(name, 10)), "{name:?}");
        }
        assert_eq!(shown("Wanjiru\u{202e} Maina", 9), "Wanjiru M");
    }
}
