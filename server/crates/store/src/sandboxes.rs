//! The databases of sandboxes: a `SQLite` file each, in the data folder of the server, whichever engine the
//! deployment has.
//!
//! A new file is a copy of a template, which is made once for the same data. It is named by an id that is
//! never used twice, and it counts only once its id is stored elsewhere: files that a dead process left are
//! found by their ids and deleted.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use sqlx::{
    ConnectOptions, Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};

use base::{clock::Setting, engine_error::is_disk_full, error::Failure};

use crate::{
    connect::sqlite_options,
    connection::Connection,
    database::{Database, Readers},
    opening::{READER_TIMEOUT, SQLITE_MIGRATIONS, STATEMENT_CACHE_SIZE},
    query::{query, query_scalar},
    writer::Target,
};

/// The reading connections of a sandbox. Each is a thread, so there are few.
const READERS: u32 = 2;

/// The page cache of a connection; negative numbers are in KiB. The engine's default is 2 MiB.
const CACHE_SIZE: &str = "-256";

/// The folder with the databases of sandboxes.
#[derive(Clone, Debug)]
pub struct SandboxDatabases {
    folder: PathBuf,
}

/// The content of a new database.
#[derive(Clone, Debug)]
pub struct Template(Arc<[u8]>);

const COPY: &str = "VACUUM INTO $1";

/// Deletes who was signed in, from where, and their codes, which snapshots have, too. After `VACUUM`, no free page has
/// them.
const LEAVE_PEOPLE_OUT: &str = "
    DELETE FROM session;
    DELETE FROM one_time_code;
    DELETE FROM try_count;
    DELETE FROM console_sign_in;
    DELETE FROM snapshot_table;
    DELETE FROM snapshot;
    UPDATE event SET address = NULL;
    UPDATE outbox_message SET body = replace(body, code, '••••••'), code = NULL, next_attempt_at = NULL
    WHERE code IS NOT NULL;
    VACUUM";

const SET_CLOCK: &str = "UPDATE clock_setting SET offset_ms = $1, frozen_at = $2 WHERE clock_id = 'sandbox'";

impl SandboxDatabases {
    /// Writes a copy of the data, as it is now, into the new file `to`, for one of the people who use it: without the
    /// sessions, addresses and codes of the others.
    pub async fn copy(&self, id: &str, to: &Path) -> Result<(), Failure> {
        let options = SqliteConnectOptions::new().filename(self.file_of(id)).read_only(true);
        let mut data: SqliteConnection = options.disable_statement_logging().connect().await?;
        let to = to.to_str().ok_or_else(|| Failure::Internal("a path that is not UTF-8".to_owned()))?;
        let copied = sqlx::query(COPY).bind(to).execute(&mut data).await;
        data.close().await?;
        copied.map_err(not_made)?;
        let options = SqliteConnectOptions::new().filename(to).synchronous(SqliteSynchronous::Off);
        let mut copy = options.disable_statement_logging().connect().await?;
        let left_out = sqlx::raw_sql(LEAVE_PEOPLE_OUT).execute(&mut copy).await;
        copy.close().await?;
        left_out.map(drop).map_err(not_made)
    }

    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes a template with the data that `fill` adds to an empty database. `id` must not be in use.
    pub async fn template(
        &self,
        id: &str,
        fill: impl AsyncFnOnce(&mut Connection) -> Result<(), Failure>,
    ) -> Result<Template, Failure> {
        std::fs::create_dir_all(&self.folder).map_err(not_written)?;
        let path = self.file_of(id);
        let made = async {
            let database = open_file(&path).await.map_err(not_made)?;
            let filled = database.write_in_turn(fill).await;
            database.close().await;
            filled.map_err(|failure| match failure {
                // Nobody else has the file: only the disk can fail.
                Failure::Busy | Failure::Unavailable(_) | Failure::NotCommitted => Failure::NoRoom,
                other => other,
            })?;
            tokio::fs::read(&path).await.map_err(not_written)
        };
        let made = made.await;
        self.delete(id).await?;
        Ok(Template(made?.into()))
    }

    /// Makes the database `id` from a template, with the clock set to `setting`. A power failure does not
    /// corrupt it. If it fails, nothing is left.
    pub async fn create(&self, id: &str, template: &Template, setting: Setting) -> Result<(), Failure> {
        let made = self.write(id, template, setting).await;
        if made.is_err() {
            self.delete(id).await?;
        }
        made
    }

    async fn write(&self, id: &str, template: &Template, setting: Setting) -> Result<(), Failure> {
        let file = self.file_of(id);
        tokio::fs::create_dir_all(&self.folder).await.map_err(not_written)?;
        tokio::fs::write(&file, &template.0).await.map_err(not_written)?;
        if setting != Setting::default() {
            set_clock(&file, setting).await.map_err(not_made)?;
        }
        for written in [&file, &self.folder] {
            let written = tokio::fs::File::open(written).await.map_err(not_written)?;
            written.sync_all().await.map_err(not_written)?;
        }
        Ok(())
    }

    /// Returns whether the database `id` is on this server.
    pub fn has(&self, id: &str) -> bool {
        self.file_of(id).exists()
    }

    /// Opens the database `id`, which must exist, and migrates it if it is of an earlier release.
    pub async fn open(&self, id: &str) -> Result<Database, sqlx::Error> {
        if !self.has(id) {
            return Err(sqlx::Error::Io(io::ErrorKind::NotFound.into()));
        }
        open_file(&self.file_of(id)).await
    }

    /// Deletes the database `id`, if it exists. Nobody may have it open.
    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        let file = self.file_of(id);
        // The database file is deleted last, so that the rest is found again after a kill.
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

    /// The sizes of all databases in bytes, by id, including templates that a dead process left.
    pub async fn sizes(&self) -> Result<HashMap<String, u64>, Failure> {
        let mut sizes = HashMap::new();
        let unreadable = |error: io::Error| Failure::Internal(format!("reading the sandboxes: {error}"));
        let mut entries = match tokio::fs::read_dir(&self.folder).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sizes),
            Err(error) => return Err(unreadable(error)),
        };
        while let Some(entry) = entries.next_entry().await.map_err(unreadable)? {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.split_once(".db")).map(|(id, _)| id);
            let Some(id) = id.filter(|id| is_id(id)) else { continue };
            // A write-ahead log may be gone by now.
            let size = entry.metadata().await.map_or(0, |metadata| metadata.len());
            *sizes.entry(id.to_owned()).or_default() += size;
        }
        Ok(sizes)
    }

    fn file_of(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.db"))
    }
}

/// Returns whether `text` can be the id of a database.
fn is_id(text: &str) -> bool {
    uuid::Uuid::parse_str(text).is_ok_and(|id| id.get_version_num() == 7 && id.to_string() == text)
}

fn not_made(error: sqlx::Error) -> Failure {
    if is_disk_full(&error) { Failure::NoRoom } else { error.into() }
}

/// Sets the clock in a file that nobody has open. The caller flushes the file.
async fn set_clock(file: &Path, setting: Setting) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).synchronous(SqliteSynchronous::Off);
    let mut connection: Connection = options.disable_statement_logging().connect().await?.into();
    let set = query(SET_CLOCK).bind(setting.offset_ms).bind(setting.frozen_at).run(&mut connection).await;
    connection.close().await;
    set
}

const FILE_SIZE: &str = "SELECT page_count.page_count * page_size.page_size FROM pragma_page_count AS page_count, pragma_page_size AS page_size";

const TABLES_SIZE: &str = "
    SELECT CAST(COALESCE(sum(pg_total_relation_size(class.oid)), 0) AS BIGINT) FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = current_schema() AND class.relkind = 'r'";

impl Database {
    /// The size of the data in bytes.
    pub async fn size(&self) -> Result<Option<u64>, Failure> {
        let mut reader = self.read().await?;
        let size = match reader {
            Connection::Sqlite(_) => FILE_SIZE,
            Connection::Postgres(_) => TABLES_SIZE,
        };
        let size: i64 = query_scalar(size).fetch_one(&mut reader).await?;
        Ok(u64::try_from(size).ok())
    }
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

/// Opens a file with little memory. A commit survives a crash of this process, but not a power failure:
/// nothing in a sandbox is real, and flushing each commit of many files would slow all of them down.
async fn open_file(file: &Path) -> Result<Database, sqlx::Error> {
    let options = sqlite_options(file)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", CACHE_SIZE)
        .statement_cache_capacity(STATEMENT_CACHE_SIZE);
    let mut connection = options.connect().await?;
    migrate(&mut connection).await?;
    let readers = SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(READER_TIMEOUT)
        .test_before_acquire(false)
        .connect_lazy_with(options.clone().read_only(true).create_if_missing(false));
    // The file may have been removed in the meantime.
    let options = Box::new(options.create_if_missing(false));
    let target = Target::Sqlite { options, is_durable: false };
    Ok(Database::with(Readers::Sqlite(readers), target, connection.into()))
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
