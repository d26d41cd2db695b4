//! Checks the migrations of both engines against each other.

use std::path::Path;

/// The names of an engine's migrations, in order.
fn names(engine: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine);
    let files = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn migrations_are_numbered_without_gaps_and_alike_on_both_engines() {
    let (sqlite, postgres) = (names("sqlite"), names("postgres"));
    for (place, name) in sqlite.iter().enumerate() {
        let number = format!("{:04}_", place + 1);
        assert!(
            name.starts_with(&number),
            "migrations/sqlite/{name} should have the number {number}. If two branches have added a migration \
             each, give the one that is merged later the next free number, in both migrations/sqlite and \
             migrations/postgres. Never rename one that has been released."
        );
    }
    assert_eq!(
        sqlite, postgres,
        "every migration is in both migrations/sqlite and migrations/postgres, under the same name; one that \
         an engine does not need is a file with a comment that says why"
    );
}
