//! `mkopo data backup` and `mkopo data restore`: all data to or from a file or a pipe.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    ops::Deref,
    os::unix::fs::{MetadataExt, fchown},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use super::{folder_lock, shutdown::shutdown_signal};
use anyhow::{Context, anyhow, bail, ensure};
use base::{clock::Clock, engine_error::reason};
use lending::events::{self, COMMAND_LINE, EventKind, NewEvent};
use settings::StoreSettings;
use sqlx::{
    ConnectOptions, Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use store::{Connection, Database, listed, query, query_scalar, rows, sandboxes::SandboxDatabases};

/// The database and the backup file.
#[derive(clap::Args, Debug)]
pub struct BackupSettings {
    /// The database.
    #[command(flatten)]
    pub store: StoreSettings,

    /// Backup file, or `-` for a pipe. Keep it private: it contains customers' data and the
    /// password hashes of staff.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Timeout for a lock that the running service holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const COPY: &str = "VACUUM INTO $1";

const CHECK: &str = "PRAGMA integrity_check(1)";

/// The files in which `SQLite` keeps changes of a database that are not in its own file.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

const COUNT_MIGRATIONS: &str = "SELECT count(*) FROM _sqlx_migrations";

/// Writes a consistent copy of the data to a new file or to standard output. The file gets its name only
/// when it is complete, checked and synced to disk. The database is read in one transaction, so that a service may
/// keep running.
pub async fn back_up(settings: BackupSettings) -> anyhow::Result<()> {
    let database = settings.store.database_file()?;
    let file = settings.file;
    let is_piped = file == Path::new("-");
    let name = if is_piped { "standard output".to_owned() } else { file.display().to_string() };
    ensure!(is_piped || !file.exists(), "{name} already exists; choose another file name");
    let mut data = connect_options(&database)
        .read_only(true)
        .connect()
        .await
        .map_err(said_once)
        .with_context(|| format!("can't open the database {}", database.display()))?;
    let (beside, place) = if is_piped {
        (&database, format!("the folder of {}", database.display()))
    } else {
        (&file, name.clone())
    };
    // Backups may run at the same time, and beside a restore.
    let part = Part::create(with_suffix(beside, &format!(".part-{}", process::id())));
    let (mut copy, part) = part.with_context(|| format!("can't write to {place}"))?;
    delete_when_stopped(&part);
    let copied = async {
        let path = part.to_str().context("its path is not valid UTF-8")?;
        sqlx::query(COPY).bind(path).execute(&mut data).await.map_err(said_once)?;
        check(&part).await
    };
    copied.await.with_context(|| format!("can't copy the database {}", database.display()))?;
    let written = if is_piped {
        // It is read through the open file, however long whoever gets it takes.
        drop(part);
        io::copy(&mut copy, &mut io::stdout().lock()).map(|_| ()).map_err(anyhow::Error::from)
    } else {
        copy.sync_all().map_err(anyhow::Error::from).and_then(|()| rename(&part, &file))
    };
    written.with_context(|| format!("can't write to {name}"))?;
    data.close().await?;
    eprintln!("Backed up all data to {name}.");
    Ok(())
}

/// Replaces the data with a backup from a file or standard input. The previous data is kept in a
/// file next to it.
pub async fn restore(settings: BackupSettings) -> anyhow::Result<()> {
    // A symbolic link stays, and leads to the restored data.
    let database = folder_lock::real_file(&settings.store.database_file()?);
    let _lock = folder_lock::lock(&settings.store, "stop it first")?;
    let file = settings.file;
    let is_piped = file == Path::new("-");
    let name = if is_piped { "standard input".to_owned() } else { file.display().to_string() };
    let copy: Box<dyn io::Read> = if is_piped {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&file).with_context(|| format!("can't read {name}"))?)
    };
    let part = receive(copy, &database)?;
    check(&part).await.with_context(|| format!("{name} is not a valid backup of Mkopo's data"))?;
    let replaced = unused_name(&database);
    if database.exists() {
        merge_previous_log(&database).await?;
    }
    let restored = Database::open(&part).await;
    let restored = restored.map_err(|error| anyhow!("can't restore {name}: {}", reason(&error)))?;
    let sandboxes = SandboxDatabases::in_folder(settings.store.data_dir.join("sandboxes"));
    let kept = keep_trail(&database, &sandboxes, &restored).await;
    restored.close().await;
    kept.context("the audit trail could not be kept")?;
    complete(&part).await.with_context(|| format!("can't write {}", database.display()))?;
    if database.exists() {
        // The log of a database that can't be opened must stay with that database.
        for log in LOGS {
            _ = fs::remove_file(with_suffix(&replaced, log));
            if with_suffix(&database, log).exists() {
                rename(&with_suffix(&database, log), &with_suffix(&replaced, log))?;
            }
        }
        // By a second name, where the file system has such: a restore that is killed here leaves data to start with.
        fs::hard_link(&database, &replaced)
            .or_else(|_| fs::rename(&database, &replaced))
            .with_context(|| format!("can't write {}", replaced.display()))?;
        eprintln!("The previous data is in {}.", replaced.display());
    }
    rename(&part, &database)?;
    eprintln!("Restored the data from {name}.");
    Ok(())
}

/// Puts the sandbox in `file` in the place of the data, unless there is data already. The caller has locked the data
/// folder.
pub async fn begin_from(store: &StoreSettings, file: &Path) -> anyhow::Result<()> {
    let database = store.database_file()?;
    if database.exists() {
        return Ok(());
    }
    let taken = File::open(file).with_context(|| format!("can't read {}", file.display()))?;
    let part = receive(taken, &database)?;
    check(&part).await.with_context(|| format!("{} is not a sandbox of Mkopo", file.display()))?;
    rename(&part, &database)
}

/// Writes what `from` has into a file beside the `database`, whose folder may not be there yet. Only one command at a
/// time does so, because it has locked the folder.
fn receive(mut from: impl io::Read, database: &Path) -> anyhow::Result<Part> {
    database
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| Part::create(with_suffix(database, ".part")))
        .and_then(|(mut to, part)| {
            keep_owner(database, &to)?;
            io::copy(&mut from, &mut to)?;
            to.sync_all().map(|()| part)
        })
        .with_context(|| format!("can't write {}", database.display()))
}

/// Gives a new file the owner of the `database` that it replaces, or else of its folder: the server's user could not open
/// what root has restored.
fn keep_owner(database: &Path, new: &File) -> io::Result<()> {
    if rustix::process::geteuid().is_root()
        && let Some(of) = database.ancestors().find_map(|path| fs::metadata(path).ok())
    {
        fchown(new, Some(of.uid()), Some(of.gid()))?;
    }
    Ok(())
}

/// Adds to the `restored` data the events in `database` since the backup, and an event for the restore. What has no place
/// in a backup stays as it is there: the sandboxes, and which deploy tokens were revoked.
async fn keep_trail(database: &Path, stored: &SandboxDatabases, restored: &Database) -> anyhow::Result<()> {
    let reading = async {
        let mut previous: Connection =
            connect_options(database).read_only(true).connect().await.map_err(said_once)?.into();
        let events = events::since_backup(&mut previous, &mut restored.read().await?).await;
        let sandboxes = rows::read(&mut previous, SANDBOXES).await;
        let tokens = query_scalar::<String>(TOKENS).fetch_all(&mut previous).await;
        previous.close().await;
        anyhow::Ok((events.map_err(said_once), sandboxes.ok(), tokens.ok()))
    };
    // The database is damaged, of an earlier version, or not there.
    let (since, sandboxes, tokens) = reading.await.unwrap_or_else(|error| (Err(error), None, None));
    let since = since.unwrap_or_else(|error| {
        if database.exists() {
            eprintln!("The audit trail of the previous data stays with it: {error:#}.");
        }
        Vec::new()
    });
    let stored: Vec<String> = stored.sizes().await?.into_keys().collect();
    if sandboxes.is_none() && !stored.is_empty() {
        eprintln!(
            "The sandboxes are those of the backup: without the previous data, nobody knows the present ones."
        );
    }
    if tokens.is_none() {
        eprintln!(
            "All deploy tokens have ended: without the previous data, nobody knows which were revoked."
        );
    }
    let event = NewEvent::new(Clock::system().now(), EventKind::DataRestored, COMMAND_LINE, None);
    let adding = restored.write(async move |connection: &mut Connection| {
        events::carry_over(connection, since).await?;
        for statement in END_ALL {
            query(statement).execute(&mut *connection).await?;
        }
        query(KEEP_TOKENS).bind(listed(tokens.unwrap_or_default())).execute(&mut *connection).await?;
        let kept = if sandboxes.is_some() { Vec::new() } else { stored };
        query(KEEP_SANDBOXES).bind(listed(kept)).execute(&mut *connection).await?;
        rows::insert(connection, "sandbox", &sandboxes.unwrap_or_default()).await?;
        Ok(event.add(connection).await?)
    });
    Ok(adding.await?)
}

/// Merges the log of the new copy into its file, which gets the database's name without it, and checks the file.
async fn complete(part: &Path) -> anyhow::Result<()> {
    let copy = connect_options(part).journal_mode(SqliteJournalMode::Delete).connect().await;
    copy.map_err(said_once)?.close().await.map_err(said_once)?;
    ensure!(!with_suffix(part, "-wal").exists(), "the write-ahead log could not be merged");
    check(part).await?;
    Ok(File::open(part)?.sync_all()?)
}

/// Whoever is signed in signs in again, and links to stories are made again: a backup does not know what has ended since.
const END_ALL: [&str; 4] = [
    "UPDATE session SET ended_at = created_at WHERE ended_at IS NULL",
    "UPDATE one_time_code SET used_at = created_at WHERE used_at IS NULL",
    "DELETE FROM console_sign_in",
    "UPDATE story_link SET revoked_at = created_at WHERE revoked_at IS NULL",
];

const TOKENS: &str = "SELECT digest FROM deploy_token";

const KEEP_TOKENS: &str =
    "DELETE FROM deploy_token WHERE digest NOT IN (SELECT value ->> 'id' FROM json_each($1))";

/// The data of sandboxes besides `main` is in files of their own, which no backup has.
const SANDBOXES: &str = "SELECT * FROM sandbox";

const KEEP_SANDBOXES: &str =
    "DELETE FROM sandbox WHERE sandbox_id NOT IN (SELECT value ->> 'id' FROM json_each($1))";

/// A file that is not complete yet. It is deleted with its logs on drop, unless it was renamed.
struct Part(PathBuf);

impl Part {
    /// Creates the file, for this user only, like all that commands create ([`super::run`]).
    fn create(path: PathBuf) -> io::Result<(File, Self)> {
        let part = Self(path);
        // Left over from a crash. SQLite would apply an old log to the new file.
        part.delete()?;
        Ok((File::create_new(&part.0)?, part))
    }

    fn delete(&self) -> io::Result<()> {
        for ending in LOGS.into_iter().chain([""]) {
            match fs::remove_file(with_suffix(&self.0, ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Deref for Part {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        _ = self.delete();
    }
}

/// Deletes the file if the command is asked to stop meanwhile, and ends it.
fn delete_when_stopped(part: &Path) {
    let (part, stopped) = (part.to_owned(), shutdown_signal());
    tokio::spawn(async move {
        stopped.await;
        drop(Part(part));
        eprintln!("mkopo: the backup was stopped");
        process::exit(1);
    });
}

/// Merges the log of the previous data into its file, which needs exclusive access. A damaged file is left as it is.
async fn merge_previous_log(database: &Path) -> anyhow::Result<()> {
    // If the file is not a database, SQLite would report that, and delete the log later.
    if !is_database(database).with_context(|| format!("can't read {}", database.display()))? {
        return Ok(());
    }
    match connect_options(database).journal_mode(SqliteJournalMode::Delete).connect().await {
        Ok(connection) => Ok(connection.close().await?),
        Err(sqlx::Error::Database(error)) if error.message().contains("locked") => {
            bail!("the service is running on {}; stop it first", database.display())
        }
        // The database is damaged, which is a reason to restore.
        Err(_) => Ok(()),
    }
}

/// Returns `true` if a file starts with the header of a database (`SQLite` file format, 1.3.1).
fn is_database(file: &Path) -> io::Result<bool> {
    let mut header = [0; 16];
    let read = File::open(file)?.read(&mut header)?;
    Ok(&header[..read] == b"SQLite format 3\0")
}

/// Fails unless the file is an intact Mkopo database.
async fn check(file: &Path) -> anyhow::Result<()> {
    let copy = connect_options(file).read_only(true).immutable(true).connect().await;
    let mut copy: SqliteConnection = copy.map_err(said_once)?;
    let result: String = sqlx::query_scalar(CHECK).fetch_one(&mut copy).await.map_err(said_once)?;
    ensure!(result == "ok", "{result}");
    let migrations: i64 = sqlx::query_scalar(COUNT_MIGRATIONS).fetch_one(&mut copy).await?;
    ensure!(migrations > 0, "it is empty");
    Ok(copy.close().await?)
}

/// An error in the words of the database, which sqlx says twice with its cause.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
fn said_once(error: sqlx::Error) -> anyhow::Error {
    anyhow::Error::msg(reason(&error))
}

fn connect_options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).busy_timeout(BUSY_TIMEOUT).disable_statement_logging()
}

fn with_suffix(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    name.into()
}

/// The name of the data that is replaced. An earlier restore may have left the only copy of the data before it.
fn unused_name(database: &Path) -> PathBuf {
    let first = with_suffix(database, ".replaced");
    let others = (2..).map(|number| with_suffix(database, &format!(".replaced-{number}")));
    std::iter::once(first).chain(others).find(|file| !file.exists()).unwrap_or_default()
}

/// Renames a file so that the new name survives a crash.
fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to).with_context(|| format!("can't write {}", to.display()))?;
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
