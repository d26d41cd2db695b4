//! Where a test's data is: in its data folder, or, with `MKOPO_TEST_POSTGRES`, in a PostgreSQL
//! database that belongs to the folder.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use mkopo::database::Database;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// The address of a PostgreSQL that is the tests' own, when they are to use one.
static POSTGRES: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MKOPO_TEST_POSTGRES").ok());

/// The databases that were made, by the folders that they belong to.
static MADE: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);

/// How many there were.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// An empty store with its tables, of which others are copies.
static TEMPLATE: LazyLock<String> = LazyLock::new(|| {
    let name = format!("template_{}", std::process::id());
    administer(&format!("CREATE DATABASE {name}"));
    let url = url_of(&name);
    run(async move || {
        let database = Database::open_at(&url.parse().unwrap()).await.unwrap();
        database.close().await;
    });
    name
});

/// Whether tests run on PostgreSQL.
pub fn is_postgres() -> bool {
    POSTGRES.is_some()
}

/// The options by which every command of `mkopo` finds the store of `folder`.
pub fn options(folder: &Path) -> Vec<String> {
    let mut options = vec!["--data-dir".to_owned(), folder.to_str().unwrap().to_owned()];
    if let Some(url) = url(folder) {
        options.extend(["--database-url".to_owned(), url]);
    }
    options
}

/// The address of the database of `folder`, made when it is not there; none on `SQLite`.
pub fn url(folder: &Path) -> Option<String> {
    is_postgres().then(|| url_of(&database_of(folder, None)))
}

/// Makes the store of `to`, an empty folder, a copy of that of `from`, which nobody has open.
pub fn copy(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).unwrap() {
        let from = file.unwrap().path();
        std::fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
    }
    if is_postgres() {
        database_of(to, Some(database_of(from, None)));
    }
}

fn database_of(folder: &Path, template: Option<String>) -> String {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    if let Some(name) = made.get(folder) {
        return name.clone();
    }
    // A test that is over takes its folder along; its database would stay.
    for (_, name) in made.extract_if(|folder, _| !folder.exists()) {
        administer(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    let template = template.unwrap_or_else(|| TEMPLATE.clone());
    administer(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
    made.insert(folder.to_owned(), name.clone());
    name
}

fn url_of(database: &str) -> String {
    let postgres = POSTGRES.as_ref().unwrap();
    format!("{}/{database}", postgres.rsplit_once('/').unwrap().0)
}

/// Runs one statement outside of all tests' databases.
pub fn administer(statement: &str) {
    let (url, statement) = (POSTGRES.clone().unwrap(), statement.to_owned());
    run(async move || {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let mut tries = 0;
        // Connections to a template that was just closed take a moment to end.
        while let Err(error) = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&mut connection).await
        {
            tries += 1;
            assert!(tries < 100, "{statement}: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        connection.close().await.unwrap();
    });
}

/// Runs `task` to its end, on a thread of its own: the caller's may be one that must not wait.
fn run(task: impl AsyncFnOnce() + Send + 'static) {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    thread::spawn(move || runtime().block_on(task())).join().unwrap();
}
