//! Source maps: they tell which place of the sources a position in a built file comes from. They are stored with a
//! build and never served.

use oxc_sourcemap::SourceMap;

use crate::waiting::{Dropped, Position};

/// Maximum size of the source maps of a build together, in bytes.
pub(super) const MAX_SIZE: usize = 8 * 1024 * 1024;

/// Maximum number of commas and semicolons in a map. Each ends one of the values that are read into memory; a map of
/// the largest size could have eight times as many.
const MAX_VALUES: usize = 1_000_000;

/// Maximum length of the path of a source, in bytes.
const MAX_PATH: usize = 200;

/// Returns whether the file at `path` is a source map, also as a compressed file.
pub fn is_source_map(path: &str) -> bool {
    let mut endings = path.rsplit('.');
    let last = match endings.next() {
        Some("br" | "gz") => endings.next(),
        last => last,
    };
    // Some file systems do not distinguish cases.
    last.is_some_and(|last| last.eq_ignore_ascii_case("map")) && path.contains('.')
}

/// The places of the sources that `positions` come from, such as `src/payout/DisburseDialog.tsx:42`; `None` for a
/// position that comes from no source.
pub(super) fn places(map: &[u8], positions: &[Position]) -> Result<Vec<Option<String>>, Dropped> {
    let values = map.iter().filter(|byte| matches!(byte, b',' | b';')).count();
    if map.len() > MAX_SIZE || values > MAX_VALUES {
        return Err(Dropped::MapTooLarge);
    }
    let map = str::from_utf8(map).map_err(|_| Dropped::MapUnreadable)?;
    let map = SourceMap::from_json_string(map).map_err(|_| Dropped::MapUnreadable)?;
    let lines = map.generate_lookup_table();
    let place = |position: &Position| {
        let (line, column) = (position.line.checked_sub(1)?, position.column.checked_sub(1)?);
        let token = map.lookup_token(&lines, line, column)?;
        let source = path_of(map.get_source(token.get_source_id()?)?)?;
        Some(format!("{source}:{}", token.get_src_line().saturating_add(1)))
    };
    Ok(positions.iter().map(place).collect())
}

/// The path of a source below its package. `webpack://mfe-loans/./src/Loans.tsx?1a2b` is `src/Loans.tsx`.
fn path_of(source: &str) -> Option<String> {
    let path = match source.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => source,
    };
    let path = path.split('?').next()?;
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let path = parts.collect::<Vec<_>>().join("/");
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ');
    (!path.is_empty() && path.len() <= MAX_PATH && is_plain).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, column: u32) -> Position {
        Position { file: "x.js".to_owned(), line, column }
    }

    /// A map whose first line has three positions: two of sources, and one of none.
    const MAP: &str = r#"{
        "version": 3,
        "sources": ["webpack://mfe-loans/./src/Loans.tsx", "webpack://mfe-loans/../node_modules/dayjs/index.js?1a2b"],
        "names": [],
        "mappings": "AAWA,KCXA,K"
    }"#;

    #[test]
    fn a_position_comes_from_the_source_that_its_nearest_mapping_before_names() {
        let positions = [(1, 1), (1, 5), (1, 6), (1, 11), (2, 1), (0, 0), (u32::MAX, u32::MAX)];
        let positions = positions.map(|(line, column)| position(line, column));
        let own = || Some("src/Loans.tsx:12".to_owned());
        let library = Some("node_modules/dayjs/index.js:1".to_owned());
        assert_eq!(
            places(MAP.as_bytes(), &positions),
            Ok(vec![own(), own(), library, None, None, None, None])
        );
    }

    #[test]
    fn the_path_of_a_source_is_below_its_package() {
        for (source, path) in [
            (
                "webpack://mfe-loans/./src/payout/DisburseDialog.tsx?389b",
                Some("src/payout/DisburseDialog.tsx"),
            ),
            ("webpack://mfe-loans/../node_modules/react/index.js", Some("node_modules/react/index.js")),
            ("../../src/Loans.tsx", Some("src/Loans.tsx")),
            ("/home/wanjiru/src/Loans.tsx", Some("home/wanjiru/src/Loans.tsx")),
            ("webpack://mfe-loans", None),
            ("src/\u{202e}xst.tsx", None),
            ("src/a\nb.tsx", None),
            ("", None),
        ] {
            assert_eq!(path_of(source).as_deref(), path, "{source:?}");
        }
        assert_eq!(path_of(&"x".repeat(201)), None);
    }

    #[test]
    fn a_map_that_is_damaged_or_absurd_is_refused_whatever_is_in_it() {
        let with = |mappings: &str| {
            format!(r#"{{"version": 3, "sources": ["a.ts"], "names": [], "mappings": "{mappings}"}}"#)
        };
        for (map, reason) in [
            (String::new(), Dropped::MapUnreadable),
            ("<!doctype html>".to_owned(), Dropped::MapUnreadable),
            ("[".repeat(100_000), Dropped::MapUnreadable),
            (
                r#"{"version": 2, "sources": [], "names": [], "mappings": ""}"#.to_owned(),
                Dropped::MapUnreadable,
            ),
            (with("AAAAAA"), Dropped::MapUnreadable),
            (with("AA"), Dropped::MapUnreadable),
            (with("AZAA"), Dropped::MapUnreadable),
            (with("!"), Dropped::MapUnreadable),
            (with(&"+".repeat(1_000)), Dropped::MapUnreadable),
            (with(&"A,".repeat(MAX_VALUES)), Dropped::MapTooLarge),
            (with(&"A".repeat(MAX_SIZE)), Dropped::MapTooLarge),
        ] {
            let start: String = map.chars().take(90).collect();
            assert_eq!(places(map.as_bytes(), &[position(1, 1)]), Err(reason), "{start}");
        }
        assert_eq!(places(&[0xff, 0xfe], &[]), Err(Dropped::MapUnreadable));
    }

    #[test]
    fn source_maps_are_known_by_the_end_of_their_name() {
        for (path, expected) in [
            ("loans.11633aa2a4.js.map", true),
            ("assets/a.css.MAP", true),
            ("a.js.map.br", true),
            ("a.js.map.gz", true),
            ("world.map.js", false),
            ("map", false),
            ("a.bitmap", false),
        ] {
            assert_eq!(is_source_map(path), expected, "{path}");
        }
    }
}
