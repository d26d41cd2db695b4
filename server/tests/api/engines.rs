//! Checks that the schema is the same on `SQLite` and PostgreSQL, and that both accept every statement
//! of the program.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

use proc_macro2::{TokenStream, TokenTree};
use sqlx::{
    AssertSqlSafe, Connection as _, Executor, SqlSafeStr, SqliteConnection, sqlite::SqliteConnectOptions,
};
use store::{Connection, query_scalar};
use syn::{Attribute, ItemMacro, LitStr, Macro, visit::Visit};

use crate::{sources, test_app::TestApp, test_store};

/// The statements of a source.
#[derive(Default)]
struct Statements {
    found: Vec<String>,
    /// The statements that the source's own macros build with `concat!`, by the name of the macro.
    templates: HashMap<String, Vec<Template>>,
}

/// A statement in the definition of a macro.
type Template = Vec<Part>;

enum Part {
    Text(String),
    /// Stands for an argument of the macro.
    Name,
}

impl Statements {
    fn add(&mut self, text: String) {
        if is_statement(&text) {
            self.found.push(text);
        }
    }
}

impl Visit<'_> for Statements {
    /// Documentation is an attribute too.
    fn visit_attribute(&mut self, _: &Attribute) {}

    fn visit_lit_str(&mut self, literal: &LitStr) {
        self.add(literal.value());
    }

    fn visit_item_macro(&mut self, item: &ItemMacro) {
        match &item.ident {
            Some(name) => _ = self.templates.insert(name.to_string(), templates(item.mac.tokens.clone())),
            None => self.visit_macro(&item.mac),
        }
    }

    fn visit_macro(&mut self, call: &Macro) {
        let name = call.path.segments.last().unwrap().ident.to_string();
        let arguments = literals(call.tokens.clone());
        if name == "concat" {
            self.add(arguments.concat());
        } else if let Some(templates) = self.templates.get(&name) {
            for template in templates {
                for argument in &arguments {
                    let parts = template.iter().map(|part| match part {
                        Part::Text(text) => text.as_str(),
                        Part::Name => argument.as_str(),
                    });
                    self.found.push(parts.collect());
                }
            }
        } else {
            for argument in arguments {
                self.add(argument);
            }
        }
    }
}

fn is_statement(text: &str) -> bool {
    const BEGINNINGS: [&str; 5] = ["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH "];
    BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

fn literal(token: &TokenTree) -> Option<String> {
    syn::parse2::<LitStr>(token.clone().into()).ok().map(|literal| literal.value())
}

/// The string literals among `tokens`, at any depth.
fn literals(tokens: TokenStream) -> Vec<String> {
    let of = |token: TokenTree| match &token {
        TokenTree::Group(group) => literals(group.stream()),
        _ => literal(&token).into_iter().collect(),
    };
    tokens.into_iter().flat_map(of).collect()
}

/// The statements that the definition of a macro builds with `concat!`.
fn templates(definition: TokenStream) -> Vec<Template> {
    let mut found = Vec::new();
    let mut is_concat = false;
    for token in definition {
        match &token {
            TokenTree::Group(group) if is_concat => {
                let template: Template =
                    group.stream().into_iter().filter_map(|token| part(&token)).collect();
                if template.first().is_some_and(|part| matches!(part, Part::Text(text) if is_statement(text)))
                {
                    found.push(template);
                }
            }
            TokenTree::Group(group) => found.extend(templates(group.stream())),
            TokenTree::Ident(name) => is_concat = name == "concat",
            TokenTree::Punct(mark) => is_concat = is_concat && mark.as_char() == '!',
            TokenTree::Literal(_) => is_concat = false,
        }
    }
    found
}

/// A string literal or the name of a macro's argument; `None` for punctuation.
fn part(token: &TokenTree) -> Option<Part> {
    match token {
        TokenTree::Ident(_) => Some(Part::Name),
        _ => literal(token).map(Part::Text),
    }
}

/// All statements in the sources, except those of the crate `store`, which may be for one engine only.
fn statements() -> Vec<String> {
    let mut found = Vec::new();
    for source in sources::all() {
        if !source.path.starts_with("store") {
            let mut statements = Statements::default();
            statements.visit_file(&source.file);
            found.extend(statements.found);
        }
    }
    found
}

async fn prepare(connection: &mut Connection, statement: &str) -> Result<(), sqlx::Error> {
    let sql = AssertSqlSafe(statement.to_owned()).into_sql_str();
    match connection {
        Connection::Sqlite(on) => (&mut **on).prepare(sql).await.map(|_| ()),
        Connection::Postgres(on) => (&mut **on).prepare(sql).await.map(|_| ()),
    }
}

// S-4
#[tokio::test]
async fn every_statement_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let database = test_store::open(folder.path()).await;
    let mut reader = database.read().await.unwrap();
    let statements = statements();
    assert!(statements.len() > 170, "only {} found", statements.len());
    let mut refused = Vec::new();
    for statement in &statements {
        if let Err(error) = prepare(&mut reader, statement).await {
            refused.push(format!("{error}: {statement}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Reading a set again for each row takes time by the square of its size, and a planner may choose to when its
/// statistics say that the other table is small. They say so here: all tables are.
#[tokio::test]
async fn no_statement_reads_its_set_again_for_each_row_of_a_table() {
    let app = TestApp::start().await;
    // So that no table of a payout is empty, which would have no statistics.
    let agent = app.sign_in("agent").await;
    agent.disburse_with_key(&agent.pending().await[0], "k").await;
    let Some(file) = app.sandbox.settings.store.database_file().ok().filter(|file| file.exists()) else {
        return;
    };
    app.write("ANALYZE").await.unwrap();
    // A connection reads the statistics when it opens the file.
    let file = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection = SqliteConnection::connect_with(&file).await.unwrap();
    let (mut sets, mut read_again) = (0, Vec::new());
    let statements = statements();
    for statement in statements.iter().filter(|statement| statement.contains("json_each")) {
        sets += 1;
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(explain).fetch_all(&mut connection).await.unwrap();
        let is_loop = |step: &str| step.starts_with("SCAN") || step.starts_with("SEARCH");
        for (at, (_, parent, _, step)) in plan.iter().enumerate() {
            let mut outer = plan[..at].iter().filter(|step| step.1 == *parent && is_loop(&step.3));
            if step.contains("VIRTUAL TABLE") && outer.next().is_some() {
                read_again.push(statement);
            }
        }
    }
    assert!(sets > 15, "only {sets} found");
    assert!(
        read_again.is_empty(),
        "put `json_each` to the left of a CROSS JOIN, or into a WITH … AS MATERIALIZED: {read_again:#?}"
    );
}

#[test]
fn every_insert_names_its_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["crates", "src", "tests", "benches"];
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in folders.iter().flat_map(|folder| sources::rust_files_under(&root.join(folder))) {
        let text = std::fs::read_to_string(&file).unwrap();
        for (place, insert) in text.match_indices("INSERT INTO ") {
            let mut words = text[place + insert.len()..].split_whitespace();
            let (table, next) = (words.next().unwrap(), words.next().unwrap_or_default());
            checked += 1;
            if matches!(next, "SELECT" | "VALUES" | "DEFAULT" | "WITH") {
                let line = text[..place].lines().count();
                wrong.push(format!("{}:{line}: {table}", file.strip_prefix(root).unwrap().display()));
            }
        }
    }
    assert!(checked > 40, "only {checked} found");
    assert!(
        wrong.is_empty(),
        "name the columns, as in `INSERT INTO loan (loan_id, …)`: without them, the next column that a \
         migration adds breaks the statement, or moves its values: {wrong:#?}"
    );
}

/// Tables that concurrent writes need; a file has one writer at a time.
const ONLY_ON_POSTGRES: [&str; 1] = ["write_turn"];

/// The tables, indexes and fixed rows in the migrations of an engine, in a dialect common to both.
fn schema(engine: &str) -> BTreeSet<String> {
    const KINDS: [&str; 5] =
        ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ", "ALTER TABLE ", "DROP "];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/store/migrations").join(engine);
    let mut schema = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let code = text.lines().map(|line| line.split("--").next().unwrap()).collect::<Vec<_>>().join(" ");
        for statement in code.split(';') {
            let mut words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_relevant = KINDS.iter().any(|kind| words.starts_with(kind));
            if is_relevant {
                // Columns that SQLite has as 0 and 1.
                while let Some((before, after)) = words.split_once(" IN (0, 1))") {
                    let (before, column) = before.rsplit_once(" CHECK (").unwrap();
                    let (start, rest) = before.rsplit_once(&format!("{column} INTEGER")).unwrap();
                    let rest = rest.replace("DEFAULT 0", "DEFAULT false");
                    words = format!("{start}{column} BOOLEAN{rest}{after}");
                }
                for (sqlite, both) in [
                    (
                        "INTEGER PRIMARY KEY AUTOINCREMENT",
                        "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
                    ),
                    ("INTEGER", "BIGINT"),
                    ("BLOB", "BYTEA"),
                    (") STRICT, WITHOUT ROWID", ")"),
                    (") STRICT", ")"),
                    (" COLLATE \"C\"", ""),
                ] {
                    words = words.replace(sqlite, both);
                }
                if !ONLY_ON_POSTGRES.iter().any(|table| words.contains(table)) {
                    schema.insert(words);
                }
            }
        }
    }
    schema
}

#[test]
fn the_migrations_of_both_engines_are_equivalent() {
    let (sqlite, postgres) = (schema("sqlite"), schema("postgres"));
    assert!(sqlite.len() > 50, "only {} found", sqlite.len());
    let differing: Vec<&String> = sqlite.symmetric_difference(&postgres).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Foreign keys without an index that begins with their column and covers every row.
const SQLITE_UNINDEXED: &str = "
    SELECT t.name || '.' || k.\"from\" FROM sqlite_master AS t, pragma_foreign_key_list(t.name) AS k
    WHERE t.type = 'table' AND NOT EXISTS (
        SELECT 1 FROM pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c
        WHERE i.partial = 0 AND c.seqno = 0 AND c.name = k.\"from\")";

const POSTGRES_UNINDEXED: &str = "
    SELECT conrelid::regclass || '.' || attname FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE contype = 'f' AND NOT EXISTS (
        SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = conkey[1] AND indpred IS NULL)";

#[tokio::test]
async fn every_foreign_key_has_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let database = test_store::open(folder.path()).await;
    let statement = if test_store::is_postgres() { POSTGRES_UNINDEXED } else { SQLITE_UNINDEXED };
    let mut reader = database.read().await.unwrap();
    // Deleting a row searches the tables that refer to it: without an index, each as a whole.
    let unindexed: Vec<String> = query_scalar(statement).fetch_all(&mut reader).await.unwrap();
    assert_eq!(unindexed, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn strings_are_sorted_by_their_bytes_on_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let database = test_store::open(folder.path()).await;
    let otherwise: Vec<String> = query_scalar(
        "SELECT attrelid::regclass || '.' || attname FROM pg_index
         JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
         WHERE atttypid = 'text'::regtype AND attcollation <> (SELECT oid FROM pg_collation WHERE collname = 'C')
         AND indisunique AND attrelid::regclass::text NOT LIKE '%sqlx%'",
    )
    .fetch_all(&mut database.read().await.unwrap())
    .await
    .unwrap();
    assert_eq!(otherwise, Vec::<String>::new());
}
