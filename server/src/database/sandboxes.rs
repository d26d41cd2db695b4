//! The databases of sandboxes, beside that of a deployment: a `SQLite` file each or, on PostgreSQL, a schema
//! each in the same database.
//!
//! A database is made by copying a template, which is made once for the same data. It is named by an id
//! that is never used twice, and it counts only once somebody else has written the id down: what was
//! left by a process that died is found by its id and deleted.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use rusqlite::params;
use sqlx::{
    AssertSqlSafe, ConnectOptions, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    Connection, Database, MAX_BATCH_SIZE, READER_TIMEOUT, Readers, SQLITE_MIGRATIONS, STATEMENT_CACHE_SIZE,
    engine_error::is_disk_full,
    query_scalar,
    schemas::{Schemas, Script},
    writer,
};
use crate::{clock::Setting, error::Failure};

/// The reading connections of a sandbox. Each is a thread, so there are few.
const READERS: u32 = 2;

/// How long a connection is kept without being used. Each is a thread that sleeps, and a thousand of them make it
/// slower to wake another one: the kernel looks through those that sleep (measured: 2 % of the time of `main`'s lists
/// with three thousand).
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The page cache of a connection in KiB, as the engine's negative numbers have it. Its own is 2 MiB.
const CACHE_SIZE: &str = "-256";

/// Where the databases of sandboxes are.
#[derive(Clone, Debug)]
pub struct SandboxDatabases(Place);

#[derive(Clone, Debug)]
enum Place {
    Folder(PathBuf),
    Schemas(Schemas),
}

/// The content of a new database.
#[derive(Clone, Debug)]
pub struct Template(Content);

#[derive(Clone, Debug)]
enum Content {
    File(Arc<[u8]>),
    /// The schema that is copied, and how.
    Schema(Arc<str>, Script),
}

/// What fills a template.
pub type Fill = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<(), Failure>> + Send>;

const SET_CLOCK: &str = "UPDATE clock_setting SET offset_ms = ?1, frozen_at = ?2 WHERE clock_id = 'sandbox'";

impl SandboxDatabases {
    /// Those beside `main`: in `folder`, or in the same PostgreSQL database.
    pub fn beside(main: &Database, folder: PathBuf) -> Self {
        Self(match &main.readers {
            Readers::Sqlite(_) => Place::Folder(folder),
            Readers::Postgres(readers, is_pooled) => {
                Place::Schemas(Schemas::beside(&readers.connect_options(), *is_pooled))
            }
            Readers::Schema(schema) => {
                let readers = schema.readers();
                Place::Schemas(Schemas::beside(&readers.options(), readers.is_pooled()))
            }
        })
    }

    /// Whether several servers have them in common.
    pub fn are_shared(&self) -> bool {
        matches!(self.0, Place::Schemas(_))
    }

    /// Makes a template whose data is what `fill` adds to an empty database. `id` is not used otherwise.
    ///
    /// # Errors
    /// [`Failure::NoRoom`], and the errors of `fill`.
    pub async fn template(&self, id: &str, fill: Fill) -> Result<Template, Failure> {
        let content = match &self.0 {
            Place::Folder(folder) => {
                std::fs::create_dir_all(folder).map_err(not_written)?;
                let path = file_of(folder, id);
                let made = async {
                    let database = open_file(&path).await.map_err(not_made)?;
                    filled(database, fill).await.map_err(|failure| match failure {
                        // Nobody else has the file: only the disk can fail.
                        Failure::Busy | Failure::NotCommitted => Failure::NoRoom,
                        other => other,
                    })?;
                    tokio::fs::read(&path).await.map_err(not_written)
                };
                let made = made.await;
                self.delete(id).await?;
                Content::File(made?.into())
            }
            Place::Schemas(schemas) => {
                let name = template_schema(id);
                let made = async {
                    schemas.create_empty(&name).await.map_err(not_made)?;
                    filled(schemas.open(&name).await?, fill).await?;
                    Ok(schemas.script_of(&name).await?)
                };
                match made.await {
                    Ok(script) => Content::Schema(name.into(), script),
                    Err(failure) => {
                        schemas.drop(&name).await?;
                        return Err(failure);
                    }
                }
            }
        };
        Ok(Template(content))
    }

    /// Deletes what is stored of a template.
    ///
    /// # Errors
    /// If it can't be deleted.
    pub async fn delete_template(&self, template: &Template) -> Result<(), Failure> {
        if let (Place::Schemas(schemas), Content::Schema(name, _)) = (&self.0, &template.0) {
            schemas.drop(name).await?;
        }
        Ok(())
    }

    /// Makes the database `id` from a template, with the clock as `setting` has it.
    ///
    /// # Errors
    /// [`Failure::NoRoom`]. Nothing is left then.
    pub async fn create(&self, id: &str, template: &Template, setting: Setting) -> Result<(), Failure> {
        match (&self.0, &template.0) {
            (Place::Folder(folder), Content::File(content)) => {
                let (folder, path) = (folder.clone(), file_of(folder, id));
                let content = Arc::clone(content);
                let write = move || write(&folder, &path, &content, setting);
                let written = tokio::task::spawn_blocking(write).await;
                let written = written.map_err(|panicked| Failure::Internal(panicked.to_string()))?;
                if written.is_err() {
                    self.delete(id).await?;
                }
                written
            }
            (Place::Schemas(schemas), Content::Schema(_, script)) => {
                schemas.create(&schema_of(id), script, setting).await.map_err(not_made)
            }
            _ => Err(Failure::Internal("the template is of another engine".to_owned())),
        }
    }

    /// Prepares for one more database, after `id` was made: where making one takes long, the next one is made
    /// of a spare that is kept beside the templates.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prepare_next(&self, id: &str) -> Result<(), Failure> {
        if let Place::Schemas(schemas) = &self.0 {
            schemas.make_spare(template_schema(id)).await?;
        }
        Ok(())
    }

    /// Opens the database `id`, which must exist, and migrates it if it is of an earlier release.
    ///
    /// # Errors
    /// If it can't be opened.
    pub async fn open(&self, id: &str) -> Result<Database, sqlx::Error> {
        match &self.0 {
            Place::Folder(folder) => {
                let file = file_of(folder, id);
                if !file.exists() {
                    return Err(sqlx::Error::Io(io::ErrorKind::NotFound.into()));
                }
                open_file(&file).await
            }
            Place::Schemas(schemas) => schemas.open(&schema_of(id)).await,
        }
    }

    /// Makes the database `id` unreadable with the commit of `connection`'s transaction, for all servers. A
    /// file is only unknown to others.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn retire(connection: &mut Connection, id: &str) -> Result<(), sqlx::Error> {
        if let Connection::Postgres(_) = connection {
            let rename = format!("ALTER SCHEMA \"{}\" RENAME TO \"{}\"", schema_of(id), retired_schema(id));
            connection.command(AssertSqlSafe(rename)).await?;
        }
        Ok(())
    }

    /// Deletes the database `id`, if it exists, retired or not. Nobody may have it open.
    ///
    /// # Errors
    /// If it can't be deleted.
    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        let folder = match &self.0 {
            Place::Folder(folder) => folder,
            Place::Schemas(schemas) => {
                schemas.drop(&retired_schema(id)).await?;
                return Ok(schemas.drop(&schema_of(id)).await?);
            }
        };
        let file = file_of(folder, id);
        // The file goes last, so that what is left after a kill is found again.
        for part in ["db-wal", "db-shm", "db"].map(|extension| file.with_extension(extension)) {
            match tokio::fs::remove_file(part).await {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Failure::Internal(format!("deleting a sandbox: {error}")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The ids of all databases, and of templates and retired ones that are left.
    ///
    /// # Errors
    /// If they can't be listed.
    pub async fn ids(&self) -> Result<Vec<Stored>, Failure> {
        let Place::Schemas(schemas) = &self.0 else {
            let ids = self.sizes().await?.into_keys();
            return Ok(ids.map(|id| Stored { id, is_template: false }).collect());
        };
        let stored = |name: String| {
            let prefixes = [SCHEMA, RETIRED, TEMPLATE];
            let (prefix, id) =
                prefixes.iter().find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))?;
            is_id(id).then(|| Stored { id: id.to_owned(), is_template: prefix == TEMPLATE })
        };
        Ok(schemas.names().await?.into_iter().filter_map(stored).collect())
    }

    /// Deletes what is left of a template.
    ///
    /// # Errors
    /// If it can't be deleted.
    pub async fn delete_left_template(&self, id: &str) -> Result<(), Failure> {
        match &self.0 {
            Place::Folder(_) => self.delete(id).await,
            Place::Schemas(schemas) => Ok(schemas.drop(&template_schema(id)).await?),
        }
    }

    /// The sizes of all databases in bytes, by id.
    ///
    /// # Errors
    /// If they can't be read.
    pub async fn sizes(&self) -> Result<HashMap<String, u64>, Failure> {
        let folder = match &self.0 {
            Place::Folder(folder) => folder,
            Place::Schemas(schemas) => {
                let sizes = schemas.sizes().await?.into_iter();
                let by_id = |(name, size): (String, i64)| {
                    Some((name.strip_prefix(SCHEMA)?.to_owned(), u64::try_from(size).unwrap_or(0)))
                };
                return Ok(sizes.filter_map(by_id).collect());
            }
        };
        let mut sizes = HashMap::new();
        let unreadable = |error: io::Error| Failure::Internal(format!("reading the sandboxes: {error}"));
        let mut entries = match tokio::fs::read_dir(folder).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sizes),
            Err(error) => return Err(unreadable(error)),
        };
        while let Some(entry) = entries.next_entry().await.map_err(unreadable)? {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.split_once(".db")).map(|(id, _)| id);
            let Some(id) = id.filter(|id| is_id(id)) else { continue };
            // A log may be gone by now.
            let size = entry.metadata().await.map_or(0, |metadata| metadata.len());
            *sizes.entry(id.to_owned()).or_default() += size;
        }
        Ok(sizes)
    }

    /// Closes the connections that they share, and deletes what was prepared, for `timeout` at most.
    pub async fn close(&self, timeout: Duration) {
        if let Place::Schemas(schemas) = &self.0 {
            match tokio::time::timeout(timeout, schemas.drop_spares()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "sandboxes.spares_not_deleted"),
                Err(_) => tracing::warn!("sandboxes.spares_not_deleted"),
            }
            schemas.close().await;
        }
    }
}

/// A database that is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its id.
    pub id: String,
    /// Whether it is a template.
    pub is_template: bool,
}

/// What the names of schemas begin with. Others may have schemas of any other name in the same database.
const SCHEMA: &str = "mkopo_sandbox_";
const RETIRED: &str = "mkopo_removed_";
const TEMPLATE: &str = "mkopo_template_";

/// Whether it is an id of ours.
fn is_id(text: &str) -> bool {
    uuid::Uuid::parse_str(text).is_ok_and(|id| id.get_version_num() == 7 && id.to_string() == text)
}

fn schema_of(id: &str) -> String {
    format!("{SCHEMA}{id}")
}

fn retired_schema(id: &str) -> String {
    format!("{RETIRED}{id}")
}

fn template_schema(id: &str) -> String {
    format!("{TEMPLATE}{id}")
}

fn file_of(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.db"))
}

fn not_made(error: sqlx::Error) -> Failure {
    if is_disk_full(&error) { Failure::NoRoom } else { error.into() }
}

/// Fills a database and closes it.
async fn filled(database: Database, fill: Fill) -> Result<(), Failure> {
    let filling = database.clone();
    // In a task of its own: what accompanies the caller's task is not a part of the template.
    let written = tokio::spawn(async move { filling.write_in_turn(fill).await }).await;
    database.close().await;
    written.map_err(|panicked| Failure::Internal(panicked.to_string()))?
}

const FILE_SIZE: &str = "SELECT page_count.page_count * page_size.page_size FROM pragma_page_count AS page_count, pragma_page_size AS page_size";

const SCHEMA_SIZE: &str = "
    SELECT CAST(COALESCE(sum(pg_total_relation_size(class.oid)), 0) AS BIGINT) FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = current_schema() AND class.relkind = 'r'";

impl Database {
    /// The size of the data in bytes.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn size(&self) -> Result<Option<u64>, Failure> {
        let mut reader = self.read().await?;
        let size = match &*reader {
            Connection::Sqlite(_) => FILE_SIZE,
            Connection::Postgres(_) => SCHEMA_SIZE,
        };
        let size: i64 = query_scalar(size).fetch_one(&mut reader).await?;
        Ok(u64::try_from(size).ok())
    }
}

/// Writes a file that a power failure does not spoil.
fn write(folder: &Path, file: &Path, content: &[u8], setting: Setting) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(not_written)?;
    std::fs::write(file, content).map_err(not_written)?;
    if setting != Setting::default() {
        let set = || {
            let connection = rusqlite::Connection::open(file)?;
            // The file is flushed afterwards.
            connection.pragma_update(None, "synchronous", "off")?;
            connection.execute(SET_CLOCK, params![setting.offset_ms, setting.frozen_at.map(|at| at.0)])?;
            connection.close().map_err(|(_, error)| error)
        };
        set().map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Failure::NoRoom,
            _ => Failure::Internal(format!("writing a sandbox: {error}")),
        })?;
    }
    std::fs::File::open(file).and_then(|file| file.sync_all()).map_err(not_written)?;
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(not_written)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
fn not_written(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Failure::NoRoom
        }
        _ => Failure::Internal(format!("writing a sandbox: {error}")),
    }
}

/// Opens a file with little memory. A commit survives this process, but not a power failure at once:
/// nothing in a sandbox is real, and flushing each commit of many files would slow all of them down.
async fn open_file(file: &Path) -> Result<Database, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(5))
        .pragma("cache_size", CACHE_SIZE)
        .statement_cache_capacity(STATEMENT_CACHE_SIZE)
        .disable_statement_logging();
    let mut connection = options.connect().await?;
    migrate(&mut connection).await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(READER_TIMEOUT)
        .idle_timeout(IDLE_TIMEOUT)
        .test_before_acquire(false)
        .connect_lazy_with(options.clone().read_only(true).create_if_missing(false));
    let target = writer::Target::Sqlite {
        // It may have been removed in the meantime.
        options: Box::new(options.create_if_missing(false)),
        is_durable: false,
        idle_timeout: Some(IDLE_TIMEOUT),
    };
    Ok(Database::with(Readers::Sqlite(readers), target, Some(connection.into()), Vec::new(), MAX_BATCH_SIZE))
}

const LATEST_MIGRATION: &str = "SELECT max(version) FROM _sqlx_migrations";

/// Migrates the file, if it is not at the latest version: checking all versions takes longer than opening.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let latest = SQLITE_MIGRATIONS.iter().map(|migration| migration.version).max();
    let is: Result<Option<i64>, sqlx::Error> =
        sqlx::query_scalar(LATEST_MIGRATION).fetch_one(&mut *connection).await;
    if is.is_ok_and(|is| is == latest) {
        return Ok(());
    }
    // `run` would make every future that calls this one unusable in a task.
    SQLITE_MIGRATIONS.run_direct(None, connection, false).await?;
    Ok(())
}
