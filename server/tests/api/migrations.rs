//! Checks the migrations against each other and against the enums that they know the words of.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use lending::{loans::LoanStatus, payouts::PayoutStatus};
use store::query_as;

use crate::{contract::words_of, test_store};

/// The names of an engine's migrations, in order.
fn names(engine: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/store/migrations").join(engine);
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
            "crates/store/migrations/sqlite/{name} should have the number {number}. If two branches have added a migration \
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

/// Tables and their CHECK constraints, each beginning with its condition.
const SQLITE_CHECKS: &str = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL";
const POSTGRES_CHECKS: &str = "
    SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'c' AND connamespace = 'public'::regnamespace";

/// The words that a CHECK allows, by column: `loan.status`.
fn checked_words(tables: Vec<(String, String)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for (table, sql) in tables {
        for check in sql.split("CHECK (").skip(1) {
            // PostgreSQL has its own way of writing a list.
            let Some((column, list)) = check.split_once(" IN (").or(check.split_once(" = ANY (ARRAY["))
            else {
                continue;
            };
            let list = list.split([')', ']']).next().unwrap();
            let words: BTreeSet<String> = list.split('\'').skip(1).step_by(2).map(str::to_owned).collect();
            let column = column.trim_start_matches('(');
            if !words.is_empty() && column.chars().all(|c| c.is_alphanumeric() || c == '_') {
                found.insert(format!("{table}.{column}"), words);
            }
        }
    }
    found
}

#[tokio::test]
async fn the_database_allows_the_words_of_each_enum_that_it_checks() {
    let enums = [("loan.status", words_of::<LoanStatus>()), ("payout.status", words_of::<PayoutStatus>())];
    let words: BTreeMap<String, BTreeSet<String>> =
        enums.into_iter().map(|(column, words)| (column.to_owned(), words)).collect();
    let folder = tempfile::tempdir().unwrap();
    let database = test_store::open(folder.path()).await;
    let statement = if test_store::is_postgres() { POSTGRES_CHECKS } else { SQLITE_CHECKS };
    let tables = query_as(statement).fetch_all(&mut database.read().await.unwrap()).await.unwrap();
    assert_eq!(
        checked_words(tables),
        words,
        "left is what the database allows, right what the program writes. After a change to an enum, add a \
         migration for both engines that replaces the CHECK of the column: the released ones are never edited. \
         After a new CHECK of words, add its column and enum to this test."
    );
}
