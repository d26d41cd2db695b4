//! Opening a database, and the reasons why it can't be opened.

use std::{io, path::Path, time::Duration};

use anyhow::anyhow;
use base::engine_error::{is_damaged, reason};
use sqlx::{
    ConnectOptions, Connection as _, Executor,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};

use crate::{
    connect::{
        BUSY_TIMEOUT, CONNECT_TIMEOUT, PostgresOptions, connect_postgres, connect_sqlite, sqlite_options,
    },
    connection::{ANSWER_TIMEOUT, Connection},
    database::{Database, Readers},
    migrate,
    query::query_as,
    url::{DatabaseUrl, Engine},
    writer::{Excludes, Target},
};

pub(crate) static SQLITE_MIGRATIONS: Migrator = sqlx_macros::migrate!("migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx_macros::migrate!("migrations/postgres");

/// The number of reading connections, in addition to the one that reads versions.
const READERS: u32 = 8;

/// The maximum wait for a reader of the file.
pub(crate) const READER_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum wait for another program that has locked the file, at the start, when nobody waits for an answer.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// PostgreSQL's timeout for a reader's statement. A writer sets its own in each transaction.
const STATEMENT_TIMEOUT: &str = "10s";

/// The idle time after which PostgreSQL rolls a transaction back.
const IDLE_TIMEOUT: &str = "10s";

/// The size of the prepared statement cache: more than the number of statements.
pub(crate) const STATEMENT_CACHE_SIZE: usize = 512;

impl Database {
    /// Opens the database at `url`, the value of `setting`.
    ///
    /// # Errors
    /// A sentence that names the database and the setting, but never a password.
    pub async fn open_named(url: &DatabaseUrl, setting: &str) -> anyhow::Result<Self> {
        Self::open_at(url).await.map_err(|error| sentence(error, &format!("the database {url}"), setting))
    }

    /// Opens the database in the data folder, creating it if needed.
    pub async fn open_in(folder: &Path) -> anyhow::Result<Self> {
        Self::open(&folder.join("mkopo.db")).await.map_err(|error| {
            let store = format!("the database in the data folder {}", folder.display());
            sentence(error, &store, "MKOPO_DATA_DIR")
        })
    }

    /// Opens and migrates the database at `url`. A missing file is created; one of a newer version is refused.
    pub async fn open_at(url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        match &url.engine {
            Engine::Sqlite(file) => Self::open(file).await,
            Engine::Postgres(options) => Self::open_postgres(options, url).await,
        }
    }

    /// Returns whether the tables of the database at `url`, the value of `setting`, are those of this version. Nothing is
    /// changed in it.
    pub async fn is_current(url: &DatabaseUrl, setting: &str) -> anyhow::Result<bool> {
        let reading = async {
            let (mut connection, migrator) = match &url.engine {
                Engine::Sqlite(file) => {
                    let file = SqliteConnectOptions::new().filename(file).read_only(true);
                    let connection = file.disable_statement_logging().connect().await?;
                    (Connection::from(connection), &SQLITE_MIGRATIONS)
                }
                Engine::Postgres(options) => {
                    let options = options_of(options, url.is_pooled);
                    (connect_postgres(&options).await?, &POSTGRES_MIGRATIONS)
                }
            };
            let is_current = migrate::are_applied(&mut connection, migrator).await;
            connection.close().await;
            is_current
        };
        reading.await.map_err(|error| sentence(error, &format!("the database {url}"), setting))
    }

    /// Opens and migrates the database at `file`, creating it if needed.
    pub async fn open(file: &Path) -> Result<Self, sqlx::Error> {
        let options = sqlite_options(file).synchronous(SqliteSynchronous::Full).optimize_on_close(true, None);
        let mut connection = connect_sqlite(&options.clone().busy_timeout(START_TIMEOUT)).await?;
        SQLITE_MIGRATIONS.run(&mut connection).await?;
        let begin = format!("BEGIN IMMEDIATE; ROLLBACK; PRAGMA busy_timeout = {}", BUSY_TIMEOUT.as_millis());
        connection.execute(sqlx::AssertSqlSafe(begin)).await?;
        // Optimizing writes: it fails on a reader, and sqlx then doesn't wait for the end of that connection.
        let read_options =
            options.clone().read_only(true).create_if_missing(false).optimize_on_close(false, None);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(READER_TIMEOUT)
            // The writer has opened the file. On a busy machine, another connection may take longer than callers wait.
            .connect_lazy_with(read_options);
        let target = Target::Sqlite { options: Box::new(options), is_durable: true };
        Ok(Self::with(Readers::Sqlite(readers), target, connection.into()))
    }

    async fn open_postgres(options: &PgConnectOptions, url: &DatabaseUrl) -> Result<Self, sqlx::Error> {
        let is_pooled = url.is_pooled;
        let options = options_of(options, is_pooled);
        let read_options = (*options.options).clone();
        let read_options = if is_pooled {
            read_options
        } else {
            read_options
                .options([("statement_timeout", STATEMENT_TIMEOUT), ("default_transaction_read_only", "on")])
                .options([("idle_in_transaction_session_timeout", IDLE_TIMEOUT)])
        };
        {
            // Waits without a timeout for another server that is migrating the tables.
            let mut connection = connect_postgres(&options).await?;
            // Through a pooler, each transaction may be on another connection.
            connection.command("BEGIN READ ONLY").await?;
            check(&mut connection).await?;
            connection.command("COMMIT").await?;
            migrate::run(&mut connection, &POSTGRES_MIGRATIONS).await?;
        }
        let connection = connect_postgres(&options).await?;
        let readers = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(CONNECT_TIMEOUT)
            // sqlx waits without a timeout for the end of a transaction that was dropped, which keeps its place.
            .after_release(|connection, _| {
                Box::pin(async {
                    let answered = tokio::time::timeout(ANSWER_TIMEOUT, connection.ping()).await;
                    answered
                        .unwrap_or_else(|_| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into())))
                        .map(|()| true)
                })
            })
            .connect_with(read_options)
            .await?;
        let target = Target::Postgres(options, Excludes::Turn);
        Ok(Self::with(Readers::Postgres(readers, is_pooled), target, connection))
    }
}

fn options_of(options: &PgConnectOptions, is_pooled: bool) -> PostgresOptions {
    let options = options.clone().application_name("mkopo").disable_statement_logging();
    let options = if is_pooled {
        // A pooler refuses settings that it can't restore.
        options.extra_float_digits(None).statement_cache_capacity(0)
    } else {
        options
            .statement_cache_capacity(STATEMENT_CACHE_SIZE)
            .options([("client_min_messages", "warning"), ("jit", "off")])
    };
    PostgresOptions { options: Box::new(options), is_pooled }
}

const MIN_POSTGRES_VERSION: i32 = 140_000;

const POSTGRES_PROPERTIES: &str = "
    SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";

/// Rejects an unsuitable PostgreSQL database before anything is changed in it.
async fn check(connection: &mut Connection) -> Result<(), sqlx::Error> {
    let (version, encoding, is_read_only): (i32, String, bool) =
        query_as(POSTGRES_PROPERTIES).fetch_one(connection).await?;
    let unsuitable = |what: &str| Err(sqlx::Error::Configuration(what.into()));
    if version < MIN_POSTGRES_VERSION {
        return unsuitable("it is older than PostgreSQL 14");
    }
    if encoding != "UTF8" {
        return unsuitable("its encoding is not UTF8");
    }
    if is_read_only {
        return unsuitable("it is read-only");
    }
    Ok(())
}

/// Describes in one sentence why the database can't be opened.
fn sentence(error: sqlx::Error, store: &str, setting: &str) -> anyhow::Error {
    if let sqlx::Error::Migrate(error) = error {
        return match *error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => anyhow!(
                "{store} was created by a newer version of mkopo; start that version, or set {setting} to another"
            ),
            MigrateError::VersionMismatch(_) | MigrateError::Dirty(_) => anyhow!(
                "{store} has tables that differ from those of this version of mkopo ({error}); set {setting} to \
                 another"
            ),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                sentence(error, store, setting)
            }
            other => anyhow!("can't migrate the tables of {store}: {other}"),
        };
    }
    match &error {
        sqlx::Error::PoolTimedOut => no_answer(store, setting),
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => no_answer(store, setting),
        sqlx::Error::Database(error) if error.message() == "database is locked" => anyhow!(
            "another program has had {store} locked for {} s: start again when it has ended",
            START_TIMEOUT.as_secs()
        ),
        error if is_damaged(error) => {
            anyhow!("{store} is damaged; restore a backup (`mkopo data restore`): {}", reason(error))
        }
        error => {
            anyhow!("can't open {store}; set {setting} to one that can be written: {}", reason(error))
        }
    }
}

fn no_answer(store: &str, setting: &str) -> anyhow::Error {
    anyhow!(
        "{store} does not answer in time: it may be down, or this machine too busy. Start again when it answers, or set \
         {setting} to another"
    )
}
