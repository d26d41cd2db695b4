//! `mkopo data backup` and `mkopo data restore`: all data in one file, or through a pipe.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use crate::settings::DatabaseSettings;
use anyhow::{Context, bail, ensure};
use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};

/// Which data, and which file holds its copy.
#[derive(clap::Args, Debug)]
pub struct BackupSettings {
    /// Folder that holds the database.
    #[arg(long, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Which database.
    #[command(flatten)]
    pub database: DatabaseSettings,

    /// The file, or `-` for a pipe. Keep it from others: it holds customers' data and the staff's
    /// hashed passwords.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

impl BackupSettings {
    /// The file that the database is.
    ///
    /// # Errors
    /// A sentence that says what to do when it is none.
    pub fn database_file(&self) -> anyhow::Result<PathBuf> {
        let Some(url) = self.database.url() else { return Ok(self.data_dir.join("mkopo.db")) };
        url.file()
            .map(Into::into)
            .context("MKOPO_DATABASE_URL names a PostgreSQL database; copy it with pg_dump and pg_restore")
    }
}

/// How long a service that is in the middle of something is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

const COPY: &str = "VACUUM INTO $1";

const CHECK: &str = "PRAGMA integrity_check(1)";

const COUNT_MIGRATIONS: &str = "SELECT count(*) FROM _sqlx_migrations";

/// Copies the data, as it is at one moment, into a file that is not there yet, or to standard
/// output. A file has its name only once it is whole, sound and on disk.
pub async fn back_up(settings: BackupSettings) -> anyhow::Result<()> {
    let database = settings.database_file()?;
    let file = settings.file;
    let is_piped = file == Path::new("-");
    let name = if is_piped { "standard output".to_owned() } else { file.display().to_string() };
    ensure!(is_piped || !file.exists(), "{name} is there already; give the copy a new name");
    let mut data = there(&database)
        .read_only(true)
        .connect()
        .await
        .with_context(|| format!("can't open the database {}", database.display()))?;
    let part = Part::beside(if is_piped { &database } else { &file });
    let copied = async {
        part.make()?;
        let path = part.0.to_str().context("its name is no text")?;
        sqlx::query(COPY).bind(path).execute(&mut data).await?;
        check(&part.0).await?;
        if is_piped {
            io::copy(&mut File::open(&part.0)?, &mut io::stdout().lock())?;
            return Ok(());
        }
        File::open(&part.0)?.sync_all()?;
        rename(&part.0, &file)
    };
    copied.await.with_context(|| format!("can't write to {name}"))?;
    data.close().await?;
    eprintln!("All data as of now went to {name}.");
    Ok(())
}

/// Puts a copy, from a file or standard input, in the place of the data, which is kept beside it.
pub async fn restore(settings: BackupSettings) -> anyhow::Result<()> {
    let database = settings.database_file()?;
    let file = settings.file;
    let is_piped = file == Path::new("-");
    let name = if is_piped { "standard input".to_owned() } else { file.display().to_string() };
    let part = Part::beside(&database);
    let mut copy: Box<dyn io::Read> = if is_piped {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&file).with_context(|| format!("can't read {name}"))?)
    };
    database
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| part.make())
        .and_then(|mut to| {
            io::copy(&mut copy, &mut to)?;
            to.sync_all()
        })
        .with_context(|| format!("can't write {}", database.display()))?;
    check(&part.0).await.with_context(|| format!("{name} is no sound copy of Mkopo's data"))?;
    let replaced = with(&database, ".replaced");
    if database.exists() {
        take_over(&database).await?;
        // What a database that can't be opened left in its log belongs to it alone.
        for log in ["-wal", "-shm"] {
            _ = fs::remove_file(with(&replaced, log));
            if with(&database, log).exists() {
                rename(&with(&database, log), &with(&replaced, log))?;
            }
        }
        rename(&database, &replaced)?;
        eprintln!("What was there before is {}.", replaced.display());
    }
    rename(&part.0, &database)?;
    eprintln!("The data are those of {name}.");
    Ok(())
}

/// A file that has not got its name yet, and goes away unless it gets one.
struct Part(PathBuf);

impl Part {
    fn beside(file: &Path) -> Self {
        Self(with(file, &format!(".part-{}", process::id())))
    }

    /// Makes it so that only this user reads it.
    fn make(&self) -> io::Result<File> {
        // One that a crash left.
        _ = fs::remove_file(&self.0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.0)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// Moves the log into the database, which only its one user can.
async fn take_over(database: &Path) -> anyhow::Result<()> {
    // Of a file that is no database SQLite would throw the log away, some time after it said so.
    if !is_database(database).with_context(|| format!("can't read {}", database.display()))? {
        return Ok(());
    }
    match there(database).journal_mode(SqliteJournalMode::Delete).connect().await {
        Ok(connection) => Ok(connection.close().await?),
        Err(sqlx::Error::Database(error)) if error.message().contains("locked") => {
            bail!("the service is running on {}; stop it first", database.display())
        }
        // Damaged: a reason to restore.
        Err(_) => Ok(()),
    }
}

/// Whether a file begins as every database does (file format of `SQLite`, 1.3.1).
fn is_database(file: &Path) -> io::Result<bool> {
    let mut beginning = [0; 16];
    let read = File::open(file)?.read(&mut beginning)?;
    Ok(&beginning[..read] == b"SQLite format 3\0")
}

/// Fails on what is no database of ours, or a damaged one.
async fn check(file: &Path) -> anyhow::Result<()> {
    let mut copy: SqliteConnection = there(file).read_only(true).immutable(true).connect().await?;
    let said: String = sqlx::query_scalar(CHECK).fetch_one(&mut copy).await?;
    ensure!(said == "ok", "{said}");
    let migrations: i64 = sqlx::query_scalar(COUNT_MIGRATIONS).fetch_one(&mut copy).await?;
    ensure!(migrations > 0, "it is empty");
    Ok(copy.close().await?)
}

fn there(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).busy_timeout(PATIENCE).disable_statement_logging()
}

fn with(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    name.into()
}

/// Gives a file its name, so that it has it after a crash too.
fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to).with_context(|| format!("can't write {}", to.display()))?;
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
