//! The database of a test: a file in its data folder, or, with `MKOPO_TEST_POSTGRES`, a PostgreSQL
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

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use store::Database;

/// The URL of the PostgreSQL cluster for tests, if they use one.
static POSTGRES: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MKOPO_TEST_POSTGRES").ok());

/// The created databases, by folder.
static MADE: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);

/// The number of databases created so far.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// An empty migrated database, from which others are copied.
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

/// Returns whether the tests run on PostgreSQL.
pub fn is_postgres() -> bool {
    POSTGRES.is_some()
}

/// The options of `mkopo` commands for the database of `folder`.
pub fn options(folder: &Path) -> Vec<String> {
    let mut options = vec!["--data-dir".to_owned(), folder.to_str().unwrap().to_owned()];
    if let Some(url) = url(folder) {
        options.extend(["--database-url".to_owned(), url]);
    }
    options
}

/// The URL of the database of `folder`, created if needed; `None` on `SQLite`, and for data that was begun on a file.
pub fn url(folder: &Path) -> Option<String> {
    let is_on_file = folder.join("mkopo.db").exists();
    (is_postgres() && !is_on_file).then(|| url_of(&database_of(folder, None)))
}

/// A connection of somebody else to the database of `folder`, on PostgreSQL.
pub async fn connection(folder: &Path) -> PgConnection {
    PgConnection::connect(&url(folder).unwrap()).await.unwrap()
}

/// The database of `folder`, created if needed.
pub async fn open(folder: &Path) -> Database {
    match url(folder) {
        Some(url) => Database::open_at(&url.parse().unwrap()).await.unwrap(),
        None => Database::open_in(folder).await.unwrap(),
    }
}

/// Copies the database of `from`, which must not be open, to the empty folder `to`.
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
    let (name, finished) = {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made.get_or_insert_default();
        if let Some(name) = made.get(folder) {
            return name.clone();
        }
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        made.insert(folder.to_owned(), name.clone());
        // The databases of finished tests, whose folders have been deleted.
        (name, made.extract_if(|folder, _| !folder.exists()).collect::<Vec<_>>())
    };
    for (_, name) in finished {
        administer(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
    }
    let template = template.unwrap_or_else(|| TEMPLATE.clone());
    administer(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
    name
}

fn url_of(database: &str) -> String {
    let postgres = POSTGRES.as_ref().unwrap();
    format!("{}/{database}", postgres.rsplit_once('/').unwrap().0)
}

/// Runs one statement in the maintenance database.
pub fn administer(statement: &str) {
    let (url, statement) = (POSTGRES.clone().unwrap(), statement.to_owned());
    run(async move || {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let mut tries = 0;
        // Connections to a template take a moment to close.
        while let Err(error) = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&mut connection).await
        {
            tries += 1;
            assert!(tries < 100, "{statement}: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        connection.close().await.unwrap();
    });
}

/// Runs `task` to completion on its own thread, because the caller's thread must not block.
fn run(task: impl AsyncFnOnce() + Send + 'static) {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    thread::spawn(move || runtime().block_on(task())).join().unwrap();
}
