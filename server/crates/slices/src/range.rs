//! Version ranges in npm's syntax.

use semver::{Version, VersionReq};

/// Maximum length of a range, in bytes. It is listed for every page.
const MAX_LENGTH: usize = 200;

/// A version range: a list of alternatives.
#[derive(Clone, Debug)]
pub struct Range(Vec<VersionReq>);

impl Range {
    /// Parses `^0.1.0`, `>=1.2 <3`, `1.x || ^2.0.0`; hyphenated ranges are not supported.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let alternatives = text.split("||").map(|alternative| {
            let comparators: Vec<String> = alternative.split_whitespace().map(comparator).collect();
            VersionReq::parse(&comparators.join(", ")).ok()
        });
        alternatives.collect::<Option<Vec<_>>>().map(Self)
    }

    /// Returns `true` if `version` is in the range.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().any(|alternative| alternative.matches(version))
    }
}

/// In npm, a bare version means exactly that version; in `semver`, any compatible one.
fn comparator(text: &str) -> String {
    let is_bare = text.starts_with(|first: char| first.is_ascii_digit());
    let has_gap = text.contains(['x', 'X', '*']);
    if is_bare && !has_gap { format!("={text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_mean_what_npm_means_by_them() {
        for (range, inside, outside) in [
            ("^0.1.0", "0.1.9", "0.2.0"),
            ("^1.2.0", "1.9.0", "2.0.0"),
            ("~1.2.3", "1.2.9", "1.3.0"),
            ("1.2.3", "1.2.3", "1.2.4"),
            ("1.2", "1.2.7", "1.3.0"),
            ("1.x", "1.9.9", "2.0.0"),
            (">=0.1.0 <0.3.0", "0.2.9", "0.3.0"),
            ("^0.1.0 || ^0.2.0", "0.2.4", "0.3.0"),
        ] {
            let parsed = Range::parse(range).unwrap();
            assert!(parsed.matches(&inside.parse().unwrap()), "{inside} in {range}");
            assert!(!parsed.matches(&outside.parse().unwrap()), "{outside} in {range}");
        }
        assert!(Range::parse("*").unwrap().matches(&"7.0.0".parse().unwrap()));
        for wrong in ["", "workspace:*", "1.0.0 - 2.0.0", "latest", "^0.1.0 ||"] {
            assert!(Range::parse(wrong).is_none(), "{wrong}");
        }
    }
}
